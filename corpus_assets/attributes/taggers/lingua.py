"""Languages by lingua, as a function of the text alone.

Two things in the library follow the order of its hash tables, which is another one in each call. Probabilities are
summed in that order: the last bits are cut off here. And its rules look at the two languages with the most words:
Japanese and Chinese are Japanese, other two with equally many words are left to the n-grams. Which two these are is a
lot if Japanese has as many words as a third language, or as words of unknown language. Such texts are Japanese here;
all others are what the library says. Source: lingua-rs 1.7.2, `detect_language_with_rules`.
"""

from collections import Counter
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

JAPANESE, CHINESE, UNKNOWN = "ja", "zh", ""
_DIGITS = 12
"""Sums in different orders differ from the 15th digit on."""
_ALPHABETS = {
    **{"Armenian": "hy", "Bengali": "bn", "Georgian": "ka", "Greek": "el", "Gujarati": "gu", "Gurmukhi": "pa"},
    **{"Hangul": "ko", "Hebrew": "he", "Hiragana": JAPANESE, "Katakana": JAPANESE, "Tamil": "ta", "Telugu": "te"},
    **{"Thai": "th", "Han": CHINESE},
}
_LETTERS = {
    **{"az": "ə", "ca": "ï", "cs": "ěřů", "eo": "ĉĝĥĵŝŭ", "de": "ß", "hu": "őű", "kk": "әғқңұ", "lv": "ģķļņ"},
    **{"lt": "ėįų", "mk": "ѓѕќџ", "mr": "ळ", "pl": "łńśź", "ro": "ţ", "sr": "ђћ", "sk": "ĺľŕ", "uk": "ґєї"},
    "vi": "ằầẳẩẵẫắấạặậềẻểẽễếệỉĩịơồờỏổởỗỡốớộợưừửũữứụựỳỷỹỵ",
    "yo": "ṣ",
}
"""Letters of one language alone; a word is in lower case."""


def languages(string: str) -> list[tuple[str, float]]:
    """Returns every language that the library knows, the most probable first, those of equal probability by code."""
    found = _detector().compute_language_confidence_values(string)
    scores = {one.language.iso_code_639_1.name.lower(): round(float(one.value), _DIGITS) for one in found}
    if is_drawn(string):
        scores = {code: float(code == JAPANESE) for code in scores}
    return sorted(scores.items(), key=lambda one: (-one[1], one[0]))


def is_drawn(string: str) -> bool:
    """Returns whether the library draws lots between Japanese and another language."""
    if not (_patterns()["Han"].search(string) and _patterns()["kana"].search(string)):
        return False
    words = Counter(map(_language_of, _words(string)))
    if words[UNKNOWN] * 2 < words.total():
        del words[UNKNOWN]
    japanese, chinese = words.pop(JAPANESE, 0), words.pop(CHINESE, 0)
    return chinese >= japanese > 0 and max(words.values(), default=0) == japanese


def _words(string: str) -> Iterator[str]:
    return (match[0] for match in _patterns()["word"].finditer(string.strip().lower()))


@lru_cache(maxsize=1 << 14)
def _language_of(word: str) -> str:
    letters: Counter[str] = Counter()
    for letter in word:
        letters.update(_languages_with(letter))
    if JAPANESE in letters and CHINESE in letters:
        return JAPANESE
    (first, most), (_, next_most) = (*letters.most_common(2), (UNKNOWN, 0), (UNKNOWN, 0))[:2]
    return first if most > next_most else UNKNOWN


@cache
def _languages_with(letter: str) -> tuple[str, ...]:
    alphabets = tuple(code for name, code in _ALPHABETS.items() if _patterns()[name].match(letter))
    return alphabets or tuple(code for code, own in _LETTERS.items() if letter in own)


@cache
def _detector() -> Any:
    from lingua import LanguageDetectorBuilder

    return LanguageDetectorBuilder.from_all_languages().build()


@cache
def _patterns() -> dict[str, Any]:
    import regex  # Imported late: it loads slowly, and plans need no table.

    runs = ("Bengali", "Devanagari", "Gujarati", "Gurmukhi", "Hangul", "Tamil", "Telugu", "Thai")
    script = r"\p{{Script={}}}".format
    single = [script(name) for name in ("Han", "Hiragana", "Katakana")]
    return {
        **{name: regex.compile(script(name)) for name in _ALPHABETS},
        "kana": regex.compile("|".join(single[1:])),
        "word": regex.compile("|".join([*(f"{script(name)}+" for name in runs), *single, r"\p{L}+"])),
    }
