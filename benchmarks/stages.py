"""Every stage in MB of text per CPU-second and peak memory: `python -m benchmarks.stages [--quick] [--json]`.

Each stage runs alone in a process of its own, on one core; its CPU seconds are those in its commit records, its peak
memory is that of the process. `pipeline` is raw to decontaminated train.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.corpora import write_corpus
from corpus_assets.corpus import Corpus
from resources.errors import CorpusError

LAST_OF_PIPELINE = "decontaminated_train"
MEGABYTES, QUICK_MEGABYTES = 64, 10


def run_stage(config: Path, name: str) -> dict[str, Any]:
    """Compute one stage in this process and say what it cost."""
    corpus = Corpus.open(config)
    step = corpus.step(corpus.graph[name])
    step.run()
    if failures := step.failures():
        raise CorpusError("\n".join(failures))
    records = [record.statistics for record in step.records().values()]
    return {
        "cpu_seconds": sum(record["cpu_seconds"] for record in records),
        "text_bytes": sum(record.get("text_bytes", 0) for record in records),
        "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
    }


def measure(megabytes: int) -> dict[str, Any]:
    """Build a corpus stage by stage, each in a new process."""
    with tempfile.TemporaryDirectory() as folder:
        config, kind = write_corpus(Path(folder), megabytes)
        costs: dict[str, dict[str, Any]] = {}
        for stage in Corpus.open(config).graph:
            command = [sys.executable, "-m", "benchmarks.stages", "--stage", stage.name, "--config", str(config)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            costs[stage.name] = json.loads(done.stdout) | {"reads": [edge.asset for edge in stage.inputs]}
    return _figures(costs) | {"corpus": kind}


def _figures(costs: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """MB/s by stage: of the text it reads or writes, or of the whole corpus where it handles integers only."""
    whole = costs["normalized_documents"]["text_bytes"]
    figures: dict[str, Any] = {"text_mb": round(whole / 1e6, 2)}
    for name, cost in costs.items():
        read = max((costs[upstream]["text_bytes"] for upstream in cost["reads"]), default=0)
        text = max(cost["text_bytes"], read) if cost["text_bytes"] else whole
        key = name.replace("/", "_")
        figures[f"{key}_mb_per_cpu_s"] = round(text / 1e6 / max(cost["cpu_seconds"], 0.001), 2)
        figures[f"{key}_peak_rss_mb"] = cost["peak_rss_mb"]
    names = list(costs)
    pipeline = [costs[name] for name in names[: names.index(LAST_OF_PIPELINE) + 1]]
    figures["pipeline_mb_per_cpu_s"] = round(whole / 1e6 / sum(cost["cpu_seconds"] for cost in pipeline), 2)
    figures["pipeline_peak_rss_mb"] = max(cost["peak_rss_mb"] for cost in pipeline)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_MEGABYTES} MB of text instead of {MEGABYTES}")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--stage", help=argparse.SUPPRESS)
    parser.add_argument("--config", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.stage:
        print(json.dumps(run_stage(given.config, given.stage)))
        return
    figures = measure(QUICK_MEGABYTES if given.quick else MEGABYTES)
    if given.json:
        print(json.dumps(figures))
        return
    print(f"{figures['text_mb']} MB of text ({figures['corpus']} corpus), one core")
    print(f"{'stage':24}{'MB per CPU-second':>20}{'peak memory, MB':>18}")
    for key in figures:
        if key.endswith("_mb_per_cpu_s"):
            name = key.removesuffix("_mb_per_cpu_s")
            print(f"{name:24}{figures[key]:>20,.1f}{figures[f'{name}_peak_rss_mb']:>18,.0f}")


if __name__ == "__main__":
    main()
