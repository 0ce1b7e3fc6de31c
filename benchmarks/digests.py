"""The cost of digests of stored bytes: `python -m benchmarks.digests [--quick] [--json]`.

The same files are written with and without the digest, and compared with a record that has it and one that has not, in
turns in one process; the best turn of each counts. Files are written to a temporary folder and read from a warm page
cache. Rates are MB of stored bytes per CPU-second; a ratio is CPU seconds with the digest over those without.

Keys: `digest_mb_per_cpu_s`: of the digest alone; for each kind of file `<kind>_mb`: its size, `<kind>_write_ratio`,
`<kind>_verify_ratio`, and `<kind>_verify_mb_per_cpu_s`: of both digests. `hdf5`: rows of tokens; `lines`: documents in
gzip; `bytes`: ids as trainers read them, written as they are.
"""

import argparse
import json
import math
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from benchmarks.turns import best, seconds_of
from resources.formats.hdf5.layout import LM_FEATURES
from resources.formats.hdf5.writer import write_hdf5
from resources.formats.jsonl.lines import LineWriter
from resources.formats.known import fault_of
from resources.formats.writers import BinaryWriter
from resources.stored_digest import WrittenFile, digest_of
from resources.system_errors import new_placed

MEGABYTES, QUICK_MEGABYTES = 128, 8
ROUNDS = 7
LENGTH = 2048
_WORDS = 5_000

Write = Callable[[BinaryIO], str]
"""Writes a file and returns its content digest."""


def kinds(megabytes: int) -> dict[str, tuple[str, Write]]:
    """Returns for each kind of file its suffix and a function that writes one of about so many MB of content."""
    chance = np.random.default_rng(0)
    ids = np.minimum(chance.zipf(1.3, megabytes * 500_000), 50_000).astype(np.uint16)
    rows = ids[: len(ids) // (6 * LENGTH) * (3 * LENGTH)].reshape(-1, 3, LENGTH).astype(np.int32)
    words = [f"word{number} ".encode() for number in range(_WORDS)]
    texts = [
        b"".join(words[one % _WORDS] for one in part) for part in np.array_split(ids[: len(ids) // 4], megabytes * 20)
    ]

    def hdf5(file: BinaryIO) -> str:
        return write_hdf5(file, [rows], {}, features=LM_FEATURES, sequence_length=LENGTH).content_digest

    def lines(file: BinaryIO) -> str:
        writer = LineWriter(file)
        for text in texts:
            writer.write(text + b"\n")
        return writer.finish().digest

    def plain(file: BinaryIO) -> str:
        writer = BinaryWriter(file)
        for block in np.array_split(ids, megabytes * 4):
            writer.write(block.tobytes())
        return writer.finish().digest

    return {"hdf5": (".h5", hdf5), "lines": (".jsonl.gz", lines), "bytes": (".bin", plain)}


def with_digest(write: Write, path: Path) -> tuple[str, str]:
    """Writes a file as a store does; returns the digests of its content and of its bytes."""
    raw, file = WrittenFile.opened(path, path)
    with file:
        content = write(file)
        file.flush()
        return content, raw.stored_digest(raw.descriptor)


def without(write: Write, path: Path) -> str:
    with new_placed(path) as file:
        return write(file)


def measure(quick: bool) -> dict[str, Any]:
    """Measures everything; returns the figures by name."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind, (suffix, write) in kinds(QUICK_MEGABYTES if quick else MEGABYTES).items():
            found |= _of_kind(kind, write, Path(folder) / f"file{suffix}", 2 if quick else ROUNDS)
    return found


def _of_kind(kind: str, write: Write, path: Path, rounds: int) -> dict[str, Any]:
    written = {"with": math.inf, "without": math.inf}
    for _ in range(rounds):
        for name, how in (("with", with_digest), ("without", without)):
            path.unlink(missing_ok=True)  # Not timed: the system frees the pages of the last file.
            written[name] = min(written[name], seconds_of(partial(how, write, path)))

    def opening(name: str) -> BinaryIO:
        return Path(name).open("rb")

    def verified(*digests: str) -> None:
        if fault := fault_of(opening, str(path), *digests):
            raise AssertionError(fault)

    def alone() -> None:
        with path.open("rb") as file:
            digest_of(file)

    content, stored = with_digest(write, path)  # The last: compressed bytes are not always alike.
    seconds = best(
        {"with": partial(verified, content, stored), "without": partial(verified, content), "alone": alone}, rounds
    )
    size = path.stat().st_size / 1e6
    figures = {
        f"{kind}_mb": round(size, 1),
        f"{kind}_write_ratio": round(written["with"] / written["without"], 3),
        f"{kind}_verify_ratio": round(seconds["with"] / seconds["without"], 3),
        f"{kind}_verify_mb_per_cpu_s": round(size / seconds["with"]),
    }
    return ({"digest_mb_per_cpu_s": round(size / seconds["alone"])} if kind == "bytes" else {}) | figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small inputs, to see that everything runs")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    figures = measure(given.quick)
    print(json.dumps(figures) if given.json else "\n".join(f"{name}: {value}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
