"""File cutting of the original around the shipped row builder (specs/cerebras-hdf5.md 1, 2, 4, 10, 11)."""

import gzip
import io
import json
import math
import tarfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq
import zstandard
from numpy.typing import NDArray

from corpus_assets.tokenize.cleaning import CleaningSettings
from corpus_assets.tokenize.lmdata import LMDataSettings, RowBuilder
from corpus_assets.tokenize.statistics import Statistics, merge
from corpus_assets.tokenize.tokenizers import LoadedTokenizer, TokenizerSpec, encode_texts, load_tokenizer
from tests.golden import shared

EXTENSIONS = (".jsonl", ".json.gz", ".jsonl.zst", ".jsonl.zst.tar", ".txt", ".parquet")
COMPRESSED = (".json.gz", ".jsonl.zst", ".jsonl.zst.tar", ".parquet")
TOKENIZERS: dict[str, tuple[TokenizerSpec, dict[str, tuple[str, ...]]]] = {
    "gpt2": (
        TokenizerSpec("gpt2"),
        {
            "vocab.bpe": ("tokenizers", "gpt2", "gpt2-vocab.bpe"),
            "encoder.json": ("tokenizers", "gpt2", "gpt2-encoder.json"),
        },
    ),
    "neox": (
        TokenizerSpec("neox", match_special_tokens=True),
        {"tokenizer.json": ("tokenizers", "neox", "neox-encoder.json")},
    ),
    "tiny": (
        TokenizerSpec("neox", match_special_tokens=True),
        {"tokenizer.json": ("golden", "cerebras", "tokenizers", "tiny", "tokenizer.json")},
    ),
    "tinyhf": (
        TokenizerSpec("tokenizer_json", match_special_tokens=True),
        {
            name: ("golden", "cerebras", "tokenizers", "tinyhf", name)
            for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
        },
    ),
}


class Chunk(NamedTuple):
    file: int
    document: int
    texts: list[str]


@dataclass
class Output:
    files: dict[str, NDArray[np.int32]] = field(default_factory=dict)
    statistics: Statistics = field(default_factory=Statistics)
    before_leftover: Statistics = field(default_factory=Statistics)
    remainders: list[int] = field(default_factory=list)
    one_token_tails: int = 0


def tokenizer(label: str) -> LoadedTokenizer:
    spec, files = TOKENIZERS[label]
    return load_tokenizer({name: shared(*parts).read_bytes() for name, parts in files.items()}, spec)


def _value(record: Any, key: str) -> str | None:
    """The wanted value of a record as text, None if there is none; a bare string counts for key `text`."""
    value = record if isinstance(record, str) else record.get(key) if isinstance(record, dict) else None
    if isinstance(value, list) and value and isinstance(value[0], str):
        value = "\n\n".join(value)
    return str(value) if value else None


def _records(stream: Iterable[bytes], key: str, strip: bool = False) -> Iterator[str | None]:
    """Sane reading: lines that are no JSON are skipped, where the original stops."""
    for line in stream:
        try:
            value = _value(json.loads(line), key)
        except ValueError:
            continue
        yield value.strip() if value and strip else value


def _members(path: Path, key: str) -> Iterator[Iterator[str | None]]:
    """Record values of a file; one iterator per tar member, else one."""
    unzstd = zstandard.ZstdDecompressor()
    name = path.name
    if name.endswith(".jsonl.zst.tar"):
        with tarfile.open(path) as archive:
            for member in archive:
                extracted = archive.extractfile(member)
                assert extracted is not None
                yield _records(io.BytesIO(unzstd.stream_reader(extracted).read()), key)
    elif name.endswith(".jsonl.zst"):
        yield _records(io.BytesIO(unzstd.stream_reader(path.read_bytes()).read()), key)
    elif name.endswith(".json.gz"):
        yield _records(io.BytesIO(gzip.decompress(path.read_bytes())), key, strip=True)
    elif name.endswith(".parquet"):
        yield (str(value) if value else None for value in pq.read_table(path).column(key).to_pylist())
    elif name.endswith(".txt"):
        yield iter([path.read_text("utf-8")])
    else:
        yield _records(io.BytesIO(path.read_bytes()), key)


