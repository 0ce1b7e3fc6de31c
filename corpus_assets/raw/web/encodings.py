"""The encodings of the web, by all labels that pages may give them, and their decoders (WHATWG Encoding Standard).

Decoders are Python's codecs, corrected where they differ from the standard. Remaining differences: A2 41 and A2 42 of
Big5 (slashes of full width), 8F A2 B7 of EUC-JP (`~`), private characters of gb18030 in four bytes, and how many U+FFFD
stand for damaged ISO-2022-JP.
"""

import codecs
import re
from collections.abc import Callable
from functools import cache
from typing import Final

from corpus_assets.raw.web import big5

_LABELS: Final = {
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 x-unicode20utf8",
    "ibm866": "866 cp866 csibm866",
    "iso-8859-2": "csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
    "iso-8859-3": "csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3",
    "iso-8859-4": "csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4",
    "iso-8859-5": "csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988",
    "iso-8859-6": (
        "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e iso-8859-6-i iso-ir-127 "
        "iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987"
    ),
    "iso-8859-7": (
        "csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987 "
        "sun_eu_greek"
    ),
    "iso-8859-8": (
        "csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 "
        "visual"
    ),
    "iso-8859-8-i": "csiso88598i logical",
    "iso-8859-10": "csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso-8859-13": "iso8859-13 iso885913",
    "iso-8859-14": "iso8859-14 iso885914",
    "iso-8859-15": "csisolatin9 iso8859-15 iso885915 iso_8859-15 l9",
    "iso-8859-16": "",
    "koi8-r": "cskoi8r koi koi8 koi8_r",
    "koi8-u": "koi8-ru",
    "macintosh": "csmacintosh mac x-mac-roman",
    "windows-874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620",
    "windows-1250": "cp1250 x-cp1250",
    "windows-1251": "cp1251 x-cp1251",
    "windows-1252": (
        "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 "
        "iso_8859-1:1987 l1 latin1 us-ascii x-cp1252"
    ),
    "windows-1253": "cp1253 x-cp1253",
    "windows-1254": (
        "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 x-cp1254"
    ),
    "windows-1255": "cp1255 x-cp1255",
    "windows-1256": "cp1256 x-cp1256",
    "windows-1257": "cp1257 x-cp1257",
    "windows-1258": "cp1258 x-cp1258",
    "x-mac-cyrillic": "x-mac-ukrainian",
    "gbk": "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk",
    "gb18030": "",
    "big5": "big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc-jp": "cseucpkdfmtjapanese x-euc-jp",
    "iso-2022-jp": "csiso2022jp",
    "shift_jis": "csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis",
    "euc-kr": ("cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949"),
    "replacement": "csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr",
    "utf-16be": "unicodefffe",
    "utf-16le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16",
    "x-user-defined": "",
}
LABELS: Final = {label: name for name, others in _LABELS.items() for label in (name, *others.split())}
"""The encoding of each label, both in small letters."""

