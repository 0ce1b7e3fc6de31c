"""Windows against a plain buffer, how they are shared out, and their lines: the laws of Amber's data."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.config.datasets.amber_exports import AmberExport
from corpus_assets.export.amber import runs
from corpus_assets.export.amber.lines import LineEncoder
from corpus_assets.export.amber.runs import Cut, Run
from corpus_assets.export.amber.shares import output_files, shares
from corpus_assets.export.documents import Documents, Parts
from corpus_assets.export.token_stream import BY_SOURCE, DATA, DOCUMENT, DOCUMENTS, LENGTHS, NAMES
from resources.errors import ConfigError

Document = tuple[str, list[int]]
SOURCES = ("a", "b")


class Stream:
    """A partition of a token stream that holds these documents, as far as windows read it."""

    def __init__(self, documents: Sequence[Document]) -> None:
        sources = sorted({source for source, _ in documents})
        table = np.zeros(len(documents), DOCUMENT)
        table["source"] = [sources.index(source) for source, _ in documents]
        self._arrays: dict[str, Any] = {
            DATA: np.array([id_ for _, ids in documents for id_ in ids], np.uint16),
            LENGTHS: np.array([len(ids) for _, ids in documents], np.int32),
            DOCUMENTS: table,
        }
        self._json = {NAMES: {"sources": sources, "shards": []}}
        found: dict[str, dict[str, int]] = {}
        for source, ids in documents:
            of_source = found.setdefault(source, {"documents": 0, "tokens": 0, "text_bytes": 0})
            of_source["documents"] += 1
            of_source["tokens"] += len(ids)
        self._counters = {BY_SOURCE: found}
        for array in self._arrays.values():
            array.flags.writeable = False

    def array(self, suffix: str) -> Any:
        return self._arrays[suffix]

    def json(self, suffix: str) -> Any:
        return self._json[suffix]

    def counters(self, name: str) -> Any:
        return self._counters[name]


Id = tuple[int, int, int, int]
"""An id, the number of its partition, its place in all ids with separators there, and the number of its document."""


@dataclass(frozen=True)
class Around:
    """A cut, and the ids around each document."""

    window: int
    before: list[int]
    after: list[int]
    wrap: bool = True

    @property
    def cut(self) -> Cut:
        return Cut(self.window, len(self.before) + len(self.after), self.wrap)


def parts_of(partitions: Sequence[Sequence[Document]], cut: Around) -> Parts:
    """The documents of all partitions, as a dataset opens them."""
    streams: list[Any] = [Stream(part) for part in partitions]

    def opened(stream: Any) -> Documents:
        return Documents.of(stream, None, None, empty=True).between(cut.before, cut.after)

    return Parts(streams, opened, as_counted=True)


def by_buffer(
    partitions: list[list[Document]], source: str | None, cut: Around
) -> tuple[list[list[Id]], list[Id], int]:
    """Windows, tail, and ids that are left out, as amber-data-prep's buffer gives them."""
    windows, buffer, lost = [], list[Id](), 0
    for number, documents in enumerate(partitions):
        place = 0
        for row, (name, ids) in enumerate(documents):
            whole = [*cut.before, *ids, *cut.after]
            if source in (None, name):
                buffer += [(id_, number, place + n, row) for n, id_ in enumerate(whole)]
            while len(buffer) >= cut.window:
                windows.append(buffer[: cut.window])
                buffer = buffer[cut.window :]
                if not cut.wrap:
                    lost, buffer = lost + len(buffer), []
            place += len(whole)
    return windows, buffer, lost


documents = st.tuples(st.sampled_from(SOURCES), st.lists(st.integers(10, 60_000), max_size=12))
partitions_of = st.lists(st.lists(documents, max_size=8), max_size=4)
separators = st.lists(st.integers(0, 9), max_size=2)
cuts = st.builds(Around, st.integers(1, 15), separators, separators, st.booleans())


