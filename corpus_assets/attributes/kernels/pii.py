"""E-mail addresses, phone numbers and IPv4 addresses as the toolkit's expressions find them, in one pass each.

    e-mail  [.\\s@,?!;:)(]*([^\\s@]+@[^\\s@,?!;:)(]+?)[.\\s@,?!;:)(]?[\\s\\n\\r]
    phone   \\s+\\(?(\\d{3})\\)?[-\\. ]*(\\d{3})[-. ]?(\\d{4})
    IP      (?:(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\\.){3}(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)

`re` tries the first two again from every position of a long run, which takes quadratic time.
"""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.kernels.flags import CODES, DIGIT, SPACE
from resources.kernels.jit import ahead, helper, inlined, kernel

_NEWLINE, _AT, _DOT, _OPEN, _CLOSE, _SPACE, _DASH = 10, 0x40, 0x2E, 0x28, 0x29, 0x20, 0x2D
_COMMA, _QUESTION, _EXCLAMATION, _SEMICOLON, _COLON = 0x2C, 0x3F, 0x21, 0x3B, 0x3A
_NONE = -1
_OCTETS = 4
# Code points of the shortest matches, which bound the number of matches in a text.
_SHORTEST_PHONE, _SHORTEST_ADDRESS, _SHORTEST_EMAIL = 11, 7, 4


@inlined
def _is(codes: NDArray[np.uint32], flags: NDArray[np.uint8], place: int, bit: int) -> bool:
    return place < codes.size and flags[codes[place]] & bit != 0


@inlined
def _is_code(codes: NDArray[np.uint32], place: int, code: int) -> bool:
    return place < codes.size and codes[place] == code


@inlined
def _digits(codes: NDArray[np.uint32], flags: NDArray[np.uint8], place: int, count: int) -> bool:
    digits = 0
    while digits < count and _is(codes, flags, place + digits, DIGIT):
        digits += 1
    return digits == count


@helper
def _phone_end(codes: NDArray[np.uint32], flags: NDArray[np.uint8], place: int) -> int:
    """Returns the end of a phone number that begins after whitespace; -1 if there is none."""
    place += _is_code(codes, place, _OPEN)
    if not _digits(codes, flags, place, 3):
        return _NONE
    place += 3
    place += _is_code(codes, place, _CLOSE)
    while place < codes.size and (codes[place] == _DASH or codes[place] == _DOT or codes[place] == _SPACE):
        place += 1
    if not _digits(codes, flags, place, 3):
        return _NONE
    place += 3
    place += _is_code(codes, place, _DASH) or _is_code(codes, place, _DOT) or _is_code(codes, place, _SPACE)
    return place + 4 if _digits(codes, flags, place, 4) else _NONE


