"""The input and output of a runner. Uses only the standard library, since every peer's Python runs this.

A runner gets a folder of `documents/<source>/*.jsonl.gz`, read in the order of the sorted paths, and writes a JSON
list: of clusters, each with the kept document first, or of removed documents. A document is named by its number
(consecutive through all files, from 0) or by its id.
"""

import gzip
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from resources.documents.slimpajama_cleaning import clean

Name = int | str
Clusters = Sequence[Sequence[Name]]
Result = Clusters | Sequence[Name]
Runner = Callable[[Path, Path], Result]

PERMUTATIONS = 128
THRESHOLD = 0.8
SHINGLE = 13
BATCH = 256


def raw_files(raw: Path) -> list[Path]:
    """The files of documents, in the order that numbers them."""
    return sorted((raw / "documents").rglob("*.jsonl.gz"))


def read_rows(file: Path) -> Iterator[tuple[str, str]]:
    """Id and text of every document of a file."""
    with gzip.open(file, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            row = json.loads(line)
            yield row["id"], row["text"]


def read_documents(raw: Path) -> Iterator[tuple[str, str]]:
    """Id and text of every document, in the order of their numbers."""
    for file in raw_files(raw):
        yield from read_rows(file)


def shingles(text: str) -> set[str]:
    """Distinct runs of 13 code points of the cleaned text; a shorter text is one shingle, an empty one has none."""
    cleaned = clean(text)
    last = max(1, len(cleaned) - SHINGLE + 1)
    return {cleaned[start : start + SHINGLE] for start in range(last)} if cleaned else set()


def batches(raw: Path) -> Iterator[list[tuple[int, set[str]]]]:
    """Number and shingles of the documents that have any, some hundred at a time."""
    numbered = ((number, shingles(text)) for number, (_, text) in enumerate(read_documents(raw)))
    having = (pair for pair in numbered if pair[1])
    while batch := list(islice(having, BATCH)):
        yield batch


def clusters_of(pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Connected components of pairs of document numbers, ascending, so that the first document is the kept one."""
    parents: dict[int, int] = {}

    def root(number: int) -> int:
        while (parent := parents.setdefault(number, number)) != number:
            parents[number] = number = parents[parent]
        return number

    for one, other in pairs:
        low, high = sorted((root(one), root(other)))
        parents[high] = low
    found: dict[int, list[int]] = {}
    for number in sorted(parents):
        found.setdefault(root(number), []).append(number)
    return [members for members in found.values() if len(members) > 1]


def serve(run: Runner) -> None:
    """The whole of a runner's program: `RAW OUT WORK`, where WORK is an empty folder to leave files in."""
    raw, out, work = (Path(argument) for argument in sys.argv[1:])
    out.write_text(json.dumps(run(raw, work)), encoding="utf-8")
