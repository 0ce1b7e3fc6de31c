"""Megatron's indexed dataset, opened by a reader made from the description of the format alone."""

import struct
from pathlib import Path

import numpy as np
import pytest

from corpus_assets.export.hooks import check_export
from resources.errors import ConfigError
from tests.build.small import opened, write_config
from tests.export.exported import encoded, exported, folder_of, manifest_of, tokenizer_of

DTYPES = {1: "u1", 2: "i1", 3: "<i2", 4: "<i4", 5: "<i8", 8: "<u2"}


def read_indexed(prefix: Path) -> list[list[int]]:
    """The documents of an indexed dataset (docs/formats/trainers.md "Megatron")."""
    index = prefix.with_suffix(".idx").read_bytes()
    assert index[:9] == b"MMIDIDX\x00\x00"
    version, code, sequences, ends = struct.unpack_from("<QBQQ", index, 9)
    assert version == 1
    lengths = np.frombuffer(index, "<i4", sequences, 34)
    offsets = np.frombuffer(index, "<i8", sequences, 34 + 4 * sequences)
    documents = np.frombuffer(index, "<i8", ends, 34 + 12 * sequences)
    assert len(index) == 34 + 12 * sequences + 8 * ends
    ids = np.fromfile(prefix.with_suffix(".bin"), DTYPES[code])
    assert documents.tolist() == list(range(sequences + 1))
    starts = offsets // ids.itemsize
    assert int(lengths.sum()) == len(ids)
    return [ids[start : start + length].tolist() for start, length in zip(starts, lengths, strict=True)]


def test_documents_end_with_end_of_text(tmp_path: Path) -> None:
    corpus = exported(tmp_path, {"name": "meg", "format": "megatron"})
    eos = tokenizer_of(corpus).eos_id
    for key, documents in encoded(corpus).items():
        found = read_indexed(folder_of(tmp_path, "meg") / f"{key}_text_document")
        assert found == [[*ids, eos] for ids in documents if ids]


@pytest.mark.parametrize(("separator", "around"), [("none", (0, 0)), ("before", (1, 0)), ("after", (0, 1))])
def test_the_separator_stands_where_it_is_asked_for(tmp_path: Path, separator: str, around: tuple[int, int]) -> None:
    corpus = exported(tmp_path, {"name": "meg", "format": "megatron", "separator": separator})
    eos = tokenizer_of(corpus).eos_id
    before, after = around
    for key, documents in encoded(corpus).items():
        found = read_indexed(folder_of(tmp_path, "meg") / f"{key}_text_document")
        assert found == [[*[eos] * before, *ids, *[eos] * after] for ids in documents]


def test_a_separator_that_is_no_token_is_refused_before_a_build(tmp_path: Path) -> None:
    exported(tmp_path, {"name": "meg", "format": "megatron"})
    named = {"name": "meg", "format": "megatron", "separator_token": "<|nothing|>"}
    path = str(tmp_path / "corpus" / "tokenizer" / "tokenizer.json")
    write_config(tmp_path, {"datasets": [named], "tokenizer": {"kind": "neox", "path": path}})
    with pytest.raises(ConfigError, match=r"datasets\.meg\.separator_token: '<\|nothing\|>' is no token"):
        check_export(opened(tmp_path).settings.values, "meg")


def test_the_manifest_says_what_the_files_hold(tmp_path: Path) -> None:
    corpus = exported(tmp_path, {"name": "meg", "format": "megatron"})
    found, documents = manifest_of(corpus, "meg"), encoded(corpus)
    every = [ids for of_partition in documents.values() for ids in of_partition]
    assert (found["format"], found["unit"], found["documents"]) == ("megatron", "document", len(every))
    assert found["ids"] == sum(map(len, every)) + len(every)
    assert found["tokenizer"]["digest"] == tokenizer_of(corpus).digest
    assert sum(source["tokens"] for source in found["sources"].values()) == sum(map(len, every))
    root = folder_of(tmp_path, "meg")
    assert {entry["path"]: entry["bytes"] for entry in found["files"]} == {
        path.name: path.stat().st_size for path in root.iterdir() if path.name != "manifest.json"
    }


def test_a_mode_that_is_not_about_texts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="mode is 'chat'; valid with `format: megatron`"):
        exported(tmp_path, {"name": "meg", "format": "megatron", "mode": "chat"})


def test_windows_that_are_cut_before_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds documents uncut: the trainer cuts them"):
        exported(tmp_path, {"name": "meg", "format": "megatron", "sequence_length": 2048})
