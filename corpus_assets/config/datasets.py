"""`datasets` of `corpus.yaml`: one strict section per mode, and the files a dataset may read by itself."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, JsonValue, Tag, model_validator

from corpus_assets.config.cerebras_names import clear_names
from corpus_assets.config.section import Bytes, Name, Section
from corpus_assets.config.sections import Globs
from corpus_assets.config.tokenizers import Tokenizer
from corpus_assets.raw.examples import rules_of
from corpus_assets.tokenize.modes.registry import check_options
from resources.errors import ConfigError

Split = Literal["train", "decontaminated_train", "holdout", "validation", "test"]
Key = Annotated[str, Field(min_length=1)]


def _how_many(value: Any) -> str:
    return "many" if isinstance(value, list) else "one"


PromptKey = Annotated[
    Annotated[Key, Tag("one")] | Annotated[list[Key], Field(min_length=1), Tag("many")], Discriminator(_how_many)
]


class Files(Section):
    """Files that one dataset reads by itself: texts, pairs, conversations or preferences in any input format."""

    location: str = Field(
        min_length=1, description="folder of the files; relative paths start at the folder of corpus.yaml"
    )
    glob: Globs = Field("**/*", description="which files below it; `*` stays in a folder, `**` does not")
    format: Literal[
        "auto", "jsonl", "jsonl.gz", "json.gz", "jsonl.zst", "jsonl.zst.tar", "parquet", "txt", "txt_list"
    ] = Field("auto", description="`auto` goes by suffix and content")
    id_key: str = Field("id", description="key or column that holds the id")
    ids: Literal["auto", "given", "derived"] = Field(
        "auto", description="`given`: a row without an id is bad; `derived`: from file and row; `auto`: by file"
    )
    text_key: Key = Field("text", description="texts: key that holds the text")
    prompt_key: PromptKey = Field(
        "prompt", description="pairs and preferences: key of the prompt; a list of keys is joined by blank lines"
    )
    completion_key: Key = Field("completion", description="pairs: key of the completion")
    messages_key: Key | None = Field(None, description="conversations: key of the list of messages")
    role_key: Key = Field("role", description="conversations: key of a message's role")
    content_key: Key = Field("content", description="conversations: key of a message's text")
    chosen_key: Key = Field("chosen", description="preferences: key of the preferred response")
    rejected_key: Key = Field("rejected", description="preferences: key of the other response")
    on_bad_row: Literal["skip", "fail"] = Field("skip", description="skip and count a bad row, or fail its file")
    on_bad_file: Literal["fail", "skip"] = Field(
        "fail", description="fail a file that cannot be read, or go on without it and count it"
    )
    longest_row: Bytes = Field(256 << 20, description="rows and text files of more bytes are bad")
    licence: str | None = Field(None, description="licence of the texts, for the record")


def _container(value: Any) -> str:
    return "split" if isinstance(value, str) else "files"


TextInput = Annotated[Annotated[Split, Tag("split")] | Annotated[Files, Tag("files")], Discriminator(_container)]


class _Dataset(Section):
    name: Name
    sequence_length: int = Field(2048, ge=2, le=2**20, description="L, positions per row")
    tokenizer: Tokenizer | None = Field(None, description="a tokenizer of its own; by default the corpus's")
    shuffle: bool = Field(False, description="permute all rows over all files of the dataset (one file per chunk)")
    shuffle_seed: int = Field(0, ge=0, lt=2**63)
    ftfy: bool = Field(False, description="mend texts with ftfy before tokenizing")
    normalization: Literal["NFC", "NFD", "NFKC", "NFKD"] | None = Field(
        "NFC", description="with `ftfy`: Unicode form of the result"
    )
    wikitext: bool = Field(False, description="undo the spacing of the wikitext corpora")
    format: Literal["hdf5"] = Field("hdf5", description="output format")
    compat: Literal["cerebras"] | None = Field(
        None, description="rows as the original makes them; it sets the values that docs/datasets.md lists"
    )

    @model_validator(mode="after")
    def _possible(self) -> "_Dataset":
        try:
            values = self.model_dump()
            check_options(values)
            if isinstance(values["input"], dict):
                rules_of(values["mode"], self.name, values["input"])
        except ConfigError as error:
            raise ValueError(str(error)) from None
        return self


class _Short(_Dataset):
    inverted_mask: bool = Field(False, description="store 0 where the loss counts and 1 elsewhere")
    minimum_length: int = Field(6, ge=0, description="shorter sequences (tokens) are dropped and counted")


class _Text(_Short):
    input: TextInput = Field("decontaminated_train", description="a split of the corpus, or files of its own")
    short_sequence_probability: float = Field(0.0, ge=0, le=1, description="share of windows cut to a random length")
    seed: int = Field(0, ge=0, lt=2**63, description="of short sequences and other draws")
    short_sequence_draws: Literal["keyed", "reference"] = Field(
        "keyed", description="`reference`: by the original's generator, begun anew for every file"
    )
    split_text: int | None = Field(
        None, ge=1, description="cut texts at spaces into pieces of about so many characters before tokenizing"
    )
    remove_bos_in_pieces: bool = Field(False, description="with `split_text`: begin-of-text on the first piece only")


class _Windows(_Text):
    pack: bool = Field(True, description="documents share rows, divided by the end-of-text token")
    keep_tail: bool = Field(True, description="packed: keep the last, incomplete row, padded, with loss mask 0")


class LMDataset(_Windows):
    """Language modelling: input ids, loss mask, labels (3 channels)."""

    mode: Literal["lm"] = "lm"


class FIMDataset(_Windows):
    """Fill in the middle: as `lm`, with a share of the documents rearranged."""

    mode: Literal["fim"]
    fim_rate: float = Field(0.9, ge=0, le=1, description="share of documents that are rearranged")
    spm_rate: float = Field(0.5, ge=0, le=1, description="share of these that begin with the suffix (SPM, else PSM)")
    fim_level: Literal["document", "row"] = Field(
        "document", description="rearrange documents before packing, or segments inside packed rows as the original"
    )
    prefix_token: str = Field("<|fim_prefix|>", description="token before the prefix; it must be in the vocabulary")
    middle_token: str = Field("<|fim_middle|>", description="token before the middle")
    suffix_token: str = Field("<|fim_suffix|>", description="token before the suffix")
    reference: bool = Field(False, description="with `fim_level: row`: as the original, its defects included")

    @model_validator(mode="after")
    def _levels(self) -> "FIMDataset":
        if self.fim_level == "document" and (self.split_text is not None or self.remove_bos_in_pieces):
            raise ValueError("split_text and remove_bos_in_pieces go with fim_level row: documents are cut otherwise")
        if self.fim_level == "document" and self.reference:
            raise ValueError("reference goes with fim_level row")
        return self


class _Packing(Section):
    packing: Literal["best_fit", "lpfhp", "nearest_previous"] = Field(
        "best_fit", description="how sequences share rows; `nearest_previous` is the original's"
    )
    packing_depth: int | None = Field(None, ge=1, description="most sequences in a row")
    packing_window: int = Field(2**24, ge=1, le=2**30, description="tokens that are packed together")
    packing_text: Bytes | None = Field(
        None, description="instead: text that is packed together, as the original's chunks (its `max_chunk_size`)"
    )


class VSLDataset(_Text, _Packing):
    """Variable sequence length: whole documents share rows and do not see each other (5 channels)."""

    mode: Literal["lm_vsl"]
    long_documents: Literal["fold", "cut", "drop"] = Field(
        "fold", description="documents over L tokens: several sequences, the first L + 1 tokens only, or none"
    )


class _Pairs(_Short):
    input: Files = Field(description="files with pairs (prompt_key, completion_key) or conversations (messages_key)")
    separator: str | None = Field(None, description="token between prompt and completion; added when it is new")
    prompt_prefix: str | None = Field(None, description="text before every prompt")
    completion_prefix: str | None = Field(None, description="text before every completion, with no loss")


class SummarizationDataset(_Pairs):
    """Pairs of prompt and completion, one per row, loss on the completion (3 channels)."""

    mode: Literal["summarization"]
    truncate: Literal["discard", "prompt_start", "prompt_end", "completion_end"] = Field(
        "discard", description="what goes when a pair is too long; all is counted"
    )


class SummarizationVSLDataset(_Pairs, _Packing):
    """Pairs or whole conversations, several per row (5 channels)."""

    mode: Literal["summarization_vsl"]
    truncate: Literal["discard", "prompt_start", "prompt_end", "completion_end", "oldest_turns"] = Field(
        "discard", description="what goes when an example is too long; all is counted"
    )
    eos_after_prompt: bool = Field(False, description="end-of-text also after every prompt")


class ChatDataset(_Short, _Packing):
    """Conversations through a chat template, loss on chosen roles (3 channels, or 5 when packed)."""

    mode: Literal["chat"]
    input: Files = Field(description="files with conversations (messages_key) or pairs")
    pack: bool = Field(True, description="several conversations share a row and do not see each other")
    chat_template: str | None = Field(
        None, description="a jinja template, or the path of one; by default the tokenizer's own"
    )
    template_values: dict[str, JsonValue] = Field(
        default={}, description="what the template may name beside the messages, such as `tools`"
    )
    day: str | None = Field(
        None, pattern=r"^\d{4}-\d{2}-\d{2}$", description="what a template is told that asks for the day, as 2024-12-31"
    )
    loss_roles: Annotated[list[str], Field(min_length=1)] | None = Field(
        default=["assistant"], description="roles whose texts are learned; none: what `{% generation %}` marks"
    )
    train_on: Literal["all_turns", "last_turn"] = Field("all_turns", description="which of their turns count")
    truncate: Literal["discard", "end", "oldest_turns"] = Field(
        "oldest_turns", description="what goes when a conversation is too long; all is counted"
    )


class DPODataset(_Dataset):
    """Preferences: a chosen and a rejected response to one prompt (6 channels)."""

    mode: Literal["dpo"]
    input: Files = Field(description="files with preferences (prompt_key, chosen_key, rejected_key)")
    max_prompt_length: int | None = Field(
        None,
        ge=1,
        description="a longer prompt loses its start when a pair is too long; by default 512, or half of a short row",
    )
    response_delimiter: str | None = Field(
        None, description="text that begins the response, searched for in the formatted dialogue as the original does"
    )
    chat_template: str | None = Field(
        None, description="a jinja template, or the path of one; by default the tokenizer's own"
    )
    user_role: str = "user"
    assistant_role: str = "assistant"
    reference: bool = Field(False, description="rows as the original makes them, its truncation included")


COMPAT: dict[str, dict[str, Any]] = {
    "lm": {"ftfy": True, "keep_tail": False, "short_sequence_draws": "reference"},
    "fim": {
        "ftfy": True,
        "keep_tail": False,
        "short_sequence_draws": "reference",
        "fim_level": "row",
        "reference": True,
    },
    "lm_vsl": {
        "ftfy": True,
        "short_sequence_draws": "reference",
        "packing": "nearest_previous",
        "packing_text": 1 << 20,
    },
    "summarization": {"ftfy": True},
    "summarization_vsl": {"ftfy": True, "packing": "nearest_previous", "packing_text": 1 << 20},
    "dpo": {"ftfy": True, "reference": True, "max_prompt_length": 512},
}
"""What `compat: cerebras` sets in each mode; what is given stands."""


def _named(entry: Any) -> Any:
    """An entry of `datasets` with our names and a mode, over the values of its profile."""
    if not isinstance(entry, dict):
        return entry
    values = {"mode": "lm", **clear_names(entry)}
    profile = COMPAT.get(values["mode"], {}) if values.get("compat") == "cerebras" else {}
    return {**profile, **values}


Dataset = Annotated[
    Annotated[
        LMDataset | VSLDataset | FIMDataset | SummarizationDataset | SummarizationVSLDataset | ChatDataset | DPODataset,
        Field(discriminator="mode"),
    ],
    BeforeValidator(_named),
]


def default_datasets() -> list[Dataset]:
    """Train without the holdout's texts, validation and test."""
    return [
        LMDataset(name="train", input="decontaminated_train"),
        LMDataset(name="validation", input="validation"),
        LMDataset(name="test", input="test"),
    ]
