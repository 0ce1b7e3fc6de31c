"""Options that several modes of `datasets` share: cleaning, cutting and packing of texts, and the loss.

The functions that clean, cut and pack take these sections, so they work for every mode that has the options.
"""

from collections.abc import Iterator, Mapping, Set
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator
from typing_extensions import override

from corpus_assets.config.datasets.files import Files, Shape, TextInput
from corpus_assets.config.datasets.token_files import TokenFiles
from corpus_assets.config.datasets.weights import Weights
from corpus_assets.config.naming import FILE
from corpus_assets.config.section import Bytes, Name, Section, Share, Template
from corpus_assets.config.text_fixes import Ftfy, TextFixes
from corpus_assets.config.tokenizers import Tokenizer

NormalizationForm = Literal["NFC", "NFD", "NFKC", "NFKD"]
PairTruncation = Literal["discard", "prompt_start", "prompt_end", "completion_end", "oldest_turns"]


class Cleaning(Section):
    """How a text is cleaned before it is tokenized, in this order (docs/formats/cerebras-hdf5.md "Cleaning").

    strips: whether white space at both ends is removed at the end.
    """

    strips: ClassVar[bool] = False

    ftfy: Ftfy = Field(
        False,
        description="fix texts with ftfy before tokenizing, including entities, ligatures, widths and quotes; or "
        "a section such as `{uncurl_quotes: false}` to leave some of these out",
    )
    normalization: NormalizationForm | None = Field(
        "NFC", description="with `ftfy`: Unicode form of the result; none: unchanged"
    )
    wikitext: bool = Field(False, description="undo the spacing of the wikitext corpora")

    @property
    def fixes(self) -> dict[str, Any]:
        """Returns the settings of ftfy that differ from the usual ones."""
        return self.ftfy.unlike_default() if isinstance(self.ftfy, TextFixes) else {}


class StrippedCleaning(Cleaning):
    """The same, without white space at both ends of the cleaned text."""

    strips: ClassVar[bool] = True


TEXTS_ONLY: Final[Mapping[str, tuple[Any, ...]]] = {"ftfy": (), "wikitext": ()}
"""Options that change texts, each with the values that do; without any, all but the default."""


def with_texts(section: Section, options: Mapping[str, tuple[Any, ...]]) -> Iterator[str]:
    """Yields the options of a dataset of token files that need texts. options: as `TEXTS_ONLY`."""
    for name, values in options.items():
        field, found = type(section).model_fields.get(name), getattr(section, name, None)
        if field is not None and (found in values if values else found != field.default):
            yield f"{name} is {found!r}; valid with an input of ids: none, as there are no texts"


class Reading(Section):
    """The input of a dataset."""

    name: Name = Field(description="short name; first part of the names of its assets, and folder of its files")
    input: TextInput
    tokenizer: Tokenizer | None = Field(None, description="a tokenizer of its own; by default the corpus's")


class _Basics(Reading):
    sequence_length: int = Field(2048, ge=2, le=2**20, description="L, positions per row")
    shuffle: bool = Field(False, description="permute all rows over all files of the dataset (one file per chunk)")
    shuffle_seed: int = Field(0, ge=0, lt=2**63, description="another seed gives another order")