_SPACE: Final = "\t\n\f\r "
_SINGLE: Final = {
    "ibm866": "cp866",
    "macintosh": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
    "iso-8859-8-i": "iso8859-8",
    "windows-874": "cp874",
    "koi8-r": "koi8-r",
    "koi8-u": "koi8-u",
    **{f"iso-8859-{part}": f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    **{f"windows-{page}": f"cp{page}" for page in range(1250, 1259)},
}
"""Python's codec of each encoding with one byte per character."""

_OTHERWISE: Final = {("koi8-u", 0xAE): "\u045e", ("koi8-u", 0xBE): "\u040e", ("windows-1255", 0xCA): "\u05ba"}
_GB: Final = str.maketrans(
    "\ue5e5\ue78d\ue78e\ue78f\ue790\ue791\ue792\ue793\ue794\ue795\ue796\ue7c7"
    "\ue81e\ue826\ue82b\ue82c\ue832\ue843\ue854\ue864",
    "\u3000\ufe10\ufe12\ufe11\ufe13\ufe14\ufe15\ufe16\ufe17\ufe18\ufe19\u1e3f"
    "\u9fb4\u9fb5\u9fb6\u9fb7\u9fb8\u9fb9\u9fba\u9fbb",
)
"""Characters of gb18030 that are newer than Python's edition."""
_JIS: Final = str.maketrans("\u301c\u2016\u2212\xa2\xa3\xac", "\uff5e\u2225\uff0d\uffe0\uffe1\uffe2")
_SJIS: Final = str.maketrans("\uf8f0\uf8f1\uf8f2\uf8f3", "\ufffd" * 4)

_FOUR: Final = re.compile(rb"[\x81-\xfe][0-9](?:[\x81-\xfe][0-9]?)?")
"""Four bytes of gb18030, or fewer at the end of a text, which the standard treats as one sequence."""

Mended = tuple[str, int]


def encoding_of(label: str) -> str | None:
    """Returns the name of the encoding of a label, in small letters; None for an unknown label."""
    return LABELS.get(label.strip(_SPACE).lower())


def decode(content: bytes, encoding: str) -> str:
    """Returns bytes as text; invalid bytes become U+FFFD. A byte order mark is a character.

    encoding: one that `encoding_of` returns, or a codec of Python's for a Unicode format.
    """
    if encoding in _SINGLE:
        return codecs.charmap_decode(content, "replace", _table(encoding))[0]
    decoder = _OTHERS.get(encoding)
    return decoder(content) if decoder else content.decode(encoding, "replace")


@cache
def _table(encoding: str) -> str:
    """Returns the characters of the 256 bytes, U+FFFE for an invalid byte; unused ones of Windows are controls."""
    windows = encoding.startswith("windows")
    return "".join(_character(encoding, byte, controls=windows) for byte in range(256))


def _character(encoding: str, byte: int, *, controls: bool) -> str:
    if (encoding, byte) in _OTHERWISE:
        return _OTHERWISE[encoding, byte]
    try:
        return bytes([byte]).decode(_SINGLE[encoding])
    except UnicodeDecodeError:
        return chr(byte) if controls and byte < 0xA0 else "\ufffe"


def _broken(content: bytes, start: int) -> Mended:
    """Returns U+FFFD for an invalid sequence, and its end: ASCII after its first byte does not belong to it."""
    trail = content[start + 1 : start + 2]
    return "\ufffd", start + (2 if trail and trail[0] > 0x7F and 0x80 < content[start] < 0xFF else 1)


def _big5(content: bytes, start: int) -> Mended:
    found = big5.missing(content[start : start + 2])
    return (found, start + 2) if found else _broken(content, start)


def _gb18030(content: bytes, start: int) -> Mended:
    if content[start] == 0x80:
        return "\u20ac", start + 1
    if _FOUR.fullmatch(content[start : start + 4]):
        return "\ufffd", min(start + 4, len(content))
    return _broken(content, start)


def _jis0208(content: bytes, start: int) -> Mended:
    """Returns a character of JIS X 0208 as Windows extends it, which is its place in Shift_JIS, else U+FFFD."""
    pair = bytes(byte & 0x7F for byte in content[start : start + 2])
    of_one_kind = len({byte >> 7 for byte in content[start : start + 2]}) == 1
    if len(pair) < 2 or not of_one_kind or not all(0x21 <= byte <= 0x7E for byte in pair):
        return _broken(content, start)
    row, cell = pair[0] - 0x21, pair[1] - 0x21
    pointer = row * 94 + cell
    lead, trail = divmod(pointer, 188)
    packed = bytes([lead + (0x81 if lead < 0x1F else 0xC1), trail + (0x40 if trail < 0x3F else 0x41)])
    return packed.decode("cp932", "replace")[0], start + 2


def _euc_jp(content: bytes, start: int) -> Mended:
    first, second, third = (content[place : place + 1] for place in range(start, start + 3))
    if first == b"\x8f" and b"\xa1" <= second <= b"\xfe":
        return "\ufffd", start + (3 if third > b"\x7f" else 2)
    if first < b"\xa1" and first not in b"\x8e\x8f":
        return "\ufffd", start + 1
    return _jis0208(content, start)


def _mending(name: str, mended: Callable[[bytes, int], Mended]) -> str:
    """Registers an error handler for bytes that one of Python's codecs refuses; returns its name."""

    def handle(fault: UnicodeError) -> Mended:
        assert isinstance(fault, UnicodeDecodeError)
        return mended(fault.object, fault.start)

    codecs.register_error(f"corpus-{name}", handle)
    return f"corpus-{name}"


_OF_GB: Final = _mending("gb18030", _gb18030)
_OF_EUC_JP: Final = _mending("euc-jp", _euc_jp)
_OF_JIS: Final = _mending("jis0208", _jis0208)
_OF_BIG5: Final = _mending("big5", _big5)
_OF_PAIRS: Final = _mending("pairs", _broken)


def _from_gb18030(content: bytes) -> str:
    return content.decode("gb18030", _OF_GB).translate(_GB)


_OTHERS: Final[dict[str, Callable[[bytes], str]]] = {
    "gbk": _from_gb18030,
    "gb18030": _from_gb18030,
    "big5": lambda content: content.decode("big5hkscs", _OF_BIG5).translate(big5.OTHERWISE),
    "euc-jp": lambda content: content.decode("euc_jp", _OF_EUC_JP).translate(_JIS),
    "iso-2022-jp": lambda content: content.decode("iso2022_jp_ext", _OF_JIS).translate(_JIS),
    "shift_jis": lambda content: content.decode("cp932", _OF_PAIRS).translate(_SJIS),
    "euc-kr": lambda content: content.decode("cp949", _OF_PAIRS),
    "replacement": lambda content: "\ufffd" if content else "",
    "utf-16be": lambda content: content.decode("utf-16-be", "replace"),
    "utf-16le": lambda content: content.decode("utf-16-le", "replace"),
    "x-user-defined": lambda content: "".join(chr(byte if byte < 0x80 else 0xF700 + byte) for byte in content),
}
