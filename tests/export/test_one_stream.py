"""nanoGPT and torchtitan: the documents of all partitions in one file."""

import io
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.export.hooks import check_export
from resources.errors import ConfigError
from tests.build.small import opened, write_config
from tests.export.exported import encoded, exported, folder_of, manifest_of, tokenizer_of
from tests.export.memory import EOS, written

NANOGPT, TITAN = {"name": "nano", "format": "nanogpt"}, {"name": "titan", "format": "torchtitan"}
streams = st.lists(st.lists(st.lists(st.integers(3, 299), max_size=7), max_size=6), max_size=4)


def keyed(streams: list[list[list[int]]]) -> dict[str, list[list[int]]]:
    return {f"chunk-{number:04d}": lists for number, lists in enumerate(streams)}


def test_documents_of_all_chunks_follow_each_other(tmp_path: Path) -> None:
    held = {"name": "held", "format": "nanogpt", "input": "validation"}
    corpus = exported(tmp_path, NANOGPT, TITAN, held)
    eos = tokenizer_of(corpus).eos_id
    documents = [[*ids, eos] for found in encoded(corpus).values() for ids in found if ids]
    stream = [id_ for ids in documents for id_ in ids]
    assert np.fromfile(folder_of(tmp_path, "nano") / "train.bin", np.uint16).tolist() == stream
    tokens = np.memmap(folder_of(tmp_path, "titan") / "tokens.bin", np.uint32, "r")
    offsets = np.load(folder_of(tmp_path, "titan") / "document_offsets.npy")
    assert [tokens[start:end].tolist() for start, end in pairwise(offsets)] == documents
    assert manifest_of(corpus, "titan")["units"] == manifest_of(corpus, "nano")["units"] == len(documents)
    validation = [id_ for found in encoded(corpus, "validation").values() for ids in found for id_ in (*ids, eos)]
    assert np.fromfile(folder_of(tmp_path, "held") / "val.bin", np.uint16).tolist() == validation


@given(streams=streams)
def test_offsets_bound_every_document(streams: list[list[list[int]]]) -> None:
    found, files = written("torchtitan", {}, keyed(streams))
    tokens = np.frombuffer(found["tokens.bin"], np.uint32)
    offsets = np.load(io.BytesIO(found["document_offsets.npy"]))
    saved = io.BytesIO()
    np.save(saved, offsets)
    assert saved.getvalue() == found["document_offsets.npy"]
    assert offsets[0] == 0
    assert offsets[-1] == len(tokens) == files.totals["ids"]
    documents = [tokens[start:end].tolist() for start, end in pairwise(offsets)]
    assert documents == [[*ids, EOS] for lists in streams for ids in lists if ids]
    assert files.units == len(documents)


@given(streams=streams, part=st.sampled_from(["train", "val"]))
def test_a_file_is_all_ids(streams: list[list[list[int]]], part: str) -> None:
    found, files = written("nanogpt", {"part": part}, keyed(streams))
    assert [*found] == [f"{part}.bin"]
    expected = [id_ for lists in streams for ids in lists if ids for id_ in (*ids, EOS)]
    assert np.frombuffer(found[f"{part}.bin"], np.uint16).tolist() == expected
    assert files.units == files.totals["documents"]
    assert [place.unit for place in files.places] == np.cumsum([0, *(p.units for p in files.places)])[:-1].tolist()


def test_a_vocabulary_beyond_two_bytes_is_refused_for_nanogpt_before_a_build(tmp_path: Path) -> None:
    write_config(tmp_path, {"datasets": [NANOGPT], "tokenizer.vocabulary": 65_536})
    check_export(opened(tmp_path).settings.values, "nano")
    write_config(tmp_path, {"datasets": [NANOGPT], "tokenizer.vocabulary": 65_537})
    with pytest.raises(ConfigError, match="format nanogpt holds ids up to 65,535, and the tokenizer has 65,537"):
        check_export(opened(tmp_path).settings.values, "nano")


def test_nanogpt_holds_the_last_id_of_two_bytes() -> None:
    found, _ = written("nanogpt", {"separator": "none"}, {"chunk-0000": [[65_535]]}, 65_536)
    assert np.frombuffer(found["train.bin"], np.uint16).tolist() == [65_535]
