"""The cost of the default check of candidates, and of the one by sketches alone: `python -m benchmarks.dedup_check`.

Options: `[--quick] [--json]`. Measured are the CPU seconds of the stage `verified_pairs` with `dedup.verify: two_sided`
and with `signature`, over a build of the shared data, which are real texts, and one of generated texts (`_made`). The
time for a small corpus with next to no candidates (16 partitions and their records) is the fixed cost of the stage and
is subtracted. Each check runs in a process of its own, in turns, and the least of the turns counts.
`two_sided_time_ratio` is the remaining time with `two_sided` over that with `signature`. `two_sided_texts_read` is the
share of the candidates whose texts are compared. `two_sided_us_per_candidate` and `signature_us_per_candidate` are the
times per candidate. `two_sided_build_ratio` is the CPU time of all stages up to the duplicates with one check over that
with the other, without subtraction.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from benchmarks.corpora import write_corpus
from benchmarks.dedup_pairs import LABELLED
from benchmarks.dedup_real import QUICK_SOURCES, SOURCES, write_config
from benchmarks.peers.own import build
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from resources.errors import CorpusError
from resources.kernels.compiling import compile_now
from resources.processes.collector import calm_collector
from resources.stage.declaration import kernels_of

STAGE, UP_TO_DUPLICATES = "verified_pairs", ["+duplicates"]
CHECKS = ("signature", "two_sided")
MEGABYTES, QUICK_MEGABYTES = (4, 512), (1, 8)
TURNS, QUICK_TURNS = 9, 1
LEAST_S = 0.001
"""Costs below this are noise."""


class Cost(NamedTuple):
    """The cost of the stage over a corpus: CPU seconds, candidates, and candidates whose texts were compared."""

    cpu_s: float
    candidates: int
    by_text: int


Costs = Mapping[str, Sequence[Cost]]
"""By check, one for each turn."""


def measure(quick: bool) -> dict[str, float]:
    """The figures of generated texts, and of real ones if the shared data is beside the checkout."""
    with tempfile.TemporaryDirectory() as place:
        small, corpora = _corpora(Path(place), quick)
        others = dict(zip(corpora, _in_process(["--build"], [small, *corpora.values()])[1:], strict=True))
        # The first run over the small corpus loads what all need.
        configs = [small, small, *corpora.values()]
        turns = [
            {check: _in_process(["--check", check], configs)[1:] for check in CHECKS}
            for _ in range(QUICK_TURNS if quick else TURNS)
        ]
    before, *costs = (
        {check: [Cost(*turn[check][place]) for turn in turns] for check in CHECKS} for place in range(1 + len(corpora))
    )
    return {
        f"{name}{suffix}": value
        for suffix, cost in zip(corpora, costs, strict=True)
        for name, value in figures_of(before, cost, others[suffix]).items()
    }


def figures_of(small: Costs, whole: Costs, others_cpu_s: float) -> dict[str, float]:
    """What the checks cost over a corpus beyond a small one. others_cpu_s: of all other stages up to the duplicates."""
    spent = {check: _least(whole[check]) for check in CHECKS}
    sketches, texts_too = (max(spent[check] - _least(small[check]), LEAST_S) for check in CHECKS)
    _, candidates, by_text = whole["two_sided"][-1]
    return {
        "two_sided_time_ratio": round(texts_too / sketches, 2),
        "two_sided_texts_read": round(by_text / max(candidates, 1), 3),
        "two_sided_us_per_candidate": round(1e6 * texts_too / max(candidates, 1), 2),
        "signature_us_per_candidate": round(1e6 * sketches / max(candidates, 1), 2),
        "two_sided_build_ratio": round((others_cpu_s + spent["two_sided"]) / (others_cpu_s + spent["signature"]), 3),
    }


def _least(costs: Iterable[Cost]) -> float:
    return min(cost.cpu_s for cost in costs)


def _corpora(folder: Path, quick: bool) -> tuple[Path, dict[str, Path]]:
    """The configuration of a small corpus, and those of the measured ones by the suffix of their figures."""
    small, large = (write_corpus(folder / str(size), size)[0] for size in (QUICK_MEGABYTES if quick else MEGABYTES))
    if not LABELLED.is_dir():
        return small, {"_made": large}
    (folder / "real").mkdir()
    real = write_config(folder / "real", SOURCES[:QUICK_SOURCES] if quick else SOURCES)
    return small, {"": real, "_made": large}


def _in_process(options: Sequence[str], configs: Iterable[Path]) -> list[Any]:
    """The output of this script for each corpus, one after the other, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.dedup_check", *options, "--config", *map(str, configs)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: list[Any] = json.loads(done.stdout)
    return found


def run_build(config: Path) -> float:
    """Builds a corpus up to the duplicates; returns the CPU seconds of all stages but the measured one."""
    corpus = Corpus.open(config)
    stages = corpus.graph.select(UP_TO_DUPLICATES)
    compile_now(kernels_of(stages, corpus.settings.values))
    build(corpus)
    records = [corpus.ledger.records(stage.name).values() for stage in stages if stage.name != STAGE]
    return float(sum(record.statistics["cpu_seconds"] for found in records for record in found))


def run_check(config: Path, check: str) -> Cost:
    """Makes all partitions of the stage again with a check."""
    values = yaml.safe_load(config.read_text(encoding="utf-8"))
    config.write_text(yaml.safe_dump({**values, "dedup": {"verify": check}}), encoding="utf-8")
    corpus = Corpus.open(config)
    compile_now(kernels_of([corpus.graph[STAGE]], corpus.settings.values))
    step = Step(corpus, corpus.graph[STAGE], force=True)
    started = time.process_time()
    step.run()
    cpu_s = time.process_time() - started
    if failures := step.failures():
        raise CorpusError("\n".join(failures))
    numbers = [record.statistics for record in step.records().values()]
    return Cost(cpu_s, *(sum(found[name] for found in numbers) for name in ("candidates", "compared_by_text")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small corpora, and one turn")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--build", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--check", choices=CHECKS, help=argparse.SUPPRESS)
    parser.add_argument("--config", type=Path, nargs="*", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.config:
        calm_collector()  # As `corpus` and its workers do.
        print(json.dumps([run_build(file) if given.build else run_check(file, given.check) for file in given.config]))
        return
    figures = measure(given.quick)
    if given.json:
        print(json.dumps(figures))
    else:
        print("\n".join(f"{name:36}{value:>10,}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
