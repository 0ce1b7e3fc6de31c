"""A stream of parts: every id of every use of a document is in one piece, or counted; parts keep their masks."""

import json
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.export.datasets import Part
from corpus_assets.export.masked.documents import MASK
from corpus_assets.export.parts.stream import Rules, mixed_stream
from corpus_assets.export.token_stream import DATA, DOCUMENT, DOCUMENTS, IDS, LENGTHS, NAMES
from corpus_assets.export.weights.uses import Mix, Used
from resources.formats.token_streams import ORIGIN, ORIGINS, STREAMS
from resources.stage.task import Given, Task
from resources.storage.local.store import LocalStorage
from tests.export.masked.rules import Document

MOST, CHUNKS, EOS = 6, 3, 9
Parts = list[tuple[Part, Any]]


class Stream:
    """A partition of a stream in memory."""

    def __init__(self, key: str, documents: Sequence[Document]) -> None:
        self.key = key
        names = [f"{key}-{number}".encode() for number in range(len(documents))]
        rows = np.zeros(len(documents), DOCUMENT)
        rows["id_end"] = np.cumsum([*map(len, names)], dtype=np.uint64)
        rows["end"] = 7
        self._arrays: Mapping[str, Any] = {
            DATA: np.array([id_ for ids, _ in documents for id_ in ids], np.uint16),
            MASK: np.array([one for _, learned in documents for one in learned], np.uint8),
            LENGTHS: np.array([len(ids) for ids, _ in documents], np.int32),
            IDS: np.frombuffer(b"".join(names), np.uint8),
            DOCUMENTS: rows,
        }

    def array(self, suffix: str) -> Any:
        return self._arrays[suffix]

    def json(self, suffix: str) -> Any:
        assert suffix == NAMES
        return {"sources": [self.key[0]]}


Piece = tuple[str, str, int, int, int, tuple[int, ...], tuple[int, ...]]
"""Stream, key, document, use, where it begins, ids, what is learned."""


def written(folder: Path, parts: Parts, mix: Mix | None, rule: Any) -> tuple[list[list[Piece]], Counter[str]]:
    """The pieces of each chunk in order, and what was counted."""
    found, counted = [], Counter[str]()
    for chunk in range(CHUNKS):
        task = Task(Given("made", f"chunk-{chunk}", LocalStorage(folder, sync=False), {}))
        streams: Any = [
            (
                part,
                [
                    Stream(f"{part.name}{number}", documents)
                    for number, documents in enumerate(held)
                    if part.of_files or number == chunk
                ],
            )
            for part, held in parts
        ]
        rules = Rules(MOST, rule, (), (EOS,), chunk, CHUNKS, np.dtype(np.uint16))
        mixed_stream(task, f"made/{chunk}", streams, rules, mix)
        task.publish()
        counted.update({name: n for name, n in task.statistics.items() if isinstance(n, int)})
        counted.update(task.dropped())
        found.append(pieces_in(folder / "made", str(chunk)))
    return found, counted


def pieces_in(folder: Path, key: str) -> list[Piece]:
    ids, mask, lengths, origins = (np.load(folder / f"{key}{suffix}") for suffix in (DATA, MASK, LENGTHS, ORIGINS))
    assert origins.dtype == ORIGIN
    read = json.loads((folder / f"{key}{STREAMS}").read_text())
    ends = np.cumsum([0, *lengths]).tolist()
    found = []
    for number, (stream, document, use, begin) in enumerate(origins.tolist()):
        own = slice(ends[number], ends[number + 1])
        asset, of, _ = read[stream]
        found.append((asset, of, document, use, begin, tuple(ids[own].tolist()), tuple(mask[own].tolist())))
    return found


@st.composite
def parts_of(draw: st.DrawFn) -> Parts:
    """A part of texts with a partition for each chunk, one of texts in files, and a masked one in files."""
    ids = st.integers(10, 999)
    text = st.lists(ids, max_size=15).map(lambda own: (own, [0] * len(own)))
    masked = st.lists(ids, min_size=2, max_size=MOST).map(lambda own: (own, [0, *[n % 2 for n in own[1:-1]], 1]))
    texts = st.lists(text, max_size=4)
    return [
        (Part("w", "web", "tokenizer", False, False), draw(st.lists(texts, min_size=CHUNKS, max_size=CHUNKS))),
        (Part("b", "books", "tokenizer", True, False), draw(st.lists(texts, max_size=2))),
        (Part("s", "sft", "tokenizer", True, True), draw(st.lists(st.lists(masked, max_size=4), max_size=3))),
    ]


@settings(max_examples=60, deadline=None)
@given(
    parts=parts_of(),
    rule=st.sampled_from(["fold", "cut", "drop"]),
    copies=st.none() | st.tuples(*[st.integers(0, 3)] * 3),
)
def test_every_id_of_every_use_is_in_one_piece_or_counted(
    parts: Parts, rule: str, copies: tuple[int, int, int] | None
) -> None:
    names = [part.name for part, _ in parts]
    times = dict(zip(names, copies or (1, 1, 1), strict=True))
    mix = None if copies is None else Mix(5, {name: Used(0, 0, 0, 0.0, n, 0, []) for name, n in times.items()})
    with tempfile.TemporaryDirectory() as folder:
        found, counted = written(Path(folder), parts, mix, rule)
    expected = Counter[Piece]()
    lost = dropped = 0
    for part, held in parts:
        for number, documents in enumerate(held):
            for place, (own, learned) in enumerate(documents):
                for use in range(times[part.name] if own else 0):
                    ids = own if part.masked else [*own, EOS]
                    begins = [*range(0, len(ids), MOST)]
                    kept = begins if rule == "fold" or len(begins) == 1 else begins[:1] if rule == "cut" else []
                    lost += len(ids) - sum(min(MOST, len(ids) - begin) for begin in kept)
                    dropped += not kept
                    for begin in kept:
                        piece = ids[begin : begin + MOST]
                        if len(piece) < 2:
                            lost += len(piece)
                            dropped += 1
                            continue
                        mask = learned if part.masked else [0, *[1] * (len(piece) - 1)]
                        stream = f"{part.name}{number}"
                        expected[part.stream, stream, place, use, begin, tuple(piece), tuple(mask)] += 1
    assert Counter(piece for chunk in found for piece in chunk) == expected
    assert counted["truncated_tokens"] == lost
    assert counted["long_document"] + counted["nothing_learned"] == dropped
    assert counted["loss_tokens"] == sum(sum(piece[6]) * n for piece, n in expected.items())
    for number, chunk in enumerate(found):
        assert all(piece[1] == f"w{number}" for piece in chunk if piece[0] == "web")


@settings(max_examples=30, deadline=None)
@given(parts=parts_of())
def test_another_document_moves_no_other(parts: Parts) -> None:
    more = [*parts[:2], (parts[2][0], [*parts[2][1], [([10, 11], [0, 1])]])]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        before, _ = written(Path(folder), parts, None, "fold")
        after, _ = written(Path(other), more, None, "fold")
    key = f"s{len(parts[2][1])}"
    assert before == [[piece for piece in chunk if piece[1] != key] for chunk in after]
    assert sum(len(chunk) for chunk in after) == sum(len(chunk) for chunk in before) + 1