class DatasetSection(Cleaning, _Basics):
    """Options that every dataset has.

    cerebras_name: what Cerebras' Model Zoo calls the mode, None for a mode that it does not have.
    cerebras_values: what `compat: cerebras` sets; values that are given win.
    cerebras_files: what it sets in `input`, if that is files.
    cerebras_ignores: options, beside those that are no fields here, that Cerebras does not read in this mode.
    shape: of the examples in files of the dataset's own; None: pairs, or conversations if `messages_key` is given.
    roles_by_turn: messages may have no role; then user and assistant take turns.
    """

    cerebras_name: ClassVar[str | None] = None
    cerebras_values: ClassVar[Mapping[str, Any]] = {}
    cerebras_files: ClassVar[Mapping[str, Any]] = {"ids": "optional", "numbers": "python"}
    cerebras_ignores: ClassVar[Set[str]] = frozenset()
    shape: ClassVar[Shape | None] = None
    roles_by_turn: ClassVar[bool] = False

    format: Literal["hdf5"] = Field("hdf5", description="output format")
    compat: Literal["cerebras"] | None = Field(
        None, description="rows of Cerebras' Model Zoo; sets the values listed in docs/datasets.md"
    )

    @property
    def carries_over(self) -> bool:
        """Returns whether rows depend on earlier files of the dataset's own."""
        return False

    @classmethod
    def shape_in(cls, files: Files) -> Shape:
        """Returns the shape of the examples in files of the dataset's own."""
        return cls.shape or ("pair" if files.messages_key is None else "conversation")

    def problems(self) -> Iterator[str]:
        """Yields what is wrong with options that are valid each by itself."""
        if isinstance(self.input, Files):
            # Cerebras ignores keys of other modes.
            yield from self.input.problems(self.shape_in(self.input), unread=self.compat is not None)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for problem in self.problems():
            raise ValueError(problem)
        return self


class Learned(DatasetSection):
    """Options of rows with one loss mask.

    more_ids: how many ids a sequence may have beyond L; with L + 1 ids the last one is only a label.
    """

    more_ids: ClassVar[int] = 1

    inverted_mask: bool = Field(False, description="store 0 where the loss counts and 1 elsewhere, padding included")
    minimum_length: int = Field(6, ge=0, description="shorter sequences (tokens) are dropped and counted")

    @override
    def problems(self) -> Iterator[str]:
        yield from super().problems()
        most = self.sequence_length + self.more_ids
        if self.minimum_length > most:
            yield f"minimum_length is {self.minimum_length}; valid: at most {most}"


_TEXTS_ONLY = {
    **TEXTS_ONLY,
    **dict.fromkeys(("compat", "split_text", "remove_bos_in_pieces", "keep_empty", "packing_text"), ()),
    "mode": ("fim",),
}


class Texts(Learned):
    """Rows of texts: documents of the corpus, or texts in files of the dataset's own."""

    shape = "text"
    weighs_files: ClassVar[bool] = False

    input: TextInput = Field("decontaminated_train", description="a split of the corpus, or files of its own")
    weights: Weights | None = Field(None, description="with a split: tokens by source (docs/exports.md)")
    short_sequence_probability: Share = Field(
        0.0, ge=0, le=1, description="share of windows that are cut to a random length; the rest of each is lost"
    )
    seed: int = Field(0, ge=0, lt=2**63, description="seed of short sequences and other random choices")
    short_sequence_draws: Literal["keyed", "reference"] = Field(
        "keyed",
        description="`keyed`: by a hash of the seed and the tokens; `reference`: by Cerebras' generator, which "
        "continues from file to file of the dataset's own, as with `pack_over_files`, unless each is packed "
        "separately",
    )
    split_text: int | None = Field(
        None, ge=1, description="cut texts at spaces into pieces of about so many characters before tokenizing"
    )
    remove_bos_in_pieces: bool = Field(False, description="with `split_text`: begin-of-text on the first piece only")
    keep_empty: bool = Field(
        False,
        description="keep texts that are empty after cleaning as documents: their end-of-text token is packed "
        "(with `fim` only for `fim_level: row`); also texts that are empty from the start in a table, a "
        "`.json.gz` or a `.txt` of the dataset's own, but not in other JSON lines",
    )

    @override
    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if isinstance(self.input, TokenFiles):
            yield from self.input.problems()
            yield from with_texts(self, _TEXTS_ONLY)
        if self.weights is not None and not isinstance(self.input, str) and not self.weighs_files:
            yield "weights go with a split of the corpus; files of its own are weighed in a trainer's format only"

    @property
    @override
    def carries_over(self) -> bool:
        """True if the random draws of short sequences continue from one file of the dataset's own to the next."""
        drawn = self.short_sequence_probability > 0 and self.short_sequence_draws == "reference"
        return drawn and not isinstance(self.input, str)


