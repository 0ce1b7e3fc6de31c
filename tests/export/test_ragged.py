"""Ragged arrays, read with numpy alone: `np.load` and the read index."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.config.datasets.document_exports import RaggedExport
from corpus_assets.export.hooks import check_export
from resources.errors import ConfigError
from tests.build.small import drive, opened, prose, write_config, write_raw
from tests.export.exported import encoded, exported, folder_of, manifest_of, partitions, tokenizer_of
from tests.export.memory import BOS, EOS, written
from tests.export.test_amber import lines_of
from tests.export.test_trace import traced

RAGGED_DATASET = {"name": "rag", "format": "ragged"}
lists = st.lists(st.lists(st.integers(3, 299), max_size=9), max_size=12)


def read(stem: Path) -> list[list[int]]:
    """The rows of two arrays, by the read index (docs/trainers/ragged.md)."""
    data, lengths = np.load(f"{stem}.data.npy", mmap_mode="r"), np.load(f"{stem}.len.npy")
    return rows(data, lengths)


def rows(data: NDArray[np.integer], lengths: NDArray[np.integer]) -> list[list[int]]:
    index = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    assert index[-1] == len(data)
    return [data[index[i] : index[i + 1]].tolist() for i in range(len(lengths))]


def test_chunks_are_numbered(tmp_path: Path) -> None:
    held = {"name": "held", "format": "ragged", "input": "validation"}
    named = {"name": "other", "format": "ragged", "prefix": "c4-en"}
    corpus = exported(tmp_path, RAGGED_DATASET, held, named)
    expected = encoded(corpus)
    for number, key in enumerate(expected):
        assert read(folder_of(tmp_path, "rag") / f"rag-train.{number:05d}-of-00003") == expected[key]
        assert read(folder_of(tmp_path, "other") / f"c4-en.{number:05d}-of-00003") == expected[key]
    for number, documents in enumerate(encoded(corpus, "validation").values()):
        stem = folder_of(tmp_path, "held") / f"held-validation.{number:05d}-of-00003"
        assert read(stem) == documents
        assert np.load(f"{stem}.data.npy").dtype == np.uint16
        assert np.load(f"{stem}.len.npy").dtype == np.int32


def test_files_are_those_that_numpy_saves(tmp_path: Path) -> None:
    exported(tmp_path, RAGGED_DATASET)
    for file in folder_of(tmp_path, "rag").glob("*.npy"):
        saved = io.BytesIO()
        np.save(saved, np.load(file))
        assert file.read_bytes() == saved.getvalue()


def test_files_of_its_own_keep_every_row(tmp_path: Path) -> None:
    write_raw(tmp_path, "own/b.jsonl", [{"id": "b0", "text": ""}, {"id": "b1", "text": prose("own b")}, {"id": "b2"}])
    write_raw(tmp_path, "own/a.jsonl", [{"id": f"a{n}", "text": prose(f"own {n}")} for n in range(4)])
    corpus = exported(tmp_path, {**RAGGED_DATASET, "input": {"location": "raw/own"}})
    expected = encoded(corpus, "rag_examples")
    folder = folder_of(tmp_path, "rag")
    assert [read(folder / f"rag.0000{number}-of-00002") for number in range(2)] == [*expected.values()]
    assert [len(ids) > 0 for ids in read(folder / "rag.00001-of-00002")] == [False, True]
    assert [partition.record.statistics["dropped"] for partition in partitions(corpus, "rag_examples")[1:]] == [
        {"no_text": 1}
    ]
    found = manifest_of(corpus, "rag")
    assert (found["documents"], found["units"], found["dropped"]) == (6, 6, {})


@pytest.mark.parametrize(
    ("names", "numbers"),
    [
        (["c4.00002-of-01024", "c4.00010-of-01024.json", "x.1-of-2"], [2, 10, 1]),
        (["c4.00002-of-01024", "c4.00010-of-01024", "other"], [0, 1, 2]),
        (["a.00002-of-01024", "b.00002-of-01024"], [0, 1]),
    ],
)
def test_numbers_in_names_are_those_of_files_as_in_pre_tokenize(names: list[str], numbers: list[int]) -> None:
    lists = {f"made--{name}": [[place + 3]] for place, name in enumerate(names)}
    for compat, expected in [("pre_tokenize", numbers), (None, range(len(names)))]:
        found, _ = written("ragged", {"input": {"location": "raw"}, "compat": compat}, lists)
        for place, number in enumerate(expected):
            data = np.load(io.BytesIO(found[f"made.{number:05d}-of-{len(names):05d}.data.npy"]))
            assert data.tolist() == [place + 3]


@pytest.mark.parametrize("kind", ["ragged", "llmc", "amber"])
def test_files_of_its_own_come_in_the_order_of_their_paths(tmp_path: Path, kind: str) -> None:
    """That is not the order of their keys, where names have capitals, or one is the beginning of another."""
    by_path = ["B/x", "a-b/x", "a/B", "a/b", "part-1", "part"]
    for name in by_path:
        write_raw(tmp_path, f"own/{name}.jsonl", [{"id": name, "text": f"{name} {prose(name)}"}])
    options: dict[str, dict[str, Any]] = {
        "ragged": {},
        "llmc": {"shard_ids": 10**6},
        "amber": {"window": 2, "chunks": 1, "compat": "amber"},
    }
    dataset = {"name": "own", "format": kind, "input": {"location": "raw/own"}, **options[kind]}
    corpus = exported(tmp_path, dataset)
    assert all(one.status == "fresh" for one in corpus.planner().plan().decisions if one.asset.startswith("own_"))
    by_key = [shard.path.removesuffix(".jsonl") for shard in corpus.listing().shards if shard.source == "own"]
    assert by_key != by_path
    keys = {shard.path: shard.key for shard in corpus.listing().shards if shard.source == "own"}
    files = [encoded(corpus, "own_examples")[keys[f"{name}.jsonl"]] for name in by_path]
    folder, found = folder_of(tmp_path, "own"), list[int]()
    if kind == "ragged":
        assert [read(folder / f"own.0000{number}-of-00006") for number in range(6)] == files
        return
    if kind == "llmc":
        found = np.fromfile(folder / "own_train_000001.bin", np.uint16)[512:].tolist()
    else:
        found = [id_ for line in lines_of(folder)["train/train_0"] for id_ in line["token_ids"]]
    special = {tokenizer_of(corpus).eos_id, tokenizer_of(corpus).bos_id}
    ids = [id_ for documents in files for ids in documents for id_ in ids]
    written = [id_ for id_ in found if id_ not in special]
    assert written == ids[: len(written)]
    assert len(written) >= len(ids) - 1  # of an odd number, windows of two ids leave one over


def test_a_recipe_follows_the_order_of_paths_where_it_is_another(tmp_path: Path) -> None:
    write_raw(tmp_path, "own/b.jsonl", [{"id": "b", "text": prose("b")}])
    write_raw(tmp_path, "own/a.jsonl", [{"id": "a", "text": prose("a")}])
    corpus = exported(tmp_path, {**RAGGED_DATASET, "input": {"location": "raw/own"}})
    (edge,) = (edge for edge in corpus.graph["rag_tokens"].inputs if edge.asset == "rag_token_stream")
    assert edge.by_path
    planner = corpus.planner()
    assert planner.keys_read(edge, None) == planner.partitions(corpus.graph["rag_token_stream"])


def test_a_new_file_renames_all(tmp_path: Path) -> None:
    write_raw(tmp_path, "own/a.jsonl", [{"id": "a", "text": prose("a")}])
    exported(tmp_path, {**RAGGED_DATASET, "input": {"location": "raw/own"}})
    write_raw(tmp_path, "own/b.jsonl", [{"id": "b", "text": prose("b")}])
    corpus = opened(tmp_path)
    done = drive(corpus, corpus.graph.select(["+rag_manifest"]))
    assert done.of("rag_token_stream") == {"rag--b"}
    expected = encoded(corpus, "rag_examples")
    folder = folder_of(tmp_path, "rag")
    assert [read(folder / f"rag.0000{number}-of-00002") for number in range(2)] == [*expected.values()]


def test_a_piece_leads_to_its_document(tmp_path: Path) -> None:
    corpus = exported(tmp_path, {**RAGGED_DATASET, "context_length": 7, "bos_id": 5})
    for number, (key, documents) in enumerate(encoded(corpus).items()):
        stem = f"rag-train.{number:05d}-of-00003"
        (split,) = (one for one in partitions(corpus, "decontaminated_train") if one.key == key)
        held = [document.id for document in split.documents()]
        pieces = [(n, start) for n, ids in enumerate(documents) for start in range(0, len(ids), 6)]
        found = read(folder_of(tmp_path, "rag") / stem)
        assert found == [[5, *documents[n][start : start + 6]] for n, start in pieces]
        for row in (0, len(pieces) // 2, len(pieces) - 1):
            n, start = pieces[row]
            last = len(found[row]) - 1
            named = traced(tmp_path, "rag", f"{stem}.data.npy", row, last)
            assert (named["origin"]["id"], named["ids"]) == (held[n], len(documents[n]))
            assert named["position"] == start + last - 1
            assert traced(tmp_path, "rag", f"{stem}.data.npy", row, 0)["position"] is None


@given(lists=lists, length=st.integers(1, 6), bos=st.sampled_from([None, 0, 7]), compat=st.booleans())
def test_pieces_join_to_the_documents(lists: list[list[int]], length: int, bos: int | None, compat: bool) -> None:
    length += bos is not None
    options = {"context_length": length, "compat": "pre_tokenize" if compat else None, "bos_id": bos}
    found, files = written("ragged", options, {"chunk-0000": lists})
    data, sizes = (np.load(io.BytesIO(found[f"made-train.00000-of-00001.{name}.npy"])) for name in ("data", "len"))
    assert (data.dtype, sizes.dtype) == ((np.int16, np.int16) if compat else (np.uint16, np.int32))
    expected = []
    for ids in lists:
        room = length - (bos is not None)
        cut = [ids[start : start + room] for start in range(0, len(ids), room)] or [[]]
        expected += [[bos, *piece] if bos is not None else piece for piece in cut]
    assert rows(data, sizes) == expected
    assert files.totals["ids"] == len(data) == sum(map(len, lists)) + files.totals["separators"]


@given(lists=lists, separator=st.sampled_from(["before", "after"]))
def test_separators_count_as_ids_of_the_document(lists: list[list[int]], separator: str) -> None:
    found, _ = written("ragged", {"separator": separator}, {"chunk-0000": lists})
    data, sizes = (np.load(io.BytesIO(found[f"made-train.00000-of-00001.{name}.npy"])) for name in ("data", "len"))
    assert rows(data, sizes) == [[BOS, *ids] if separator == "before" else [*ids, EOS] for ids in lists]


@pytest.mark.parametrize(("vocabulary", "width"), [(32_769, 2), (65_536, 2), (65_537, 4)])
def test_ids_are_as_wide_as_the_vocabulary_asks_for(vocabulary: int, width: int) -> None:
    ids = [0, 32_768, vocabulary - 1]
    found, _ = written("ragged", {}, {"chunk-0000": [ids]}, vocabulary)
    data = np.load(io.BytesIO(found["made-train.00000-of-00001.data.npy"]))
    assert (data.tolist(), data.dtype) == (ids, np.dtype(f"<u{width}"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bos_id": 0}, "bos_id is 0 with context_length None; valid: a length of 2 or more"),
        ({"bos_id": 0, "context_length": 1}, "with context_length 1; valid: a length of 2 or more"),
        ({"context_length": 8, "separator": "after"}, "valid: `none`, and `bos_id` before every piece"),
        ({"context_length": 32_768, "compat": "pre_tokenize"}, "valid: at most 32767"),
        ({"prefix": "../up"}, "String should match"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RaggedExport.model_validate({**RAGGED_DATASET, **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"compat": "pre_tokenize"}, r"datasets\.rag: compat: pre_tokenize holds ids up to 32,767.* 40,000 entries"),
        ({"context_length": 8, "bos_id": 40_000}, "bos_id is 40000; valid: less than 40,000"),
    ],
)
def test_ids_that_do_not_fit_are_refused_before_a_build(
    options: dict[str, object], message: str, tmp_path: Path
) -> None:
    write_config(tmp_path, {"datasets": [{**RAGGED_DATASET, **options}], "tokenizer.vocabulary": 40_000})
    with pytest.raises(ConfigError, match=message):
        check_export(opened(tmp_path).settings.values, "rag")
