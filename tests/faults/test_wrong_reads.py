"""One wrong byte, an early end or an error in any single read of a file from outside is never taken for its content.

A small corpus in every format is built once for each read of the files that it is made from, with that read gone wrong.
"""

import gzip
import io
import json
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EIO
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
import zstandard

from corpus_assets.attributes import loading
from corpus_assets.tokenize import tokenizer
from corpus_assets.tokenize.tokenizers.training import train_bpe
from resources.errors import CorpusError
from resources.outside import agreed
from resources.raw_places import local
from resources.shards.listing import remembered_digest
from tests.build.small import Built, contents, drive, live_records, opened, prose

Fault = Literal["flip", "end", "EIO"]
FAULTS: tuple[Fault, ...] = ("flip", "end", "EIO")
OUTSIDE = ("raw", "bench", "own", "names", "lists")
BUILT = (
    "inventory",
    "_source",
    "document_keys",
    "takedown",
    "_list",
    "normalized_documents",
    "_examples",
    "_items",
    "listed_attributes",
    "tokenizer",
)
BAD_FILES: dict[str, Any] = {"on_bad_file": "skip", "max_bad_rows": 1.0}
CONFIG: dict[str, Any] = {
    "name": "wrong",
    "sources": [
        {"name": "plain", "location": "raw/plain", **BAD_FILES},
        {"name": "lists", "location": "raw/lists", "glob": "*.list", "format": "txt_list", **BAD_FILES},
    ],
    "remove": {"location": "names/*.txt"},
    "attributes": [
        {
            "name": "listed",
            "taggers": ["url_list", "tokenizers_AI2_OLMo_v1"],
            "options": {
                "url_list": {"lists": "lists/urls.gz"},
                "tokenizers_AI2_OLMo_v1": {"model": "lists/model.json"},
            },
        }
    ],
    "tokenizer": {"kind": "tokenizer_json", "path": "lists/model.json", "eos": "<|endoftext|>"},
    "benchmarks": [{"name": "bench", "location": "bench", "text_key": "text", **BAD_FILES}],
    "datasets": [
        {
            "name": "own",
            "mode": "summarization",
            "sequence_length": 64,
            "sep_token": "<|endoftext|>",
            "input": {"location": "own", "prompt_key": "text", "completion_key": "url", **BAD_FILES},
        }
    ],
    "engine": {"workers": 0},
    "storage": {"sync": False},
}


def rows(name: str, count: int = 3) -> list[dict[str, Any]]:
    return [{"id": f"{name}-{n}", "text": prose(f"{name} {n}"), "url": f"http://{name}.org/{n}"} for n in range(count)]


def lines(name: str, count: int = 3) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows(name, count)).encode()


def table(name: str, count: int = 3) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows(name, count)), out, compression="none")
    return out.getvalue()


def archive() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name in ("a", "b"):
            content = zstandard.compress(lines(f"tar{name}"))
            info = tarfile.TarInfo(f"{name}.jsonl.zst")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def warc() -> bytes:
    text = prose("warc").encode()
    head = "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000000>\r\n"
    head += f"WARC-Target-URI: http://w.org\r\nContent-Type: text/plain\r\nContent-Length: {len(text)}\r\n\r\n"
    return head.encode() + text + b"\r\n\r\n"


def files() -> dict[str, bytes]:
    csv = "id,text,url\n" + "".join(f"{row['id']},{row['text']},{row['url']}\n" for row in rows("csv"))
    return {
        "raw/plain/a.jsonl": lines("a"),
        "raw/plain/b.jsonl.gz": gzip.compress(lines("b"), mtime=0),
        "raw/plain/c.json.gz": gzip.compress(lines("c"), mtime=0),
        "raw/plain/d.jsonl.zst": zstandard.compress(lines("d")),
        "raw/plain/e.jsonl.zst.tar": archive(),
        "raw/plain/f.parquet": table("f"),
        "raw/plain/g.txt": prose("g").encode(),
        "raw/plain/h.csv": csv.encode(),
        "raw/plain/i.csv.gz": gzip.compress(csv.encode(), mtime=0),
        "raw/plain/j.warc.wet": warc(),
        "raw/lists/k.list": b"in/one.txt\nin/two.txt\n",
        "raw/lists/in/one.txt": prose("one").encode(),
        "raw/lists/in/two.txt": prose("two").encode(),
        "bench/l.jsonl": lines("l"),
        "bench/m.parquet": table("m"),
        "own/n.jsonl": lines("n"),
        "own/o.csv": csv.encode(),
        "names/p.txt": b"a-1\nurl:http://d.org/2\nf-0\nn-2\n",
        "lists/urls.gz": gzip.compress(b"http://b.org/1\nhttp://c.org/0\n", mtime=0),
        "lists/model.json": train_bpe(iter([prose("model", 200)]), 300, special_tokens=("<|endoftext|>", "<|pad|>")),
    }


