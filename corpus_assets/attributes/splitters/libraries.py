"""Splitters of texts into words by the libraries that datatrove uses for languages without spaces, and by ICU.

Each is a function of a text that returns its words; whitespace is none. Source: datatrove 0.10.1,
`utils/word_tokenizers.py`.
"""

import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from corpus_assets.attributes.splitters.spacy_rules import spacy_rules

Splitter = Callable[[str], list[str]]
MOST_BYTES = 40_000
"""Of a text that Sudachi reads at once."""
_STEP = 10
_LONG_NUMBER = re.compile("[0-9,]{20,}")
_INDIC_MARKS, _URDU_MARKS = (re.compile(f"([{string.punctuation}{more}])") for more in ("।॥꫱꫰꯫꯬꯭꯮꯯᱾᱿", "؉؊،؞٪٫٬٭۔"))
_SPACES, _NUMBERS = re.compile(" +"), re.compile("([0-9]+ [,.:/] )+[0-9]+")


def _stripped(words: Iterable[str]) -> list[str]:
    return [word for found in words if (word := found.strip())]


def _spacy(code: str) -> Splitter:
    return spacy_rules(code).words


def _jieba(_: str) -> Splitter:
    import rjieba

    return lambda text: _stripped(rjieba.cut(text))


def _sudachi(_: str) -> Splitter:
    from sudachipy import Dictionary, SplitMode

    tokenizer: Any = Dictionary().tokenizer(SplitMode.A)
    return lambda text: _stripped(found.surface() for part in parts(text) for found in tokenizer.tokenize(part))


def _kiwi(_: str) -> Splitter:
    from kiwipiepy import Kiwi

    kiwi: Any = Kiwi(num_workers=1, model_type="sbg")

    def split(text: str) -> list[str]:
        text = _LONG_NUMBER.sub("", text)
        return _stripped(text[found.start : found.end] for found in kiwi.tokenize(text))

    return split


def _pythainlp(_: str) -> Splitter:
    from pythainlp.tokenize import word_tokenize

    return lambda text: _stripped(word_tokenize(text, keep_whitespace=False, engine="newmm-safe"))


def _laonlp(_: str) -> Splitter:
    from laonlp.tokenize import word_tokenize

    return lambda text: _stripped(word_tokenize(text))


def _icu(code: str) -> Splitter:
    from icu4py.breakers import WordBreaker

    return lambda text: _stripped(WordBreaker(text, code))


def _indic(code: str) -> Splitter:
    return split_urdu if code == "ur" else split_indic


def split_indic(text: str) -> list[str]:
    """Returns what stands between spaces and marks of the Indian languages; numbers with marks stay whole.

    Source: `trivial_tokenize_indic` of indic-nlp-library 0.92.
    """
    spaced = _SPACES.sub(" ", _INDIC_MARKS.sub(r" \1 ", text.replace("\t", " "))).strip(" ")
    return _stripped(_NUMBERS.sub(lambda match: match[0].replace(" ", ""), spaced).split(" "))


def split_urdu(text: str) -> list[str]:
    """Returns what stands between spaces and marks of Arabic scripts (`trivial_tokenize_urdu`)."""
    return _stripped(_URDU_MARKS.sub(r" \1 ", text.replace("\t", " ")).split(" "))


def parts(text: str, most: int = MOST_BYTES) -> Iterator[str]:
    """Yields a text in parts of up to a number of bytes, cut where `chunk_text_on_bytes` of datatrove cuts it."""
    size = max(int(most * len(text) / max(len(text.encode()), 1) - _STEP), 1)
    while text:
        while len(text[:size].encode()) > most:
            size = max(size - _STEP, 1)
        end = size
        while end < len(text) and len(text[:end].encode()) < most:
            end = min(len(text), end + _STEP)
        end -= _STEP if len(text[:end].encode()) > most else 0
        yield text[:end]
        text = text[end:]


class Library(NamedTuple):
    """What splits texts. wheels: the distributions that it needs. splitter: of a code of the language."""

    wheels: tuple[str, ...]
    splitter: Callable[[str], Splitter]


LIBRARIES: Mapping[str, Library] = {
    "spacy": Library(("spacy",), _spacy),
    "jieba": Library(("rjieba",), _jieba),
    "sudachi": Library(("sudachidict-core", "sudachipy"), _sudachi),
    "kiwi": Library(("kiwipiepy", "kiwipiepy-model"), _kiwi),
    "pythainlp": Library(("pythainlp",), _pythainlp),
    "laonlp": Library(("laonlp", "pythainlp"), _laonlp),
    "icu": Library(("icu4py",), _icu),
    "indic": Library((), _indic),
}
"""All libraries by the name that `data/word_splitters.txt` has for them."""
