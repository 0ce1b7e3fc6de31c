"""What DCLM's heuristics say of texts: `python dclm_heuristics.py FOLDER` with a checkout of mlfoundations/dclm.

Needs uniseg, nltk, retrie, fasttext and unidecode, and no more of this project than this file. Reads a list of texts as
JSON; the last line that it writes is an object: `seconds` of CPU, and `decisions`: our type of what drops each text,
and the text that is left of one that stays.
"""

import importlib
import json
import os
import sys
import time
import types
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

Step = tuple[str, Callable[[dict[str, Any]], list[dict[str, Any]]]]


class _Unused(types.ModuleType):
    """A module that is not installed, and of which nothing is called."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Unused(name)

    def __call__(self, *_: Any, **__: Any) -> Any:
        return self


def _import_without_unused(name: str) -> None:
    """Imports a package whose modules name many others that its heuristics do not need."""
    while True:
        try:
            importlib.import_module(name)
            return
        except ModuleNotFoundError as error:
            assert error.name and not error.name.startswith("baselines"), error
            sys.modules[error.name] = _Unused(error.name)


def steps(folder: str) -> list[Step]:
    """Returns the steps of dclm_baseline_refinedweb.yaml behind those on addresses and languages, with our types."""
    os.chdir(folder)
    sys.path[:0] = [folder, str(Path(folder) / "baselines")]
    for name in ("enrichers", "filters", "modifiers"):
        _import_without_unused(f"baselines.mappers.{name}")
    from baselines.mappers import modifiers as m
    from baselines.mappers.enrichers import enrichers as e
    from baselines.mappers.filters import content_filters as f

    shares = {2: 0.2, 3: 0.18, 4: 0.16, 5: 0.15, 6: 0.14, 7: 0.13, 8: 0.12, 9: 0.11, 10: 0.10}
    repeated: list[Step] = [
        ("repeated_lines", lambda page: f.repetition_filter(page, "line", 0.3, count_characters=False)),
        ("repeated_paragraphs", lambda page: f.repetition_filter(page, "paragraph", 0.3, count_characters=False)),
        ("characters_in_repeated_lines", lambda page: f.repetition_filter(page, "line", 0.2)),
        ("characters_in_repeated_paragraphs", lambda page: f.repetition_filter(page, "paragraph", 0.2)),
    ]
    for n, most in shares.items():
        name = f"characters_in_{'top' if n < 5 else 'repeated'}_{n}grams"
        repeated.append((name, partial(f.repetition_filter, granularity=n, max_fraction=most)))
    phrases = (("items in cart", "any"), ("Read more...", "suffix"), ("Sign-in", "prefix"))
    removing = [
        m.substring_line_modifier(what, location=where, max_length=10, remove_substring_only=True)
        for what, where in phrases
    ]
    return [
        ("words", m.url_removal_modifier()),
        ("words", m.newline_removal_modifier(max_consecutive=2)),
        ("words", lambda page: f.page_length_filter(page, "word", 50, 100000, ignore_punctuation=True)),
        ("word_length", lambda page: f.word_length_filter(page, 3, 10)),
        ("symbols_per_word", lambda page: f.symbol_ratio_filter(page, 0.1)),
        ("bullet_lines", lambda page: f.bullet_count_filter(page, 0.9)),
        ("ellipsis_lines", lambda page: f.ellipsis_count_filter(page, 0.3)),
        ("words_without_letter", lambda page: f.alphabetic_word_ratio_filter(page, 0.2)),
        ("stop_words", lambda page: f.stop_word_filter(page, count_unique=False, min_stop_word=2)),
        *repeated,
        ("characters_left", lambda page: e.word_counter_enricher(page, key="previous_word_count")),
        ("characters_left", lambda page: m.uppercase_ratio_line_modifier(page, 0.5)),
        ("characters_left", lambda page: m.numeric_ratio_line_modifier(page, 0.999999)),
        ("characters_left", m.counter_line_modifier()),
        ("characters_left", lambda page: m.line_length_modifier(page, min_length=2)),
        *(("characters_left", modifier) for modifier in removing),
        (
            "removed_words",
            lambda page: f.word_removal_ratio_filter(page, "previous_word_count", max_removed_ratio=0.05),
        ),
    ]


def decision(found: list[Step], text: str) -> list[str | None]:
    """Returns the type that drops a text, and what is left of one that stays changed."""
    page: dict[str, Any] = {"text": text, "url": ""}
    for name, step in found:
        kept = step(page)
        if not kept:
            return [name]
        page = kept[0]
    return [None, *([page["text"]] if page["text"] != text else [])]


def main() -> None:
    texts, found = json.load(sys.stdin), steps(str(Path(sys.argv[1]).resolve()))
    decision(found, "Warm up.")
    started = time.process_time()
    said = [decision(found, text) for text in texts]
    print("\n" + json.dumps({"seconds": time.process_time() - started, "decisions": said}))


if __name__ == "__main__":
    main()
