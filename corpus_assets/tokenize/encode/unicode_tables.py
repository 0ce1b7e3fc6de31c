"""Characters that a fast library and the reference treat differently because of different Unicode versions.

Letters, digits and combining marks that a newer Unicode added are unassigned in a library with older tables: it cuts
words elsewhere, or leaves marks in another order. These characters are found by encoding, once for every pair of
library versions and every way of normalizing and splitting texts, and kept in the cache folder of the user.
"""

import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from importlib.metadata import version
from itertools import product

import numpy as np
from tokenizers import Tokenizer as Encoder

from corpus_assets.tokenize.ragged import Ragged
from corpus_assets.tokenize.tokenizers.files import Json
from corpus_assets.tokenize.tokenizers.token_sizes import byte_level_alphabet
from resources.hashing import content_digest
from resources.user.cache import kept_or_made

Ranges = tuple[tuple[int, int], ...]
_Encode = Callable[[Sequence[str]], Ragged]
_UNICODE = 0x110000
_RULES = "1"
"""Number of the rules below: part of the name of a kept table."""
# Planes in which characters are or will be: 0 to 3, and the marks of plane 14. Others are private or empty.
_PLANES = (range(0xD800), range(0xE000, 0x40000), range(0xE0000, 0xE0200))
_IDEOGRAPHS = range(0x20000, 0x40000)
_BESIDE_IDEOGRAPH = "a{0}a"
_BESIDE = "a{0}1{0}A{0}!{0}'s {0}a"
_MARKS = "\u0301{0}\u0323{0}e{0}{0}\u0307"
# Canonical pairs of Unicode 15 to 17, which the tables of Python 3.11 do not have.
_NEW_PAIRS = (
    *("\U000105d2\u0307", "\U000105da\u0307", "\U00011382\U000113c9", "\U00011384\U000113bb"),
    *("\U0001138b\U000113c2", "\U00011390\U000113c9", "\U000113c2\U000113c2", "\U000113c2\U000113b8"),
    *("\U000113c2\U000113c9", "\U0001611e\U0001611e", "\U0001611e\U00016129", "\U0001611e\U0001611f"),
    *("\U00016129\U0001611f", "\U0001611e\U00016120", "\U00016121\U0001611f", "\U00016122\U0001611f"),
    *("\U00016121\U00016120", "\U00016d67\U00016d67", "\U00016d63\U00016d67"),
)
_UNTOUCHED = {"Prepend", "Replace"}
_BATCH = 1 << 15
_GROUPED = 64
# Openings of characters of four bytes are looked for in a few ranges: between them lies little but emoji.
_RARE, _WIDEST_GAP = 0xF000, 8
_GROUP = "unicode"


class UnlikeCharacters:
    """Finds the texts that hold a character of the ranges (first, last); fast if there is none."""

    def __init__(self, ranges: Ranges) -> None:
        self.ranges = ranges
        self._marked = np.zeros(_UNICODE, bool)
        for first, last in ranges:
            self._marked[first : last + 1] = True
        found = {_opening(code) for first, last in ranges for code in range(first, last + 1)} - {0}
        rare = {opening for opening in found if opening >= _RARE}
        openings = (*_ranges(found - rare), *_ranges(rare, _WIDEST_GAP))
        firsts, lasts = np.array(openings, np.uint16).reshape(-1, 2).T
        self._openings = firsts.copy(), lasts.copy()

    def among(self, texts: Sequence[str], stored: Sequence[bytes | None]) -> list[int]:
        """Returns the places of the texts that hold one, or half of a surrogate pair, which is no character.

        stored: `utf8_texts` of them.
        """
        wide = [place for place, text in enumerate(texts) if not text.isascii()]
        found = [place for place in wide if stored[place] is None]
        if wide and self.ranges:
            found += self._marked_places([place for place in wide if stored[place] is not None], stored)
        return sorted(found)

    def holds(self, text: str) -> bool:
        """True for a text with such a character."""
        return bool(self.among([text], utf8_texts([text])))

    def _marked_places(self, places: Sequence[int], stored: Sequence[bytes | None]) -> Iterator[int]:
        from corpus_assets.tokenize.kernels.unlike import marked_texts

        texts = [stored[place] or b"" for place in places]
        offsets = np.zeros(len(texts) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=offsets[1:])
        found = np.zeros(len(texts), bool)
        marked_texts(np.frombuffer(b"".join(texts), np.uint8), offsets, self._openings, self._marked, found)
        return (places[number] for number in np.flatnonzero(found).tolist())


