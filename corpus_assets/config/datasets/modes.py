"""`datasets` of `corpus.yaml` in HDF5: one strict section per mode, which is also what the functions of that mode take.

A section declares the options of its mode, checks them against each other, and holds what the configuration must know
about the mode: its name and values in Cerebras' Model Zoo, and the shape of its examples.
`corpus_assets/tokenize/modes` makes the rows, with a module per mode.
"""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue
from typing_extensions import override

from corpus_assets.config.datasets.files import Files
from corpus_assets.config.datasets.options import DatasetSection, Packed, Templated, Texts, Turns, Windows
from corpus_assets.config.naming import MARKER, ROLE, TEMPLATE_VALUE, TOKEN
from corpus_assets.config.section import Share, written_day

__all__ = ["SECTIONS", "AnyRows", "DatasetSection", "dataset_section"]

DEFAULT_PROMPT_LENGTH = 512
SHORTEST_FIM_ROW = 8


class LMDataset(Windows):
    """Language modelling: input ids, loss mask, labels (3 channels)."""

    cerebras_name = "LMData"
    cerebras_values: ClassVar[Mapping[str, Any]] = {
        "ftfy": True,
        "keep_empty": True,
        "keep_tail": False,
        "pack_over_files": True,
        "short_sequence_draws": "reference",
    }

    mode: Literal["lm"] = "lm"


class FIMDataset(Windows):
    """Fill in the middle: as `lm`, with a share of the documents rearranged."""

    cerebras_name = "FIM"
    cerebras_values: ClassVar[Mapping[str, Any]] = {**LMDataset.cerebras_values, "fim_level": "row", "reference": True}

    mode: Literal["fim"]
    fim_rate: Share = Field(0.9, ge=0, le=1, description="share of documents (rows: passages) that are rearranged")
    spm_rate: Share = Field(0.5, ge=0, le=1, description="share of these that begin with the suffix (SPM, else PSM)")
    fim_level: Literal["document", "row"] = Field(
        "document", description="rearrange documents before packing, or passages inside packed rows as Cerebras does"
    )
    prefix_token: Annotated[str, TOKEN] = Field(
        "<|fim_prefix|>", description="token before the prefix; it must be in the vocabulary"
    )
    middle_token: Annotated[str, TOKEN] = Field("<|fim_middle|>", description="token before the middle")
    suffix_token: Annotated[str, TOKEN] = Field("<|fim_suffix|>", description="token before the suffix")
    reference: bool = Field(False, description="with `fim_level: row`: as in Cerebras, including its defects")

    @override
    def problems(self) -> Iterator[str]:
        if self.sequence_length < SHORTEST_FIM_ROW:
            yield f"sequence_length is {self.sequence_length}; valid with FIM: {SHORTEST_FIM_ROW} or more"
        tokens = (self.prefix_token, self.middle_token, self.suffix_token)
        if len(set(tokens)) < len(tokens):
            yield f"FIM tokens are {tokens}; valid: three different ones"
        if self.fim_level == "document" and (self.split_text is not None or self.remove_bos_in_pieces):
            yield "split_text and remove_bos_in_pieces go with fim_level row: documents are cut otherwise"
        if self.fim_level == "document" and self.reference:
            yield "reference goes with fim_level row"
        yield from super().problems()


class VSLDataset(Texts, Packed):
    """Variable sequence length: whole documents share rows and do not see each other (5 channels).

    A short sequence keeps the first 2 to L tokens of a document. `minimum_length` is that of a document with its
    end-of-text token.
    """

    cerebras_name = "LMData_VSL"
    cerebras_ignores = frozenset({"split_text", "remove_bos_in_pieces"})
    cerebras_values: ClassVar[Mapping[str, Any]] = {
        "ftfy": True,
        "keep_empty": True,
        "short_sequence_draws": "reference",
        "packing": "nearest_previous",
        "packing_text": 1 << 20,
    }

    mode: Literal["lm_vsl"]
    long_documents: Literal["fold", "cut", "drop"] = Field(
        "fold", description="documents over L tokens: several sequences, the first L + 1 tokens only, or none"
    )


class SummarizationDataset(Turns):
    """Pairs of prompt and completion, one per row, loss on the completion (3 channels)."""

    cerebras_name = "Summarization"
    cerebras_values: ClassVar[Mapping[str, Any]] = {"ftfy": True}

    mode: Literal["summarization"]
    truncate: Literal["discard", "prompt_start", "prompt_end", "completion_end"] = Field(
        "discard", description="how a pair that is too long is shortened; every cut is counted"
    )


class SummarizationVSLDataset(Turns, Packed):
    """Pairs or whole conversations, several per row (5 channels)."""

    cerebras_name = "Summarization_VSL"
    cerebras_values: ClassVar[Mapping[str, Any]] = {
        "ftfy": True,
        "packing": "nearest_previous",
        "packing_text": 1 << 20,
    }

    mode: Literal["summarization_vsl"]
    eos_after_prompt: bool = Field(False, description="end-of-text also after every prompt, before the separator")


