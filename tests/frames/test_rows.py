"""Documents and attributes come partition by partition, as they are stored."""

import json
from pathlib import Path

import pandas as pd
import pytest

from corpus_assets import frames
from corpus_assets.corpus.step import Step
from resources.errors import ConfigError, DamagedFileError, NotBuiltError
from resources.stage.partition import Partition
from tests.build.small import opened


def stored(folder: Path, asset: str) -> dict[str | None, Partition]:
    corpus = opened(folder)
    return {key: Partition(corpus.storage, record) for key, record in corpus.ledger.records(asset).items()}


@pytest.mark.parametrize("asset", ["normalized_documents", "filtered_documents", "decontaminated_train"])
def test_documents_are_the_stored_ones(built_once: Path, asset: str) -> None:
    found = list(frames.open(built_once).documents(asset))
    known = stored(built_once, asset)
    corpus = opened(built_once)
    assert [one.partition.iloc[0] for one in found] == list(corpus.planner().decisions(corpus.graph[asset]))
    for one in found:
        documents = list(known[one.partition.iloc[0]].documents())
        assert one.row.tolist() == list(range(len(documents)))
        assert one.id.tolist() == [document.id for document in documents]
        assert one.text.tolist() == [document.text for document in documents]
        assert one.source.tolist() == [document.source for document in documents]
        assert one.text_bytes.tolist() == [len(document.text.encode()) for document in documents]


def test_metadata_is_json_as_it_was_given(built_once: Path, folder: Path) -> None:
    given = [
        {"id": "a", "text": "x" * 100, "url": "https://example.org/", "created": "2024-01-31"},
        {"id": "b", "text": "y" * 100},
    ]
    (folder / "raw/books/one.jsonl").write_text("".join(json.dumps(row) + "\n" for row in given))
    corpus = opened(folder)
    for name in ("inventory", "raw_source", "normalized_documents"):
        assert not Step(corpus, corpus.graph[name]).run()[0].error
    (found,) = frames.open(folder).documents(partitions=["books--one"])
    assert found.id.tolist() == ["a", "b"]
    assert json.loads(found.metadata[0])["url"] == "https://example.org/"
    assert found.created[0] == "2024-01-31"
    assert found[["metadata", "created"]].isna().values.tolist() == [[False, False], [True, True]]
    assert found.added.isna().all()


def test_blocks_hold_the_same_documents(built_once: Path) -> None:
    corpus = frames.open(built_once)
    whole = pd.concat(corpus.documents(), ignore_index=True)
    blocks = list(corpus.documents(block_bytes=1))
    assert {len(one) for one in blocks} == {1}
    pd.testing.assert_frame_equal(pd.concat(blocks, ignore_index=True), whole)


def test_spans_are_the_stored_ones(built_once: Path) -> None:
    corpus = frames.open(built_once)
    spans = pd.concat(corpus.attributes("quality_attributes"), ignore_index=True)
    texts = pd.concat(corpus.documents(), ignore_index=True)
    joined = spans.merge(texts, on=["partition", "row"], validate="one_to_one")
    assert len(joined) == len(texts)
    assert (joined.id_x == joined.id_y).all()
    assert joined.score.tolist() == joined.end.tolist() == joined.text.str.len().tolist()
    flagged = pd.concat(corpus.attributes("short_documents"))
    assert flagged.partition.nunique() >= 1
    assert len(flagged) < len(texts)


def test_a_partition_is_read_when_its_frame_is_asked_for(folder: Path) -> None:
    known = stored(folder, "normalized_documents")
    keys = list(map(str, known))
    last = folder / "corpus" / known[keys[-1]].file(".jsonl.gz").path
    content = bytearray(last.read_bytes())
    found = frames.open(folder).documents(partitions=keys)
    content[len(content) // 2] ^= 1
    last.write_bytes(content)
    for _ in keys[:-1]:
        assert len(next(found)) > 0
    with pytest.raises(DamagedFileError, match=f"normalized_documents/{keys[-1]}"):
        list(found)


def test_what_cannot_be_read_says_what_can(folder: Path) -> None:
    corpus = frames.open(folder)
    with pytest.raises(ConfigError, match=r"no asset named 'filterd_documents' .did you mean 'filtered_documents'"):
        corpus.documents("filterd_documents")
    with pytest.raises(ConfigError, match=r"train has no partition 'chunk-0009' .did you mean 'chunk-000"):
        corpus.documents("train", ["chunk-0009"])
    with pytest.raises(ConfigError, match=r"quality_attributes/.* row 0 is not of the kind .*`text`"):
        list(corpus.documents("quality_attributes"))
    with pytest.raises(ConfigError, match=r"row 0 is not of the kind .*`attributes`"):
        list(corpus.attributes("train"))
    opened(folder).ledger.forget("train", "chunk-0001")
    with pytest.raises(NotBuiltError, match=r"train/chunk-0001 is not built \(2 of 3 partitions are built\)"):
        corpus.documents("train")
    assert len(list(corpus.documents("train", ["chunk-0002"]))) == 1


def test_a_folder_without_a_configuration_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"corpus\.yaml: cannot be read"):
        frames.open(tmp_path)


def test_nothing_is_written(folder: Path) -> None:
    """Not even the snapshots of records, which would save time."""
    for file in (folder / "corpus/ledger/.snapshots").rglob("*"):
        if file.is_file():
            file.unlink()

    def state() -> dict[str, int]:
        return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*")}

    before = state()
    corpus = frames.open(folder)
    assert len(corpus.records()) == len(corpus.plan())
    assert len(list(corpus.documents())) > 1
    assert state() == before
