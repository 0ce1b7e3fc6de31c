"""`attributes` of `corpus.yaml`: groups of taggers that run over every document."""

import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    Tag,
    model_serializer,
    model_validator,
)

from corpus_assets.config.endpoint import Endpoint
from corpus_assets.config.naming import ATTRIBUTE, FILE, TAGGER
from corpus_assets.config.section import LocalPath, Name, Section

TAKEN = ("short_documents", "duplicates")
_ALWAYS = ("lists", "model")


def entry_name(value: str) -> str:
    """Returns a name that attribute keys can begin with; `ValueError` for one that is in use."""
    if value[0].isdigit():
        raise ValueError("a name that starts with a letter, because attribute keys do")
    if value in TAKEN:
        raise ValueError(f"another name: {' and '.join(TAKEN)} are attributes already")
    return value


def key_prefix(name: str) -> str:
    """Returns a name in the form that attribute keys use."""
    return re.sub("[^A-Za-z0-9_]", "_", name)


def _how_many(value: Any) -> str:
    return "many" if isinstance(value, list) else "one"


Paths = Annotated[
    Annotated[LocalPath, Tag("one")] | Annotated[list[LocalPath], Field(min_length=1), Tag("many")],
    Discriminator(_how_many),
]


class TaggerOptions(Section):
    """What a tagger needs: local files, of which the recipe covers the content, and values of taggers in batches."""

    lists: Annotated[Paths | None, FILE] = Field(
        None, description="one or more files with a URL, host, or rule per line; may be `.gz`"
    )
    model: Annotated[LocalPath | None, FILE] = Field(
        None, description="a model of fastText or KenLM, tokenizer.json or spaCy pipeline"
    )
    tokenizer: Annotated[LocalPath | None, FILE] = Field(None, description="a SentencePiece model")
    borders: Annotated[LocalPath | None, FILE] = Field(
        None, description="a file with the perplexities at which middle and tail begin"
    )
    endpoint: Endpoint | None = Field(None, description="the server that a tagger asks (docs/batch-taggers.md)")
    settings: dict[str, JsonValue] = Field(default={}, description="values that a batch tagger of your own declares")
    batch_size: Annotated[int, Field(ge=1, le=100_000)] | None = Field(
        None, description="texts in a batch, for a batch tagger; scores do not depend on it"
    )
    device: str | None = Field(
        None, min_length=1, description="where a batch tagger of your own runs, such as `cuda:0`; by default `cpu`"
    )

    @model_serializer(mode="wrap")
    def _without_defaults_of_batches(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Returns its values without those of taggers in batches that are not set, so that records stay as they are."""
        values: dict[str, Any] = dump(self)
        return {key: value for key, value in values.items() if key in _ALWAYS or value not in (None, {})}

    def given(self) -> dict[str, list[str]]:
        """Returns the paths of the given options, by option."""
        lists = [self.lists] if isinstance(self.lists, str) else self.lists
        single = {"model": self.model, "tokenizer": self.tokenizer, "borders": self.borders}
        found = {"lists": lists, **{option: [path] if path else None for option, path in single.items()}}
        return {option: paths for option, paths in found.items() if paths}


def label_key(value: str) -> str:
    """Returns the name of a tagger that gives labels; `ValueError` for another form."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*\.[A-Za-z0-9_]+", value):
        raise ValueError("ENTRY.TAGGER, for example lang.language")
    return value


class Words(Section):
    """How the texts of an entry are split into words, for the taggers of presets (docs/languages.md)."""

    language: str | None = Field(None, min_length=1, description="the language of all texts, such as `tha_Thai`")
    by: Annotated[str | None, AfterValidator(lambda value: value and label_key(value)), ATTRIBUTE] = Field(
        None, description="`ENTRY.TAGGER` of another entry, such as `lang.language`: its label is a text's language"
    )
    stop_words: dict[str, list[str]] = Field(
        default={}, description="words that `stop_words` of `gopher_quality` counts, by language; by default Gopher's"
    )

    @model_validator(mode="after")
    def _one_of_them(self) -> "Words":
        if (self.language is None) == (self.by is None):
            raise ValueError("give one of language and by")
        return self


class Attributes(Section):
    """Taggers that run together: one asset `<name>_attributes`, one attribute file per shard."""

    name: Annotated[Name, AfterValidator(entry_name)] = Field(
        description="short name; folder of the files, and first part of every attribute key"
    )
    taggers: Annotated[list[str], Field(min_length=1), TAGGER] = Field(
        description="names of taggers (docs/attributes.md)"
    )
    compat: Literal["dolma"] | None = Field(None, description="values of Dolma 1.2.1, including its defects")
    words: Words | None = Field(
        None, description="whose words the taggers of presets count; by default English ones (docs/languages.md)"
    )
    options: Annotated[dict[str, TaggerOptions], TAGGER] = Field(
        default={}, description="files of taggers that need files, by name of the tagger"
    )

    @property
    def prefix(self) -> str:
        """Returns the first part of its attribute keys."""
        return key_prefix(self.name)

    @model_serializer(mode="wrap")
    def _without_words_that_are_not_given(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Returns its values, without `words` if there are none, so that records stay as they are."""
        values: dict[str, Any] = dump(self)
        return {key: value for key, value in values.items() if key != "words" or value is not None}

    @model_validator(mode="after")
    def _each_once(self) -> "Attributes":
        if twice := sorted({name for name in self.taggers if self.taggers.count(name) > 1}):
            raise ValueError(f"taggers: {', '.join(twice)} named twice; name each once")
        if unused := [name for name in self.options if name not in self.taggers]:
            raise ValueError(f"options: {unused[0]!r} is not one of its taggers; valid: {', '.join(self.taggers)}")
        return self