def _some_role(value: list[str] | None) -> list[str] | None:
    if value == []:
        raise ValueError("at least one role; or null, for what the template's `{% generation %}` marks")
    return value


class ChatDataset(Packed, Templated):
    """Conversations through a chat template, loss on chosen roles (3 channels, or 5 when packed).

    The loss covers the tokens that a model has to generate: all that the template writes after the prompt for an answer
    (`add_generation_prompt`), including reasoning and tool calls, up to the control token that ends it (`<|im_end|>`,
    `</s>`). An answer whose rendering later turns change is learned in a separate row that ends with it.
    """

    mode: Literal["chat"]
    input: Files = Field(description="files with conversations (messages_key) or pairs")
    pack: bool = Field(True, description="several conversations share a row and do not see each other")
    template_values: Annotated[dict[str, JsonValue], TEMPLATE_VALUE] = Field(
        default={}, description="values that the template can use besides the messages, such as `tools`"
    )
    day: Annotated[str | None, BeforeValidator(written_day)] = Field(
        None, pattern=r"^\d{4}-\d{2}-\d{2}$", description="the day that templates get, such as 2024-12-31"
    )
    loss_roles: Annotated[list[str] | None, AfterValidator(_some_role), ROLE] = Field(
        default=["assistant"],
        description="roles whose texts count in the loss; none: the texts that `{% generation %}` marks",
    )
    train_on: Literal["all_turns", "last_turn"] = Field("all_turns", description="which of their turns count")
    truncate: Literal["discard", "end", "oldest_turns"] = Field(
        "oldest_turns",
        description="how a conversation that is too long is shortened: it is discarded, loses its last tokens, "
        "or its earliest turns except leading system messages; every cut is counted",
    )

    @property
    def fixed_day(self) -> date | None:
        """Returns the date that templates get."""
        return date.fromisoformat(self.day) if self.day else None

    @override
    def problems(self) -> Iterator[str]:
        yield from super().problems()
        try:
            _ = self.fixed_day
        except ValueError:
            yield f"day is {self.day!r}; valid: a date as 2024-12-31"


class DPODataset(Templated):
    """Preferences: a chosen and a rejected response to one prompt (6 channels)."""

    cerebras_name = "DPO"
    cerebras_values: ClassVar[Mapping[str, Any]] = {
        "ftfy": True,
        "reference": True,
        "max_prompt_length": DEFAULT_PROMPT_LENGTH,
    }
    shape = "preference"

    mode: Literal["dpo"]
    input: Files = Field(description="files with preferences (prompt_key, chosen_key, rejected_key)")
    max_prompt_length: int | None = Field(
        None,
        ge=1,
        description="if a pair is too long, its prompt is cut at the start to so many tokens, or to the room "
        "that a short response leaves; by default 512, or half of a short row",
    )
    response_delimiter: Annotated[str | None, MARKER] = Field(
        None,
        description="text before an answer that is learned with it; by default nothing that a chat template writes "
        "there, and the later of `[/INST]` and `<|assistant|>` without a template and with `reference`",
    )
    user_role: Annotated[str, ROLE] = Field(
        "user", description="name of the user in messages, and in dialogues written as one text"
    )
    assistant_role: Annotated[str, ROLE] = Field("assistant", description="name of the assistant there")
    equal_pairs: Literal["leave_out", "keep"] = Field(
        "leave_out", description="whether pairs with equal responses give rows, from which nothing is learned"
    )
    reference: bool = Field(False, description="rows of Cerebras, including its truncation")

    @property
    def prompt_limit(self) -> int:
        """Returns how many ids a prompt may keep in a pair that does not fit."""
        return self.max_prompt_length or min(DEFAULT_PROMPT_LENGTH, self.sequence_length // 2)

    @override
    def problems(self) -> Iterator[str]:
        yield from super().problems()
        length = self.sequence_length
        if not 1 <= self.prompt_limit < length:
            yield f"max_prompt_length is {self.max_prompt_length}; valid: 1 to {length - 1} (sequence_length - 1)"
        if self.response_delimiter == "":
            yield "response_delimiter is empty; valid: text, or none"
        if not self.user_role or not self.assistant_role or self.user_role == self.assistant_role:
            yield f"user_role is {self.user_role!r}, assistant_role {self.assistant_role!r}; valid: two different names"


AnyRows = (
    LMDataset | VSLDataset | FIMDataset | SummarizationDataset | SummarizationVSLDataset | ChatDataset | DPODataset
)
SECTIONS: Mapping[str, type[DatasetSection]] = {
    get_args(section.model_fields["mode"].annotation)[0]: section for section in get_args(AnyRows)
}
"""The section of every mode, by the mode's name in corpus.yaml."""


def dataset_section(values: Mapping[str, Any]) -> DatasetSection:
    """Returns the section for values that were checked before, or for the part of them that rows depend on."""
    return SECTIONS[values["mode"]].model_construct(None, **values)