@ahead(f"{CODES}, uint8[::1], boolean")
@kernel
def find_phones(
    codes: NDArray[np.uint32], flags: NDArray[np.uint8], by_paragraph: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns beginnings and ends of phone numbers, including whitespace before them.

    by_paragraph: that whitespace stays within the paragraph.
    """
    room = codes.size // _SHORTEST_PHONE + 1
    starts, ends = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    found = done = 0
    for place in range(1, codes.size):
        code = codes[place]
        if (code != _OPEN and flags[code] & DIGIT == 0) or flags[codes[place - 1]] & SPACE == 0 or place <= done:
            continue
        if by_paragraph and codes[place - 1] == _NEWLINE:
            continue
        end = _phone_end(codes, flags, place)
        if end == _NONE:
            continue
        start = place
        while start > done and flags[codes[start - 1]] & SPACE and not (by_paragraph and codes[start - 1] == _NEWLINE):
            start -= 1
        starts[found], ends[found] = start, end
        found += 1
        done = end
    return starts[:found], ends[:found]


@inlined
def _value(codes: NDArray[np.uint32], place: int) -> int:
    """Returns the value of an ASCII digit; -1 if there is none."""
    return int(codes[place]) - 0x30 if place < codes.size and 0x30 <= codes[place] <= 0x39 else _NONE


@helper
def _octet(codes: NDArray[np.uint32], place: int) -> int:
    """Returns the end of the longest octet that begins at a position; -1 if there is none."""
    first = _value(codes, place)
    if first == _NONE:
        return _NONE
    second = _value(codes, place + 1)
    if second == _NONE:
        return place + 1
    third = _value(codes, place + 2)
    longer = third != _NONE and (first < 2 or (first == 2 and (second < 5 or (second == 5 and third < 6))))
    return place + 3 if longer else place + 2


@ahead(CODES)
@kernel
def find_addresses(codes: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns where IPv4 addresses begin and end."""
    room = codes.size // _SHORTEST_ADDRESS + 1
    starts, ends = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    found = done = 0
    for place in range(codes.size):
        if place < done or not 0x30 <= codes[place] <= 0x39:
            continue
        end = _octet(codes, place)
        octets = 1
        while octets < _OCTETS and _is_code(codes, end, _DOT):
            end = _octet(codes, end + 1)
            if end == _NONE:
                break
            octets += 1
        if octets == _OCTETS:
            starts[found], ends[found] = place, end
            found += 1
            done = end
    return starts[:found], ends[:found]


@inlined
def _is_mark(code: np.uint32) -> bool:
    """Returns whether a code point other than whitespace ends a domain: `@,?!;:)(`."""
    return bool(
        (code == _AT)
        | (code == _COMMA)
        | (code == _QUESTION)
        | (code == _EXCLAMATION)
        | (code == _SEMICOLON)
        | (code == _COLON)
        | (code == _OPEN)
        | (code == _CLOSE)
    )


@inlined
def _leads(codes: NDArray[np.uint32], flags: NDArray[np.uint8], place: int) -> bool:
    """Returns whether a code point may stand before an address: `[.\\s@,?!;:)(]`."""
    code = codes[place]
    return bool(code == _DOT or _is_mark(code) or flags[code] & SPACE)


@helper
def _behind_at(codes: NDArray[np.uint32], flags: NDArray[np.uint8], at: int, start: int, stop: int) -> tuple[int, int]:
    """Returns the end of the domain after an at sign, and of the whole match; -1 if there is no address.

    start, stop: the part of the text to use.
    """
    if at - 1 < start or codes[at - 1] == _AT or flags[codes[at - 1]] & SPACE:
        return _NONE, _NONE
    end = at + 1
    while end < stop and not _is_mark(codes[end]) and flags[codes[end]] & SPACE == 0:
        end += 1
    if end == at + 1 or end == stop:
        return _NONE, _NONE
    space = flags[codes[end]] & SPACE != 0
    if space and codes[end - 1] == _DOT and end - at > 2:
        return end - 1, end + 1
    if end + 1 < stop and flags[codes[end + 1]] & SPACE:
        return end, end + 2
    return (end, end + 1) if space else (_NONE, _NONE)


@ahead(f"{CODES}, uint8[::1], int64, int64")
@kernel
def find_emails(codes: NDArray[np.uint32], flags: NDArray[np.uint8], start: int, stop: int) -> NDArray[np.int64]:
    """Returns where the match of each e-mail address in a part of the text begins and ends, and the address: (n, 4)."""
    spans = np.empty(((stop - start) // _SHORTEST_EMAIL + 1, 4), dtype=np.int64)
    found = 0
    at = done = start
    while at < stop:
        if codes[at] != _AT:
            at += 1
            continue
        last, end = _behind_at(codes, flags, at, done, stop)
        if end == _NONE:
            at += 1
            continue
        begin = at
        while begin > done and codes[begin - 1] != _AT and flags[codes[begin - 1]] & SPACE == 0:
            begin -= 1
        while begin > done and _leads(codes, flags, begin - 1):
            begin -= 1
        # The leading characters are matched greedily: the address begins after them, or in the last of them that can
        # begin one.
        lead = begin
        while lead < stop and _leads(codes, flags, lead):
            lead += 1
        first = lead if lead < at else at - 1
        for later in range(at + 1, stop if lead > at else at):
            if codes[later] == _AT:
                its_last, its_end = _behind_at(codes, flags, later, done, stop)
                if its_end != _NONE:
                    first = lead if lead < later else later - 1
                    last, end = its_last, its_end
            if later > lead and (codes[later] == _AT or flags[codes[later]] & SPACE):
                break
        spans[found, 0], spans[found, 1], spans[found, 2], spans[found, 3] = begin, end, first, last
        found += 1
        at = done = end
    return spans[:found]
