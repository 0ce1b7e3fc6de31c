"""An exact permutation of all rows of a dataset over its files, in bounded memory.

Every row gets a uniform 64-bit key from (seed, dataset, partition, row); the order by key is a uniform permutation, and
each file of the result holds one range of it. A source partition writes its rows sorted by key, so that a file is one
run of rows in each partition; a file is the merge of its runs. The result does not depend on which worker does which
part, or when.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from resources.hashing import keyed_hash

Keys = NDArray[np.uint64]
Rows = NDArray[np.int32]
R = TypeVar("R", bound=np.generic)

KEY_SPACE = 1 << 64
_U64 = np.uint64
_HALF = _U64(32)
_STEP = _U64(0x9E3779B97F4A7C15)  # 2**64 divided by the golden ratio, as in splitmix64


def row_keys(seed: int, dataset: str, partition: str, rows: int) -> Keys:
    """Returns uniform keys (rows,) of a partition's rows, all different: two rounds of a bijective mixer over numbers.

    The mixer is that of splitmix64 (Steele et al. 2014, variant 13 of Stafford); two 64-bit hashes of the other
    arguments key it.
    """
    first = _U64(keyed_hash("shuffle-rows", seed, dataset, partition))
    second = _U64(keyed_hash("shuffle-rows-second", seed, dataset, partition))
    keys = np.arange(1, rows + 1, dtype=_U64)
    keys *= _STEP
    keys += first
    _mix(keys)
    keys ^= second
    _mix(keys)
    return keys


def _mix(keys: Keys) -> None:
    keys ^= keys >> _U64(30)
    keys *= _U64(0xBF58476D1CE4E5B9)
    keys ^= keys >> _U64(27)
    keys *= _U64(0x94D049BB133111EB)
    keys ^= keys >> _U64(31)


def destination(keys: Keys, files: int) -> NDArray[np.int64]:
    """Returns the file, of `files` (1 to 2**31), of every key; file numbers grow with the key."""
    return (((keys >> _HALF) * _U64(files)) >> _HALF).astype(np.int64)


def key_range(file: int, files: int) -> tuple[int, int]:
    """Returns the smallest key of a file, and the smallest one above all of its keys (2**64 for the last file)."""
    low, high = (-(-(number << 32) // files) << 32 for number in (file, file + 1))
    return low, high


def run_bounds(sorted_keys: Keys, files: int) -> NDArray[np.int64]:
    """Returns where each file's rows begin and the last one's end in a partition sorted by key: int64 (files + 1,)."""
    return np.searchsorted(destination(sorted_keys, files), np.arange(files + 1))


def held_rows(blocks: Iterable[Rows], memory: int, scratch: Callable[[], BinaryIO]) -> list[Rows]:
    """Returns the blocks (n, ...), all but empty ones: the first in `memory` bytes, the rest as one mapped from disk.

    scratch: opens the file for what does not fit, if anything does not.
    """
    held = list[Rows]()
    file: BinaryIO | None = None
    rows = 0
    for block in blocks:
        if file is None and (memory := memory - block.nbytes) < 0:
            file = scratch()
        if file is not None:
            file.write(np.ascontiguousarray(block).data)
            rows, shape = rows + len(block), block.shape[1:]
        elif len(block):
            held.append(_alone(block))
    if file is not None and rows:
        file.flush()
        held.append(np.memmap(file, np.int32, "r", shape=(rows, *shape)))
    return held


def _alone(block: Rows) -> Rows:
    """Returns the block, or a copy if it is a small part of an array that it would keep in memory."""
    whole = block.base
    return block.copy() if isinstance(whole, np.ndarray) and whole.nbytes > 2 * block.nbytes else block


def sorted_rows(blocks: Sequence[Rows], keys: Keys, limit_bytes: int) -> Iterator[Rows]:
    """Yields the rows of all blocks int32 (n, ...) in the order of their keys, in blocks of up to `limit_bytes`.

    Every row is read once. ValueError when there are more rows or fewer than keys.
    """
    ends = np.cumsum([0, *map(len, blocks)])
    if ends[-1] != keys.size:
        raise ValueError(f"{ends[-1]} rows for {keys.size} keys")
    if not keys.size:
        return
    order = np.argsort(keys, kind="stable")
    owners = np.searchsorted(ends, order, side="right") - 1
    places = order - ends[owners]
    limit = max(1, limit_bytes // blocks[0][0].nbytes)
    for first in range(0, keys.size, limit):
        part = slice(first, first + limit)
        yield np.stack(
            [blocks[owner][row] for owner, row in zip(owners[part].tolist(), places[part].tolist(), strict=True)]
        )


@dataclass(frozen=True)
class Run(Generic[R]):
    """A source partition in key order: its keys, sorted, and `read(first, end)` for its rows (n, ...) in any form."""

    keys: Keys
    read: Callable[[int, int], NDArray[R]]


def gather(runs: Sequence[Run[R]], low: int, high: int, limit_rows: int) -> Iterator[NDArray[R]]:
    """Yields all rows with low <= key < high in the order of their keys, in blocks of `limit_rows`.

    Equal keys are in the order of `runs`, which must be the same in every run. Memory: one block of rows, what one
    `read` gives (no more than a block), and about 24 bytes per row of the range. Every row is read once.
    """
    if not runs:
        return
    firsts = [_place(run.keys, low) for run in runs]
    ends = [_place(run.keys, high) for run in runs]
    keys = [run.keys[first:end] for run, first, end in zip(runs, firsts, ends, strict=True)]
    owners = np.repeat(np.arange(len(runs), dtype=np.int32), [held.size for held in keys])
    owners = owners[np.argsort(np.concatenate(keys), kind="stable")]
    for start in range(0, owners.size, limit_rows):
        yield _merged(runs, firsts, owners[start : start + limit_rows])


def _place(keys: Keys, bound: int) -> int:
    """Returns the number of keys below a bound."""
    return keys.size if bound >= KEY_SPACE else int(np.searchsorted(keys, _U64(bound)))


def _merged(runs: Sequence[Run[R]], positions: list[int], owners: NDArray[np.int32]) -> NDArray[R]:
    """Returns the next rows of the merge, by the run that each comes from; moves the positions on."""
    block: NDArray[R] | None = None
    for number in np.unique(owners).tolist():
        chosen = owners == number
        first, end = positions[number], positions[number] + int(np.count_nonzero(chosen))
        rows = runs[number].read(first, end)
        if len(rows) != end - first:
            raise ValueError(f"run {number} gave {len(rows)} rows; asked for {first} to {end}")
        if block is None:
            block = np.empty((owners.size, *rows.shape[1:]), rows.dtype)
        block[chosen] = rows
        positions[number] = end
    assert block is not None, "no row is asked for"
    return block
