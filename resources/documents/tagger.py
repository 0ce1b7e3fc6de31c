"""Taggers: small pure functions that score spans of a document's text, known by name and version."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import msgspec

from resources.formats.attributes import Span
from resources.formats.documents import Document
from resources.outside_files import OutsideFile
from resources.stage.partition import Partition

Spans = Mapping[str, Sequence[Span]]
"""Spans by type, which is the last part of an attribute key."""

T = TypeVar("T")


class Text:
    """A document as taggers see it: its text, and what they compute from it, each once.

    Taggers that run together share it: `text.once(words)` calls `words(text)` for the first of them only.
    label: what the tagger that `words.by` names says of the document, such as its language.
    """

    __slots__ = ("_kept", "document", "label", "string")

    def __init__(self, document: Document, label: str | None = None) -> None:
        self.document = document
        self.label = label
        self.string = document.text
        self._kept: dict[Callable[[Text], Any], Any] = {}

    def once(self, function: Callable[["Text"], T]) -> T:
        """Returns the result of a function of the text, which is computed for the first caller only."""
        if function not in self._kept:
            self._kept[function] = function(self)
        return cast(T, self._kept[function])

    def changed(self, string: str) -> "Text":
        """Returns the same document with another text."""
        return Text(msgspec.structs.replace(self.document, text=string), self.label)

    def whole(self, score: float) -> list[Span]:
        """Returns one span over the whole text."""
        return [(0, len(self.string), score)]

    @property
    def metadata(self) -> dict[str, Any]:
        """The document's metadata; empty if it has none."""
        return self.once(_metadata)


def _metadata(text: Text) -> dict[str, Any]:
    raw = text.document.metadata
    return msgspec.json.decode(raw, type=dict[str, Any]) if bytes(raw) else {}


Tag = Callable[..., Spans]
"""A function of a `Text`, and of what the tagger's files hold, by the names of their options."""

Load = Callable[[Sequence[OutsideFile]], Any]
"""Reads the files, or folders, that an option names; called once per process."""


@dataclass(frozen=True)
class Tagger:
    """One tagger.

    name: as corpus.yaml and attribute keys have it: letters, digits and underscores.
    tag: module-level function of a text. It depends on nothing else, and scores are finite.
    version: raise it in the commit that changes what `tag` returns.
    gives: the types it gives and what they say, for the documentation.
    types: all types that it can give, so that a rule cannot name another one; none if they are open, as labels of a
        model are.
    source: who defined it.
    dolma: the function for `compat: dolma`, where the original's values are defects.
    dolma_version: that of `dolma`, if `version` was raised for `tag` alone.
    extra: the extra of this project that installs `wheels`. Empty for a tagger of your own.
    wheels: distributions that it needs beyond what is always installed; their versions are part of the recipe.
    files: options that name files, each with the function that reads them; `tag` gets what it returns by the option's
        name, and the digest of the files is part of the recipe.
    reads: keys of the metadata without which it says nothing of a document; a build names those that no document has.
    dolma_files: other functions to read them for `compat: dolma`.
    asset: an asset without partitions that it needs; `tag` gets what `read` returns for it by the name `model`.
    kernels: the compiled functions that `tag` calls, by module and name.
    splits_words: whether `words` of its entry chooses how texts are split into words; `tag` gets that choice by the
        name `words`.

        def shouting(text: Text) -> Spans:
            capitals = sum(map(str.isupper, text.string))
            return {"capitals": text.whole(capitals / max(1, len(text.string)))}

        TAGGERS = [Tagger("shouting", shouting, version="1", gives="`capitals`: share of capital letters",
                          types=("capitals",))]
    """

    name: str
    tag: Tag
    version: str
    gives: str
    source: str = "your own"
    types: tuple[str, ...] = ()
    dolma: Tag | None = None
    extra: str = ""
    wheels: tuple[str, ...] = ()
    files: Mapping[str, Load] = field(default_factory=dict, hash=False)
    dolma_files: Mapping[str, Load] = field(default_factory=dict, hash=False)
    reads: tuple[str, ...] = ()
    dolma_version: str = ""
    asset: str = ""
    read: Callable[[Partition], Any] | None = None
    kernels: tuple[str, ...] = ()
    splits_words: bool = False

    def function(self, compat: str | None) -> Tag:
        """Returns the function for a `compat`."""
        return self.dolma if compat == "dolma" and self.dolma else self.tag

    def version_of(self, compat: str | None) -> str:
        """Returns the version of the function for a `compat`."""
        return self.dolma_version or self.version if compat == "dolma" else self.version

    def loaders(self, compat: str | None) -> Mapping[str, Load]:
        """Returns the functions that read its files for a `compat`."""
        return {**self.files, **self.dolma_files} if compat == "dolma" else self.files
