"""Files that a dataset reads by itself, and the shape of the examples in them."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from corpus_assets.config.datasets.token_files import TokenFiles, reads_tokens
from corpus_assets.config.file_formats import (
    BLANK_LINE,
    DEFAULT_WINDOW,
    Csv,
    Extractor,
    Format,
    Html,
    Key,
    Keys,
    LargestWindow,
    MetadataKeys,
    TextSeparator,
    require_extractor,
    several,
)
from corpus_assets.config.naming import MESSAGE_KEY, ROW_KEY
from corpus_assets.config.own_files import OwnFiles
from corpus_assets.config.section import Bytes

Shape = Literal["text", "pair", "exchange", "conversation", "preference"]
Split = Literal["train", "decontaminated_train", "holdout", "validation", "test"]
WORDS: Mapping[Shape, str] = {
    "text": "texts",
    "pair": "pairs, as messages_key is not given",
    "exchange": "prompts and completions, both messages",
    "conversation": "conversations",
    "preference": "preferences",
}
_MESSAGES = frozenset({"role_key", "content_key"})
KEYS: Mapping[Shape, frozenset[str]] = {
    "text": frozenset({"text_key", "text_separator"}),
    "pair": frozenset({"prompt_key", "completion_key"}),
    "exchange": frozenset({"prompt_key", "completion_key"}) | _MESSAGES,
    "conversation": frozenset({"messages_key"}) | _MESSAGES,
    "preference": frozenset({"prompt_key", "chosen_key", "rejected_key"}) | _MESSAGES,
}
"""The options that name keys of a row of the shape."""


class Files(OwnFiles):
    """Files that one dataset reads by itself: texts, pairs, conversations or preferences in any input format."""

    format: Format = Field("auto", description="`auto`: by suffix and content")
    csv: Csv = Csv()
    extractor: Extractor = None
    html: Html = Html()
    id_key: Annotated[str, ROW_KEY] = Field("id", description="key or column that holds the id")
    ids: Literal["auto", "given", "derived", "optional"] = Field(
        "auto",
        description="`given`: a row without an id is bad; `derived`: made from file and row; `optional`: made "
        "for rows without one; `auto`: as the first good row of a file",
    )
    text_key: Annotated[Keys, ROW_KEY] = Field(
        "text", description="texts: key that holds the text; the texts of a list of keys are joined by `text_separator`"
    )
    text_separator: TextSeparator = BLANK_LINE
    prompt_key: Annotated[Keys, ROW_KEY] = Field(
        "prompt", description="pairs and preferences: key of the prompt; a list of keys is joined by blank lines"
    )
    completion_key: Annotated[Key, ROW_KEY] = Field("completion", description="pairs: key of the completion")
    messages_key: Annotated[Key | None, ROW_KEY] = Field(None, description="conversations: key of the list of messages")
    role_key: Annotated[Key, MESSAGE_KEY] = Field("role", description="conversations: key of a message's role")
    content_key: Annotated[Key, MESSAGE_KEY] = Field("content", description="conversations: key of a message's text")
    chosen_key: Annotated[Key, ROW_KEY] = Field("chosen", description="preferences: key of the preferred response")
    rejected_key: Annotated[Key, ROW_KEY] = Field("rejected", description="preferences: key of the other response")
    metadata_keys: MetadataKeys = None
    numbers: Literal["as_written", "python"] = Field(
        "as_written",
        description="numbers instead of texts: as written in the JSON; or as Python's `str` writes them (1e-05), "
        "also booleans (True); then 0 and false in JSON lines count as texts only in messages, as in Cerebras",
    )
    longest_row: Bytes = Field(256 << 20, description="rows and text files with more bytes are bad")
    largest_window: LargestWindow = DEFAULT_WINDOW

    @model_validator(mode="after")
    def _pages_are_extracted(self) -> "Files":
        require_extractor(self.extractor, self.html)
        return self

    @property
    def prompt_keys(self) -> tuple[str, ...]:
        """Returns the keys of the prompt, one or several."""
        return several(self.prompt_key)

    def keys(self, shape: Shape) -> tuple[str, ...]:
        """Returns the keys of a row that make an example of the shape."""
        return {
            "text": several(self.text_key),
            "pair": (*self.prompt_keys, self.completion_key),
            "exchange": (*self.prompt_keys, self.completion_key),
            "conversation": (self.messages_key or "messages",),
            "preference": (*self.prompt_keys, self.chosen_key, self.rejected_key),
        }[shape]

    def problems(self, shape: Shape, *, unread: bool = False) -> Iterator[str]:
        """Yields the keys that are empty, used twice, or unknown in examples of the shape.

        unread: keys of other shapes are allowed.
        """
        for keys in ([*self.keys(shape), self.id_key, "metadata"], [self.role_key, self.content_key]):
            if "" in keys or len(set(keys)) < len(keys):
                yield f"keys are {', '.join(map(repr, keys))}; valid: non-empty, each one used once"
        others = set().union(*KEYS.values()) & self.model_fields_set - KEYS[shape]
        for name in sorted(() if unread else others):
            if getattr(self, name) is not None:
                valid = ", ".join(sorted(KEYS[shape]))
                yield f"input: {name} is not read: the files hold {WORDS[shape]}; valid: {valid}"


def container(value: Any) -> str:
    """Returns what an input is: `split`, `files` or `tokens`."""
    if isinstance(value, str):
        return "split"
    return "tokens" if isinstance(value, TokenFiles) or reads_tokens({"input": value}) else "files"


def _container_of_texts(value: Any) -> str:
    return "split" if isinstance(value, str) else "files"


TextsAlone = Annotated[
    Annotated[Split, Tag("split")] | Annotated[Files, Tag("files")], Discriminator(_container_of_texts)
]
"""The input of what needs texts."""
TextInput = Annotated[
    Annotated[Split, Tag("split")] | Annotated[Files, Tag("files")] | Annotated[TokenFiles, Tag("tokens")],
    Discriminator(container),
]
