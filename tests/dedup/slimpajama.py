"""The SlimPajama golden set (golden/slimpajama/README.md) as plain values, in the row order of docs.jsonl."""

import gzip
import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from tests.golden import shared

SET = ("golden", "slimpajama")


def golden(name: str) -> Path:
    return shared(*SET, name)


def json_lines(name: str) -> list[Any]:
    return [json.loads(line) for line in gzip.decompress(golden(name).read_bytes()).split(b"\n") if line]


def table(name: str) -> list[list[str]]:
    lines = gzip.decompress(golden(name).read_bytes()).decode().removesuffix("\n").split("\n")
    return [line.split("\t") for line in lines]


@cache
def documents() -> list[dict[str, Any]]:
    return json_lines("docs.jsonl.gz")


@cache
def numbers() -> dict[str, int]:
    return {document["key"]: number for number, document in enumerate(documents())}


@cache
def raw_texts() -> list[str]:
    rows = {
        f"{file}@{row}": json.loads(line)["text"]
        for file in dict.fromkeys(document["key"].rpartition("@")[0] for document in documents())
        for row, line in enumerate(_raw(file).removesuffix(b"\n").split(b"\n"))
    }
    return [rows[document["key"]] for document in documents()]


@cache
def normalized_texts() -> list[str]:
    changed = {row["key"]: row["text"] for row in json_lines("normalized_changed.jsonl.gz")}
    pairs = zip(documents(), raw_texts(), strict=True)
    return [changed.get(document["key"], text) for document, text in pairs]


@cache
def signatures() -> NDArray[np.uint32]:
    return np.asarray(np.load(golden("signatures.npy"), allow_pickle=False), dtype=np.uint32)


def _raw(file: str) -> bytes:
    """Content of a raw file by the name its keys use: plain sources are named without their .gz."""
    if file.endswith(".zst"):
        compressed = golden(f"raw/{file}").read_bytes()
        return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(compressed)).read()
    return gzip.decompress(golden(f"raw/{file}.gz").read_bytes())
