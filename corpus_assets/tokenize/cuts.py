"""Where a text may be cut so that the ids of the parts, one after another, are the ids of the whole.

Every rule here is a claim about pre-tokenizer, normalizer and model together; a tokenizer that fits none of them gets
no cutter. Characters beside a cut are of Unicode 3.2, whose categories no later version changed, are no combining marks
and have no canonical decomposition, so that every library sees them alike and no normal form reaches across the cut.

- Byte-level BPE with the pattern of GPT-2 (Radford et al. 2019), each pre-token on its own: no alternative of the
  pattern holds a character other than white space and then one of another class (letter, number, other, white space),
  but for contractions (`'s`). None looks back. `\\s+(?!\\S)` looks ahead, so white space never ends a part.
- The patterns of cl100k, Llama 3 and Qwen 2 also join one other character with letters, and others with line ends;
  o200k further a contraction or a slash to what is before it. Such pairs are left out.
- WordPiece and others after a splitter at white space: before a space, after an ASCII character.
- SentencePiece BPE (Kudo & Richardson 2018), where a word may be the whole text: merging never joins two characters
  that no entry of the vocabulary has side by side. A part starts with a lead character, as the text's own prefix space
  belongs to the start of the text alone; its ids are taken off again.
- Metaspace that splits at spaces (T5): before a single space between ASCII letters or digits.
"""

import json
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, get_args

from corpus_assets.tokenize.cleaning import NormalizationForm
from corpus_assets.tokenize.protocol import Tokenizer

PIECE_CHARACTERS = 1 << 20
LONGEST_PIECE = 1 << 22
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# {L}, {N}, {O}: letters, numbers, others, but for the apostrophe and the slash.
_PAIRS = {
    _GPT2: r"(?<=[{L}{N}{O}'/])(?=[ \n\r\t])|(?<=[{L}])(?=[{N}{O}'/])|(?<=[{N}])(?=[{L}{O}'/])|"
    r"(?<=[{O}/])(?=[{L}{N}])|(?<=')(?=[{N}])",
    **{
        _CL100K % digits: r"(?<=[{L}{N}{O}'/])(?=[ \t])|(?<=[{L}{N}])(?=[\r\n])|(?<=[{L}])(?=[{N}{O}'/])|"
        r"(?<=[{N}])(?=[{L}{O}'/])|(?<=[{O}'/])(?=[{N}])"
        for digits in ("", "{1}", "{1,3}", "+")
    },
    _O200K: r"(?<=[{L}{N}{O}'/])(?=[ \t])|(?<=[{L}{N}])(?=[\r\n])|(?<=[{L}])(?=[{N}{O}/])|"
    r"(?<=[{N}])(?=[{L}{O}'/])|(?<=[{O}'/])(?=[{N}])",
}
_BEFORE_SPACE = re.compile(r"(?<=[!-~])(?= )")
_BETWEEN_WORDS = re.compile(r"(?<=[A-Za-z0-9])(?= [A-Za-z0-9])")
_BYTE_TOKEN = re.compile(r"<0x[0-9A-F]{2}>")
_META = "\N{LOWER ONE EIGHTH BLOCK}"
_SPACE_AS_META = {"type": "Replace", "pattern": {"String": " "}, "content": _META}
_NORMAL_FORMS = set(get_args(NormalizationForm))
_CHARWISE = _NORMAL_FORMS | {"Lowercase", "StripAccents", "BertNormalizer"}
_SPLITTERS = {"BertPreTokenizer", "Whitespace", "WhitespaceSplit"}
_Json = dict[str, Any]
_Find = Callable[[str, int, int], Iterator[int]]


@dataclass(frozen=True)
class Cutter:
    """Safe places of one tokenizer.

    find: places of the text from start up to end where a cut is safe, in order, as far as added tokens go. added: their
    contents; a cut touches none of them, in the text or in its normal `form`. lead: what a part that is not the first
    is given before its text; the ids of the lead are not of the text.
    """

    find: _Find
    added: frozenset[str] = frozenset()
    form: NormalizationForm | None = None
    lead: str = ""

    def place(self, text: str, start: int, end: int) -> int | None:
        """The first safe place in start..end, None if there is none."""
        return next((place for place in self.find(text, start, end) if not self._touches(text, place)), None)

    def _touches(self, text: str, place: int) -> bool:
        """Whether an added token ends, starts or lies at the place."""
        longest = max(map(len, self.added), default=0)
        # A composed character is made of at most four.
        reach = 4 * longest if self.form else longest
        left, right = text[max(0, place - reach) : place], text[place : place + reach]
        if self.form is None or _touch(left, right, self.added):
            return _touch(left, right, self.added)
        left, right = (unicodedata.normalize(self.form, side) for side in (left, right))
        return _touch(left, right, self.added)


