"""The corpus that all peers read: `documents/<source>/*.jsonl.gz`, and `truth.jsonl.gz`: which document copies which.

Made by the generator when it lies beside the checkout, else of the sample's texts, with copies planted here.
"""

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from benchmarks.corpora import GENERATOR
from benchmarks.peers.exchange import raw_files
from corpus_assets.raw.sample import sources as sample_sources
from corpus_assets.raw.sample.installed import installation
from corpus_assets.raw.sample.writing import take
from resources.formats.documents import Document, encode_document
from resources.hashing import content_digest

SHARES = {"near": 0.10, "exact": 0.02, "hard": 0.02}
HEAD_ROWS = 20
MIN_LENGTH = 500  # tools differ in what they do with short texts, of which docstrings have many
SAMPLE = {
    "code": sample_sources.standard_code,
    "docstrings": sample_sources.docstrings,
    "packages": sample_sources.package_texts,
}


def write_raw(raw: Path, megabytes: int) -> str:
    """Write about so many MB (10^6 bytes) of text below `raw`; returns what the corpus is."""
    if not GENERATOR.is_file():
        write_planted(raw, megabytes)
        return "sample, with planted copies"
    shares = [f"--{kind}={share}" for kind, share in SHARES.items()]
    size = [f"--size={megabytes}MB", "--formats=jsonl.gz", "--seed=7", "--workers=2"]
    command = [sys.executable, str(GENERATOR), f"--out={raw}", *size, *shares]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return "generated"


def write_head(raw: Path, target: Path) -> None:
    """The first documents of every file, to warm up on."""
    for file in raw_files(raw):
        copy = target / file.relative_to(raw)
        copy.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(file) as lines:
            copy.write_bytes(gzip.compress(b"".join(islice(lines, HEAD_ROWS)), mtime=0))


def write_planted(raw: Path, megabytes: float) -> None:
    """Texts of the sample, one file per source, with copies of known kind among them."""
    installed = installation()
    truth = []
    for source, texts in SAMPLE.items():
        folder = raw / "documents" / source
        folder.mkdir(parents=True)
        budget = int(megabytes * 1_000_000 / len(SAMPLE))
        documents = list(take((row for row in texts(installed) if len(row.text) >= MIN_LENGTH), budget))
        planted = list(plant(source, [document.text for document in documents]))
        rows = b"".join(encode_document(Document(row["id"], text, source)) for row, text in planted)
        (folder / "part-00.jsonl.gz").write_bytes(gzip.compress(rows, mtime=0))
        truth += [row for row, _ in planted]
    lines = "".join(json.dumps(row) + "\n" for row in truth)
    (raw / "truth.jsonl.gz").write_bytes(gzip.compress(lines.encode(), mtime=0))


def plant(source: str, texts: Sequence[str]) -> Iterator[tuple[dict[str, str], str]]:
    """Truth and text of each document: its own text, or in its place a copy of an earlier one that is no copy.

    Which one is copied and how follows from a digest of the source and the row alone.
    """
    originals: list[int] = []
    for row, text in enumerate(texts):
        kind, draw = _kind(source, row)
        name = f"{source}-{row:07d}"
        if kind == "base" or not originals:
            originals.append(row)
            yield {"id": name, "kind": "base"}, text
            continue
        of = originals[draw % len(originals)]
        yield {"id": name, "kind": kind, "of": f"{source}-{of:07d}"}, _copy(kind, texts[of], text)


def _kind(source: str, row: int) -> tuple[str, int]:
    draw = int(content_digest(f"{source} {row}".encode())[:16], 16)
    place = draw % 10_000 / 10_000
    for kind, share in SHARES.items():
        if place < share:
            return kind, draw // 10_000
        place -= share
    return "base", draw // 10_000


def _copy(kind: str, original: str, other: str) -> str:
    """An exact copy, one whose last fortieth is another text, or one of which only the first half is kept."""
    kept = {"exact": len(original), "near": len(original) - len(original) // 40, "hard": len(original) // 2}[kind]
    return original[:kept] + other[: len(original) - kept]


if __name__ == "__main__":
    made, beginning = Path(sys.argv[1]), Path(sys.argv[2])
    if sys.argv[4:] == ["real"]:
        from benchmarks.peers.real import write_real

        print(write_real(made, int(sys.argv[3])))
    else:
        print(write_raw(made, int(sys.argv[3])))
    write_head(made, beginning)
