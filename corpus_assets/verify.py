"""The ledger against the files, and removing what no record speaks for."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import xxhash

from corpus_assets.corpus import Corpus
from corpus_assets.tokenize.hdf5 import read_hdf5
from resources.errors import CorpusError
from resources.ledger import FileRecord, Record
from resources.task import Part
from resources.writers import npy_description

_BLOCK = 1 << 22


@dataclass(frozen=True)
class Problem:
    """One file that is not what its record says."""

    asset: str
    partition: str | None
    file: str
    problem: str


@dataclass
class Verification:
    """How many files were looked at, and which are bad."""

    checked: int = 0
    bad: list[Problem] = field(default_factory=list)


def verify(corpus: Corpus, *, deep: bool) -> Verification:
    """Check every file that a record of the graph names: it is there, with its size, and if `deep` its content."""
    result = Verification()
    sizes = {entry.path: entry.bytes for entry in corpus.storage.entries("")}
    for asset in sorted(corpus.ledger.assets()):
        for key, record in sorted(corpus.ledger.records(asset).items(), key=lambda item: item[0] or ""):
            part = Part(corpus.storage, record)
            for file in record.files:
                result.checked += 1
                problem = _presence(file, sizes) or (_content(part, file) if deep else None)
                if problem:
                    result.bad.append(Problem(asset, key, file.path, problem))
    damaged = corpus.ledger.unreadable.items()
    result.bad += [Problem("ledger", None, path, f"damaged record: {why}") for path, why in damaged]
    return result


def _presence(file: FileRecord, sizes: dict[str, int]) -> str | None:
    if file.path not in sizes:
        return "missing"
    if sizes[file.path] != file.bytes:
        return f"has {sizes[file.path]} bytes, its record says {file.bytes}"
    return None


def _content(part: Part, file: FileRecord) -> str | None:
    suffix = next((s for s in _DIGESTS if file.path.endswith(s)), "")
    try:
        found = _DIGESTS[suffix](part, file)
    except (CorpusError, OSError, ValueError) as error:
        return f"cannot be read: {error}"
    return None if found == file.digest else f"content digest is {found}, its record says {file.digest}"


def _lines(part: Part, file: FileRecord) -> str:
    return _stream(part.lines(file.path))


def _array(part: Part, file: FileRecord) -> str:
    array = part.array(file.path)
    hasher = xxhash.xxh3_128()
    step = max(1, _BLOCK // max(1, array[:1].nbytes))
    for start in range(0, len(array), step):
        hasher.update(np.ascontiguousarray(array[start : start + step]).tobytes())
    hasher.update(npy_description(array.dtype, array.shape))
    return hasher.hexdigest()


def _segmented(part: Part, _: FileRecord) -> str:
    """Reading a segment compares it with its own digest; the file's digest is over those."""
    whole = xxhash.xxh3_128()
    for name, segment in part.segments().items():
        deque(part.segment_lines(name), maxlen=0)
        whole.update(f"{name} {segment.digest}\n".encode())
    return whole.hexdigest()


def _hdf5(part: Part, file: FileRecord) -> str:
    with part.open(file.path) as raw, read_hdf5(raw, file.path) as rows:
        return rows.digest()


def _whole(part: Part, file: FileRecord) -> str:
    with part.open(file.path) as raw:
        return _stream(iter(lambda: raw.read(_BLOCK), b""))


def _stream(blocks: Iterator[bytes]) -> str:
    hasher = xxhash.xxh3_128()
    for block in blocks:
        hasher.update(block)
    return hasher.hexdigest()


_DIGESTS: dict[str, Callable[[Part, FileRecord], str]] = {
    ".jsonl.gz": _lines,
    ".jsonl.zst": _segmented,
    ".npy": _array,
    ".h5": _hdf5,
    "": _whole,
}


@dataclass(frozen=True)
class Cleaned:
    """What was removed, or would be."""

    partitions: int
    files: int
    temporary: int


def clean_corpus(corpus: Corpus, *, dry_run: bool) -> Cleaned:
    """Remove orphans, record first, then files that no other partition owns; and abandoned temporary files."""
    orphans = corpus.planner().plan().orphans
    doomed = {orphan: corpus.ledger.records(orphan[0])[orphan[1]] for orphan in orphans}
    owned = {file.path for record in _live(corpus, set(orphans)) for file in record.files}
    files = {file.path for record in doomed.values() for file in record.files} - owned
    temporary = corpus.storage.abandoned()
    if not dry_run:
        for asset, key in orphans:
            corpus.ledger.forget(asset, key)
        for path in files:
            corpus.storage.delete(path)
        corpus.storage.remove_abandoned()
    return Cleaned(len(orphans), len(files), len(temporary))


def _live(corpus: Corpus, orphans: set[tuple[str, str | None]]) -> Iterator[Record]:
    for asset in corpus.ledger.assets():
        for key, record in corpus.ledger.records(asset).items():
            if (asset, key) not in orphans:
                yield record
