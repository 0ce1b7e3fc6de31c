"""The cost of every stage: `python -m benchmarks.stages [--quick] [--json]`.

Each stage runs alone in a process of its own, forked as workers are, on one core, over three corpora one after the
other: two small ones and a large one. Its CPU seconds are those in its commit records, plus those in which it
compiled or loaded kernels before; otherwise a kernel that only the large corpus calls would count as a cost of its
text. The difference between the large corpus and the second small one gives the cost of one more MB of text (the
slope). What the first small one took beyond that is the fixed cost (the intercept): imports, compiled kernels, and the
time of a partition with next to no rows. A stage of few seconds runs over these two several times, of which the least
counts. `pipeline` is raw to decontaminated train.

`mix_and_splits` is the two passes of the mix, train and decontaminated train. Then `storage.compression` is another
one, and the stages of the pipeline that read or write rows are computed once more, in the same stores: `pipeline_lz4`
is the pipeline with what these cost instead. `disk_lz4` is what the stages of the pipeline store, in bytes per byte of
text. `ungzip`, `gzip` and so on are what the libraries alone take to decompress and compress the corpus as the stages
do, in blocks of `MEMBER_BYTES`.

Keys of a stage: `_ms_per_mb`, `_fixed_cpu_s`, `_mb_per_cpu_s` (1000 / ms per MB), `_peak_rss_mb`.
"""

import argparse
import gzip
import json
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import Any

import yaml

from benchmarks.corpora import write_corpus
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from resources.engine.workers import prepare
from resources.errors import CorpusError
from resources.formats.jsonl.compressions import COMPRESSIONS, GZIP, JSONL, LZ4, ZSTD
from resources.formats.jsonl.lines import MEMBER_BYTES
from resources.kernels.compiling import compile_now
from resources.processes.collector import calm_collector
from resources.stage.declaration import kernels_of
from resources.stage.partition import files_with

LAST_OF_PIPELINE = "decontaminated_train"
MIX_AND_SPLITS = ("mixed_pass1", "mixed_pass2", "train", "decontaminated_train")
CODEC_TURNS = 5
MEGABYTES, QUICK_MEGABYTES = (32, 2048), (2, 8)
"""Of the small corpora and of the large one, in which a stage of the whole corpus takes long enough to be measured."""

LOADED_LATE = {"guarded_clusters": ("networkit",)}
"""Libraries that a stage loads for what only larger corpora have: here a cluster that is suspiciously large."""
OTHERS, QUICK_OTHERS = (ZSTD.name, LZ4.name), (LZ4.name,)
"""Compressions with which stages are computed once more."""

SHORT_S, TURNS = 3.0, 3
"""A stage of fewer CPU seconds is run so often, except with `--quick`: where it finds its memory and its files decides
what they are.
"""

LEAST_MS_PER_MB = 0.001
"""Slopes below this are noise: the records round to a thousandth of a second."""


def run_stages(configs: Sequence[Path], name: str, turns: int = TURNS, *, force: bool = False) -> list[dict[str, Any]]:
    """What one stage cost over each corpus; over the first one when nothing is loaded yet. force: see `run_stage`."""
    first, *others = configs
    return [run_stage(first, name, force=force), *(_least(config, name, turns, force=force) for config in others)]


def _least(config: Path, name: str, turns: int, *, force: bool) -> dict[str, Any]:
    costs = [run_stage(config, name, force=force)]
    while len(costs) < turns and costs[-1]["cpu_seconds"] < SHORT_S:
        costs.append(run_stage(config, name, force=True))
    return min(costs, key=lambda cost: cost["cpu_seconds"])


def run_stage(config: Path, name: str, *, force: bool = False) -> dict[str, Any]:
    """Compute one stage in this process and say what it cost. force: even what is fresh."""
    corpus = Corpus.open(config)
    compiling = sum(compile_now(kernels_of([corpus.graph[name]], corpus.settings.values)).values()) + _loading(name)
    step = Step(corpus, corpus.graph[name], force=force)
    step.run()
    if failures := step.failures():
        raise CorpusError("\n".join(failures))
    records = [record.statistics for record in step.records().values()]
    return {
        "cpu_seconds": compiling + sum(record["cpu_seconds"] for record in records),
        "text_bytes": sum(record.get("text_bytes", 0) for record in records),
        "peak_rss_mb": round(_peak_kib() / 1024, 1),
    }


