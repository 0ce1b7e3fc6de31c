"""Texts to files of a format, and back: the same stream, byte for byte."""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.export.token_stream import DATA, LENGTHS
from tests.build.small import drive, opened, write_config, write_small
from tests.export.exported import encoded, exported, partitions
from tests.token_files.given import documents

FORMATS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "megatron": ({}, {}),
    "ragged": ({}, {}),
    "olmo": ({}, {}),
    "olmo-cut": ({"file_ids": 500}, {}),
    "olmo-borders": ({}, {"borders": "separator"}),
    "mds": ({"unit": "document"}, {}),
    "mds-packed": ({"unit": "document", "compression": "zstd", "hashes": ["sha1", "xxh64"], "size_limit": 5000}, {}),
    "mds-windows": ({"sequence_length": 32, "keep_tail": True}, {"borders": "separator"}),
    "nanogpt": ({}, {}),
    "llmc": ({"shard_ids": 1000}, {}),
    "llmc-wide": ({"header": "automodel"}, {}),
}
"""Options of files, and of reading them, by which nothing is lost; the name of the format comes first."""
EOS = 0


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Corpus]]:
    folder = tmp_path_factory.mktemp("made")
    lossy = {"name": "litdata", "format": "litdata", "sequence_length": 33, "chunk_blocks": 4}
    datasets = [lossy] + [
        {"name": name, "format": name.partition("-")[0], **written} for name, (written, _) in FORMATS.items()
    ]
    yield folder, exported(folder, *datasets, {"name": "pre", "format": "ragged", "compat": "pre_tokenize"})


def again(folder: Path, given: Mapping[str, Any], source: tuple[Path, str], **more: Any) -> Corpus:
    """A corpus that reads exported files with the tokenizer of the corpus that wrote them."""
    top, name = source
    if not (folder / "tokens").exists():
        shutil.copytree(top / "corpus" / "exports" / name, folder / "tokens")
        shutil.copytree(top / "corpus" / "tokenizer", folder / "tokenizer")
    kind = {"kind": "neox", "path": "tokenizer/tokenizer.json"}
    entry = {"name": "again", "format": "ragged", "input": {"location": "tokens", **given}, "tokenizer": kind, **more}
    write_config(folder, {"sources": [], "datasets": [entry]})
    return opened(folder)


def build(corpus: Corpus, last: str) -> None:
    done = drive(corpus, corpus.graph.select([f"+{last}"]))
    assert (done.failed, done.waiting) == ([], [])


def ids_and_lengths(corpus: Corpus, asset: str) -> tuple[bytes, bytes]:
    """All ids and all lengths of a stream, one partition after another."""
    streams = partitions(corpus, asset)
    ids, lengths = (b"".join(stream.array(suffix).tobytes() for stream in streams) for suffix in (DATA, LENGTHS))
    return ids, lengths


def digests(corpus: Corpus, asset: str) -> list[tuple[str, ...]]:
    """The digests of ids and lengths of each partition."""
    streams = partitions(corpus, asset)
    return [tuple(stream.file(suffix).digest for suffix in (DATA, LENGTHS)) for stream in streams]


@pytest.mark.parametrize("name", FORMATS)
def test_exported_files_give_the_same_stream(made: tuple[Path, Corpus], tmp_path: Path, name: str) -> None:
    folder, first = made
    given = {"format": name.partition("-")[0], **FORMATS[name][1]}
    corpus = again(tmp_path, given, (folder, name), format="parquet", sequence_length=32)
    build(corpus, "again_manifest")
    assert ids_and_lengths(corpus, "again_token_stream") == ids_and_lengths(first, "decontaminated_train_token_stream")


def test_litdata_loses_the_end_of_each_chunk_of_the_corpus_alone(made: tuple[Path, Corpus], tmp_path: Path) -> None:
    """What is no whole block is in no file (docs/exports.md)."""
    folder, first = made
    corpus = again(tmp_path, {"format": "litdata"}, (folder, "litdata"))
    build(corpus, "again_token_stream")
    expected = []
    for rows in encoded(first).values():
        stream = [id_ for ids in rows if ids for id_ in [*ids, EOS]]
        kept = stream[: len(stream) // 33 * 33]
        while EOS in kept:
            expected.append(kept[: kept.index(EOS)])
            kept = kept[kept.index(EOS) + 1 :]
        expected += [kept] if kept else []
    assert [ids for rows in documents(corpus).values() for ids in rows] == expected


@pytest.mark.parametrize("name", ["megatron", "ragged", "olmo", "mds"])
def test_a_file_for_each_partition_gives_equal_digests(made: tuple[Path, Corpus], tmp_path: Path, name: str) -> None:
    folder, first = made
    corpus = again(tmp_path, {"format": name}, (folder, name))
    build(corpus, "again_token_stream")
    assert digests(corpus, "again_token_stream") == digests(first, "decontaminated_train_token_stream")


def test_what_pre_tokenize_writes_gives_the_same_stream(made: tuple[Path, Corpus], tmp_path: Path) -> None:
    folder, first = made
    corpus = again(tmp_path, {"format": "ragged"}, (folder, "pre"), format="megatron")
    build(corpus, "again_manifest")
    assert digests(corpus, "again_token_stream") == digests(first, "decontaminated_train_token_stream")


@pytest.mark.parametrize("mode", ["lm", "lm_vsl"])
@pytest.mark.parametrize("shuffle", [False, True])
def test_rows_of_ids_are_those_of_texts(made: tuple[Path, Corpus], tmp_path: Path, mode: str, shuffle: bool) -> None:
    """Shuffle keys hold the name of a partition, so that shuffled rows are compared as a set."""
    rows: dict[str, Any] = {"mode": mode, "sequence_length": 32, "shuffle": shuffle, "name": "again", "format": "hdf5"}
    folder, _ = made
    texts = tmp_path / "texts"
    write_small(texts, {"datasets": [{**rows, "input": "decontaminated_train"}]})
    of_texts = opened(texts)
    build(of_texts, "again_token_params")
    of_ids = again(tmp_path / "ids", {"format": "megatron"}, (folder, "megatron"), **rows)
    build(of_ids, "again_token_params")
    one, other = (rows_of(corpus) for corpus in (of_texts, of_ids))
    assert one
    assert (sorted(one) == sorted(other)) if shuffle else one == other
    said = [partitions(corpus, "again_token_params")[0].json("data_params.json") for corpus in (of_texts, of_ids)]
    for key in ("n_examples", "num_tokens", "document_tokens", "loss_valid_tokens", "processed_files", "fill"):
        assert said[0]["post-process"][key] == said[1]["post-process"][key]


def rows_of(corpus: Corpus) -> list[bytes]:
    """All token rows of all files."""
    made = [one for one in partitions(corpus, "again_tokens") if one.has(".h5")]
    return [row.tobytes() for one in made for row in one.token_rows(0, one.file(".h5").rows or 0)]


def test_documents_are_those_that_were_written(made: tuple[Path, Corpus], tmp_path: Path) -> None:
    folder, first = made
    corpus = again(tmp_path, {"format": "megatron"}, (folder, "megatron"), format="ragged")
    build(corpus, "again_token_stream")
    expected = [[ids for ids in rows if ids] for rows in encoded(first).values()]
    assert [*documents(corpus).values()] == expected
