"""Guesses the language of a text by its script, and in Latin script by its commonest words."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import Final

_LOOKED_AT: Final = 2_000
_COMMON: Final = {
    "English": "the of and to in is that for it with as was on are be this by from or an",
    "German": "der die und das ist nicht ein eine mit den von zu auf für dem sich des auch",
    "French": "le la les des et est une dans que pour qui du au sur pas avec sont ce",
    "Spanish": "el los las una que por con para del se es su como más pero al lo",
    "Portuguese": "o os uma que não com para do da em por mais como dos ao se",
    "Italian": "il che di una per non con del della sono è gli nel alla anche le",
    "Dutch": "de het een van en dat niet is op te zijn voor met aan ook er",
    "Polish": "i w na nie się że do jest to z jak po od przez dla",
    "Swedish": "och att det som en är på för med inte av ett den har till",
    "Turkish": "ve bir bu için ile da de çok daha olarak olan gibi ne",
}
_WORDS: Final = {name: frozenset(words.split()) for name, words in _COMMON.items()}
_SCRIPTS: Final = {
    "CYRILLIC": "a language in Cyrillic script",
    "ARABIC": "a language in Arabic script",
    "CJK": "Chinese or Japanese",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HANGUL": "Korean",
    "GREEK": "Greek",
    "HEBREW": "Hebrew",
    "THAI": "Thai",
    "DEVANAGARI": "a language in Devanagari script",
}
_CODE: Final = re.compile(
    r"[{};]\s*$|^\s*(?:def |class |import |from \S+ import|#include|function |public |return\b)", re.M
)


def language_of(text: str) -> str:
    """Returns a language, a script, `code`, or `unknown`."""
    start = text[:_LOOKED_AT]
    scripts = Counter(unicodedata.name(char, "").split(" ")[0] for char in start[:400] if char.isalpha())
    if not scripts:
        return "unknown"
    script = scripts.most_common(1)[0][0]
    if scripts["HIRAGANA"] + scripts["KATAKANA"] > sum(scripts.values()) / 10:
        script = "HIRAGANA"
    if script != "LATIN":
        return _SCRIPTS.get(script, f"a language in {script.capitalize()} script")
    lines = start.count("\n") + 1
    if len(_CODE.findall(start)) > lines / 4 and lines > 3:
        return "code"
    words = Counter(re.findall(r"\w+", start.lower()))
    hits = {name: sum(words[word] for word in common) for name, common in _WORDS.items()}
    best = max(hits, key=lambda name: hits[name])
    return best if hits[best] >= max(1, sum(words.values()) / 12) else "unknown"


def languages_in_words(texts: Iterable[str]) -> str:
    """Returns in words which languages texts seem to have, the commonest first; empty if there are no texts."""
    found = Counter(map(language_of, texts))
    total = found.total()
    known = [(name, count) for name, count in found.most_common(4) if name != "unknown"]
    return ", ".join(f"{name} {count / total:.0%}" for name, count in known)
