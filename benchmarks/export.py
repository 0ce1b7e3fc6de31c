"""Token streams, trainers' formats and readers on one core: `python -m benchmarks.export [--quick] [--json]`.

The stages themselves, over two corpora: texts of `decontaminated_train` to its token stream, and this to the files
of every format there is, with default options. CPU seconds are those in the commit records; a rate is what one more MB
of text, or one more million ids, costs in the larger corpus against the smaller one (the slope), so that imports and
compiled kernels are no part of it. Partitions are few and large, as a corpus has them.

Then windows of 2,049 ids are read in a keyed order, from a warm page cache: MB of ids per CPU-second, again by the
slope over two numbers of windows. Ours are uint16 if the vocabulary allows it. Beside this package's reader stand those
of litdata and mosaicml-streaming, window by window in order, on the files that were just written for them, where the
libraries are installed; theirs count with the bytes that an id has there.

Keys: `stream_mb_per_cpu_s`; `<format>_mids_per_cpu_s`; `reader_mb_per_cpu_s`: batches of 256, ids as they are stored;
`reader_int64_mb_per_cpu_s`: the same bytes, widened to int64; `reader_single_mb_per_cpu_s`: one at a time;
`copy_mb_per_cpu_s`: numpy copies the same bytes in order; `litdata_reader_`, `streaming_reader_mb_per_cpu_s`: None
where a library is not installed.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

os.environ.setdefault("RAYON_NUM_THREADS", "1")  # One core for everyone; read when the libraries load.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import numpy as np
import yaml

from benchmarks.corpora import write_corpus
from benchmarks.tokenize import END, GPT2
from corpus_assets.config.datasets.exports import EXPORTS
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from corpus_assets.export.registry import FORMATS
from corpus_assets.reading import TokenStream, WindowDataset
from resources.errors import CorpusError

MEGABYTES, QUICK_MEGABYTES = (32, 256), (2, 8)
CHUNKS = 2
SPLIT = "decontaminated_train"
STREAM = f"{SPLIT}_token_stream"
LENGTH, BATCH = 2048, 256
ROUNDS = 3
LEAST_SECONDS = 0.001
"""Differences below this are noise: the records round to a thousandth of a second."""
_SECTIONS = {section: name for name, section in EXPORTS.items()}
NAMES = [_SECTIONS[known.section] for known in FORMATS if known.section in _SECTIONS]
"""The formats of texts, in the order of their registry."""


def opened(folder: Path, megabytes: int) -> Corpus:
    """A corpus with a dataset in every format, built once, so that kernels are compiled and caches are warm."""
    file, _ = write_corpus(folder, megabytes)
    config = yaml.safe_load(file.read_text(encoding="utf-8"))
    config |= {"mix": {"chunks": CHUNKS}, "datasets": [{"name": name, "format": name} for name in NAMES]}
    if GPT2.is_file():
        config["tokenizer"] = {"kind": "tokenizer_json", "path": str(GPT2), "eos": END}
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    corpus = Corpus.open(file)
    for stage in corpus.graph.select([f"+{name}_manifest" for name in NAMES]):
        run(corpus, stage.name)
    return corpus


def run(corpus: Corpus, name: str) -> dict[str, float]:
    """Computes a stage in this process, even if it is fresh; returns its numbers, added up over all partitions."""
    step = Step(corpus, corpus.graph[name], force=True)
    step.run()
    if failures := step.failures():
        raise CorpusError("\n".join(failures))
    found = [record.statistics for record in step.records().values()]
    return {key: sum(numbers.get(key, 0) for numbers in found) for key in ("cpu_seconds", "text_bytes", "tokens")}


def costs(corpus: Corpus) -> dict[str, dict[str, float]]:
    """The numbers of the stream, and of the files of each format; the least of several runs of each."""
    stages = [STREAM, *(f"{name}_tokens" for name in NAMES)]
    runs = {stage: [run(corpus, stage) for _ in range(ROUNDS)] for stage in stages}
    return {stage: min(several, key=lambda numbers: numbers["cpu_seconds"]) for stage, several in runs.items()}


def rates(small: Mapping[str, Mapping[str, float]], large: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Slopes: MB of text, and millions of ids of the stream, for each CPU-second more."""

    def more(stage: str, what: str) -> float:
        return large[stage][what] - small[stage][what]

    def seconds(stage: str) -> float:
        return max(more(stage, "cpu_seconds"), LEAST_SECONDS)

    ids = more(STREAM, "tokens") / 1e6
    return {
        "text_mb": large[STREAM]["text_bytes"] / 1e6,
        "stream_mids": large[STREAM]["tokens"] / 1e6,
        "stream_mb_per_cpu_s": more(STREAM, "text_bytes") / 1e6 / seconds(STREAM),
        **{f"{name}_mids_per_cpu_s": ids / seconds(f"{name}_tokens") for name in NAMES},
    }