def _touch(left: str, right: str, tokens: frozenset[str]) -> bool:
    both, middle = left + right, len(left)
    return any(both.find(token, max(0, middle - len(token)), middle + len(token)) >= 0 for token in tokens)


def cut_places(
    text: str, cutter: Cutter | None, size: int = PIECE_CHARACTERS, longest: int = LONGEST_PIECE
) -> list[int] | None:
    """Safe places about `size` characters apart; None where more than `longest` characters have no safe place."""
    places: list[int] = []
    start = 0
    while len(text) - start > size:
        place = cutter.place(text, start + size, min(start + longest, len(text))) if cutter else None
        if place is None:
            return None if len(text) - start > longest else places
        places.append(place)
        start = place
    return places


def pieces(text: str, places: Sequence[int]) -> Iterator[str]:
    """The text cut at the places, in order; leads are not put before the parts."""
    return (text[start:end] for start, end in pairwise([0, *places, len(text)]))


def safe_cuts(tokenizer: Tokenizer) -> Cutter | None:
    """The cutter of a tokenizer, None if no rule of this module covers its `tokenizer.json`, or if it has none."""
    definition = getattr(tokenizer, "definition", None)
    return _cutter(definition) if isinstance(definition, str) else None


@cache
def classes() -> dict[str, str]:
    """Ranges for classes of regular expressions: letters `L`, numbers `N` and others `O` fit to stand at a cut.

    White space, marks, conjoining Jamo, unassigned characters and those of later Unicode versions are in none.
    """
    old = unicodedata.ucd_3_2_0
    members: dict[str, list[int]] = {"L": [], "N": [], "O": []}
    for code in range(0x21, sys.maxunicode + 1):
        kind = old.category(letter := chr(code))
        if (
            kind[0] in "MZ"
            or kind in ("Cn", "Cc", "Cs")
            or letter.isspace()
            or 0x1100 <= code < 0x1200
            or letter in "'/"
        ):
            continue
        if kind == unicodedata.category(letter) and unicodedata.is_normalized("NFD", letter) | (
            0xAC00 <= code < 0xD7A4
        ):
            members[kind[0] if kind[0] in "LN" else "O"].append(code)
    return {kind: _ranges(codes) for kind, codes in members.items()}


def _ranges(codes: list[int]) -> str:
    starts = [0, *(i for i, (one, next_) in enumerate(pairwise(codes), 1) if next_ != one + 1), len(codes)]
    return "".join(
        f"{re.escape(chr(codes[first]))}-{re.escape(chr(codes[last - 1]))}" for first, last in pairwise(starts)
    )


@lru_cache(maxsize=4)
def _cutter(raw: str) -> Cutter | None:
    definition = json.loads(raw)
    model, added = definition["model"], definition.get("added_tokens") or []
    normalizers = _steps(definition.get("normalizer"), "normalizers")
    splitters = _steps(definition.get("pre_tokenizer"), "pretokenizers")
    found = (
        _byte_level(normalizers, splitters)
        or _spaces(normalizers, splitters)
        or _metaspace(normalizers, splitters)
        or _sentencepiece(model, normalizers, splitters)
    )
    if found is None:
        return None
    find, lead = found
    # Such tokens are looked for in text that is normalized in ways that `Cutter` does not follow.
    if any(token.get("normalized") for token in added) and any(n["type"] not in _NORMAL_FORMS for n in normalizers):
        return None
    # One that takes the white space before it away would take such a lead.
    if lead.isspace() and any(token.get("lstrip") for token in added):
        return None
    forms = [step["type"] for step in normalizers if step["type"] in _NORMAL_FORMS]
    return Cutter(find, frozenset(token["content"] for token in added), forms[0] if forms else None, lead)


def _steps(part: _Json | None, name: str) -> list[_Json]:
    """The steps of a `Sequence`, or the one step, or none."""
    if part is None:
        return []
    return [step for inner in part[name] for step in _steps(inner, name)] if part["type"] == "Sequence" else [part]


