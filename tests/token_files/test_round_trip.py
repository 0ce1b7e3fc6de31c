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

FORMATS: dict[str, dict[str, Any]] = {
    "megatron": {},
    "ragged": {},
}
"""Formats that keep the borders of documents, with the options by which nothing is lost."""
KEEPS_EMPTY = {"ragged"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Corpus]]:
    folder = tmp_path_factory.mktemp("made")
    datasets = [{"name": name, "format": name, **options} for name, options in FORMATS.items()]
    yield folder, exported(folder, *datasets, {"name": "pre", "format": "ragged", "compat": "pre_tokenize"})


def again(folder: Path, given: Mapping[str, Any], source: tuple[Path, str], **more: Any) -> Corpus:
    """A corpus that reads exported files with the tokenizer of the corpus that wrote them."""
    top, name = source
    if not (folder / "tokens").exists():
        shutil.copytree(top / "corpus" / "exports" / name, folder / "tokens")
        shutil.copytree(top / "corpus" / "tokenizer", folder / "tokenizer")
    kind = {"kind": "neox", "path": "tokenizer/tokenizer.json"}
    entry = {"name": "again", "input": {"location": "tokens", **given}, "tokenizer": kind, **more}
    write_config(folder, {"sources": [], "datasets": [entry]})
    return opened(folder)


def build(corpus: Corpus, last: str) -> None:
    done = drive(corpus, corpus.graph.select([f"+{last}"]))
    assert (done.failed, done.waiting) == ([], [])


def digests(corpus: Corpus, asset: str) -> list[tuple[str, ...]]:
    """The digests of ids and lengths of each partition."""
    streams = partitions(corpus, asset)
    return [tuple(stream.file(suffix).digest for suffix in (DATA, LENGTHS)) for stream in streams]


@pytest.mark.parametrize("name", FORMATS)
def test_exported_files_give_the_same_stream(made: tuple[Path, Corpus], tmp_path: Path, name: str) -> None:
    folder, first = made
    corpus = again(tmp_path, {"format": name}, (folder, name), format="parquet", sequence_length=32)
    build(corpus, "again_manifest")
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
    rows: dict[str, Any] = {"mode": mode, "sequence_length": 32, "shuffle": shuffle, "name": "again"}
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
