"""Plain definitions of what the kernels compute: the toolkit's rules in Python, with `re`, `regex` and `str` alone."""

import re
from collections import Counter
from statistics import median
from typing import Any

import regex

from corpus_assets.attributes.taggers.c4 import naughty_words
from corpus_assets.attributes.taggers.gopher import REQUIRED

Found = dict[str, list[list[float]]]

EMAIL = re.compile(r"[.\s@,?!;:)(]*([^\s@]+@[^\s@,?!;:)(]+?)[.\s@,?!;:)(]?[\s\n\r]")
PHONE = re.compile(r"\s+\(?(\d{3})\)?[-\. ]*(\d{3})[-. ]?(\d{4})")
ADDRESS = re.compile(r"(?:(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\.){3}(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)")
REPETITION = re.compile(r"(.+?)(\s?\1){3,}")
PIECE = regex.compile(r"\w+|[^\w\s]+")


def paragraphs(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"[^\n]*\n|[^\n]+$", text)]


def pieces(text: str) -> int:
    return len(PIECE.split(text))


def repetitions(text: str) -> list[tuple[int, int, float]]:
    return [(m.start(), m.end(), float(m[0].count(m[1]))) for m in REPETITION.finditer(text)]


def emails(text: str) -> list[tuple[int, int, str]]:
    return [(match.start(), match.end(), match[1]) for match in EMAIL.finditer(text)]


def spans(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    return [match.span() for match in pattern.finditer(text)]


def c4_v2(text: str) -> dict[str, Any]:
    """As the toolkit, but for offsets, which are those of the text itself."""
    lower = text.lower()
    naughty = naughty_words()
    found: dict[str, Any] = {"lines_with_no_ending_punctuation": [], "lines_with_too_few_words": []}
    start = 0
    lines = text.split("\n")
    for number, line in enumerate(lines):
        end = start + len(line) + (number + 1 < len(lines))
        if not line.strip().endswith((".", "?", "!", '"')):
            found["lines_with_no_ending_punctuation"].append((start, end, 1.0))
        if len(line.split()) < 3:
            found["lines_with_too_few_words"].append((start, end, 1.0))
        start = end
    flags = {
        "has_curly_brace": "{" in lower,
        "has_lorem_ipsum": "lorem ipsum" in lower,
        "has_javascript": "javascript" in lower,
        "has_naughty_word": any(word in {w for w in naughty if " " not in w} for word in lower.split())
        or any(phrase in lower for phrase in naughty if " " in phrase),
    }
    whole = {name: [(0, len(text), float(flag))] for name, flag in flags.items() if flag}
    return (
        {name: spans for name, spans in found.items() if spans} | whole | {"line_count": [(0, len(text), len(lines))]}
    )


def gopher_v2(text: str) -> dict[str, float]:
    words = text.split()
    letters = sum(map(len, words))
    found: dict[str, float] = {}
    for n in range(2, 11):
        counts = Counter(zip(*(words[start:] for start in range(n)), strict=False))
        if not counts:
            continue
        sizes = {gram: count * sum(map(len, gram)) for gram, count in counts.items()}
        if n < 5:
            gram = counts.most_common(1)[0][0]
            found[f"fraction_of_characters_in_most_common_{n}grams"] = sizes[gram] / max(letters, 1)
        else:
            again = sum(size for gram, size in sizes.items() if counts[gram] > 1)
            found[f"fraction_of_characters_in_duplicate_{n}grams"] = again / max(sum(sizes.values()), 1)
    lines = re.split(r"\n+", text)
    again_lines = {line: count for line, count in Counter(lines).items() if count > 1}
    return found | {
        "character_count": len(text),
        "word_count": len(words),
        "median_word_length": float(median(map(len, words))) if words else 0.0,
        "symbol_to_word_ratio": sum("#" in word or "…" in word for word in words) / max(len(words), 1),
        "fraction_of_words_with_alpha_character": sum(any(c.isalpha() for c in word) for word in words)
        / max(len(words), 1),
        "required_word_count": sum(word in REQUIRED for word in words),
        "fraction_of_lines_starting_with_bullet_point": sum(line.startswith(("*", "-")) for line in lines) / len(lines),
        "fraction_of_lines_ending_with_ellipsis": sum(line.endswith("…") for line in lines) / len(lines),
        "fraction_of_duplicate_lines": sum(again_lines.values()) / len(lines),
        "fraction_of_characters_in_duplicate_lines": sum(len(k) * v for k, v in again_lines.items()) / max(letters, 1),
    }
