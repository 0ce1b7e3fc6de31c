"""There is a way for every raw row of any corpus, and the ways that end for a reason are as many as the records say."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.raw.sample.writing import write_sample
from corpus_assets.tracing.look import Look
from tests.build.small import drive, opened, prose, write_config
from tests.tracing.ways import all_ways, ends_of, recorded

ROOT = Path(__file__).parent.parent.parent
TEXTS = [*(prose(n, 20) for n in range(8)), "short", "", prose(3, 20)[:-9] + " changed.", "{broken"]
ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, len(TEXTS) - 1)), max_size=10)
SHARDS = st.dictionaries(
    st.tuples(st.sampled_from(["books", "web", "notes"]), st.integers(0, 2)), ROWS, min_size=1, max_size=4
)


def written(folder: Path, shards: dict[tuple[str, int], list[tuple[int, int]]], changes: dict[str, Any]) -> Corpus:
    """A corpus of rows (id, text); ids are not unique, and a broken line is no row of JSON."""
    for source in ("books", "web", "notes"):
        (folder / "raw" / source).mkdir(parents=True)
    for (source, number), rows in shards.items():
        key = "body" if source == "notes" else "text"
        lines = [
            TEXTS[text] if TEXTS[text] == "{broken" else json.dumps({"id": f"d{place}", key: TEXTS[text]})
            for place, text in rows
        ]
        (folder / f"raw/{source}/s{number}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    write_config(folder, changes)
    return opened(folder)


@settings(max_examples=12, deadline=None)
@given(
    shards=SHARDS,
    epochs=st.sampled_from([0.0, 0.5, 1.0, 2.5]),
    holdout=st.sampled_from([0.0, 0.3, 0.9]),
    method=st.sampled_from(["content_hash", "slimpajama"]),
    leave_out=st.sampled_from([["short_documents", "duplicates"], ["duplicates"], []]),
    least=st.sampled_from([None, 1, 150]),
)
def test_the_ways_of_all_rows_are_what_the_records_count(
    shards: dict[tuple[str, int], list[tuple[int, int]]],
    epochs: float,
    holdout: float,
    method: str,
    leave_out: list[str],
    least: int | None,
) -> None:
    changes: dict[str, Any] = {
        "sources.0.epochs": epochs,
        "split.holdout": holdout,
        "split.method": method,
        "mix.leave_out": leave_out,
        "mix.order": "slimpajama" if method == "slimpajama" else "keyed",
        "datasets": [],
    }
    if least:
        changes["filter"] = {"min_text_length": least}
    for source in range(3):
        changes |= {f"sources.{source}.may_be_empty": True, f"sources.{source}.max_bad_rows": 1.0}
    with tempfile.TemporaryDirectory() as folder:
        corpus = written(Path(folder), shards, changes)
        assert not drive(corpus, corpus.graph.select(["+decontaminated_train", "validation", "test"])).failed
        look = Look(opened(Path(folder)))
        ways = list(all_ways(look))
        assert len(ways) == sum(map(len, shards.values()))
        assert [step for way in ways for step in way.steps if step.status == "unknown" or step.stale] == []
        assert ends_of(ways) == recorded(corpus)
        assert {(way.origin.shard, way.origin.row) for way in ways} == {
            (f"{source}--s{number}", row) for (source, number), rows in shards.items() for row in range(len(rows))
        }
        places = [
            (step.stage, step.partition, step.row)
            for way in ways
            for step in way.steps
            if step.row is not None and step.stage not in ("raw_source",)
        ]
        assert len(places) == len(set(places)), "two documents are said to be in one place"


@pytest.mark.slow
def test_every_row_of_the_sample_corpus_is_accounted_for(tmp_path: Path) -> None:
    summary = write_sample(tmp_path / "data" / "raw", megabytes=6)
    kept = (ROOT / "corpus.yaml").read_text(encoding="utf-8").split("# Each becomes an asset")[0]
    (tmp_path / "corpus.yaml").write_text(f"{kept}datasets: []\n", encoding="utf-8")
    corpus = opened(tmp_path)
    assert not drive(corpus, corpus.graph.select(["+decontaminated_train", "validation", "test"])).failed
    ways = list(all_ways(Look(opened(tmp_path))))
    assert len(ways) == summary.documents > 2_000
    assert ends_of(ways) == recorded(corpus)
    assert not [step for way in ways for step in way.steps if step.status == "unknown" or step.stale]
