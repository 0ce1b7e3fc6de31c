"""A corpus whose documents have a topic and a score, and datasets that are mixed by them."""

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from corpus_assets.corpus.corpus import Corpus
from tests.build.small import prose, write_config
from tests.export.exported import exported, manifest_of

TOPICS = ("science", "sports", "web/forum")
DATASET: dict[str, Any] = {"name": "mix", "format": "megatron"}
TOPIC = {"by": "metadata.topic"}
QUALITY = {"by": "metadata.scores.quality", "quantiles": 4}


def rows(source: str, count: int) -> Iterator[dict[str, Any]]:
    """Documents of several lengths: every tenth has no topic, every seventh no score."""
    chance = random.Random(source)
    for number in range(count):
        topic = {} if number % 10 == 9 else {"topic": chance.choice(TOPICS)}
        scores = {} if number % 7 == 6 else {"scores": {"quality": round(chance.uniform(-2, 4), 5)}}
        text = prose(f"{source} {number}", words=chance.randint(12, 30))
        yield {"id": f"{source}-{number}", "text": text, "metadata": {**topic, **scores}}


def write_buckets(folder: Path, counts: Mapping[str, int] | None = None) -> None:
    """Write raw files of two sources, each in two shards."""
    for source, count in (counts or {"books": 260, "web": 420}).items():
        lines = [json.dumps(row) + "\n" for row in rows(source, count)]
        (folder / "raw" / source).mkdir(parents=True, exist_ok=True)
        for shard in range(2):
            (folder / "raw" / source / f"{shard}.jsonl").write_text("".join(lines[shard::2]))


def changes(units: Any, weights: Any, **more: Any) -> dict[str, Any]:
    """The configuration that differs from that of the small corpus."""
    sources = [{"name": name, "location": f"raw/{name}"} for name in ("books", "web")]
    dataset = {**DATASET, **({"weights": weights} if weights else {})}
    return {"sources": sources, "mix.units": units, "datasets": [dataset], **more}


def configure(folder: Path, units: Any, weights: Any, **more: Any) -> None:
    """Write corpus.yaml, and raw files if there are none."""
    if not (folder / "raw").exists():
        write_buckets(folder)
    write_config(folder, changes(units, weights, **more))


def mixed(folder: Path, units: Any, weights: Any, **more: Any) -> tuple[Corpus, dict[str, Any]]:
    """The built corpus, and the manifest of the dataset."""
    if not (folder / "raw").exists():
        write_buckets(folder)
    given = changes(units, weights, **more)
    (dataset,) = given.pop("datasets")
    corpus = exported(folder, dataset, **given)
    return corpus, manifest_of(corpus, "mix")


def counted(corpus: Corpus) -> Counter[str]:
    """How many documents of the mix each unit has."""
    found = Counter[str]()
    for record in corpus.ledger.records("document_units").values():
        found.update({unit: numbers["documents"] for unit, numbers in record.statistics["by_unit"].items()})
    return found