def _chunks(number: int, path: Path, key: str, limit: int) -> Iterator[Chunk]:
    for member in _members(path, key):
        current, first, held = list[str](), 0, 0
        for index, value in enumerate(member):
            if value is None:
                continue
            size = len(value.encode())
            if held and held + size + max(1, (index.bit_length() + 7) // 8) > limit:
                yield Chunk(number, first, current)
                current, first, held = [], index, 0
            current.append(value)
            held += size
        if current:
            yield Chunk(number, first, current)


class _Process:
    """One tokenizing process of the original."""

    def __init__(self, case: dict[str, Any]) -> None:
        processing, dataset, cli = case["processing"], case["dataset"], case["cli"]
        self.tokenizer = tokenizer(case["tokenizer"]["label"])
        self.settings = LMDataSettings(
            sequence_length=processing["max_seq_length"],
            pack=dataset.get("pack_sequences", True),
            keep_tail=False,
            min_sequence_length=cli.get("min_sequence_len", 6),
            short_sequence_probability=cli.get("short_seq_prob", 0.0),
            seed=processing.get("seed", 0),
            short_sequence_draws="reference",
            split_text=processing.get("chunk_len_to_split", 2000) if processing.get("split_text_to_tokenize") else None,
            remove_bos_in_pieces=processing.get("remove_bos_in_chunks", False),
            inverted_mask=dataset.get("inverted_mask", False),
        )
        self.cleaning = CleaningSettings(
            ftfy=dataset.get("use_ftfy", True),
            normalization=dataset.get("ftfy_normalizer", "NFC"),
            wikitext=dataset.get("wikitext_detokenize", False),
        )
        self.statistics = Statistics()
        self.one_token_tails = 0
        self.builder = self._builder(self.tokenizer.eos_id, self.statistics)

    def _builder(self, eos_id: int | None, statistics: Statistics) -> RowBuilder:
        # An odd, small block exercises block borders; content must not depend on it.
        return RowBuilder(self.settings, eos_id, self.tokenizer.pad_id, statistics, block_rows=7)

    def rows(self, chunk: Chunk) -> NDArray[np.int32]:
        ids = encode_texts(
            chunk.texts,
            self.tokenizer,
            self.cleaning,
            self.statistics,
            split_length=self.settings.split_text,
            remove_bos_in_pieces=self.settings.remove_bos_in_pieces,
        )
        return self._joined(self.builder.rows(self._watched(ids)))

    def _watched(self, ids: Iterable[NDArray[np.int32]]) -> Iterator[NDArray[np.int32]]:
        for document in ids:
            size = document.size + 1
            self.one_token_tails += size > 1 and (size - 1) % self.settings.sequence_length == 0
            yield document

    def leftover(self, remainders: list[NDArray[np.int32]], statistics: Statistics) -> NDArray[np.int32]:
        stream = [np.concatenate(remainders)] if remainders else []
        return self._joined(self._builder(None, statistics).rows(stream))

    def _joined(self, blocks: Iterable[NDArray[np.int32]]) -> NDArray[np.int32]:
        empty = np.empty((0, 3, self.settings.sequence_length), np.int32)
        return np.concatenate([empty, *blocks])


def run(case: dict[str, Any]) -> Output:
    """Output files and statistics of an LMData case."""
    folder = shared("golden", "cerebras", *Path(case["input"]).parts)
    paths = sorted((path for path in folder.rglob("*") if path.name.endswith(EXTENSIONS)), key=str)
    key = case["dataset"].get("jsonl_key", "text")
    limit = case["processing"].get("max_chunk_size", 1024) * 1024
    count = case["processes"]
    plan: list[tuple[int, int, list[tuple[int, Chunk]]]]  # (writer, process, numbered chunks)
    if count < 3:
        tokenizers = writers = count
        shares = [
            [chunk for number, path in enumerate(paths[i::count]) for chunk in _chunks(number, path, key, limit)]
            for i in range(count)
        ]
        plan = [(i, i, list(enumerate(share))) for i, share in enumerate(shares)]
    else:
        writers = math.ceil((count - 1) / 10)
        tokenizers = count - 1 - writers
        chunks = list(
            enumerate(chunk for number, path in enumerate(paths) for chunk in _chunks(number, path, key, limit))
        )
        plan = [(t % writers, t, chunks[t::tokenizers]) for t in range(tokenizers)]
    output = Output()
    processes = [_Process(case) for _ in range(tokenizers)]
    named: dict[str, NDArray[np.int32]] = {}
    for writer, process, share in plan:
        for number, chunk in share:
            rows = processes[process].rows(chunk)
            if len(rows):
                named[f"output_chunk_{writer}_{chunk.file}_{chunk.document}_{number}"] = rows
    output.before_leftover = merge(process.statistics for process in processes)
    leftover_statistics = Statistics()
    remainders = [process.builder.remainder for process in processes if process.builder.remainder.size]
    leftover = processes[0].leftover(remainders, leftover_statistics)
    if len(leftover):
        named[f"output_chunk_{writers}_0_0_0"] = leftover
    if not processes[0].settings.pack:
        output.one_token_tails = sum(process.one_token_tails for process in processes)
    output.remainders = [remainder.size for remainder in remainders]
    output.statistics = merge([output.before_leftover, leftover_statistics])
    output.files = _shuffled(case, paths, named) if case["processing"].get("shuffle") else named
    return output


def _shuffled(
    case: dict[str, Any], paths: list[Path], named: dict[str, NDArray[np.int32]]
) -> dict[str, NDArray[np.int32]]:
    """Online shuffle of a run with one process: numpy's legacy generator, twice from the same seed."""
    processing = case["processing"]
    assert case["processes"] == 1
    estimated = sum(path.stat().st_size * (3 if path.name.endswith(COMPRESSED) else 1) for path in paths)
    files = math.ceil(estimated / (processing.get("max_chunk_size", 1024) * 1024))
    seed = processing.get("shuffle_seed", 0)
    generator = np.random.RandomState(seed)
    gathered: dict[str, list[NDArray[np.int32]]] = defaultdict(list)
    for rows in named.values():
        for row, destination in zip(rows, generator.randint(0, files, len(rows)), strict=True):
            gathered[f"output_chunk_{destination}"].append(row)
    generator = np.random.RandomState(seed)
    result = {}
    for name in sorted(gathered):
        result[name] = np.stack(gathered[name])
        generator.shuffle(result[name])
    return result
