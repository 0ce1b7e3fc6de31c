"""`datasets` of `corpus.yaml` with `format: text`: rows of texts, for trainers that tokenize by themselves."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, model_validator

from corpus_assets.config.datasets.files import Files, Shape, TextsAlone
from corpus_assets.config.datasets.modes import SECTIONS
from corpus_assets.config.datasets.options import Reading
from corpus_assets.config.datasets.weights import Weights
from corpus_assets.config.file_formats import Key
from corpus_assets.config.naming import MESSAGE_KEY, METADATA_KEY
from corpus_assets.config.section import Share

TEXT: Final = "text"
"""The name of the format."""

TextRows = Literal[
    "text",
    "messages",
    "prompt_completion",
    "prompt_completion_messages",
    "instruction",
    "preference",
    "preference_messages",
    "kto",
    "kto_messages",
]
EXCHANGE: Final = "exchange"
"""What stands for a mode where files hold rows that no mode reads: a prompt and a completion, both messages."""
_READ: Final[Mapping[TextRows, tuple[str, Shape]]] = {
    "text": ("lm", "text"),
    "messages": ("chat", "conversation"),
    "prompt_completion": ("summarization", "pair"),
    "prompt_completion_messages": (EXCHANGE, "exchange"),
    "instruction": ("summarization", "pair"),
    "preference": ("dpo", "preference"),
    "preference_messages": ("dpo", "preference"),
    "kto": ("summarization", "pair"),
    "kto_messages": (EXCHANGE, "exchange"),
}
"""The mode whose input files hold the same rows, and the shape of these rows."""
OF_MESSAGES: Final = ("messages", "prompt_completion_messages", "preference_messages", "kto_messages")
KTO: Final = ("kto", "kto_messages")
_OWN_COLUMNS: Final = frozenset(
    {
        *("id", "source", "text", "messages", "tools", "prompt", "completion", "label", "chosen", "rejected"),
        *("instruction", "input", "output", "metadata"),
    }
)


class TextExport(Reading):
    """Texts for trainers that tokenize by themselves: JSON lines or Parquet, a file for each chunk or input file."""

    format: Literal["text"]
    input: TextsAlone = Field("decontaminated_train", description="a split of the corpus, or files of its own")
    rows: TextRows = Field(
        "text",
        description="what a row holds: `text`; of files of its own also `messages`; `prompt_completion`; "
        "`instruction` (instruction, input, output); `preference` (prompt, chosen, rejected as texts) or "
        "`preference_messages` (the same as messages); `kto` (prompt, completion, label); "
        "`prompt_completion_messages` and `kto_messages` (the same, prompt and completion as messages)",
    )
    files: Literal["jsonl", "jsonl.gz", "jsonl.zst", "parquet"] = Field("jsonl.gz", description="suffix of the files")
    metadata: Annotated[list[Key], METADATA_KEY] = Field(
        default=[],
        description="keys of the metadata that become columns of text; a value that is no text becomes its JSON text",
    )
    message_keys: Annotated[list[Key], MESSAGE_KEY] = Field(
        default=[],
        description="Parquet: keys of messages beside role and content, such as tool_calls; a message with another key "
        "makes its row bad. JSON lines keep all keys",
    )
    input_key: Annotated[Key, METADATA_KEY] = Field("input", description="`instruction`: key of the input, if any")
    label_key: Annotated[Key, METADATA_KEY] = Field(
        "label", description="`kto`, `kto_messages`: key of the label, true or false"
    )
    max_discarded: Share = Field(
        0.5, ge=0, le=1, description="share of the examples that may give no row, else the manifest is held back"
    )
    weights: Weights | None = Field(None, description="with a split: tokens by source, counted by the tokenizer")

    @property
    def is_table(self) -> bool:
        """Returns whether files are tables, with one type for each column."""
        return self.files == "parquet"

    def problems(self) -> Iterator[str]:
        """Yields what is wrong with options that are valid each by itself."""
        if isinstance(self.input, Files):
            yield from self.input.problems(_READ[self.rows][1])
            if _READ[self.rows][0] == EXCHANGE and len(self.input.prompt_keys) > 1:
                yield f"input.prompt_key is {list(self.input.prompt_keys)}; valid with `rows: {self.rows}`: one key"
        elif self.rows != "text":
            yield f"rows is {self.rows!r}; valid with a split of the corpus: text; others are made of files of its own"
        if self.weights is not None and not isinstance(self.input, str):
            yield "weights go with a split of the corpus"
        if taken := sorted(_OWN_COLUMNS & set(self.metadata)):
            yield f"metadata names {taken[0]!r}, which is a column of its own; valid: other keys"
        if self.message_keys and not (self.is_table and self.rows in OF_MESSAGES):
            yield f"message_keys go with `files: parquet` and rows of messages, received {self.files}, {self.rows}"
        for key in ("metadata", "message_keys"):
            given: list[str] = getattr(self, key)
            if len(set(given)) < len(given):
                yield f"{key} are {given}; valid: each once"
        if beside := {"role", "content"} & set(self.message_keys):
            yield f"message_keys name {min(beside)!r}, which every message has; valid: other keys"
        for key, rows in (("input_key", ("instruction",)), ("label_key", KTO)):
            if key in self.model_fields_set and self.rows not in rows:
                yield f"{key} goes with `rows: {' or '.join(rows)}`, received {self.rows!r}"

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for problem in self.problems():
            raise ValueError(problem)
        return self


def is_text(entry: Mapping[str, Any]) -> bool:
    """Returns whether an entry of `datasets` holds texts, not ids."""
    return entry.get("format") == TEXT


def needs_tokenizer(entry: Mapping[str, Any]) -> bool:
    """Returns whether anything of an entry of `datasets` is tokenized: of texts only their weights are."""
    return not is_text(entry) or bool(entry.get("weights"))


def mode_read(entry: Mapping[str, Any]) -> str:
    """Returns the mode whose input files hold the rows that an entry of `datasets` reads, or `EXCHANGE`."""
    if is_text(entry):
        return _READ[entry["rows"]][0]
    return str(entry.get("mode", "lm"))  # An export of ids has no mode; its files hold texts, as those of this one.


def shape_read(mode: str, files: Files) -> Shape:
    """Returns the shape of the rows in files that a dataset reads by itself. mode: see `mode_read`."""
    return "exchange" if mode == EXCHANGE else SECTIONS[mode].shape_in(files)


def text_section(values: Mapping[str, Any]) -> TextExport:
    """Returns the section for values that were checked before."""
    return TextExport.model_construct(None, **values)