def _byte_level(normalizers: list[_Json], splitters: list[_Json]) -> tuple[_Find, str] | None:
    """Digits on their own may come first; then the pattern of GPT-2 in ByteLevel, or another in Split."""
    steps = [step for step in splitters if step["type"] != "Digits"]
    if not steps or steps[-1]["type"] != "ByteLevel" or any(step["type"] != "NFC" for step in normalizers):
        return None
    last = steps[-1]
    if len(steps) == 1 and last.get("use_regex", True):
        pattern = _GPT2
    elif len(steps) == 2 and steps[0]["type"] == "Split" and not last.get("use_regex", True):
        pattern = steps[0]["pattern"].get("Regex", "")
        if (steps[0]["behavior"], steps[0]["invert"]) not in (("Isolated", False), ("Removed", True)):
            return None
    else:
        return None
    if pattern not in _PAIRS:
        return None
    # A part that starts with a space is given no prefix space.
    return _finder(_BEFORE_SPACE if last["add_prefix_space"] else _pairs(pattern)), ""


@cache
def _pairs(pattern: str) -> re.Pattern[str]:
    parts = _PAIRS[pattern]
    for kind, ranges in classes().items():
        parts = parts.replace(f"{{{kind}}}", ranges)
    return re.compile(parts)


def _finder(pattern: re.Pattern[str]) -> _Find:
    return lambda text, start, end: (match.start() for match in pattern.finditer(text, start, end + 1))


def _spaces(normalizers: list[_Json], splitters: list[_Json]) -> tuple[_Find, str] | None:
    """The first splitter takes white space away, and normalizers work by character."""
    if not splitters or splitters[0]["type"] not in _SPLITTERS:
        return None
    if any(step["type"] not in _SPLITTERS | {"Punctuation", "Digits"} for step in splitters):
        return None
    if any(step["type"] not in _CHARWISE for step in normalizers):
        return None
    return _finder(_BEFORE_SPACE), ""


def _metaspace(normalizers: list[_Json], splitters: list[_Json]) -> tuple[_Find, str] | None:
    """Words split before every space; normalizers that reach no further than a run of white space."""
    allowed = _CHARWISE | {"Precompiled"}
    for step in normalizers:
        runs = step["type"] == "Replace" and step["pattern"].get("Regex") == " {2,}"
        strips = step["type"] == "Strip"
        if step["type"] not in allowed and not runs and not strips:
            return None
    if [step["type"] for step in splitters] != ["Metaspace"] or not splitters[0].get("split", True):
        return None
    return _finder(_BETWEEN_WORDS), "a"


def _sentencepiece(model: _Json, normalizers: list[_Json], splitters: list[_Json]) -> tuple[_Find, str] | None:
    """BPE over the whole text: a cut where no entry of the vocabulary has the two characters side by side."""
    metaspace = [step["type"] for step in splitters] == ["Metaspace"] and not splitters[0].get("split", True)
    plain = all(step in (_SPACE_AS_META, {"type": "Prepend", "prepend": _META}) for step in normalizers)
    if model["type"] != "BPE" or not plain or (splitters and not metaspace):
        return None
    vocabulary = model["vocab"]
    bytes_known = model.get("byte_fallback") and all(f"<0x{byte:02X}>" in vocabulary for byte in range(256))
    merges = [merge.split(" ", 1) if isinstance(merge, str) else merge for merge in model["merges"]]
    if (
        model.get("ignore_merges")
        or model.get("continuing_subword_prefix")
        or model.get("end_of_word_suffix")
        or not (bytes_known or (model.get("unk_token") and not model.get("fuse_unk")))
        or any(_BYTE_TOKEN.fullmatch(part) for merge in merges for part in merge)
    ):
        return None
    joined = {pair for left, right in merges for pair in pairwise(left + right)}
    return _unjoined(joined, _META if metaspace or _SPACE_AS_META in normalizers else " "), "\n"


def _unjoined(joined: set[tuple[str, str]], space: str) -> _Find:
    """Places after no white space, between characters that no entry has side by side."""

    def find(text: str, start: int, end: int) -> Iterator[int]:
        for place in range(start, end):
            other = text[place].replace(" ", space)
            if (text[place - 1], other) not in joined and ("\n", other) not in joined and not text[place - 1].isspace():
                yield place

    return find


def around(tokenizer: Tokenizer) -> tuple[list[int], list[int]] | None:
    """Ids that `encode_batch` puts before and after every text; None if it does something else to the ids."""
    whole, plain = tokenizer.encode_batch(["a"]).ids.tolist(), tokenizer.encode_plain(["a"]).ids.tolist()
    for start in range(len(whole) - len(plain) + 1):
        if whole[start : start + len(plain)] == plain:
            return whole[:start], whole[start + len(plain) :]
    return None
