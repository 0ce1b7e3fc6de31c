"""Which splitter a text has its words from: that of a configured language, or of its own label."""

from collections.abc import Collection, Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from corpus_assets.attributes.splitters.libraries import LIBRARIES, Splitter
from corpus_assets.attributes.splitters.words import WordList, word_list
from resources.documents.tagger import Text

VERSION = "1"
"""Raise it in the commit that gives a language other words."""


class Named(NamedTuple):
    """A splitter by name. library: key of `LIBRARIES`. code: the library's for the language, or empty."""

    library: str
    code: str


OTHER = Named("spacy", "xx")
"""The splitter of labels that have none: spaces, and marks beside them."""


@cache
def assigned() -> Mapping[str, Named]:
    """Returns the splitter of each language by its label, such as `tha_Thai`."""
    found: dict[str, Named] = {}
    table = files("corpus_assets.attributes") / "data" / "word_splitters.txt"
    for line in table.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            name, _, labels = line.partition(": ")
            library, _, code = name.partition(" ")
            found |= dict.fromkeys(labels.split(), Named(library, code))
    return found


@cache
def _splitter(named: Named) -> Splitter:
    return LIBRARIES[named.library].splitter(named.code)


def wheels_of(language: str | None) -> list[str]:
    """Returns the distributions that split texts of a language; those for all languages if it is None."""
    used = {assigned()[language].library} if language else set(LIBRARIES)
    return sorted({wheel for name in used for wheel in LIBRARIES[name].wheels})


class WordChoice:
    """How the texts of an entry are split into words.

    language: the label of all texts; None for the label of each. stop_words: of languages by label; those of Gopher
    for all texts if there are none.
    """

    def __init__(self, language: str | None, stop_words: Mapping[str, Collection[str]]) -> None:
        self._language = language
        self._stop_words = {label: frozenset(words) for label, words in stop_words.items()}

    def words(self, text: Text) -> WordList:
        """Returns the words of a text."""
        named = assigned().get(self._language or text.label or "", OTHER)
        return word_list(_splitter(named)(text.string))

    def stop_words(self, text: Text, others: Collection[str]) -> Collection[str]:
        """Returns the stop words of the language of a text; the others if no language has any."""
        return self._stop_words.get(self._language or text.label or "", ()) if self._stop_words else others


ENGLISH = WordChoice("eng_Latn", {})
"""English words of all texts."""
