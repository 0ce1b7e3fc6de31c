"""Phone numbers in running text: international and North American ones, and any after a word such as `tel`."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from corpus_assets.attributes.personal.spans import Found, apart

_GAP = r"\)?[ .\-/\xa0\u2010-\u2013]?\(?"
_ALONE = r"(?<![A-Za-z0-9])(?<![0-9][.\-])"
_END = r"(?![0-9])(?![.\-][0-9])"
_ABROAD = rf"(?<![A-Za-z0-9+])\+(?:1{_GAP}(?:[0-9]{_GAP}){{9}}[0-9]|[2-9](?:{_GAP}[0-9]){{5,13}}[0-9])(?![0-9])"
_APART = r"(?:[ \xa0]?[.\-\u2010-\u2013][ \xa0]?|[ \xa0])"
_AREA = rf"(?:\([0-9]{{3}}\)[ \xa0]?{_APART}?|[2-9][0-9]{{2}}(?:{_APART}|/|[ ]{{2}}))"
_NO_LIST = r"(?<!\b[0-9]{3} )"
_EXTENSION = r"(?: ?(?:x|ext\.?|extension) ?[0-9]{1,6}(?![A-Za-z0-9]))?"
_AMERICAN = rf"{_ALONE}{_NO_LIST}(?:1{_APART})?{_AREA}[0-9]{{3}}{_APART}?[0-9]{{4}}{_END}{_EXTENSION}"
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{4}\b"
_ANY = rf"{_ALONE}(?!{_DATE})\(?[0-9](?:{_GAP}[0-9]){{5,13}}[0-9]{_END}"
_BEFORE = 40
# The longest text before the first digit of a number, and after the last digit that belongs to it.
_LEAD, _TAIL = len("+("), len(" extension 123456 ")
_NAMED = (
    r"\b(?:tele?phone|telefone?|t[ée]l[ée]phone|t[ée]l|phone|ph|fax|facsimile|mobile|m[óo]vil|cell|hotline|whatsapp)\b"
    r"[^0-9\n]{0,12}$|\b(?:call|dial)\b(?: us| me)?(?: at| on)?[ :]{0,2}$"
)
_NO_PHONE = r"\b(?:isbn|issn|doi)\b[^\n]*$"


def phones(string: str, numbers: Iterable[Found]) -> Iterator[Found]:
    """Yields beginning and end of each phone number, in the order of the text.

    International: `+`, the code of a country, 7 to 15 digits in all. North American: three, three and four digits, the
    first three in parentheses or separated from the rest, with an extension. Any other needs a word before it, such as
    `tel`, since ten digits in a row may be any number. None after ISBN, ISSN or DOI. numbers: as `Signs` has them.
    """
    for start, end in _with_surroundings(numbers):
        yield from _phones_between(string, start, end)


def _with_surroundings(numbers: Iterable[Found]) -> Iterator[Found]:
    """Yields the parts of a text with seven digits close together, including their possible surroundings."""
    first = last = 0
    for start, end in numbers:
        if start - _LEAD > last:
            if last:
                yield first, last
            first = start - _LEAD
        last = end + _TAIL
    if last:
        yield first, last


def _phones_between(string: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    patterns = _patterns()
    shaped = [match.span() for match in patterns.shaped.finditer(string, start, end)]
    any_number = (match.span() for match in patterns.any.finditer(string, start, end))
    named = (span for span in any_number if patterns.named.search(_before(string, span)))
    for span in sorted([*shaped, *apart(named, shaped)]):
        if not is_of_book(string, span):
            yield span


def is_of_book(string: str, span: tuple[int, int]) -> bool:
    """Returns whether the line before a number contains ISBN, ISSN or DOI."""
    return _patterns().no_phone.search(_before(string, span)) is not None


def _before(string: str, span: tuple[int, int]) -> str:
    return string[max(0, span[0] - _BEFORE) : span[0]]


class _Patterns:
    """Patterns, compiled once and late, since `regex` loads slowly and plans need none."""

    def __init__(self) -> None:
        import regex

        self.shaped: Any = regex.compile(f"{_ABROAD}|{_AMERICAN}", regex.IGNORECASE)
        self.any: Any = regex.compile(_ANY)
        self.named: Any = regex.compile(_NAMED, regex.IGNORECASE)
        self.no_phone: Any = regex.compile(_NO_PHONE, regex.IGNORECASE)


_patterns = cache(_Patterns)
