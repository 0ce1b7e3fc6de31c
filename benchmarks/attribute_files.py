"""Attributes that somebody else made, read and used: `python -m benchmarks.attribute_files [--quick] [--json]`.

Raw files in `jsonl.gz`, and files of attributes beside them with a score of the whole text and one of each 200 code
points. CPU-seconds of one core, by the commit records: the stage that reads the files (`rows`: in the order of the raw
rows; `id`: joined by id), with texts that normalization may change (`nfc`) or not (`none`); and the filter by one of
the scores after it. Beside them the mixer of dolma 1.2.1 with the same filter over the same files, which reads and
writes the same documents; its CPU-seconds are those of more text, told from two sizes.
"""

import gzip
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from benchmarks.minhash import load_texts
from benchmarks.peers.process import AbsentError, run
from benchmarks.printed import printed
from benchmarks.taggers import dolma_python
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step

MEGABYTES, QUICK_MEGABYTES, ROUNDS = 96, 12, 3
PIECE: Final = 200
LIMIT: Final = 0.5
SHARE: Final = 0.25
"""Part of the text of the small of two sizes."""

STAGES: Final = ("scores_attributes", "filtered_documents")


def write(folder: Path, texts: Sequence[str], files: int = 4) -> None:
    """Raw files, and the files of attributes beside them."""
    for number in range(files):
        part = range(number, len(texts), files)
        documents = ({"id": f"d{n}", "text": texts[n], "source": "web"} for n in part)
        _packed(folder / f"data/documents/web/{number}.jsonl.gz", documents)
        rows = ({"id": f"d{n}", "attributes": _scores(n, len(texts[n])), "source": "web"} for n in part)
        _packed(folder / f"data/attributes/scores/web/{number}.jsonl.gz", rows)


def _scores(number: int, length: int) -> dict[str, Any]:
    pieces = [[start, min(start + PIECE, length), 0.25] for start in range(0, length, PIECE)]
    return {"scores__model__text": [[0, length, number % 100 / 100]], "scores__model__piece": pieces}


def _packed(file: Path, rows: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(file, "wt", compresslevel=5, encoding="utf-8") as out:
        out.writelines(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


def seconds_of(folder: Path, align: str, method: str) -> Mapping[str, float]:
    """CPU-seconds of the stages, the least of several builds in this process."""
    config = {
        "name": "scored",
        "sources": [{"name": "web", "location": "data/documents/web"}],
        "normalize": {"method": method},
        "attributes": [{"name": "scores", "location": "data/attributes/scores", "align": align}],
        "filter": {"rules": {"scores.model.text": {"max": LIMIT}}},
        "datasets": [],
        "engine": {"workers": 0, "memory": "1 GiB"},
        "storage": {"root": f"{align}-{method}", "sync": False},
    }
    (folder / "corpus.yaml").write_text(yaml.safe_dump(config))
    found = [_built(folder / "corpus.yaml") for _ in range(ROUNDS)]
    return {stage: min(one[stage] for one in found) for stage in STAGES}


def _built(file: Path) -> dict[str, float]:
    """Builds up to the filter, the measured stages again; returns their CPU-seconds."""
    corpus = Corpus.open(file)
    for stage in corpus.graph.select(["+filtered_documents"]):
        planner = corpus.planner()
        if stage.name in STAGES:
            due = list(planner.partitions(stage))
        else:
            due = [key for key, one in planner.decisions(stage).items() if one.status != "fresh"]
        for outcome in Step(corpus, stage, due).run() if due else []:
            assert outcome.error is None, outcome.error
    numbers = {stage: [record.statistics for record in corpus.records(stage).values()] for stage in STAGES}
    return {
        stage: sum(one["cpu_seconds"] - one.get("compile_seconds", 0) for one in held)
        for stage, held in numbers.items()
    }


def dolma_seconds(python: Path, folder: Path) -> float:
    """CPU-seconds of dolma's mixer, the least of several runs."""
    config = {
        "streams": [
            {
                "name": "kept",
                "documents": ["data/documents/web/*.gz"],
                "attributes": ["scores"],
                "output": {"path": "mixed", "max_size_in_bytes": 1 << 30},
                "filter": {"exclude": [f"$.attributes[?(@.scores__model__text[0][2] > {LIMIT})]"]},
            }
        ],
        "processes": 1,
    }
    (folder / "mix.json").write_text(json.dumps(config))
    command = [str(python.with_name("dolma")), "-c", "mix.json", "mix"]
    return min(run(command, folder=folder, log=folder / "mix.log", limit=900).cpu_seconds for _ in range(ROUNDS))


def measure(quick: bool) -> dict[str, Any]:
    """MB of text per CPU-second: of the stage alone, with the filter, and of the peer; and the ratio of these two."""
    texts, kind = load_texts(QUICK_MEGABYTES if quick else MEGABYTES)
    figures: dict[str, Any] = {"corpus": kind}
    with tempfile.TemporaryDirectory() as top:
        large, small = Path(top, "large"), Path(top, "small")
        write(large, texts)
        few = texts[: int(len(texts) * SHARE)]
        write(small, few)
        size = sum(len(text.encode()) for text in texts) / 1e6
        figures["text_mb"] = round(size, 1)
        figures["attributes_mb"] = round(sum(len(json.dumps(_scores(0, len(text)))) for text in texts) / 1e6, 1)
        for align, method in (("rows", "nfc"), ("rows", "none"), ("id", "nfc")):
            taken = seconds_of(large, align, method)
            figures[f"{align}_{method}_mb_per_cpu_s"] = round(size / taken["scores_attributes"], 1)
            figures[f"{align}_{method}_and_filter_mb_per_cpu_s"] = round(size / sum(taken.values()), 1)
        try:
            python = dolma_python(None)
            seconds = dolma_seconds(python, large) - dolma_seconds(python, small)
            more = size - sum(len(text.encode()) for text in few) / 1e6
            figures["dolma_mixer_mb_per_cpu_s"] = round(more / seconds, 1)
            ours = figures["rows_none_and_filter_mb_per_cpu_s"]
            figures["ratio_and_filter_vs_dolma"] = round(ours / figures["dolma_mixer_mb_per_cpu_s"], 2)
        except AbsentError as error:
            figures |= {"dolma_mixer_mb_per_cpu_s": None, "ratio_and_filter_vs_dolma": None}
            print(f"dolma is absent: {error}")
    return figures


if __name__ == "__main__":
    printed(__doc__, measure)
