"""The ledger against the files."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import xxhash

from corpus_assets.corpus import Corpus
from corpus_assets.tokenize.rows.hdf5 import read_hdf5
from resources.ledger import FileRecord
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
    except Exception as error:  # libraries raise almost anything over a damaged file
        return f"cannot be read: {type(error).__name__}: {error}"
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
        deque(part.segment_lines(segment), maxlen=0)
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