def _peak_kib() -> int:
    """The most memory of this program; `getrusage` starts with what the process held that started it."""
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])


def _loading(stage: str) -> float:
    """Loads the libraries that a stage asks for only when its texts give it a reason; returns the CPU seconds.

    Else they would count as a cost of the texts of the larger corpus, the only one that gives the reason.
    """
    started = time.process_time()
    for library in LOADED_LATE.get(stage, ()):
        import_module(library)
    return time.process_time() - started


def measure(sizes: tuple[int, int], others: Sequence[str] = OTHERS, turns: int = TURNS) -> dict[str, Any]:
    """Build two small corpora and a large one stage by stage, each stage in a new process.

    sizes: MB of text. others: compressions with which the stages of rows are computed once more. turns: how often a
        short stage runs.
    """
    prepare([__name__])
    with tempfile.TemporaryDirectory() as folder:
        made = [write_corpus(Path(folder) / name, size) for name, size in zip("abc", (sizes[0], *sizes), strict=True)]
        configs = [config for config, _ in made]
        costs = {stage.name: _in_new_process(configs, stage.name, turns) for stage in Corpus.open(configs[0]).graph}
        text_bytes = costs["normalized_documents"][-1]["text_bytes"]
        figures = figures_of(costs) | {f"disk_{GZIP.name}": round(_stored(configs[-1]) / text_bytes, 3)}
        for compression in others:
            for config in configs:
                _compress(config, compression)
            again = {name: _in_new_process(configs, name, turns, force=True) for name in stages_of_rows(configs[0])}
            found = figures_of({**costs, **again})
            for name in ("pipeline", "mix_and_splits"):
                figures |= {key.replace(name, f"{name}_{compression}"): found[key] for key in found if name in key}
            figures[f"disk_{compression}"] = round(_stored(configs[-1]) / text_bytes, 3)
        codecs = codec_costs(Path(folder) / "a", costs["normalized_documents"][0]["text_bytes"])
    return figures | codecs | {"corpus": made[0][1]}


def _in_new_process(configs: Sequence[Path], stage: str, turns: int, *, force: bool = False) -> list[dict[str, Any]]:
    context = multiprocessing.get_context("forkserver")
    with ProcessPoolExecutor(1, context, calm_collector) as process:  # As workers do.
        return process.submit(run_stages, configs, stage, turns, force=force).result()


def _compress(config: Path, compression: str) -> None:
    """Stores what is computed from now on in another compression."""
    values = yaml.safe_load(config.read_text())
    values["storage"]["compression"] = compression
    config.write_text(yaml.safe_dump(values))


def stages_of_rows(config: Path) -> list[str]:
    """The stages of the pipeline that read or write files of rows, in order."""
    corpus = Corpus.open(config)
    with_rows = {
        stage.name
        for stage in corpus.graph
        if any(files_with(record, JSONL) for record in corpus.records(stage.name).values())
    }
    pipeline = takewhile(lambda stage: stage.name != LAST_OF_PIPELINE, corpus.graph)
    found = [stage.name for stage in pipeline if with_rows & {stage.name, *(edge.asset for edge in stage.inputs)}]
    return [*found, LAST_OF_PIPELINE]


def _stored(config: Path) -> int:
    """The bytes that the stages of the pipeline store."""
    corpus = Corpus.open(config)
    names = [stage.name for stage in corpus.graph]
    records = (one for name in names[: names.index(LAST_OF_PIPELINE) + 1] for one in corpus.records(name).values())
    return sum(file.bytes for record in records for file in record.files)


