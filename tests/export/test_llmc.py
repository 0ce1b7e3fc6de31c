"""Files of llm.c, opened by a reader made from the description of the format alone."""

from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.export.hooks import check_export
from resources.errors import ConfigError
from tests.build.small import opened, write_config
from tests.export.exported import encoded, exported, folder_of, manifest_of, tokenizer_of
from tests.export.memory import BOS, written

LLMC = {"name": "c", "format": "llmc"}
GPT2, LLAMA3, AUTOMODEL = (20240520, 1, 0), (20240801, 7, 0), (278895051, 1)
streams = st.lists(st.lists(st.lists(st.integers(3, 299), max_size=7), max_size=6), max_size=4)


def read(content: bytes, width: int = 2) -> tuple[tuple[int, ...], list[int]]:
    """Magic, version and fourth number of a file, and its ids (docs/formats/trainers.md "llm.c")."""
    header = np.frombuffer(content[:1024], "<i4")
    assert len(content) == 1024 + width * header[2]
    assert not header[4:].any()
    return (*header[[0, 1, 3]].tolist(),), np.frombuffer(content, f"<u{width}", offset=1024).tolist()


def test_files_are_the_stream_of_all_documents(tmp_path: Path) -> None:
    held = {"name": "held", "format": "llmc", "input": "validation", "prefix": "c"}
    both = {"name": "both", "format": "llmc", "part": "both", "shard_ids": 300}
    corpus = exported(tmp_path, {**LLMC, "shard_ids": 300}, held, both)
    eos = tokenizer_of(corpus).eos_id
    stream = [id_ for documents in encoded(corpus).values() for ids in documents for id_ in (eos, *ids)]
    for name, first in (("c", "c_train_000001.bin"), ("both", "both_val_000000.bin")):
        files = sorted(folder_of(tmp_path, name).glob(f"{name}_*.bin"), key=lambda file: file.name[-10:])
        found = [read(file.read_bytes()) for file in files]
        assert files[0].name == first
        assert all(name.startswith(f"{file.name.split('_')[0]}") for file in files)
        assert {kind for kind, _ in found} == {GPT2}
        assert {len(ids) for _, ids in found[:-1]} == {300}
        assert list(chain.from_iterable(ids for _, ids in found)) == stream
        assert manifest_of(corpus, name)["ids"] == len(stream)
    (validation,) = folder_of(tmp_path, "held").glob("*.bin")
    assert validation.name == "c_val_000000.bin"
    assert len(read(validation.read_bytes())[1]) == manifest_of(corpus, "held")["ids"]


@given(streams=streams, shard_ids=st.integers(1, 9), separator=st.sampled_from(["before", "none"]))
def test_places_say_which_ids_lie_where(streams: list[list[list[int]]], shard_ids: int, separator: str) -> None:
    given = {f"chunk-{number:04d}": lists for number, lists in enumerate(streams)}
    found, files = written("llmc", {"shard_ids": shard_ids, "separator": separator}, given)
    before = [BOS] if separator == "before" else []
    streams_of = {key: [[*before, *ids] for ids in lists if ids] for key, lists in given.items()}
    numbers = {key: [number for number, ids in enumerate(lists) if ids] for key, lists in given.items()}
    joined = {key: list(chain.from_iterable(lists)) for key, lists in streams_of.items()}
    starts = {key: np.cumsum([0, *map(len, lists)]).tolist() for key, lists in streams_of.items()}
    contents = {name: read(content)[1] for name, content in found.items()}
    assert list(chain.from_iterable(contents.values())) == list(chain.from_iterable(joined.values()))
    held: dict[str, list[int]] = {name: [] for name in found}
    units = dict.fromkeys(found, 0)
    for place in files.places:
        name = place.path.rpartition("/")[2]
        held[name] += joined[place.stream][place.id : place.id + place.ids]
        begin = [n for n, start in enumerate(starts[place.stream][:-1]) if place.id <= start < place.id + place.ids]
        assert (place.unit, place.units) == (units[name], len(begin) or 1)
        assert place.step == (0 if begin else place.ids)
        units[name] += place.units
        inside = int(np.searchsorted(starts[place.stream], place.id, side="right")) - 1
        assert place.document == numbers[place.stream][inside]
    assert held == contents
    assert sum(place.units for place in files.places if not place.step) == files.totals["documents"]
    assert files.totals["ids"] == sum(map(len, contents.values()))


@pytest.mark.parametrize(
    ("header", "vocabulary", "kind", "width"),
    [
        ("gpt2", 65_536, GPT2, 2),
        ("llama3", 300, LLAMA3, 4),
        ("llama3", 128_256, LLAMA3, 4),
        ("automodel", 65_536, (*AUTOMODEL, 2), 2),
        ("automodel", 65_537, (*AUTOMODEL, 4), 4),
    ],
)
def test_headers_say_how_ids_are_stored(header: str, vocabulary: int, kind: tuple[int, ...], width: int) -> None:
    ids = [vocabulary - 1, 3]
    found, _ = written("llmc", {"header": header}, {"chunk-0000": [ids]}, vocabulary)
    assert read(found["made_train_000001.bin"], width) == (kind, [BOS, *ids])


def test_an_empty_split_has_no_file() -> None:
    assert written("llmc", {}, {"chunk-0000": [], "chunk-0001": [[]]})[0] == {}


@pytest.mark.parametrize(
    ("options", "vocabulary", "message"),
    [
        ({}, 65_537, r"datasets\.c: header gpt2 goes with ids up to 65,535, and the tokenizer has 65,537 entries"),
        ({"shard_ids": 1_073_741_312}, 300, "valid: up to 1,073,741,311, which make a file of 2 GiB"),
        ({"header": "llama3", "shard_ids": 600_000_000}, 300, "valid: up to 536,870,655"),
    ],
)
def test_files_that_readers_cannot_hold_are_refused_before_a_build(
    options: dict[str, object], vocabulary: int, message: str, tmp_path: Path
) -> None:
    write_config(tmp_path, {"datasets": [{**LLMC, **options}], "tokenizer.vocabulary": vocabulary})
    with pytest.raises(ConfigError, match=message):
        check_export(opened(tmp_path).settings.values, "c")


def test_the_largest_file_is_below_two_gibibytes(tmp_path: Path) -> None:
    write_config(tmp_path, {"datasets": [{**LLMC, "shard_ids": 1_073_741_311}], "tokenizer.vocabulary": 65_536})
    check_export(opened(tmp_path).settings.values, "c")
    assert 1024 + 2 * 1_073_741_311 < 2**31