@given(partitions_of, st.sampled_from([None, *SOURCES]), cuts, st.integers(1, 40), st.randoms())
def test_windows_are_those_of_a_plain_buffer(
    partitions: list[list[Document]], source: str | None, cut: Around, block: int, chance: Any
) -> None:
    run = Run(parts_of(partitions, cut), range(len(partitions)), source, cut.cut)
    expected, tail, lost = by_buffer(partitions, source, cut)
    assert run.counted == (len(expected), len(tail))
    assert run.ids == len(expected) * cut.window + len(tail) + lost
    wanted = np.array(sorted(chance.sample(range(len(expected)), chance.randint(0, len(expected)))), np.int64)
    origins = list[Any]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "BLOCK_IDS", block)
        blocks = list(run.gather(wanted, np.dtype(np.uint16), origins))
    assert all(len(found) <= max(1, block // cut.window) for found in blocks)
    assert [row.tolist() for found in blocks for row in found] == [[id_[0] for id_ in expected[n]] for n in wanted]
    assert list(chain.from_iterable(found.tolist() for found in origins)) == [
        (row, position, *expected[n][position][1:3])
        for row, n in enumerate(wanted)
        for position in range(cut.window)
        if not position or not_next(*expected[n][position - 1 : position + 1])
    ]


def not_next(one: Id, other: Id) -> bool:
    """Whether the documents of two ids that follow each other differ."""
    return one[1:2] + one[3:] != other[1:2] + other[3:]


def test_a_document_of_five_million_ids_is_cut_in_one_pass() -> None:
    """amber-data-prep copies the rest of its buffer for each window: 70 s for this document."""
    ids = np.random.default_rng(1).integers(0, 60_000, 5_000_000)
    cut = Around(2049, [], [2])
    run = Run(parts_of([[("a", [7]), ("a", ids.tolist())]], cut), [0], "a", cut.cut)
    found = np.concatenate(list(run.gather(np.arange(run.windows), np.dtype(np.uint16), [])))
    np.testing.assert_array_equal(found.ravel(), np.concatenate([[7, 2], ids, [2]])[: found.size])
    assert run.counted == divmod(len(ids) + 3, 2049)


def amber(**options: Any) -> AmberExport:
    return AmberExport(name="amber", format="amber", **options)


@given(
    windows=st.lists(st.integers(0, 60), min_size=1, max_size=3),
    chunks=st.integers(1, 9),
    validation=st.integers(0, 12),
    uneven=st.booleans(),
    draw=st.sampled_from(["keyed", "python"]),
    shuffle=st.booleans(),
    turns=st.integers(1, 5),
)
def test_every_window_is_in_one_file_or_counted(
    windows: list[int], chunks: int, validation: int, uneven: bool, draw: str, shuffle: bool, turns: int
) -> None:
    section = amber(chunks=chunks, validation=validation, uneven_chunks=uneven, draw=draw, shuffle=shuffle, seed=3)
    counts = {f"s{n}": many for n, many in enumerate(windows)}
    if min(windows) < validation:
        with pytest.raises(ConfigError, match=r"datasets\.amber\.validation: source 's\d' has \d+ windows"):
            shares(counts, section, "amber")
        return
    found = shares(counts, section, "amber")
    files = {file.name: file for turn in range(turns) for file in output_files(found, section, turn, turns)}
    assert len(files) == chunks + (len(windows) if validation else 0)
    for kind, share in enumerate(found):
        assert len(share.validation) == validation
        left = [n for n in range(share.used) if n not in set(share.validation.tolist())]
        held = [
            files[f"train/train_{k}"].windows[files[f"train/train_{k}"].sets == kind].tolist() for k in range(chunks)
        ]
        assert [sorted(numbers) for numbers in held] == [left[k::chunks] for k in range(chunks)]
        assert shuffle or all(numbers == sorted(numbers) for numbers in held)
        assert share.unused == (0 if uneven else (share.windows - validation) % chunks)
        if not uneven:
            assert {len(numbers) for numbers in held} == {(share.windows - validation) // chunks}
        if validation:
            assert files[f"valid/s{kind}"].windows.tolist() == share.validation.tolist()


def test_the_draw_depends_on_the_seed_and_the_source_alone() -> None:
    section = amber(chunks=7, validation=20)
    (alone,) = shares({"a": 300}, section, "x")
    _, beside, other = shares({"first": 90, "a": 300, "b": 300}, section, "y")
    assert alone.validation.tolist() == beside.validation.tolist() != other.validation.tolist()
    (changed,) = shares({"a": 300}, amber(chunks=7, validation=20, seed=1), "x")
    assert changed.validation.tolist() != alone.validation.tolist()


def test_shuffled_files_hold_the_lines_of_all_sources_mixed() -> None:
    found = shares({"a": 500, "b": 500}, section := amber(chunks=2), "x")
    one, two = output_files(found, section, 0, 1)
    assert one.sets.tolist() != sorted(one.sets.tolist())
    assert one.windows.tolist() != two.windows.tolist()


@settings(max_examples=50)
@given(
    rows=st.lists(st.lists(st.integers(0, 2**32 - 1), min_size=3, max_size=3), max_size=5),
    sources=st.lists(st.text(max_size=5), min_size=1, max_size=3),
)
def test_lines_are_those_of_python(rows: list[list[int]], sources: list[str]) -> None:
    windows = np.array(rows, np.uint32).reshape(-1, 3)
    kinds = np.arange(len(rows)) % len(sources)
    text, ends = LineEncoder(sources, 2**32).encode(windows, kinds)
    expected = [json.dumps({"token_ids": row, "source": sources[n]}) + "\n" for row, n in zip(rows, kinds, strict=True)]
    assert bytes(text) == "".join(expected).encode()
    assert ends == np.cumsum([len(line) for line in expected]).tolist()


@pytest.mark.parametrize("vocabulary", [1, 10, 11, 65_536, 65_537])
def test_the_longest_id_of_a_vocabulary_has_room(vocabulary: int) -> None:
    windows = np.full((2, 40), vocabulary - 1, np.uint32)
    text, _ = LineEncoder(["s"], vocabulary).encode(windows, np.zeros(2, np.int64))
    assert bytes(text) == (json.dumps({"token_ids": [vocabulary - 1] * 40, "source": "s"}) + "\n").encode() * 2