def codec_costs(corpus: Path, text_bytes: int) -> dict[str, float]:
    """CPU milliseconds per MB of text of the codecs alone, over all raw files of a corpus."""
    rows = b"".join(gzip.decompress(path.read_bytes()) for path in sorted((corpus / "raw").rglob("*.jsonl.gz")))
    blocks = [rows[start : start + MEMBER_BYTES] for start in range(0, len(rows), MEMBER_BYTES)]
    calls: dict[str, Callable[[], object]] = {}
    for one in COMPRESSIONS.values():
        packed = [(one.compress(block), len(block)) for block in blocks]
        calls[f"un{one.name}"] = partial(_each, one.decompress, packed)
        calls[one.name] = partial(_each, one.compress, [(block,) for block in blocks])
    return {
        f"{name}_alone_ms": round(1000 * min(_seconds(call) for _ in range(CODEC_TURNS)) * 1e6 / text_bytes, 2)
        for name, call in calls.items()
    }


def _each(call: Callable[..., object], given: Iterable[Sequence[object]]) -> None:
    for arguments in given:
        call(*arguments)


def _seconds(call: Callable[[], object]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


def figures_of(costs: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    """Slope and intercept of every stage, from what it cost on the small corpus, on the small one again, on the large.

    Both are over the text of the whole corpus, so those of the stages of the pipeline add up.
    """
    small, _, large = (cost["text_bytes"] / 1e6 for cost in costs["normalized_documents"])
    figures: dict[str, Any] = {"text_mb": round(large, 2), "small_text_mb": round(small, 2)}
    slopes, fixed = {}, {}
    for name, cost in costs.items():
        cold, warm, whole = (one["cpu_seconds"] for one in cost)
        slopes[name] = max(1000 * (whole - warm) / (large - small), LEAST_MS_PER_MB)
        fixed[name] = max(cold - slopes[name] * small / 1000, 0.0)
        figures |= _described(name, slopes[name], fixed[name]) | {f"{name}_peak_rss_mb": cost[-1]["peak_rss_mb"]}
    names = list(costs)
    names = names[: names.index(LAST_OF_PIPELINE) + 1]
    figures |= _described("pipeline", sum(slopes[name] for name in names), sum(fixed[name] for name in names))
    together = [name for name in MIX_AND_SPLITS if name in costs]
    figures |= _described(
        "mix_and_splits", sum(slopes[name] for name in together), sum(fixed[name] for name in together)
    )
    figures["mix_and_splits_peak_rss_mb"] = max(figures[f"{name}_peak_rss_mb"] for name in together)
    figures["pipeline_peak_rss_mb"] = max(figures[f"{name}_peak_rss_mb"] for name in names)
    return figures


def _described(name: str, slope: float, fixed: float) -> dict[str, float]:
    return {
        f"{name}_ms_per_mb": round(slope, 3),
        f"{name}_fixed_cpu_s": round(fixed, 3),
        f"{name}_mb_per_cpu_s": round(1000 / slope, 2),
    }


def names_of(figures: Mapping[str, Any]) -> list[str]:
    """The stages that figures are of, and `pipeline`, in order."""
    return [key.removesuffix("_ms_per_mb") for key in figures if key.endswith("_ms_per_mb")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    small, large = MEGABYTES
    quick_small, quick_large = QUICK_MEGABYTES
    sizes = f"{quick_small} and {quick_large} MB of text instead of {small} and {large}"
    parser.add_argument("--quick", action="store_true", help=sizes)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args()
    figures = measure(QUICK_MEGABYTES, QUICK_OTHERS, turns=1) if given.quick else measure(MEGABYTES)
    if given.json:
        print(json.dumps(figures))
        return
    print(f"{figures['small_text_mb']} and {figures['text_mb']} MB of text ({figures['corpus']} corpus), one core")
    print(f"{'stage':24}{'ms per MB':>12}{'MB per CPU-second':>20}{'fixed CPU s':>14}{'peak memory, MB':>18}")
    for name in names_of(figures):
        slope, rate, fixed = (figures[f"{name}_{key}"] for key in ("ms_per_mb", "mb_per_cpu_s", "fixed_cpu_s"))
        print(f"{name:24}{slope:>12,.2f}{rate:>20,.1f}{fixed:>14,.2f}{figures[f'{name}_peak_rss_mb']:>18,.0f}")
    for name in (name for name in COMPRESSIONS if f"disk_{name}" in figures):
        print(f"{name:24}{figures[f'disk_{name}']:>12,.3f} bytes on disk per byte of text")


if __name__ == "__main__":
    main()
