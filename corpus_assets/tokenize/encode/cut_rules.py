"""Rules for the safe places of `cuts`, one per family of tokenizers.

Every rule is a claim about pre-tokenizer, normalizer and model together; a tokenizer that fits no rule gets no places.
Where a character is of a class, it is of Unicode 3.2, whose categories no later version changed, is no combining mark
and has no canonical decomposition, so that every library sees it alike and no normal form reaches across the cut.

- Byte-level BPE with the pattern of GPT-2 (Radford et al. 2019), each pre-token on its own: no alternative of the
  pattern holds a character other than white space and then one of another class (letter, number, other, white space),
  but for contractions (`'s`). None looks back. `\\s+(?!\\S)` looks ahead, so white space never ends a part.
- The patterns of cl100k, Llama 3 and Qwen 2 also join one other character with letters, and others with line ends;
  o200k further a contraction or a slash to what is before it. Such pairs are left out.
- WordPiece and others after a splitter at white space: before a space, after an ASCII character.
- SentencePiece (Kudo & Richardson 2018), where a word may be the whole text: neither merging nor the best path has a
  token across two characters that no entry of the vocabulary has side by side, if the normalizer changes neither of
  them, nor the left one with what is before it, nor the right one with what is around it. A part starts with the
  character before the cut, as the text's own prefix space belongs to the start of the text alone; the ids of that
  character are taken off again. A run of unknown characters is one id: where it is cut, that id is taken off too, so
  the left character is known on its own, or in no entry at all.
- Metaspace that splits at spaces (T5): before a single space between ASCII letters or digits; and as above.
"""

import base64
import re
import sys
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple, get_args

from corpus_assets.config.datasets.options import NormalizationForm
from corpus_assets.tokenize.tokenizers.files import Json
from corpus_assets.tokenize.tokenizers.sentencepiece_proto import BPE, UNIGRAM, SentencePieceModel, rule_characters

Find = Callable[[str, int, int], Iterator[int]]

NORMAL_FORMS = frozenset(get_args(NormalizationForm))
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
# Characters that are graphemes of their own beside each other: ASCII, CJK punctuation, kana, Han.
_GRAPHEME = r"[!-~\u3001\u3002\u3008-\u3011\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fa5]"
_GRAPHEMES = re.compile(f"(?<={_GRAPHEME})(?={_GRAPHEME})")
_BYTE_TOKEN = re.compile(r"<0x[0-9A-F]{2}>")
_META = "\N{LOWER ONE EIGHTH BLOCK}"
_SPACE_AS_META = {"type": "Replace", "pattern": {"String": " "}, "content": _META}
_CHARWISE = NORMAL_FORMS | {"Lowercase", "StripAccents", "BertNormalizer"}
_SPLITTERS = {"BertPreTokenizer", "Whitespace", "WhitespaceSplit"}


class Rule(NamedTuple):
    """find: safe places of the text from start up to end, start > 0, the best first.

    lead: how many characters before a cut the part after it starts with. summed: scores of the whole text are added
    up in single precision, so a near-tie far into a text may go another way than in a part of it.
    """

    find: Find
    lead: int = 0
    summed: bool = False


def steps(part: Json | None, name: str) -> list[Json]:
    """Returns the steps of a `Sequence` of a `tokenizer.json`, or the one step, or none."""
    if part is None:
        return []
    return [step for inner in part[name] for step in steps(inner, name)] if part["type"] == "Sequence" else [part]


def json_rule(definition: Json, normalizers: list[Json]) -> Rule | None:
    """Returns the rule of a `tokenizer.json`, None if no rule covers it."""
    model, splitters = definition["model"], steps(definition.get("pre_tokenizer"), "pretokenizers")
    added = definition.get("added_tokens") or []
    strips = any(token.get("lstrip") or token.get("rstrip") for token in added)
    return (
        _byte_level(normalizers, splitters)
        or _spaces(normalizers, splitters)
        or _metaspace(model, normalizers, splitters)
        or _bpe(model, normalizers, splitters, strips)
    )


def model_rule(raw: bytes) -> Rule | None:
    """Returns the rule of a SentencePiece model; None if it is of words, ends them with a space, or is unreadable."""
    try:
        model = SentencePieceModel.of(raw)
        inside, last = rule_characters(model.charsmap)
    except ValueError:
        return None
    if model.kind not in (BPE, UNIGRAM) or (model.add_dummy_prefix and model.whitespace_as_suffix):
        return None
    apart = _apart(_joined(model.pieces), inside, last | _half_known(model.pieces))
    return Rule(_everywhere(apart), 1, model.kind == UNIGRAM)


