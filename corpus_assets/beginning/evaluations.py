"""Which files are evaluation sets, that no corpus should hold: by names of folders and files, and by keys of rows."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, get_args

from corpus_assets.beginning.sources import Section
from corpus_assets.config.selection.contamination import Benchmark

_NAMES: Final = re.compile(
    r"(?<![a-z])(?:benchmarks?|evals?|evaluations?|leaderboard|gsm8k|mmlu|hellaswag|winogrande|truthfulqa|boolq|piqa|mbpp"
    r"|human_?-?eval|openbookqa|bigbench|bbh|triviaqa|commonsenseqa|ifeval|gpqa|agieval|arc-(?:easy|challenge))(?![a-z])"
)
_TRAINED_ON: Final = re.compile(r"(?<![a-z])train(?:ing)?(?![a-z])")
_KEYS: Final = ({"choices", "answer"}, {"choices", "answerKey"}, {"canonical_solution", "test"}, {"endings", "label"})
"""Keys of rows that only sets of questions with known answers have."""


def without_evaluations(sections: Sequence[Section]) -> list[Section]:
    """Returns the sections, with those of evaluation sets marked as such, if there are documents besides."""
    marked = [replace(one, is_evaluation=_is_evaluation(one)) for one in sections]
    return marked if any(one.is_document for one in marked) else list(sections)


def _is_evaluation(section: Section) -> bool:
    if section.reading.kind not in ("text", "pair") or "extractor" in section.values:
        return False
    if section.values.get("format", "auto") not in get_args(Benchmark.model_fields["format"].annotation):
        return False
    if _says(_TRAINED_ON, section):
        return False
    return _says(_NAMES, section) or any(keys <= section.keys for keys in _KEYS)


def _says(words: re.Pattern[str], section: Section) -> bool:
    """Returns whether the name of a section says something, or those of all of its files."""
    names = [name.lower() for name in section.file_names]
    return words.search(section.name) is not None or (bool(names) and all(map(words.search, names)))


def benchmark_of(section: Section) -> dict[str, Any]:
    """Returns the entry of `benchmarks` for an evaluation set."""
    reading = section.reading
    parts = [reading.text] if reading.is_text else [reading.prompt, reading.input, reading.completion]
    keys = [key for key in parts if key]
    files: Mapping[str, Any] = {key: value for key, value in section.values.items() if key in Benchmark.model_fields}
    found = {"name": section.name, **files}
    if keys not in ([], ["text"]):
        found["text_key"] = keys[0] if len(keys) == 1 else keys
    return found
