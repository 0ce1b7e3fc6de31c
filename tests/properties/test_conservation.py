"""No row is lost between raw and splits, for any corpus, any epochs and any holdout."""

import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.split.checks import flows
from resources.documents.row_counts import added, by_power
from resources.formats.documents import Document
from resources.ledger.ledger import Record
from resources.stage.declaration import Partitioning, reasons_of
from resources.stage.partition import Partition
from tests.build.small import drive, live_records, opened, prose, write_config

TEXTS = [*(prose(n, 20) for n in range(12)), "short", "", prose(3, 20)[:-9] + " changed."]
ROWS = st.one_of(st.integers(0, len(TEXTS) - 1), st.just(-1))
SHARDS = st.dictionaries(
    st.tuples(st.sampled_from(["books", "web", "notes"]), st.integers(0, 2)),
    st.lists(ROWS, max_size=8),
    min_size=1,
    max_size=5,
)
EPOCHS = st.sampled_from([0.0, 0.3, 1.0, 1.5, 3.0])
HOLDOUTS = st.one_of(st.sampled_from([0.0, 0.3, 0.9]), st.integers(0, 5).map(lambda count: {"count": count}))


def write(folder: Path, shards: dict[tuple[str, int], list[int]], changes: dict[str, Any]) -> Corpus:
    for source in ("books", "web", "notes"):
        (folder / "raw" / source).mkdir(parents=True)
    for (source, number), rows in shards.items():
        key = "body" if source == "notes" else "text"
        lines = [
            "{broken" if row < 0 else json.dumps({"id": f"{number}.{place}", key: TEXTS[row]})
            for place, row in enumerate(rows)
        ]
        (folder / f"raw/{source}/s{number}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    write_config(folder, changes)
    return opened(folder)


def documents(corpus: Corpus, asset: str, records: list[Record]) -> list[Document]:
    return [document for record in records for document in Partition(corpus.storage, record).documents()]


def assert_by_source(numbers: dict[str, Any], found: list[Document]) -> None:
    """What is counted by source are the documents that are there, and sums up to what is counted in all."""
    sizes: dict[str, list[int]] = {}
    for document in found:
        sizes.setdefault(document.source, []).append(len(document.text.encode()))
    counted = {source: {"documents": len(held), "text_bytes": sum(held)} for source, held in sizes.items()}
    assert numbers["by_source"] == counted
    assert sum(one["documents"] for one in counted.values()) == numbers["rows_out"]
    assert sum(one["text_bytes"] for one in counted.values()) == numbers["text_bytes"]
    dropped = {reason: sum(lost.values()) for reason, lost in numbers.get("dropped_by_source", {}).items()}
    assert dropped == numbers.get("dropped", {})
    assert numbers["rows_in"] == numbers["rows_out"] + sum(dropped.values())


@settings(max_examples=20, deadline=None)
@given(
    shards=SHARDS,
    epochs=st.tuples(EPOCHS, EPOCHS),
    holdout=HOLDOUTS,
    chunks=st.integers(1, 4),
    least=st.sampled_from([None, None, 1, 150]),
)
def test_every_row_is_accounted_for(
    shards: dict[tuple[str, int], list[int]], epochs: tuple[float, float], holdout: Any, chunks: int, least: int | None
) -> None:
    changes: dict[str, Any] = {
        "sources.0.epochs": epochs[0],
        "sources.1.epochs": epochs[1],
        "split.holdout": holdout,
        "mix.chunks": chunks,
    }
    if least:
        changes["filter"] = {"min_text_length": least}
    for source in range(3):
        changes |= {f"sources.{source}.may_be_empty": True, f"sources.{source}.max_bad_rows": 1.0}
    with tempfile.TemporaryDirectory() as folder:
        corpus = write(Path(folder), shards, changes)
        stages = corpus.graph.select(["+decontaminated_train", "validation", "test"])
        built = drive(corpus, stages)
        assert not built.failed
        records: dict[str, list[Record]] = {stage.name: [] for stage in stages}
        for (asset, _), record in live_records(corpus).items():
            records[asset].append(record)
        _, equations = flows(records, filtered=bool(least))
        assert len(equations) == (7 if least else 6)
        assert [flow for flow in equations if flow.left != flow.right] == []
        normalized = [record.statistics for record in records["normalized_documents"]]
        bad = [sum(seen.get("dropped", {}).values()) for seen in normalized]
        assert sum(seen["rows_in"] for seen in normalized) == sum(len(rows) for rows in shards.values())
        assert sum(bad) == sum(row < 0 for rows in shards.values() for row in rows)
        found = {name: documents(corpus, name, records[name]) for name in ("train", "holdout", "decontaminated_train")}
        held = {document.text for document in found["holdout"]}
        assert not held & {document.text for document in found["decontaminated_train"]}
        assert len({(d.source, d.id) for d in found["holdout"]}) == len(found["holdout"])
        if isinstance(holdout, dict):
            per_source = Counter(document.source for document in found["holdout"])
            assert all(count >= 1 for count in per_source.values())
            distinct = {source: len({d.text for d in found["holdout"] if d.source == source}) for source in per_source}
            assert all(count <= holdout["count"] for count in distinct.values())
        for name, stage in corpus.graph.stages.items():
            counted = {reason for one in records.get(name, []) for reason in one.statistics.get("dropped", {})}
            assert counted <= set(reasons_of(stage, corpus.settings.values))
            if stage.unit_out == "documents" and stage.partitioning is Partitioning.CHUNK:
                for record in records.get(name, []):
                    assert_by_source(record.statistics, documents(corpus, name, [record]))
        for name in ("normalized_documents", "filtered_documents", "decontaminated_train"):
            texts = [len(document.text.encode()) for document in documents(corpus, name, records.get(name, []))]
            lengths = added(record.statistics["lengths"] for record in records.get(name, []))
            assert lengths == by_power(texts)
        assert len(found["train"]) == sum(record.statistics["rows_out"] for record in records["train"])
