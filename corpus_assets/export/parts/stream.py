"""The token stream of a dataset of parts: documents of other token streams, as often as each part is used.

A partition is a masked token stream (`masked/stream.py`), and beside it `ORIGINS`. Documents of a part that is made of
a split stay in their chunk; those of files, and each use of one, go to the chunk that a keyed hash says. Documents lie
in keyed order, so that parts are mixed and uses of the same document lie apart. Texts get their separators here, and
are at most as long as a row; of masked documents nothing is changed.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.masked import LongDocuments
from corpus_assets.export.datasets import Part
from corpus_assets.export.format import Files
from corpus_assets.export.masked.documents import CUT_SHORT, MASK, SEQUENCES
from corpus_assets.export.masked.long import LONG_DOCUMENT
from corpus_assets.export.masked.stream import NOTHING_LEARNED
from corpus_assets.export.mixture import document_hashes
from corpus_assets.export.token_stream import BY_SOURCE, DATA, DOCUMENT, DOCUMENTS, IDS, LENGTHS, NAMES
from corpus_assets.export.weights.stored import scrambled
from corpus_assets.export.weights.uses import Mix, times_of
from resources.documents.row_counts import added, by_power
from resources.formats.token_streams import ORIGIN, ORIGINS, STREAMS
from resources.stage.partition import Partition
from resources.stage.task import Task

BATCH_IDS = 1 << 20
LOST, CUT = "lost", "cut"
"""Counters of a partition: documents and ids that it has not, by reason, and how many texts are cut short."""
_USE = np.dtype([("order", "<u8"), ("stream", "<u4"), ("document", "<u4"), ("use", "<u4")])
_CHUNKS = np.uint64(0x5851F42D4C957F2D)
"""Sets the choice of a chunk apart from the order in it."""


@dataclass(frozen=True)
class Rules:
    """What a partition is made by.

    most: ids of a document. rule: what is done with longer texts. before, after: ids around texts. chunk, chunks: the
    number of the partition, and of all. dtype: of ids.
    """

    most: int
    rule: LongDocuments
    before: tuple[int, ...]
    after: tuple[int, ...]
    chunk: int
    chunks: int
    dtype: np.dtype[Any]


class _Given(NamedTuple):
    """A partition of the stream of a part."""

    part: Part
    stream: Partition
    starts: NDArray[np.int64]
    lengths: NDArray[np.int32]
    data: NDArray[Any]
    mask: NDArray[np.uint8] | None
    documents: NDArray[np.void]
    ids: NDArray[np.uint8]
    sources: Sequence[str]

    @classmethod
    def of(cls, part: Part, stream: Partition) -> "_Given":
        lengths = stream.array(LENGTHS)
        return cls(
            part,
            stream,
            np.cumsum(lengths, dtype=np.int64) - lengths,
            lengths,
            stream.array(DATA),
            stream.array(MASK) if part.masked else None,
            stream.array(DOCUMENTS),
            stream.array(IDS),
            stream.json(NAMES)["sources"],
        )

    def identifier(self, document: int) -> bytes:
        """Returns the id of a document as UTF-8."""
        ends = self.documents["id_end"]
        return self.ids[int(ends[document - 1]) if document else 0 : int(ends[document])].tobytes()

    def name(self, document: int) -> str:
        """Returns its source and id, for people."""
        source = self.sources[int(self.documents["source"][document])]
        return f"{source}/{self.identifier(document).decode('utf-8', 'surrogatepass')}"


class _Piece(NamedTuple):
    """What becomes a document: of which it is, which use of it, where in it the piece begins, and its ids."""

    stream: int
    document: int
    use: int
    begin: int
    ids: NDArray[Any]
    learned: NDArray[np.uint8]


@dataclass
class _Counted:
    """What is counted while a partition is written, and the numbers of sources in it."""

    sources: Mapping[str, int]
    lost: dict[str, Counter[str]] = field(default_factory=dict)
    cut: int = 0
    token_lengths: list[int] = field(default_factory=list)
    by_source: dict[str, Counter[str]] = field(default_factory=dict)
    by_part: dict[str, Counter[str]] = field(default_factory=dict)

    def lose(self, reason: str, ids: int, *, is_all: bool) -> None:
        """Counts ids that are in no document. is_all: nothing else of the text is in one either."""
        self.lost.setdefault(reason, Counter(documents=0, ids=0)).update(documents=int(is_all), ids=ids)

    @property
    def lost_ids(self) -> int:
        """How many ids are in no document."""
        return sum(numbers["ids"] for numbers in self.lost.values())

    def total(self, number: str) -> int:
        """Returns a number of all parts together."""
        return sum(numbers[number] for numbers in self.by_part.values())


def mixed_stream(
    task: Task, path: str, parts: Sequence[tuple[Part, Sequence[Partition]]], rules: Rules, mix: Mix | None
) -> None:
    """Writes a partition. path: of its files, without the suffix. mix: how parts are used; None: each document once."""
    every = [_Given.of(part, stream) for part, streams in parts for stream in streams]
    uses = _uses(every, rules, mix)
    # What it has nothing of is not named, so that a change there changes nothing here.
    numbers = np.unique(uses["stream"])
    given = [every[number] for number in numbers.tolist()]
    uses["stream"] = np.searchsorted(numbers, uses["stream"])
    names = dict.fromkeys(name for one in given for name in one.sources)
    counted = _Counted({name: number for number, name in enumerate(names)})
    for part, _ in parts:
        counted.by_part[part.name] = Counter(documents=0, pieces=0, tokens=0, loss_tokens=0)
    _write(task, path, _batches(_pieces(task, (given, uses), rules, counted)), (given, rules.dtype), counted)
    task.save_json(f"{path}{NAMES}", {"sources": [*names]}, rows=1)
    read = [[one.part.stream, one.stream.key, 0 if one.part.masked else len(rules.before)] for one in given]
    task.save_json(f"{path}{STREAMS}", read, rows=len(read))
    task.save_counters(BY_SOURCE, {name: dict(counted.by_source[name]) for name in sorted(counted.by_source)})
    lost = {reason: dict(counted.lost[reason]) for reason in sorted(counted.lost)}
    task.save_counters(LOST, {CUT: counted.cut, LOST: lost})
    tokens, learned = counted.total("tokens"), counted.total("loss_tokens")
    task.count(rows_in=len(uses), rows_out=counted.total("pieces"), tokens=tokens, loss_tokens=learned)
    task.count(repeats=int((uses["use"] > 0).sum()), documents_truncated=counted.cut, truncated_tokens=counted.lost_ids)
    task.count(token_lengths=counted.token_lengths)
    task.count(by_part={name: dict(numbers) for name, numbers in counted.by_part.items()})


def add_lost(streams: Iterable[Partition], files: Files, pieces: int) -> None:
    """Adds to what is counted of files what their streams have not of the texts that were chosen for them.

    pieces: how many documents the streams hold, of which several may be of one text.
    """
    files.count(**{SEQUENCES: 0 if SEQUENCES in files.totals else pieces})
    for counters in (stream.counters(LOST) for stream in streams):
        for reason, lost in counters[LOST].items():
            files.count(**lost)
            files.drop(reason, **lost)
        files.count(**{CUT_SHORT: counters[CUT]})


def _uses(given: Sequence[_Given], rules: Rules, mix: Mix | None) -> NDArray[np.void]:
    """Returns the uses of documents that the partition has, in their order (uses,)."""
    found = [_uses_of(number, one, rules, mix) for number, one in enumerate(given)]
    return np.sort(np.concatenate([np.empty(0, _USE), *found]), order=list(_USE.names or ()))


def _uses_of(number: int, given: _Given, rules: Rules, mix: Mix | None) -> NDArray[np.void]:
    hashes = document_hashes(given.stream, 0 if mix is None else mix.seed)
    times = np.ones(len(hashes), np.int64)
    if mix is not None:
        used = mix.sources.get(given.part.name)
        times = np.zeros(len(hashes), np.int64) if used is None else times_of(hashes, used)
    times[given.lengths == 0] = 0
    documents = np.repeat(np.arange(len(hashes)), times)
    found = np.empty(len(documents), _USE)
    found["use"] = np.arange(len(documents)) - np.repeat(np.cumsum(times) - times, times)
    found["order"] = scrambled(hashes[documents], found["use"].astype(np.uint64))
    found["stream"], found["document"] = number, documents
    if given.part.of_files:
        to = scrambled(found["order"] ^ _CHUNKS, found["use"].astype(np.uint64)) % np.uint64(rules.chunks)
        found = found[to == np.uint64(rules.chunk)]
    return found


def _pieces(
    task: Task, held: tuple[Sequence[_Given], NDArray[np.void]], rules: Rules, counted: _Counted
) -> Iterator[_Piece]:
    """Yields what becomes of uses of documents, in their order; what is in none is counted. held: partitions, uses."""
    given, uses = held
    before, after = (np.array(ids, np.int64) for ids in (rules.before, rules.after))
    of_text = (np.arange(rules.most) > 0).astype(np.uint8)
    for _, stream, document, use in uses.tolist():
        one = given[stream]
        start, end = int(one.starts[document]), int(one.starts[document]) + int(one.lengths[document])
        if one.mask is not None:
            yield _Piece(stream, document, use, 0, one.data[start:end], one.mask[start:end])
            continue
        ids = np.concatenate([before, one.data[start:end], after])
        begins = [*range(0, len(ids), rules.most)]
        if len(begins) > 1 and rules.rule != "fold":
            begins = begins[:1] if rules.rule == "cut" else []
            counted.cut += len(begins)
            counted.lose(LONG_DOCUMENT, len(ids) - len(begins) * rules.most, is_all=not begins)
        if not begins:
            task.drop(LONG_DOCUMENT, example=one.name(document))
        for begin in begins:
            own = ids[begin : begin + rules.most]
            if len(own) < 2:
                counted.lose(NOTHING_LEARNED, len(own), is_all=begin == 0)
                task.drop(NOTHING_LEARNED, example=one.name(document))
                continue
            yield _Piece(stream, document, use, begin, own, of_text[: len(own)])


def _write(
    task: Task,
    path: str,
    batches: Iterator[Sequence[_Piece]],
    of: tuple[Sequence[_Given], np.dtype[Any]],
    counted: _Counted,
) -> None:
    """Writes documents. of: the partitions that they are of, and the type of ids."""
    (given, dtype), id_end = of, 0
    with (
        task.array(f"{path}{IDS}", np.uint8) as names,
        task.array(f"{path}{DOCUMENTS}", DOCUMENT) as documents,
        task.array(f"{path}{ORIGINS}", ORIGIN) as origins,
        task.array(f"{path}{LENGTHS}", np.int32) as lengths,
        task.array(f"{path}{MASK}", np.uint8) as masks,
        task.array(f"{path}{DATA}", dtype) as data,
    ):
        for batch in batches:
            ids = [given[piece.stream].identifier(piece.document) for piece in batch]
            rows = _table(batch, given, counted.sources)
            rows["id_end"] = id_end + np.cumsum([*map(len, ids)], dtype=np.int64)
            id_end = int(rows["id_end"][-1])
            names.append(np.frombuffer(b"".join(ids), np.uint8))
            documents.append(rows)
            origins.append(np.array([piece[:4] for piece in batch], ORIGIN))
            sizes = np.array([len(piece.ids) for piece in batch], np.int64)
            learned = np.concatenate([piece.learned for piece in batch])
            lengths.append(sizes.astype(np.int32))
            masks.append(learned)
            data.append(np.concatenate([piece.ids for piece in batch]).astype(dtype))
            starts = np.cumsum(sizes) - sizes
            numbers = sizes, np.add.reduceat(learned, starts, dtype=np.int64)
            whole = np.array([piece.begin == 0 for piece in batch])
            _count((rows["source"], rows["end"], whole), numbers, _parts_of(batch, given), counted)


def _batches(pieces: Iterator[_Piece]) -> Iterator[list[_Piece]]:
    held, size = list[_Piece](), 0
    for piece in pieces:
        held.append(piece)
        size += len(piece.ids)
        if size >= BATCH_IDS:
            yield held
            held, size = [], 0
    if held:
        yield held


def _table(batch: Sequence[_Piece], given: Sequence[_Given], sources: Mapping[str, int]) -> NDArray[np.void]:
    """Returns the rows of documents, without the ends of their ids."""
    rows = np.zeros(len(batch), DOCUMENT)
    streams, documents = (np.array(column) for column in ([p.stream for p in batch], [p.document for p in batch]))
    for number in np.unique(streams).tolist():
        chosen, one = streams == number, given[number]
        was = one.documents[documents[chosen]]
        rows["source"][chosen] = np.array([sources[name] for name in one.sources], np.uint32)[was["source"]]
        rows["row"][chosen], rows["copy"][chosen] = was["row"], was["copy"]
        rows["end"][chosen] = was["end"] - was["start"]
    # A text counts once, however many pieces it becomes.
    rows["end"][np.array([piece.begin for piece in batch]) > 0] = 0
    return rows


def _parts_of(batch: Sequence[_Piece], given: Sequence[_Given]) -> NDArray[np.str_]:
    """Returns the name of the part of each document."""
    return np.array([one.part.name for one in given])[[piece.stream for piece in batch]]


def _count(
    texts: tuple[NDArray[np.uint32], NDArray[Any], NDArray[np.bool_]],
    numbers: tuple[NDArray[np.int64], NDArray[np.int64]],
    parts: NDArray[np.str_],
    counted: _Counted,
) -> None:
    """Counts pieces, and the documents that they are of. texts: source and bytes of each, and whether it is the first
    of its document. numbers: ids of each, and how many are learned.
    """
    (sources, text_bytes, first), (sizes, learned), names = texts, numbers, [*counted.sources]
    for source in np.unique(sources).tolist():
        chosen = sources == source
        of_source = counted.by_source.setdefault(names[source], Counter(documents=0, text_bytes=0, tokens=0))
        documents, size = int(first[chosen].sum()), int(text_bytes[chosen].sum())
        of_source.update(documents=documents, text_bytes=size, tokens=int(sizes[chosen].sum()))
    for part in np.unique(parts).tolist():
        chosen = parts == part
        found = {"documents": int(first[chosen].sum()), "pieces": int(chosen.sum()), "tokens": int(sizes[chosen].sum())}
        counted.by_part[part].update(found, loss_tokens=int(learned[chosen].sum()))
    counted.token_lengths = added([counted.token_lengths, by_power(sizes)])
