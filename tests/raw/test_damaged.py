"""Damaged files of every format give rows, counted bad rows or a bad file by name, and no other error."""

import io
import struct
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.config.datasets.files import Files
from corpus_assets.raw.examples import read_examples
from corpus_assets.raw.items import ItemRules
from corpus_assets.raw.readers import BadRow, Limits, RawFile, RowRules, read_documents
from resources.errors import BadFileError
from resources.formats.codecs import open_packed
from resources.raw_places.data_suffixes import PACKINGS
from tests.raw.every_format import LIST, every_format
from tests.raw.packings import PACK

FORMATS = sorted(every_format())
LIMITS = Limits(line_bytes=1 << 16, free_bytes=1 << 20)
Damage = Callable[[bytes], bytes]


def raw_file(name: str, content: bytes) -> RawFile:
    return RawFile(name, lambda: io.BytesIO(content), lambda _: io.BytesIO("A listed text, naïve.".encode()))


def rules_of(name: str, **rules: Any) -> RowRules:
    return RowRules("s", format="txt_list" if name == LIST else "auto", **rules)


def as_documents(name: str, content: bytes) -> Iterator[Any]:
    yield from read_documents(raw_file(name, content), rules_of(name), LIMITS)


def as_loose_documents(name: str, content: bytes) -> Iterator[Any]:
    rules = rules_of(name, lone_surrogates="keep", loose_texts=True, id_key="note", ids="optional")
    yield from read_documents(raw_file(name, content), rules, LIMITS)


def as_items(name: str, content: bytes) -> Iterator[Any]:
    files = Files.model_construct(None, location="")
    kind = "txt_list" if name == LIST else "auto"
    rules = ItemRules("s", kind, shape="text", files=files, text_keys=("text", "note", "kind"))
    yield from read_examples(raw_file(name, content), rules, LIMITS)


READINGS = (as_documents, as_loose_documents, as_items)


def flipped(content: bytes, places: list[tuple[float, int]]) -> bytes:
    damaged = bytearray(content)
    for place, mask in places:
        damaged[int(place * len(damaged))] ^= mask
    return bytes(damaged)


def spliced(content: bytes, start: float, end: float, inserted: bytes) -> bytes:
    return content[: int(start * len(content))] + inserted + content[int(end * len(content)) :]


PLACE = st.floats(0, 1, exclude_max=True)
ODD = st.one_of(
    st.binary(max_size=12),
    st.sampled_from([b"\0" * 64, b"\r", b"\n\n", b'"', b'\\"', b"\xff\xff\xff\xff", b"\xed\xa0\x80", b"[" * 5000]),
    st.integers(0, 2**64 - 1).map(lambda number: struct.pack("<Q", number)),
)
DAMAGES: st.SearchStrategy[Damage] = st.one_of(
    st.lists(st.tuples(PLACE, st.integers(1, 255)), min_size=1, max_size=4).map(
        lambda places: lambda content: flipped(content, places)
    ),
    st.tuples(PLACE, PLACE, ODD).map(lambda given: lambda content: spliced(content, *given)),
    st.tuples(PLACE, ODD).map(lambda given: lambda content: spliced(content, given[0], given[0], given[1])),
)


def packed_again(name: str) -> tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]:
    """What is inside a compressed file, and how it is packed again: damage inside has sound packing around it."""
    end = name.rpartition(".")[2]
    return (partial(unpacked, end), PACK[end]) if end in PACK else (bytes, bytes)


def unpacked(end: str, packed: bytes) -> bytes:
    return open_packed(io.BytesIO(packed), PACKINGS["." + end]).read()


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=120, deadline=None)
@given(damage=DAMAGES, inside=st.booleans(), reading=st.sampled_from(READINGS))
def test_damaged_bytes_are_rows_bad_rows_or_a_bad_file_by_name(
    name: str, damage: Damage, inside: bool, reading: Callable[[str, bytes], Iterator[Any]]
) -> None:
    unpack, pack = packed_again(name) if inside else (bytes, bytes)
    content = pack(damage(unpack(every_format()[name])))
    try:
        found = list(reading(name, content))
    except BadFileError as error:
        assert error.where.startswith(name)
        assert error.problem
        return
    assert all(row.where.startswith(name) and row.reason for row in found if isinstance(row, BadRow))
