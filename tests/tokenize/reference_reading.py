"""How Cerebras reads files and cuts them into chunks.

Rules: docs/formats/cerebras-hdf5.md "Reading input", "Chunks of text", "Processes and file names".

Reading is sane per record: a line that is no JSON is skipped, where Cerebras stops.
"""

import gzip
import io
import json
import math
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import zstandard

from tests.golden import GOLDEN, shared

EXTENSIONS = (".jsonl", ".json.gz", ".jsonl.zst", ".jsonl.zst.tar", ".txt", ".parquet")
CASES = GOLDEN / "cerebras" / "cases"
Record = dict[str, Any]


class NumberedChunk(NamedTuple):
    """Documents that Cerebras writes to one file. `writer` and `number` are parts of the file's name."""

    file: int
    document: int
    records: list[Record]
    writer: int = 0
    number: int = 0


def cases(*modes: str) -> list[str]:
    """Names of all cases of these modes, by default of all; none when the golden folder is absent."""
    names = sorted(file.parent.name for file in CASES.glob("*/case.json"))
    return [name for name in names if not modes or case(name)["mode"] in modes]


def case(name: str) -> dict[str, Any]:
    return dict(json.loads(shared("golden", "cerebras", "cases", name, "case.json").read_text()))


def keys(case: dict[str, Any]) -> list[str]:
    """The wanted keys of a case."""
    dataset = case["dataset"]
    if case["mode"] == "DPO":
        given = [dataset[key] for key in ("prompt_key", "chosen_key", "rejected_key") if key in dataset]
        return given or ["prompt", "chosen", "rejected"]
    if not case["mode"].startswith("Summarization"):
        return [dataset.get("jsonl_key", "text")]
    if case["sane_behaviour_case"] and "multi_turn_key=messages" in case.get("note", ""):
        return ["messages"]  # Cerebras ran on the pairs one by one; its own setting cannot.
    if turns := dataset.get("multi_turn_key"):
        return [turns]
    return [dataset["prompt_key"], dataset["completion_key"]]


def _text(value: Any) -> Any:
    if isinstance(value, list) and value and isinstance(value[0], str):
        return "\n\n".join(value)
    return value if isinstance(value, list) else str(value)


def _wanted(record: Any, wanted: list[str]) -> Record:
    if isinstance(record, str):
        record = {"text": record}
    found = record if isinstance(record, dict) else {}
    return {key: _text(found[key]) for key in wanted if found.get(key)}


def _lines(stream: Iterable[bytes], wanted: list[str], strip: bool = False) -> Iterator[Record]:
    for line in stream:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        yield _wanted(record.strip() if strip and isinstance(record, str) else record, wanted)


def members(path: Path, wanted: list[str]) -> Iterator[Iterator[Record]]:
    """Records of a file; one iterator per tar member, else one."""
    unzstd = zstandard.ZstdDecompressor()
    name = path.name
    if name.endswith(".jsonl.zst.tar"):
        with tarfile.open(path) as archive:
            for member in archive:
                extracted = archive.extractfile(member)
                assert extracted is not None
                yield _lines(io.BytesIO(unzstd.stream_reader(extracted).read()), wanted)
    elif name.endswith(".jsonl.zst"):
        yield _lines(io.BytesIO(unzstd.stream_reader(path.read_bytes()).read()), wanted)
    elif name.endswith(".json.gz"):
        yield _lines(io.BytesIO(gzip.decompress(path.read_bytes())), wanted, strip=True)
    elif name.endswith(".parquet"):
        yield (_wanted(row, wanted) for row in pq.read_table(path, columns=wanted).to_pylist())
    elif name.endswith(".txt"):
        yield iter([_wanted({"text": path.read_text("utf-8")}, wanted)])
    else:
        yield _lines(io.BytesIO(path.read_bytes()), wanted)


def _size(value: Any) -> int:
    """UTF-8 bytes of a value; of messages, those of their keys and values."""
    if isinstance(value, str):
        return len(value.encode())
    return sum(len(f"{key}{text}".encode()) for message in value for key, text in message.items())


def _cut(file: int, path: Path, wanted: list[str], limit: int) -> Iterator[NumberedChunk]:
    for member in members(path, wanted):
        current, first, held = list[Record](), 0, 0
        for index, record in enumerate(member):
            if not record:
                continue
            size = sum(map(_size, record.values()))
            if held and held + size + max(1, (index.bit_length() + 7) // 8) > limit:
                yield NumberedChunk(file, first, current)
                current, first, held = [], index, 0
            current.append(record)
            held += size
        if current:
            yield NumberedChunk(file, first, current)


def paths(case: dict[str, Any]) -> list[Path]:
    """Input files in the order they are read."""
    folder = shared("golden", "cerebras", *Path(case["input"]).parts)
    return sorted((path for path in folder.rglob("*") if path.name.endswith(EXTENSIONS)), key=str)


def chunks(case: dict[str, Any]) -> list[list[NumberedChunk]]:
    """Chunks by tokenizing process, in the order each process sees them."""
    files, wanted = paths(case), keys(case)
    limit = case["processing"].get("max_chunk_size", 1024) * 1024
    count = case["processes"]
    if count < 3:
        shares = [files[process::count] for process in range(count)]
        cut = [[chunk for n, path in enumerate(share) for chunk in _cut(n, path, wanted, limit)] for share in shares]
        return [
            [chunk._replace(writer=process, number=number) for number, chunk in enumerate(share)]
            for process, share in enumerate(cut)
        ]
    writers = math.ceil((count - 1) / 10)
    tokenizers = count - 1 - writers
    every = [chunk for n, path in enumerate(files) for chunk in _cut(n, path, wanted, limit)]
    numbered = [chunk._replace(number=number) for number, chunk in enumerate(every)]
    return [
        [chunk._replace(writer=process % writers) for chunk in numbered[process::tokenizers]]
        for process in range(tokenizers)
    ]


def leftover_name(case: dict[str, Any]) -> str:
    """Name of the file of what the packing of all processes left over."""
    count = case["processes"]
    return f"output_chunk_{count if count < 3 else math.ceil((count - 1) / 10)}_0_0_0"


def file_name(chunk: NumberedChunk) -> str:
    """Name of a chunk's output file, without suffix."""
    return f"output_chunk_{chunk.writer}_{chunk.file}_{chunk.document}_{chunk.number}"
