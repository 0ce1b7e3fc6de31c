"""Amber's windows as JSON lines (docs/formats/trainers.md "Amber")."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.amber_exports import AmberExport
from corpus_assets.export.amber.lines import LineEncoder
from corpus_assets.export.amber.runs import BLOCK_IDS
from corpus_assets.export.amber.sets import GatheredWindows, WindowSet, window_sets
from corpus_assets.export.amber.shares import OutputFile, Share, output_files, shares
from corpus_assets.export.documents import Parts
from corpus_assets.export.format import ROOT, Build, Files, Format, Place, places_of
from resources.errors import ConfigError
from resources.formats.codecs import open_gzip
from resources.formats.jsonl.lines import LineWriter
from resources.formats.writers import BinaryWriter
from resources.stage.partition import Partition
from resources.stage.settings import chunk_key
from resources.stage.task import Task

PLACES_FOLDER = "places"
STREAMS = ".streams.json"
SETS = "sets.json"
"""What each set has, and what of it is where."""


class _Line(msgspec.Struct):
    token_ids: list[int]


_LINE = msgspec.json.Decoder(_Line)


def write(task: Task, build: Build[AmberExport], parts: Parts, files: Files) -> None:
    """Writes the share of one partition: every n-th file, with n the number of chunks of the corpus."""
    keys = [chunk_key(chunk) for chunk in range(task["mix.chunks"])]
    turn = keys.index(task.key)
    sets = window_sets(build, parts)
    found = shares({one.source: one.windows for one in sets}, build.section, build.name)
    if turn == 0:
        _count_dropped(build.section.window, sets, found, files)
        task.save_json(build.path(SETS), _described(sets, found), rows=len(sets))
    mine = list(output_files(found, build.section, turn, len(keys)))
    if mine:
        streams = [stream.name for stream in parts.streams]
        task.save_json(f"{PLACES_FOLDER}/{build.name}/{task.key}{STREAMS}", streams, rows=len(streams))
        _write_files(task, build, sets, mine, files)


def _count_dropped(window: int, sets: Sequence[WindowSet], found: Sequence[Share], files: Files) -> None:
    for one, share in zip(sets, found, strict=True):
        for run in one.runs:
            windows, tail = run.counted
            files.drop("window_tail", ids=tail)
            files.drop("rest_of_document", ids=run.ids - windows * window - tail)
        files.drop("unused_lines", ids=share.unused * window)


def _described(sets: Sequence[WindowSet], found: Sequence[Share]) -> list[dict[str, int | str]]:
    return [
        {
            "source": share.source,
            "windows": share.windows,
            "used": share.used,
            "unused": share.unused,
            "validation": len(share.validation),
            "tail_ids": sum(run.counted[1] for run in one.runs),
        }
        for one, share in zip(sets, found, strict=True)
    ]


def _write_files(
    task: Task, build: Build[AmberExport], sets: Sequence[WindowSet], mine: Sequence[OutputFile], files: Files
) -> None:
    encoder = LineEncoder([one.source for one in sets], build.tokenizer.vocab_size)
    window, first = build.section.window, 0
    with task.scratch() as spill:
        gathered = GatheredWindows(sets, mine, build.id_type, spill)
        for file in mine:
            slots = gathered.slots[first : first + len(file)]
            first += len(file)
            path = build.path(f"{file.name}{_suffix(build.section)}")
            with _lines(task, path) as out:
                for lines, ends in _blocks(file, slots, gathered, encoder, window):
                    _put(out, lines, ends)
            task.save_array(places_path(path), gathered.origins(slots))
            files.places.append(Place(path, 0, len(file), "", 0, 0, len(file) * window))


def _blocks(
    file: OutputFile, slots: NDArray[np.int64], gathered: GatheredWindows, encoder: LineEncoder, window: int
) -> Iterator[tuple[memoryview, list[int]]]:
    """Yields the lines of a file in blocks, and where each ends."""
    step = max(1, BLOCK_IDS // window)
    for low in range(0, len(slots), step):
        yield encoder.encode(gathered[slots[low : low + step]], file.sets[low : low + step])


def _suffix(section: AmberExport) -> str:
    return ".jsonl.gz" if section.compression == "gzip" else ".jsonl"


@contextmanager
def _lines(task: Task, path: str) -> Iterator[LineWriter | BinaryWriter]:
    if path.endswith(".gz"):
        with task.lines(path) as lines:
            yield lines
    else:
        with task.binary(path) as plain:
            yield plain


def _put(out: LineWriter | BinaryWriter, lines: memoryview, ends: Sequence[int]) -> None:
    if isinstance(out, BinaryWriter):
        out.write(lines, len(ends))
        return
    for first, end in zip([0, *ends], ends, strict=False):
        out.write(bytes(lines[first:end]))


def places_path(path: str) -> str:
    """Returns where it is written where the lines of a file come from: outside of the folder that trainers read."""
    name = path.removeprefix(f"{ROOT}/").removesuffix(".gz").removesuffix(".jsonl")
    return f"{PLACES_FOLDER}/{name}.npy"


def locate(partition: Partition, path: str, unit: int, position: int) -> tuple[str, int]:
    """Returns where an id of a line comes from: key of the stream's partition, and place in all ids that it gives.

    Raises `ConfigError` for a line or position that there is not.
    """
    origins = partition.array(places_path(path))
    lines = partition.file(path).rows or 0
    if not 0 <= unit < lines:
        raise ConfigError(f"row {unit}: valid in {path}: 0 to {lines - 1}")
    window = next(place.ids // place.units for place in places_of(partition) if place.path == path)
    if not 0 <= position < window:
        raise ConfigError(f"position {position}: valid in row {unit} of {path}: 0 to {window - 1}")
    low, high = np.searchsorted(origins["window"], [unit, unit + 1])
    origin = origins[low + np.searchsorted(origins["position"][low:high], position, side="right") - 1]
    key: str = partition.json(STREAMS)[int(origin["stream"])]
    return key, int(origin["id"]) + position - int(origin["position"])


def lines_of(partition: Partition, path: str, stream: str, start: int, stop: int) -> NDArray[np.int64]:
    """Returns the lines of a file, ascending, that hold an id from `start` to before `stop` of a stream's partition."""
    names: list[str] = partition.json(STREAMS)
    if stream not in names:
        return np.empty(0, np.int64)
    window = next(place.ids // place.units for place in places_of(partition) if place.path == path)
    origins = partition.array(places_path(path))
    lines, positions, ids = (origins[name].astype(np.int64) for name in ("window", "position", "id"))
    ends = np.append(positions[1:], window)
    ends[:-1][lines[1:] != lines[:-1]] = window
    held = (origins["stream"] == names.index(stream)) & (ids < stop) & (ids + ends - positions > start)
    return np.unique(lines[held])


def read(file: BinaryIO, build: Build[AmberExport]) -> Iterator[NDArray[Any]]:
    """Yields the ids of each line."""
    lines = open_gzip(file) if build.section.compression == "gzip" else file
    for line in lines:
        yield np.array(_LINE.decode(line).token_ids, np.int64)


_KERNELS = ("gather", "json_lines", "starts_without_wrap")

AMBER = Format(
    section=AmberExport,
    words="Windows as JSON lines, mixed as Amber's",
    unit="window",
    write=write,
    read=read,
    empty=True,
    spread=True,
    parameters=("mix.chunks",),
    kernels=tuple(f"corpus_assets.export.kernels.windows.{name}" for name in _KERNELS),
    locate=locate,
    lines_of=lines_of,
)
