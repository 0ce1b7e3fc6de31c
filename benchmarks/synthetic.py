"""A finished corpus of any number of shards that was never computed: raw files, records and empty outputs."""

from pathlib import Path

import yaml

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.dedup.shared import LOSSES
from resources.formats.attributes import FLAGS
from resources.formats.row_tables import NAMES, SIGNATURES, SKETCH, TEXTS
from resources.hashing import content_digest
from resources.ledger.ledger import FileRecord, Record, recipe_digest
from resources.planning.planner import Planner, listing_inputs
from resources.shards.listing import Shard
from resources.stage.declaration import Partitioning, Stage

SOURCES = ("books", "web", "notes")


def write_synthetic(folder: Path, shards: int) -> Corpus:
    """Make every partition of a corpus of so many shards fresh."""
    for source in SOURCES:
        (folder / "raw" / source).mkdir(parents=True)
    for number in range(shards):
        (folder / f"raw/{SOURCES[number % 3]}/s{number:05d}.jsonl").write_bytes(b"x")
    sources = [{"name": name, "location": f"raw/{name}"} for name in SOURCES]
    config = {"name": "synthetic", "sources": sources, "engine": {"workers": 0}}
    config["storage"] = {"root": "corpus", "sync": False}
    (folder / "corpus.yaml").write_text(yaml.safe_dump(config))
    corpus = Corpus.open(folder / "corpus.yaml")
    for stage in corpus.graph:
        planner = corpus.planner()
        by_key = planner.listing.by_key()
        for key in planner.partitions(stage):
            corpus.ledger.write(_record(corpus, planner, stage, key, by_key.get(key or "")))
    return Corpus.open(folder / "corpus.yaml")


_COUNTERS = {"components": {LOSSES: {"sources": {}, "unexamined_clusters": 0}}}
_ONE_ROW = {"rows_in": 1, "rows_out": 1, "documents": 1}


def _record(corpus: Corpus, planner: Planner, stage: Stage, key: str | None, shard: Shard | None) -> Record:
    parameters = corpus.settings.parameters(stage, shard)
    inputs = planner.inputs(stage, key)
    if stage.looks_outside:
        inputs = {"file": shard.digest(), "name": shard.path_digest()} if shard else listing_inputs(planner.listing)
    path = f"{stage.name.replace('/', '.')}/{key}"
    (Path(corpus.storage.place) / path).parent.mkdir(parents=True, exist_ok=True)
    (Path(corpus.storage.place) / path).touch()
    settings = corpus.settings
    keyed = {"band_keys": [*settings.bands(), *settings.ranges()]}.get(stage.name, settings.chunks())
    segments = [*keyed, TEXTS, NAMES, FLAGS, SIGNATURES, SKETCH] if stage.partitioning is Partitioning.SHARD else []
    if stage.name in ("duplicate_pairs", "candidate_pairs"):
        segments = settings.ranges()
    counters = _COUNTERS.get(stage.name, {})
    return Record(
        asset=stage.name,
        partition=key,
        recipe=recipe_digest(stage.name, stage.code_version, parameters, inputs),
        digest=content_digest(f"{stage.name} {key}".encode()),
        inputs=inputs,
        parameters=parameters,
        code_version=stage.code_version,
        files=[FileRecord(path, 0, "", 0)],
        segments={name: content_digest(f"{key} {name}".encode()) for name in [*segments, *counters]},
        seen=shard.seen() if shard and stage.looks_outside else {},
        statistics=_ONE_ROW if shard else {"rows_in": 1, "rows_out": 1},
        counters=counters,
    )
