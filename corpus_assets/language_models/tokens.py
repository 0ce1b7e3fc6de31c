"""The words of a language model: those between spaces, or the pieces of a SentencePiece model."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from corpus_assets.attributes.taggers.labels.perplexity import normalized

BEGIN, END, UNKNOWN = "<s>", "</s>", "<unk>"
Split = Callable[[str], list[str]]

_NOT_WORDS: Final = frozenset((BEGIN, END, UNKNOWN, "<UNK>"))
"""What KenLM takes for something else; such words of a text are left out, when it is learned from and when judged."""

_SPACES = re.compile("[\x00\t\n\x0b\x0c\r ]+")


def split_words(line: str) -> list[str]:
    """Returns the words of a line."""
    return _words(line.replace("\x00", " ").split())


def split_pieces(tokenizer: Any) -> Split:
    """Returns the function that splits a line, as CCNet prepares it, into the pieces of a SentencePiece model."""

    def split(line: str) -> list[str]:
        pieces = " ".join(tokenizer.encode(normalized(line), out_type=str))
        return _words([piece for piece in _SPACES.split(pieces) if piece])

    return split


def lines_of(text: str, split: Split) -> Iterator[list[str]]:
    """Yields the words of each line of a text that has any."""
    for line in text.splitlines():
        if words := split(line):
            yield words


def _words(words: Sequence[str]) -> list[str]:
    return [word for word in words if word not in _NOT_WORDS]
