"""Rows over several files, archive members and chunks are those of one process of Cerebras.

The rules are written down here once more, plainly, from docs/formats/cerebras-rows.md and "Chunks of text".
"""

import gzip
import io
import json
import random
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from numpy.typing import NDArray
from tokenizers import Tokenizer

from tests.data.building import build, open_corpus
from tests.golden import shared
from tests.golden.test_cerebras import rows_in
from tests.tokenize.reference_reading import chunks

LENGTH, END, PAD = 48, 0, 1
WORDS = ("corpus", "asset", "token", "rows", "chunk", "of", "the", "and", "members", "seeded", "10", "3.5")
Window = list[int]


def write_input(folder: Path) -> None:
    """Files of every kind, with rows that hold nothing among them, and a chunk's worth of text in several."""
    drawn = random.Random(5)

    def rows(count: int) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = [
            {"text": " ".join(drawn.choices(WORDS, k=drawn.randint(1, 60)))} for _ in range(count)
        ]
        found[count // 2 : count // 2] = [{"title": "no text"}, {"text": ""}]
        return found

    def lines(count: int) -> bytes:
        return b"".join(json.dumps(row).encode() + b"\n" for row in rows(count))

    (folder / "sub").mkdir(parents=True)
    (folder / "a.jsonl").write_bytes(lines(40))
    members = [("1.jsonl.zst", lines(7)), ("2.jsonl.zst", b""), ("2.jsonl.zst", lines(9)), ("3.jsonl.zst", lines(30))]
    with tarfile.open(folder / "b.jsonl.zst.tar", "w") as archive:
        for name, content in members:
            stored = zstandard.compress(content)
            info = tarfile.TarInfo(name)
            info.size = len(stored)
            archive.addfile(info, io.BytesIO(stored))
    texts = [json.dumps(row["text"]) for row in rows(12) if row.get("text")]
    (folder / "sub/c.json.gz").write_bytes(gzip.compress("\n".join(texts).encode()))
    (folder / "sub/d.txt").write_text("A text by itself. " * 40)
    (folder / "sub/e.jsonl.zst").write_bytes(zstandard.compress(lines(20)))


def windows(ids: Window) -> list[Window]:
    return [ids[first : first + LENGTH + 1] for first in range(0, len(ids), LENGTH)]


def row(sequences: list[Window], channels: int) -> NDArray[np.int32]:
    found = np.zeros((channels, LENGTH), np.int32)
    found[0], found[2] = PAD, PAD
    place = 0
    for sequence in sequences:
        size = len(sequence) - 1
        here = slice(place, place + size)
        found[0, here], found[1, here], found[2, here] = sequence[:-1], 1, sequence[1:]
        if channels == 5:
            found[3, here], found[4, here] = range(size - 1, -1, -1), range(size)
        place += size
    return found


def separate_rows(documents: list[list[Window]], probability: float, seed: int) -> Iterator[NDArray[np.int32]]:
    """LMData without packing."""
    generator = random.Random(seed)
    for window in (window for chunk in documents for ids in chunk for window in windows(ids)):
        if len(window) < 6:
            continue
        kept = generator.randint(2, LENGTH - 1) if generator.random() < probability else len(window)
        yield row([window[:kept]], 3)


def vsl_rows(documents: list[list[Window]], probability: float, seed: int) -> Iterator[NDArray[np.int32]]:
    """LMData_VSL: the sequences of a chunk, from the last to the first, join the nearest row before with room."""
    generator = random.Random(seed)
    for chunk in documents:
        kept = [
            ids[: generator.randint(2, LENGTH)] if generator.random() < probability else ids
            for ids in chunk
            if len(ids) >= 6
        ]
        bins = [[window] for ids in kept for window in windows(ids) if len(window) > 1]
        sizes = [len(window) - 1 for (window,) in bins]
        for last in range(len(bins) - 1, 0, -1):
            for before in range(last - 1, -1, -1):
                if sizes[last] < LENGTH and sizes[last] + sizes[before] <= LENGTH:
                    bins[before] += bins.pop(last)
                    sizes[before] += sizes.pop(last)
                    break
        yield from (row(found, 5) for found in bins)


def test_empty_texts_leave_their_end_of_text_id_as_in_cerebras(tmp_path: Path) -> None:
    """In a table, a `.json.gz` and a `.txt`; not in other JSON lines."""
    own, word = tmp_path / "own", " ".join(WORDS)
    own.mkdir()
    pq.write_table(pa.table({"text": [word, "", word]}), own / "a.parquet")
    (own / "b.json.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, [word, "", " "])).encode()))
    (own / "c.txt").write_bytes(b"")
    (own / "d.jsonl").write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in [{"text": ""}, {"text": word}]))
    path = shared("golden", "cerebras", "tokenizers", "tiny", "tokenizer.json")
    dataset: dict[str, Any] = {"name": "golden", "compat": "cerebras", "input": {"location": str(own)}}
    dataset |= {"max_seq_length": 8, "keep_tail": True, "min_sequence_len": 0}
    tokenizer = {"kind": "neox", "path": str(path), "eos": END, "pad": PAD}
    corpus = open_corpus(tmp_path, {"sources": [], "datasets": [dataset], "tokenizer": tokenizer})
    build(corpus)
    encoder = Tokenizer.from_file(str(path))
    stream = [id_ for text in (word, "", word, word, "", "", "", word) for id_ in (*encoder.encode(text).ids, END)]
    found = rows_in(tmp_path)
    inputs = np.append(found[:, 0][found[:, 1] == 1], found[-1, 2][found[-1, 1] == 1][-1])
    assert inputs.tolist() == stream


@pytest.mark.parametrize("chunk_size", [1, 2, 1024])
@pytest.mark.parametrize(("mode", "probability"), [("LMData", 0.4), ("LMData_VSL", 0.4), ("LMData_VSL", 0.0)])
def test_rows_over_files_and_members(mode: str, probability: float, chunk_size: int, tmp_path: Path) -> None:
    write_input(tmp_path / "own")
    options: dict[str, Any] = {"max_seq_length": LENGTH, "max_chunk_size": chunk_size, "seed": 9}
    path = shared("golden", "cerebras", "tokenizers", "tiny", "tokenizer.json")
    dataset = {"name": "golden", "mode": mode, "compat": "cerebras", "input_dir": str(tmp_path / "own"), **options}
    dataset |= {"use_ftfy": False, "short_seq_prob": probability}
    dataset |= {"pack_sequences": False} if mode == "LMData" else {}
    tokenizer = {"kind": "neox", "path": str(path), "eos": END, "pad": PAD}
    corpus = open_corpus(tmp_path, {"sources": [], "datasets": [dataset], "tokenizer": tokenizer})
    build(corpus)

    case = {"mode": mode, "dataset": {}, "processing": options, "processes": 1, "input": str(tmp_path / "own")}
    encoder = Tokenizer.from_file(str(path))
    (share,) = chunks(case)
    documents = [[[*encoder.encode(record["text"]).ids, END] for record in chunk.records] for chunk in share]
    make = separate_rows if mode == "LMData" else vsl_rows
    np.testing.assert_array_equal(rows_in(tmp_path), np.stack(list(make(documents, probability, 9))))
