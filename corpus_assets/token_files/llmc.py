"""llm.c's token files: 256 int32, then ids; documents go on from one numbered file to the next."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from corpus_assets.token_files.pieces import How, Pieces, TokenFile, TokenSource, by_separator
from resources.raw_places.files import FoundFile
from resources.raw_places.interface import Group

HEADERS: Final = {20240520: (1, "uint16"), 20240801: (7, "uint32"), 278895051: (1, None)}
"""Version and type of ids by the first number; None: the fourth number says how many bytes an id has."""
_HEADER = 1024
_I4 = np.dtype("<i4")
_NUMBERED = re.compile(r"(.*)_([0-9]+)\.bin", re.DOTALL)


def group(files: Sequence[FoundFile], _: Callable[[FoundFile], bytes]) -> Iterator[Group]:
    """Yields the files of each series of numbers as one group. A series with a gap cannot be read."""
    series: dict[str, dict[int, list[FoundFile]]] = {}
    for file in files:
        if (found := _NUMBERED.fullmatch(file.path)) is not None:
            series.setdefault(found[1], {}).setdefault(int(found[2]), []).append(file)
        elif file.path.endswith(".bin"):
            yield Group(file, file.path.removesuffix(".bin"))
    for stem, numbered in sorted(series.items()):
        numbers = sorted(numbered)
        gap = next((number for number in range(numbers[0], numbers[-1]) if number not in numbered), None)
        problem = None if gap is None else f"is followed by files up to number {numbers[-1]}, but {gap} is not there"
        if twice := next((number for number in numbers if len(numbered[number]) > 1), None):
            problem = f"is one of a series with two files of number {twice}"
        first, *others = (file for number in numbers for file in numbered[number])
        yield Group(first, stem, tuple(file.path.rpartition("/")[2] for file in others), problem)


def read(source: TokenSource, how: How) -> Iterator[Pieces]:
    """Yields the ids of a series of files, in which documents end at separators."""
    assert how.separator is not None, "documents are told apart by the separator"
    blocks = chain.from_iterable(_blocks(source.open(name)) for name in ("", *source.members))
    yield from by_separator(blocks, how.separator, before=how.section.side == "before")


def _blocks(file: TokenFile) -> Iterator[NDArray[Any]]:
    head = file.array(_I4, _HEADER // 4, "the header of token files of llm.c")
    magic, version, count, width = (int(value) for value in head[:4])
    if magic not in HEADERS:
        raise file.bad(f"begins with {magic}; valid: {', '.join(map(str, HEADERS))}, as token files of llm.c do")
    known, dtype = HEADERS[magic]
    if version != known:
        raise file.bad(f"is version {version} of its header; valid: {known}")
    if dtype is None and width not in (2, 4):
        raise file.bad(f"has ids of {width} bytes; valid: 2 or 4")
    ids = np.dtype(dtype or f"uint{8 * width}").newbyteorder("<")
    if (found := file.count_of(ids, _HEADER)) != count:
        raise file.bad(f"has {found:,} ids; its header says {count:,}")
    yield from file.blocks(ids, count, "ids")