class Reads:
    """Reads of files from outside, counted; the one with the number `wrong` goes wrong."""

    def __init__(self, folder: Path, fault: Fault, wrong: int = -1) -> None:
        self.tops = [folder / name for name in OUTSIDE]
        self.fault = fault
        self.wrong = wrong
        self.labels: list[str] = []

    def is_wrong(self, label: str) -> bool:
        self.labels.append(label)
        return len(self.labels) - 1 == self.wrong


class Faulty:
    """A file of which one read gives other bytes, or its end, or an error."""

    def __init__(self, file: BinaryIO, label: str, reads: Reads) -> None:
        self._file, self._label, self._reads = file, label, reads
        self._ended = False
        self.seek, self.tell, self.close = file.seek, file.tell, file.close

    def read(self, size: int = -1) -> bytes:
        if self._ended:
            return b""
        content = self._file.read(size)
        if not self._reads.is_wrong(self._label):
            return content
        if self._reads.fault == "EIO":
            raise OSError(EIO, "injected")
        if self._reads.fault == "end":
            self._ended = True
            return content[: len(content) // 2]
        middle = len(content) // 2
        return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :] if content else b"!"


@contextmanager
def reading(folder: Path, fault: Fault = "flip", wrong: int = -1) -> Iterator[Reads]:
    """Lets one read of the files from outside go wrong, in a process that knows nothing of them yet."""
    for known in (agreed._KNOWN, loading._LOADED, tokenizer._LOADED, tokenizer._CHECKED):
        known.clear()
    remembered_digest.cache_clear()
    reads = Reads(folder, fault, wrong)
    opens = Path.open

    def faulty(self: Path, mode: str = "r", *given: Any, **named: Any) -> Any:
        file = opens(self, mode, *given, **named)
        if mode == "rb" and any(self.is_relative_to(top) for top in reads.tops):
            return Faulty(cast(BinaryIO, file), self.name, reads)
        return file

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "open", faulty)
        patch.setattr(local, "open_placed", lambda path: path.open("rb"))
        yield reads


def build(folder: Path) -> Built:
    corpus = opened(folder)
    return drive(corpus, [stage for stage in corpus.graph if stage.name.endswith(BUILT)])


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clean")
    for path, content in files().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    (folder / "corpus.yaml").write_text(yaml.safe_dump(CONFIG, sort_keys=False))
    return folder


def digests(folder: Path) -> dict[Any, Any]:
    return {name: (record.digest, record.recipe) for name, record in live_records(opened(folder)).items()}


def faults_of(folder: Path, fault: Fault, wrong: int, right: dict[Any, Any], expected: dict[str, str]) -> str:
    """Build with one read gone wrong, and again if that failed; returns what is not as in the clean corpus."""
    shutil.rmtree(folder / "corpus", ignore_errors=True)
    try:
        with reading(folder, fault, wrong):
            failed = build(folder).failed
    except CorpusError as error:
        failed = [str(error)]
    # A wrong digest of a raw file may stay while what reads the file has failed over it.
    found = {name: value for name, value in digests(folder).items() if not name[0].endswith("_source")}
    if other := [name for name, value in found.items() if right[name] != value]:
        return f"{other} are committed, {failed} failed"
    if failed:
        with reading(folder):
            again = build(folder)
        if again.failed or again.waiting:
            return f"{failed}, and then {again.failed} failed, {again.waiting} wait"
    if digests(folder) != right or contents(opened(folder)) != expected:
        return f"other content, {failed} failed"
    return ""


@pytest.mark.parametrize(("place", "fault"), enumerate(FAULTS))
def test_no_wrong_read_is_ever_content(clean: Path, place: int, fault: Fault) -> None:
    """Every eleventh read, others for each fault."""
    shutil.rmtree(clean / "corpus", ignore_errors=True)
    with reading(clean) as sound:
        built = build(clean)
    assert (built.failed, built.waiting) == ([], [])
    assert {Path(path).name for path in files()} == set(sound.labels)
    right, expected = digests(clean), contents(opened(clean))
    for wrong in range(3 * place, len(sound.labels), 11):
        assert faults_of(clean, fault, wrong, right, expected) == "", f"read {wrong}, of {sound.labels[wrong]}"