def seconds_of(work: Callable[[], object]) -> float:
    """The least CPU time of several runs, after one that warms caches."""
    work()
    taken = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def read_rate(read: Callable[[Sequence[int]], object], numbers: Sequence[int], item_bytes: int) -> float:
    """MB of windows for each CPU-second more, of all numbers against a quarter of them."""
    few = numbers[: len(numbers) // 4]
    more = seconds_of(lambda: read(numbers)) - seconds_of(lambda: read(few))
    return (len(numbers) - len(few)) * (LENGTH + 1) * item_bytes / 1e6 / max(more, LEAST_SECONDS)


def readers(corpus: Corpus) -> dict[str, float | None]:
    """MB of stored ids per CPU-second of this package's reader, of a plain copy, and of other libraries' readers."""
    stream = TokenStream.of_corpus(corpus.file, SPLIT)
    stored = WindowDataset(stream, LENGTH, dtype=stream.dtype)
    wide = WindowDataset(stream, LENGTH)
    numbers = range(len(stored))
    size = stream.dtype.itemsize
    data = stream.partitions[0].data[: len(stored) // CHUNKS * (LENGTH + 1)]
    windows = range(len(data) // (LENGTH + 1))
    return {
        "reader_mb_per_cpu_s": read_rate(lambda some: in_batches(stored, some), numbers, size),
        "reader_int64_mb_per_cpu_s": read_rate(lambda some: in_batches(wide, some), numbers, size),
        "reader_single_mb_per_cpu_s": read_rate(lambda some: one_by_one(stored, some), numbers, size),
        "copy_mb_per_cpu_s": read_rate(lambda some: np.copy(data[: len(some) * (LENGTH + 1)]), windows, size),
        "litdata_reader_mb_per_cpu_s": peer("litdata", "litdata", corpus, litdata_windows),
        "streaming_reader_mb_per_cpu_s": peer("streaming", "mds", corpus, streaming_windows),
    }


def in_batches(windows: WindowDataset, numbers: Sequence[int]) -> None:
    for first in range(0, len(numbers), BATCH):
        windows.__getitems__(numbers[first : first + BATCH])


def one_by_one(windows: Any, numbers: Sequence[int]) -> None:
    for number in numbers:
        windows[number]


def peer(library: str, name: str, corpus: Corpus, opened_by: Callable[[Any, str], tuple[Any, int]]) -> float | None:
    """The rate of another library's reader on our files for it, window by window; None if there is none of the two."""
    if name not in NAMES:
        return None
    try:
        module = import_module(library)
    except ImportError:
        return None
    windows, item_bytes = opened_by(module, f"{corpus.storage.place}/exports/{name}")
    return read_rate(lambda some: one_by_one(windows, some), range(len(windows)), item_bytes)


def litdata_windows(litdata: Any, folder: str) -> tuple[Any, int]:
    """The windows of a litdata folder, and bytes of an id in them."""
    loader = import_module("litdata.streaming").TokensLoader(block_size=LENGTH + 1)
    found = litdata.StreamingDataset(folder, item_loader=loader)
    return found, found[0].element_size()


def streaming_windows(streaming: Any, folder: str) -> tuple[Any, int]:
    """The windows of an MDS folder, and bytes of an id in them; they are one id shorter than ours."""
    found = streaming.StreamingDataset(local=folder, shuffle=False, batch_size=1)
    return found, found[0]["tokens"].itemsize


def measure(quick: bool) -> dict[str, Any]:
    """All figures."""
    small_size, large_size = QUICK_MEGABYTES if quick else MEGABYTES
    with tempfile.TemporaryDirectory() as folder:
        small = costs(opened(Path(folder) / "small", small_size))
        corpus = opened(Path(folder) / "large", large_size)
        figures = {**rates(small, costs(corpus)), **readers(corpus)}
    return {name: None if value is None else round(value, 1) for name, value in figures.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="less text")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args()
    figures = measure(given.quick)
    if given.json:
        json.dump(figures, sys.stdout)
        print()
    else:
        print(
            "\n".join(f"{name:40}{'not measured' if value is None else value:>14}" for name, value in figures.items())
        )


if __name__ == "__main__":
    main()
