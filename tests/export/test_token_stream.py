"""Token streams: ids of whole documents, aligned with a table of where they come from."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.config.datasets.document_exports import MegatronExport
from corpus_assets.export.documents import Documents
from corpus_assets.export.encoding import encoded as encode
from corpus_assets.export.token_stream import DATA, DOCUMENTS, IDS, LENGTHS, NAMES, id_type
from corpus_assets.orchestration.building.notes import build_notes
from corpus_assets.tokenize.encode import texts
from corpus_assets.tokenize.encode.backends import Accelerated, BackendDiffers
from corpus_assets.tokenize.ragged import Ragged
from resources.formats.row_tables import identifiers
from resources.stage.partition import Partition
from tests.build.small import drive, opened, prose, write_config, write_raw
from tests.export.exported import encoded, exported, partitions, tokenizer_of

STREAM = "decontaminated_train_token_stream"
MEGATRON = {"name": "meg", "format": "megatron"}


def lists(stream: Partition) -> list[list[int]]:
    """The ids of every document of a partition."""
    lengths = stream.array(LENGTHS)
    return [ids.tolist() for ids in np.split(stream.array(DATA), np.cumsum(lengths)[:-1])] if len(lengths) else []


def test_a_stream_holds_the_ids_of_every_document(tmp_path: Path) -> None:
    corpus = exported(tmp_path, MEGATRON)
    expected = encoded(corpus)
    found = {stream.key: lists(stream) for stream in partitions(corpus, STREAM)}
    assert found == expected
    for stream in partitions(corpus, STREAM):
        assert stream.array(DATA).dtype == id_type(tokenizer_of(corpus).vocab_size) == np.uint16
        assert stream.array(LENGTHS).dtype == np.int32


def test_a_row_says_where_each_document_comes_from(tmp_path: Path) -> None:
    corpus = exported(tmp_path, MEGATRON)
    splits = partitions(corpus, "decontaminated_train")
    for stream, split in zip(partitions(corpus, STREAM), splits, strict=True):
        table, names = stream.array(DOCUMENTS), stream.json(NAMES)
        ids = list(identifiers(table["id_end"], stream.array(IDS)))
        documents = list(split.documents())
        assert ids == [document.id for document in documents]
        assert [names["sources"][n] for n in table["source"]] == [document.source for document in documents]
        assert table["end"].tolist() == [len(document.text.encode()) for document in documents]
        assert table["copy"].tolist() == split.array(".rows.npy")["copy"].tolist()


def test_documents_of_files_of_its_own_know_their_row(tmp_path: Path) -> None:
    write_raw(tmp_path, "own/a.jsonl", [{"id": f"a{n}", "text": prose(f"own {n}")} for n in range(4)])
    write_raw(tmp_path, "own/b.jsonl", [{"id": "b0", "text": ""}, {"id": "b1", "text": prose("own b")}])
    files = {**MEGATRON, "input": {"location": "raw/own"}}
    corpus = exported(tmp_path, files)
    a, b = partitions(corpus, "meg_token_stream")
    for stream in (a, b):
        names, table = stream.json(NAMES), stream.array(DOCUMENTS)
        assert names == {"sources": ["meg"]}
        assert table["row"].tolist() == list(range(len(table)))
    assert len(a.array(LENGTHS)) == 4


def test_datasets_with_equal_texts_share_a_stream(tmp_path: Path) -> None:
    other = {"name": "other", "format": "megatron", "separator": "none"}
    cleaned = {"name": "cleaned", "format": "megatron", "ftfy": True}
    held = {"name": "held", "format": "megatron", "input": "validation"}
    corpus = exported(tmp_path, MEGATRON, other, cleaned, held)
    streams = [stage.name for stage in corpus.graph if stage.name.endswith("_token_stream")]
    assert len(streams) == 3
    assert {STREAM, "validation_token_stream"} < set(streams)
    write_config(tmp_path, {"datasets": [{**MEGATRON, "name": "again"}, other, cleaned, held]})
    renamed = opened(tmp_path)
    done = drive(renamed)
    assert done.failed == []
    assert done.assets() - {"test"} == {"again_tokens", "again_manifest"}  # Nothing asked for the split `test` before.


def test_what_recomputes_a_stream_says_so(tmp_path: Path) -> None:
    exported(tmp_path, MEGATRON)
    corpus = opened(tmp_path)
    assert drive(corpus, corpus.graph.select(["+meg_manifest"])).recomputed == set()
    write_config(tmp_path, {"datasets": [{**MEGATRON, "wikitext": True}]})
    corpus = opened(tmp_path)
    (stream,) = (stage for stage in corpus.graph if stage.name.endswith("_token_stream"))
    assert stream.name != STREAM


class _Text:
    def __init__(self, text: str) -> None:
        self.text = text


def test_batches_have_no_influence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = tokenizer_of(exported(tmp_path, MEGATRON))
    section = MegatronExport(name="meg", format="megatron")
    documents = [_Text(prose(n, words=n)) for n in range(30)] + [_Text("")]
    expected = [ids for batch in encode(documents, tokenizer, section) for ids in map(list, batch.ids)]
    assert expected == [tokenizer.encode_plain([document.text]).ids.tolist() for document in documents]
    for size in (1, 100, 1000):
        monkeypatch.setattr("corpus_assets.export.encoding.BATCH_CHARACTERS", size)
        monkeypatch.setattr(texts, "BATCH_CHARACTERS", size)
        batches = list(encode(documents, tokenizer, section))
        assert len(batches) > 1
        assert [ids for batch in batches for ids in map(list, batch.ids)] == expected


@given(
    lengths=st.lists(st.integers(0, 9), max_size=20),
    size=st.integers(1, 40),
    before=st.booleans(),
    after=st.booleans(),
    empty=st.booleans(),
)
def test_blocks_are_the_documents_between_their_separators(
    lengths: list[int], size: int, before: bool, after: bool, empty: bool
) -> None:
    data = np.arange(sum(lengths), dtype=np.uint16) + 100
    starts = np.cumsum([0, *lengths])
    stream: Any = _Stream({DATA: data, LENGTHS: np.array(lengths, np.int32)})
    documents = Documents.of(stream, 7 if before else None, 9 if after else None, empty=empty)
    kept = [n for n, length in enumerate(lengths) if length or empty]
    each = [[7] * before + data[starts[n] : starts[n + 1]].tolist() + [9] * after for n in kept]
    assert documents.numbers.tolist() == kept
    blocks = list(documents.blocks(np.uint32, size))
    assert all(len(block) == size for block in blocks[:-1])
    assert [id_ for block in blocks for id_ in block.tolist()] == list(chain.from_iterable(each))
    groups = list(documents.groups(size))
    assert [n for group in groups for n in group.numbers.tolist()] == kept
    assert all(group.ids <= size or len(group) == 1 for group in groups)
    again = [id_ for group in groups for block in group.blocks(np.int32, size) for id_ in block.tolist()]
    assert again == list(chain.from_iterable(each))


class _Stream:
    """Arrays by suffix, as a partition gives them."""

    def __init__(self, arrays: dict[str, Any]) -> None:
        self._arrays = arrays
        for array in arrays.values():
            array.flags.writeable = False

    def array(self, suffix: str) -> Any:
        return self._arrays[suffix]


def test_files_of_its_own_do_not_share_the_stream_of_a_split(tmp_path: Path) -> None:
    write_raw(tmp_path, "own/a.jsonl", [{"id": "a", "text": prose("own")}])
    own = {"name": "validation", "format": "megatron", "input": {"location": "raw/own"}}
    corpus = exported(tmp_path, own, {"name": "split", "format": "megatron", "input": "validation"})
    (of_files,) = partitions(corpus, "validation_files_token_stream")
    assert len(of_files.array(LENGTHS)) == 1
    assert len(partitions(corpus, "validation_token_stream")) == len(partitions(corpus, "validation"))


def test_a_note_says_where_a_fast_library_differed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def differs(_: Accelerated, texts: Sequence[str]) -> Ragged:
        raise BackendDiffers(f"gigatoken 0: id 3 of text {texts[0]!r}: [1], expected [2]")

    monkeypatch.setattr(Accelerated, "encode_plain", differs)
    corpus = exported(tmp_path, MEGATRON)
    (note,) = [one for one in build_notes(opened(tmp_path).planner()) if "fast library differed" in one]
    assert note.startswith(f"{STREAM}: 3 of 3 partitions")
    assert {stream.key: lists(stream) for stream in partitions(corpus, STREAM)} == encoded(corpus)