class Windows(Texts):
    """Rows that are windows of at most L + 1 tokens, which share one token with the window before.

    `minimum_length` counts that token too, and has no effect on the tail of a packed stream. A short sequence keeps the
    first 2 to L - 1 tokens of a window.
    """

    pack: bool = Field(True, description="documents share rows, divided by the end-of-text token")
    keep_tail: bool = Field(True, description="packed: keep the last, incomplete row, padded, with loss mask 0")
    pack_over_files: bool = Field(
        False,
        description="packed, with files of its own: continue packing from one file to the next, in the order of "
        "their paths, so that only the last one has a tail. The cost: one worker makes all token rows, and makes "
        "all of them again when a file changes",
    )

    @property
    @override
    def carries_over(self) -> bool:
        """True if packing, or without it the random draws, continue from one file of the dataset's own to the next."""
        if not self.pack:
            return super().carries_over
        return self.pack_over_files and not isinstance(self.input, str)

    @override
    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.pack_over_files and self.compat is None and (not self.pack or isinstance(self.input, str)):
            yield "pack_over_files goes with pack and with files of the dataset's own"
        if self.short_sequence_probability and self.sequence_length < 3:
            yield f"sequence_length is {self.sequence_length}; valid with short sequences: 3 or more"


class Packed(Learned):
    """Rows with several sequences that do not see each other."""

    packing: Literal["best_fit", "lpfhp", "nearest_previous"] = Field(
        "best_fit", description="how sequences share rows; `nearest_previous` is Cerebras' method"
    )
    packing_depth: int | None = Field(None, ge=1, description="most sequences in a row")
    packing_window: int = Field(
        2**24,
        ge=1,
        le=2**30,
        description="tokens that are packed together; it bounds memory (about 10 bytes a token) and shapes the rows",
    )
    packing_text: Bytes | None = Field(
        None,
        description="instead of `packing_window`: bytes of text that are packed together, as in Cerebras' "
        "chunks (its `max_chunk_size`)",
    )

    @property
    def window_tokens(self) -> int | None:
        """Returns the number of ids that are packed together; None for all ids of a chunk of text."""
        return None if self.packing_text else self.packing_window

    @override
    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.packing_depth is not None and self.packing == "nearest_previous":
            yield f"packing depth is {self.packing_depth}; valid: none with nearest_previous"


class Judged(DatasetSection):
    """Rows of examples, most of which must give some; with `compat: cerebras` a build goes on as Cerebras does."""

    max_discarded: Share = Field(
        0.5,
        ge=0,
        le=1,
        description="share of the examples that may give no row; if there are more, readers of the rows are held back",
    )


class Templated(Judged):
    """Rows of messages in the format of a chat template."""

    chat_template: Annotated[Template | None, FILE] = Field(
        None,
        description="a jinja template, the path of one, or the name of a ready one (docs/datasets.md); by default the "
        "tokenizer's own",
    )


class Turns(Learned, Judged):
    """Rows of prompts and completions; the loss covers the completions.

    A pair by itself has at most L tokens, a packed conversation L + 1 (`minimum_length`: tokens that are inputs).
    """

    more_ids = 0
    roles_by_turn = True

    input: Files = Field(description="files with pairs (prompt_key, completion_key) or conversations (messages_key)")
    separator: str | None = Field(
        None, description="token between prompt and completion; added to the vocabulary if it is new"
    )
    prompt_prefix: str | None = Field(None, description="text before every prompt")
    completion_prefix: str | None = Field(None, description="text before every completion, with no loss")
    truncate: PairTruncation = Field(
        "discard", description="how an example that is too long is shortened; every cut is counted"
    )
