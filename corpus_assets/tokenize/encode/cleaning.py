"""Text cleaning before tokenizing: ftfy, the wikitext detokenizer, and cutting long texts into pieces."""

import re
from collections.abc import Iterator

from corpus_assets.config.datasets.options import Cleaning


def clean(text: str, section: Cleaning) -> str:
    """Returns the text in the form that is tokenized. Nothing is stripped or lower-cased."""
    if section.ftfy:
        import ftfy

        text = ftfy.fix_text(text, normalization=section.normalization, **section.fixes)
    return detokenize_wikitext(text) if section.wikitext else text


_BEFORE_BRACKETS = (
    ("s '", "s'"),
    (" @-@ ", "-"),
    (" @,@ ", ","),
    (" @.@ ", "."),
    (" : ", ": "),
    (" ; ", "; "),
    (" . ", ". "),
    (" ! ", "! "),
    (" ? ", "? "),
    (" , ", ", "),
)
_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ('"', '"'), ("'", "'"))
_AFTER_BRACKETS = (
    ("= = = =", "===="),
    ("= = =", "==="),
    ("= =", "=="),
    (" ° ", "°"),
    (" \n", "\n"),
    ("\n ", "\n"),
    (" N ", " 1 "),
    (" 's", "'s"),
)


def detokenize_wikitext(text: str) -> str:
    """Returns wikitext with natural spacing (docs/formats/cerebras-hdf5.md "Wikitext detokenizer").

    Meant for wikitext only: it joins a plural and the quotation after it ("cats 'and" becomes "cats'and").
    """
    for spaced, natural in _BEFORE_BRACKETS:
        text = text.replace(spaced, natural)
    for opening, closing in _PAIRS:
        text = _trim_inside(text, opening, closing)
    for spaced, natural in _AFTER_BRACKETS:
        text = text.replace(spaced, natural)
    return text


def _trim_inside(text: str, opening: str, closing: str) -> str:
    """Returns the text without white space at the inner side of paired marks; a pair ends at the first closing mark."""
    # Text after the last closing mark cannot hold a pair; searching it would take quadratic time on "((((".
    end = text.rfind(closing) + 1
    pair = re.compile(f"{re.escape(opening)}([^{re.escape(closing)}]*){re.escape(closing)}")
    return pair.sub(lambda match: opening + match[1].strip() + closing, text[:end]) + text[end:]


def split_text(text: str, length: int) -> Iterator[str]:
    """Yields pieces of at least `length` characters (the last may be shorter); their concatenation is the text.

    A piece ends before the first space at or after `length` characters, so the next one starts with that
    space (docs/formats/cerebras-rows.md "LMData"). Text without spaces stays whole, and an empty text has no piece.
    """
    start = 0
    while (end := text.find(" ", start + length)) >= 0:
        yield text[start:end]
        start = end
    if text:
        yield text[start:]