def utf8_texts(texts: Sequence[str]) -> list[bytes | None]:
    """Returns the UTF-8 of each text; None for one with half of a surrogate pair, which has none."""
    try:
        return [text.encode() for text in texts]
    except UnicodeEncodeError:
        return [None if _is_broken(text) else text.encode() for text in texts]


def _is_broken(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _opening(code: int) -> int:
    """Returns the first two bytes of a character in UTF-8 as a number; 0 for what has only one, or no UTF-8."""
    encoded = chr(code).encode("utf-8", "ignore")
    return int.from_bytes(encoded[:2], "big") if len(encoded) > 1 else 0


def _ranges(codes: Iterable[int], gap: int = 1) -> Ranges:
    """Returns the codes as ranges (first, last), which include what lies between two that are at most `gap` apart."""
    ranges: list[tuple[int, int]] = []
    for code in sorted(codes):
        if ranges and code - ranges[-1][1] <= gap:
            ranges[-1] = ranges[-1][0], code
        else:
            ranges.append((code, code))
    return tuple(ranges)


def unlike_characters(library: str, load: Callable[[str], _Encode], definition: str) -> UnlikeCharacters:
    """Returns the characters on which a library may differ from the reference for a `tokenizer.json`.

    load: makes the library's encoder from a definition. What was found before for these versions is read from the cache
    folder (`corpus-assets/unicode` in `XDG_CACHE_HOME` or `~/.cache`); without a usable folder every process repeats
    the search of a few seconds; otherwise one process searches and the others wait.
    """
    probed = _probed_definition(json.loads(definition))
    return _unlike(library, load, probed) if probed else UnlikeCharacters(())


@lru_cache(maxsize=8)
def _unlike(library: str, load: Callable[[str], _Encode], definition: str) -> UnlikeCharacters:
    versions = [f"{name}-{version(name)}" for name in (library, "tokenizers")]
    key = content_digest(_RULES.encode(), unicodedata.unidata_version.encode(), definition.encode())
    name = "-".join([*versions, key])
    found = kept_or_made(_GROUP, name, lambda: json.dumps(find_unlike(load(definition), definition)))
    return UnlikeCharacters(tuple((first, last) for first, last in json.loads(found)))


def find_unlike(fast: _Encode, definition: str) -> Ranges:
    """Returns the characters on which an encoder differs from the reference, next to characters of all kinds."""
    reference = Encoder.from_str(definition)
    normalizes = json.loads(definition).get("normalizer") is not None
    found: set[int] = set()
    for codes in _batches(young_characters()):
        texts = [probe(code, normalizes) for code in codes]
        found.update(codes[place] for place in _unequal(fast, reference, texts))
    if normalizes:
        pairs = _canonical_pairs()
        unequal = [{*map(ord, pairs[place])} for place in _unequal(fast, reference, pairs)]
        # An old mark may compose with a new letter; the tables differ in the letter.
        young = frozenset(young_characters())
        found.update(*(codes & young or codes for codes in unequal))
    return _ranges(found)


def probe(code: int, marks: bool = True) -> str:
    """Returns a text that shows how a character is classed; `marks`: and how it is normalized."""
    # Planes 2 and 3 hold ideographs alone: letters that no normal form composes.
    frame = _BESIDE_IDEOGRAPH if code in _IDEOGRAPHS else _BESIDE + _MARKS if marks else _BESIDE
    return frame.format(chr(code))


def _unequal(fast: _Encode, reference: Encoder, texts: Sequence[str]) -> Iterator[int]:
    """Yields the places of the texts whose ids differ; searches in groups, since nearly all are equal."""
    starts = range(0, len(texts), _GROUPED)
    groups = ["\n".join(texts[start : start + _GROUPED]) for start in starts]
    found = (starts[number] for number in _different(fast, reference, groups))
    places = [place for start in found for place in range(start, min(start + _GROUPED, len(texts)))]
    for number in _different(fast, reference, [texts[place] for place in places]):
        yield places[number]


def _different(fast: _Encode, reference: Encoder, texts: Sequence[str]) -> Iterator[int]:
    ours = fast(texts)
    theirs = reference.encode_batch_fast(list(texts), add_special_tokens=False)
    for place, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        if mine.tolist() != other.ids:
            yield place


@cache
def young_characters() -> tuple[int, ...]:
    """Returns the characters that are newer than Unicode 3.2, differ from its tables in this Python, or are unassigned.

    Older characters are the same in all later versions: their categories and normal forms did not change again.
    """
    old = unicodedata.ucd_3_2_0
    letters = ((code, chr(code)) for plane in _PLANES for code in plane)
    return tuple(
        code
        for code, letter in letters
        if (kind := old.category(letter)) == "Cn"
        or kind != unicodedata.category(letter)
        or old.combining(letter) != unicodedata.combining(letter)
        or old.decomposition(letter) != unicodedata.decomposition(letter)
    )


def _canonical_pairs() -> list[str]:
    """Returns all canonical decompositions: what a normal form may compose."""
    parts = (unicodedata.decomposition(chr(code)) for plane in _PLANES for code in plane)
    pairs = ("".join(chr(int(code, 16)) for code in part.split()) for part in parts if part and part[0] != "<")
    return [*dict.fromkeys((*pairs, *_NEW_PAIRS))]


def _batches(codes: Sequence[int]) -> Iterator[Sequence[int]]:
    return (codes[start : start + _BATCH] for start in range(0, len(codes), _BATCH))


def _probed_definition(definition: Json) -> str | None:
    """Returns the definition that is probed instead of a tokenizer's; None if its ids depend on no Unicode table.

    A byte-level one gets a small vocabulary that shows every cut of a word next to a character.
    """
    normalizer, splitter = (_types(definition.get(part)) for part in ("normalizer", "pre_tokenizer"))
    if normalizer <= _UNTOUCHED and splitter <= {"Metaspace"}:
        return None
    probed: Json = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "post_processor": None}
    probed |= {part: definition.get(part) for part in ("normalizer", "pre_tokenizer", "decoder", "model")}
    if "ByteLevel" in splitter and definition["model"].get("type") == "BPE":
        probed["model"] = _showing_model()
    return json.dumps(probed, sort_keys=True)


def _types(step: object) -> set[str]:
    """Returns the types of a step, or of the steps of a sequence."""
    if not isinstance(step, dict):
        return set()
    inner = step.get("normalizers") or step.get("pretokenizers")
    return set().union(*map(_types, inner)) if isinstance(inner, list) else {str(step.get("type"))}


def _showing_model() -> Json:
    """Returns byte-level BPE that merges the first and the last byte of every character with what stands beside it."""
    letters = {byte: letter for letter, byte in byte_level_alphabet().items()}
    beside = [letters[byte] for byte in b"a1A!' s"]
    lasts, firsts = ([letters[byte] for byte in bytes_] for bytes_ in (range(0x80, 0xC0), range(0xC2, 0xF5)))
    after, before = product(lasts, beside), product(beside, firsts)
    merges = [*after, *before]
    entries = dict.fromkeys([*letters.values(), *(left + right for left, right in merges)])
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        "vocab": {entry: id_ for id_, entry in enumerate(entries)},
        "merges": merges,
    }