@cache
def classes() -> dict[str, str]:
    """Returns ranges for classes of regular expressions: letters `L`, numbers `N` and others `O` fit to stand at a cut.

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


def _byte_level(normalizers: list[Json], splitters: list[Json]) -> Rule | None:
    """Returns the rule for GPT-2's pattern in ByteLevel, or another in Split; digits may be split off before it."""
    kept = [step for step in splitters if step["type"] != "Digits"]
    if not kept or kept[-1]["type"] != "ByteLevel" or any(step["type"] != "NFC" for step in normalizers):
        return None
    last = kept[-1]
    if len(kept) == 1 and last.get("use_regex", True):
        pattern = _GPT2
    elif len(kept) == 2 and kept[0]["type"] == "Split" and not last.get("use_regex", True):
        pattern = kept[0]["pattern"].get("Regex", "")
        if (kept[0]["behavior"], kept[0]["invert"]) not in (("Isolated", False), ("Removed", True)):
            return None
    else:
        return None
    if pattern not in _PAIRS:
        return None
    # A part that starts with a space is given no prefix space.
    return Rule(_finder(_BEFORE_SPACE if last["add_prefix_space"] else _pairs(pattern)))


@cache
def _pairs(pattern: str) -> re.Pattern[str]:
    parts = _PAIRS[pattern]
    for kind, ranges in classes().items():
        parts = parts.replace(f"{{{kind}}}", ranges)
    return re.compile(parts)


def _finder(pattern: re.Pattern[str]) -> Find:
    return lambda text, start, end: (match.start() for match in pattern.finditer(text, start, end + 1))


def _spaces(normalizers: list[Json], splitters: list[Json]) -> Rule | None:
    """Returns the rule for a first splitter that takes white space away, with normalizers that work by character."""
    if not splitters or splitters[0]["type"] not in _SPLITTERS:
        return None
    if any(step["type"] not in _SPLITTERS | {"Punctuation", "Digits"} for step in splitters):
        return None
    if any(step["type"] not in _CHARWISE for step in normalizers):
        return None
    return Rule(_finder(_BEFORE_SPACE))


def _metaspace(model: Json, normalizers: list[Json], splitters: list[Json]) -> Rule | None:
    """Returns the rule for words split before every space, with normalizers that reach no further than white space.

    A precompiled normalizer works by grapheme, so within a word both characters are graphemes of their own.
    """
    for step in normalizers:
        runs = step["type"] == "Replace" and step["pattern"].get("Regex") == " {2,}"
        if step["type"] not in _CHARWISE | {"Precompiled", "Strip"} and not runs:
            return None
    if [step["type"] for step in splitters] != ["Metaspace"] or not splitters[0].get("split", True):
        return None
    between, within = _finder(_BETWEEN_WORDS), _finder(_GRAPHEMES)
    if model["type"] != "Unigram" or any(step["type"] in _CHARWISE for step in normalizers):
        return Rule(between, 1)
    maps = [base64.b64decode(step["precompiled_charsmap"]) for step in normalizers if step["type"] == "Precompiled"]
    changed = [rule_characters(charsmap) for charsmap in maps]
    inside, last = (frozenset(letter for sets in changed for letter in sets[side]) for side in (0, 1))
    vocabulary = [piece for piece, _ in model["vocab"]]
    apart = _apart(_joined(vocabulary), inside, last | _half_known(vocabulary))

    def find(text: str, start: int, end: int) -> Iterator[int]:
        yield from between(text, start, end)
        yield from (place for place in within(text, start, end) if apart(text, place))

    return Rule(find, 1)


def _bpe(model: Json, normalizers: list[Json], splitters: list[Json], strips: bool) -> Rule | None:
    """Returns the rule for BPE over the whole text. `strips`: an added token takes white space beside it away."""
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
    spaces = frozenset(filter(str.isspace, map(chr, range(sys.maxunicode + 1)))) if strips else frozenset()
    return Rule(_everywhere(_apart(_joined(left + right for left, right in merges), frozenset(), spaces)), 1)


def _joined(pieces: Iterable[str]) -> set[tuple[str, str]]:
    """Returns the characters side by side in an entry of the vocabulary; a space is the sign for it."""
    return {pair for piece in pieces for pair in pairwise(piece.replace(" ", _META))}


def _half_known(pieces: Iterable[str]) -> set[str]:
    """Returns the characters that are unknown on their own, but not as part of a longer entry of the vocabulary."""
    known = set(pieces)
    return {letter for piece in known for letter in piece} - known


def _apart(
    joined: Container[tuple[str, str]], never_right: Container[str], never_left: Container[str]
) -> Callable[[str, int], bool]:
    """Returns the test that no entry has the characters at a place side by side.

    Before a cut stands no space, as it may be stripped at the start of a part, or be one with the prefix space.
    """

    def apart(text: str, place: int) -> bool:
        left, right = text[place - 1], text[place]
        return (
            (left, _META if right == " " else right) not in joined
            and left not in (" ", _META)
            and left not in never_left
            and right not in never_right
        )

    return apart


def _everywhere(apart: Callable[[str, int], bool]) -> Find:
    return lambda text, start, end: (place for place in range(start, end) if apart(text, place))
