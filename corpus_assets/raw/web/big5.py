"""The differences between Python's table of Big5 and the WHATWG Encoding Standard (index Big5)."""

from typing import Final

_CELLS: Final = 157
"""Characters with one first byte: second bytes 0x40 to 0x7E, and 0xA1 to 0xFE."""

_MISSING: Final = (
    "877a㡵𡵓𣚞𦀡㻬𥣞㫵竼龗𤅡𨤍𣇪𠪊𣉞䌊蒄龖鐯䤰蘓 87b0墖靊鈘秐稲晠権袝瑌篅枂稬剏遆㓦珄𥶹瓆鿇垳 "
    "87c4䤯呌䄱𣚎堘穲𧭥讏䚮𦺈䆁𥶙箮𢒼鿈𢓁𢓉𢓌鿉蔄 87d8𣖻䂴鿊䓡𪷿拁灮鿋 "
    "8e69箸 8e6f簆 8e7e糎 "
    "8eab緒 8eb4縝 8ecd者 8ed0耨 8f57菁 8f69蒨 8f6e萏 8fcb覦覩 8ffe起 906d都 907a銹 90dc靜 90f1響 91bf鼖 9244蔃 "
    "92af兙兛兝兞 92c8鍮 92d1瑹 9447浧 94ca禛 95d9邗 9644靝 96ed瀞 96fc嬨 9b76爁 9b78矗 9b7b纇 9bc6駖 9bde釔 9bec惞 "
    "9bf6澶 9c42輶 9c53侻 9c62營 9c68鄄 9c6b鷰 9c77菏 9cbc尐秣 9cd0婧 9d57輋 9d5a筑 9dc4拐 9ea9恢 9eef痹 9efd汊 "
    "9f60鬮 9f66鼗 9fcb僭 9fd8弌 a063蠏 a077拎 a0d5瑨 a0df煢 a0e4牐 a3c0␀␁␂␃␄␅␆␇␈␉␊␋␌␍␎␏␐␑␒␓␔␕␖␗␘␙␚␛␜␝␞␟␡€ "
    "c6cf廴 c6d3无 c6d5癶 c6d7隶 c6de〃仝 fa5f倩 fa66偽 fabd包 fac5卄 fad5卿 fb48嘅 fbb8婷 fbf3幵 fbf9廐 fc4f彘 "
    "fc6c悤 fcb9撐 fce2晴 fcf1杞 fdb7沜渝 fdbb港 fdf1煮 fe52猪 fe6f瑜 feaa瓩 fedd砉"
)
"""Runs of characters, each with the two bytes of its first one in hexadecimal."""

OTHERWISE: Final = str.maketrans(
    "\u2022\uff64\u203e\u223c\u2641\u2609\xa5\xa2\xa3",
    "\u2027\ufe51\xaf\uff5e\u2295\u2299\uffe5\uffe0\uffe1",
)
"""Python's characters and those of the standard.

A2 41 and A2 42 stay fullwidth slashes like A1 FE and A2 40, because Python has the same characters for both.
"""


def _pointer(lead: int, trail: int) -> int:
    """Returns the place of a character in the standard's index."""
    return (lead - 0x81) * _CELLS + trail - (0x40 if trail < 0x7F else 0x62)


def _runs() -> dict[int, str]:
    found: dict[int, str] = {}
    for run in _MISSING.split():
        first = _pointer(*bytes.fromhex(run[:4]))
        found |= {first + place: character for place, character in enumerate(run[4:])}
    return found


_BY_POINTER: Final = _runs()


def missing(pair: bytes) -> str | None:
    """Returns the character of two bytes that Python's table lacks; None if there is none."""
    if len(pair) < 2 or not (0x40 <= pair[1] <= 0x7E or 0xA1 <= pair[1] <= 0xFE):
        return None
    return _BY_POINTER.get(_pointer(*pair))
