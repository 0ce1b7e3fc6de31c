"""LMData against Cerebras' output, array by array, and against its statistics.

Files are cut as docs/formats/cerebras-hdf5.md "Reading input", "Chunks of text",
"Processes and file names" and "Online shuffle" say; the shipped code makes the rows.
"""

import io
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from corpus_assets.tokenize.counts.statistics import Statistics, merge
from corpus_assets.tokenize.encode.texts import encode_texts
from corpus_assets.tokenize.modes.lm import RowBuilder
from corpus_assets.tokenize.ragged import Ragged
from corpus_assets.tokenize.rows.layouts import TEXTS
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.formats.hdf5.layout import FEATURES_BY_CHANNELS, LM_FEATURES
from resources.formats.hdf5.reader import read_hdf5
from resources.formats.hdf5.writer import write_hdf5
from tests.golden import GOLDEN, shared
from tests.tokenize.counting import count
from tests.tokenize.reference_reading import NumberedChunk, case, cases, chunks, file_name, leftover_name, paths
from tests.tokenize.sections import cleaning, lm
from tests.tokenize.tokenizers_for_tests import as_published

CASES = cases("LMData")
COMPRESSED = (".json.gz", ".jsonl.zst", ".jsonl.zst.tar", ".parquet")
SAME_STATISTICS = (
    *("processed_files", "n_examples", "num_tokens", "loss_valid_tokens", "num_masked_tokens"),
    *("raw_chars_count", "raw_bytes_count", "normalized_chars_count", "normalized_bytes_count"),
)
Rows = NDArray[np.int32]


@dataclass
class Output:
    files: dict[str, Rows] = field(default_factory=dict)
    statistics: Statistics = field(default_factory=Statistics)
    before_leftover: Statistics = field(default_factory=Statistics)
    remainders: list[int] = field(default_factory=list)
    one_token_tails: int = 0


class _SaysItAddsBos:
    """A tokenizer under the wrong assumption that Cerebras makes of every one.

    docs/formats/cerebras-rows.md "Defect: begin-of-text removal"
    """

    adds_bos = True

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)


def has_bos_defect(given: dict[str, Any]) -> bool:
    """Cerebras deletes the first id of every piece of a text, also where no id was put there."""
    processing = given["processing"]
    removes = processing.get("split_text_to_tokenize") and processing.get("remove_bos_in_chunks")
    return bool(removes) and not as_published(given).adds_bos


def control_ids(given: dict[str, Any]) -> tuple[int | None, int]:
    """(eos, pad) after the parameters that override the tokenizer's (docs/formats/cerebras-hdf5.md "Tokenizers")."""
    loaded, processing = as_published(given), given["processing"]
    eos, pad = loaded.eos_id, loaded.pad_id
    if processing.get("eos_id") is not None:
        eos = pad = processing["eos_id"]
    if processing.get("pad_id") is not None and given["tokenizer"]["tokenizer_type"] != "GPT2Tokenizer":
        pad = processing["pad_id"]
    return eos, pad


class _Process:
    """One tokenizing process of Cerebras."""

    def __init__(self, given: dict[str, Any], sane: bool) -> None:
        processing, dataset, cli = given["processing"], given["dataset"], given["cli"]
        self.tokenizer: Tokenizer = as_published(given)
        if has_bos_defect(given) and not sane:
            self.tokenizer = cast(Tokenizer, _SaysItAddsBos(self.tokenizer))
        splits = processing.get("split_text_to_tokenize")
        self.section = lm(
            processing["max_seq_length"],
            pack=dataset.get("pack_sequences", True),
            keep_tail=False,
            minimum_length=cli.get("min_sequence_len", 6),
            short_sequence_probability=cli.get("short_seq_prob", 0.0),
            seed=processing.get("seed", 0),
            short_sequence_draws="reference",
            inverted_mask=dataset.get("inverted_mask", False),
            split_text=processing.get("chunk_len_to_split", 2000) if splits else None,
            remove_bos_in_pieces=processing.get("remove_bos_in_chunks", False),
            **cleaning(dataset),
        )
        self.statistics = Statistics()
        self.one_token_tails = 0
        self._eos, self._pad = control_ids(given)
        self.builder = self._builder(self._eos, self.statistics)

    def _builder(self, eos_id: int | None, statistics: Statistics) -> RowBuilder:
        # An odd, small block exercises block borders; content must not depend on it.
        return RowBuilder(self.section, eos_id, self._pad, statistics, block_rows=7)

    def rows(self, chunk: NumberedChunk) -> Rows:
        batches = encode_texts(
            [text for record in chunk.records for text in record.values()],
            self.tokenizer,
            self.section,
            self.statistics,
        )
        return self._joined(self.builder.rows(self._watched(batches)))

    def _watched(self, batches: Iterable[Ragged]) -> Iterator[Ragged]:
        for batch in batches:
            sizes = batch.lengths + (self._eos is not None)
            self.one_token_tails += int(
                np.count_nonzero((sizes > 1) & ((sizes - 1) % self.section.sequence_length == 0))
            )
            yield batch

    def leftover(self, remainders: list[Rows], statistics: Statistics) -> Rows:
        return self._joined(self._builder(None, statistics).rows([Ragged.of(remainders)]))

    def _joined(self, blocks: Iterable[Rows]) -> Rows:
        return np.concatenate([np.empty((0, 3, self.section.sequence_length), np.int32), *blocks])


@cache
def output(name: str, sane: bool = False) -> Output:
    """Files and statistics of a case; `sane`: without Cerebras' defect in removing begin-of-text ids."""
    given = case(name)
    shares = chunks(given)
    processes = [_Process(given, sane) for _ in shares]
    made = Output()
    for process, share in zip(processes, shares, strict=True):
        for chunk in share:
            rows = process.rows(chunk)
            if len(rows):
                made.files[file_name(chunk)] = rows
    made.before_leftover = merge(process.statistics for process in processes)
    leftover_statistics = Statistics()
    remainders = [process.builder.remainder for process in processes if process.builder.remainder.size]
    leftover = processes[0].leftover(remainders, leftover_statistics)
    if len(leftover):
        made.files[leftover_name(given)] = leftover
    if not processes[0].section.pack:
        made.one_token_tails = sum(process.one_token_tails for process in processes)
    made.remainders = [remainder.size for remainder in remainders]
    made.statistics = merge([made.before_leftover, leftover_statistics])
    if given["processing"].get("shuffle") and given["processes"] == 1:
        made.files = _shuffled(given, made.files)
    return made


def _shuffled(given: dict[str, Any], named: dict[str, Rows]) -> dict[str, Rows]:
    """Online shuffle of a run with one process: numpy's legacy generator, twice from the same seed."""
    processing = given["processing"]
    estimated = sum(path.stat().st_size * (3 if path.name.endswith(COMPRESSED) else 1) for path in paths(given))
    files = math.ceil(estimated / (processing.get("max_chunk_size", 1024) * 1024))
    seed = processing.get("shuffle_seed", 0)
    generator = np.random.RandomState(seed)
    gathered: dict[str, list[Rows]] = defaultdict(list)
    for rows in named.values():
        for row, destination in zip(rows, generator.randint(0, files, len(rows)), strict=True):
            gathered[f"output_chunk_{destination}"].append(row)
    generator = np.random.RandomState(seed)
    result = {}
    for name in sorted(gathered):
        result[name] = np.stack(gathered[name])
        generator.shuffle(result[name])
    return result


def expected(name: str) -> dict[str, Rows]:
    """Arrays of Cerebras; the mask as it was asked for."""
    inverted = case(name)["dataset"].get("inverted_mask", False)
    with np.load(shared("golden", "cerebras", "cases", name, "expected.npz"), allow_pickle=False) as arrays:
        files = {key: arrays[key] for key in arrays.files}
    for rows in files.values():
        if inverted:
            rows[:, 1] = 1 - rows[:, 1]  # docs/formats/cerebras-rows.md "Defect: inverted_mask"
    return files


def post_process(name: str) -> dict[str, Any]:
    text = shared("golden", "cerebras", "cases", name, "expected.json").read_text()
    return dict(json.loads(text)["post_process"])


def _in_order(files: dict[str, Rows]) -> Rows:
    """Rows of all files by chunk number."""
    return np.concatenate([files[name] for name in sorted(files, key=lambda name: int(name.rpartition("_")[2]))])


@pytest.mark.parametrize("name", CASES)
def test_arrays_equal_the_original(name: str) -> None:
    given, made, files = case(name), output(name).files, expected(name)
    if given["sane_behaviour_case"]:
        # Cerebras ran on other, clean files, so the document numbers in file names may differ.
        np.testing.assert_array_equal(_in_order(made), _in_order(files))
        return
    if given["processing"].get("shuffle") and given["processes"] > 1:
        # With several writers the order depends on their timing.
        mine, theirs = (Counter(row.tobytes() for rows in each.values() for row in rows) for each in (made, files))
        assert mine == theirs
        return
    assert sorted(made) == sorted(files)
    for file, rows in files.items():
        if given.get("leftover_order_undefined") and f"{file}.h5" == given["leftover_file"]:
            assert len(made[file]) == len(rows)
        else:
            np.testing.assert_array_equal(made[file], rows)


@pytest.mark.parametrize("name", CASES)
def test_begin_of_text_removal_loses_no_token(name: str) -> None:
    """Cerebras deletes a real id of every piece but the first; that is not the default.

    docs/formats/cerebras-rows.md "Defect: begin-of-text removal"
    """
    legacy, sane = output(name).statistics, output(name, sane=True).statistics
    if has_bos_defect(case(name)):
        assert sane.document_tokens > legacy.document_tokens
        assert sane.raw_bytes_count == legacy.raw_bytes_count
    else:
        assert sane == legacy


@pytest.mark.parametrize("name", CASES)
def test_statistics_equal_the_original_but_for_padding(name: str) -> None:
    original, given = post_process(name), case(name)
    counted = output(name).statistics.as_dict()
    assert (*control_ids(given), as_published(given).vocab_size) == tuple(
        original[key] for key in ("eos_id", "pad_id", "vocab_size")
    )
    if given.get("statistics_comparable", True):
        for key in SAME_STATISTICS:
            assert counted[key] == original[key], key
        # docs/formats/cerebras-hdf5.md "Defect: discarded documents":
        # Cerebras calls a document discarded when its last window is one id.
        wrongly_discarded = output(name).one_token_tails
        assert counted["discarded_files"] + wrongly_discarded == original["discarded_files"]
        assert counted["successful_files"] - wrongly_discarded == original["successful_files"]
    rows = sum(map(len, output(name).files.values()))
    for unit in ("chars", "bytes"):
        assert counted[f"average_{unit}_per_sequence"] == -(-counted[f"raw_{unit}_count"] // rows)
    # docs/formats/cerebras-hdf5.md "Statistics": the rows that packing left over count in no average of Cerebras.
    before = output(name).before_leftover
    assert before.average_chars_per_sequence == original["average_chars_per_sequence"]
    assert before.average_bytes_per_sequence == original["average_bytes_per_sequence"]
    assert before.unaccounted_tokens == sum(max(0, size - 1) for size in output(name).remainders)


@pytest.mark.parametrize("name", CASES)
def test_padding_is_what_no_document_filled(name: str) -> None:
    """Cerebras counts every input equal to the pad id, real end-of-text ids included."""
    rows = np.concatenate(list(output(name).files.values()))
    statistics, original = output(name).statistics, post_process(name)
    real = rows[:, 1] == (0 if case(name)["dataset"].get("inverted_mask") else 1)
    real_pads = int(np.count_nonzero((rows[:, 0] == original["pad_id"]) & real))
    assert statistics.num_pad_tokens == int(np.count_nonzero(~real))
    if not case(name).get("leftover_order_undefined"):
        assert statistics.num_pad_tokens + real_pads == original["num_pad_tokens"]


@pytest.mark.parametrize("name", CASES)
def test_files_and_recount_carry_the_same(name: str) -> None:
    inverted = case(name)["dataset"].get("inverted_mask", False)
    original = post_process(name)
    ids = {key: original[key] for key in ("eos_id", "pad_id", "vocab_size")}
    counted = []
    for rows in output(name).files.values():
        target = io.BytesIO()
        write_hdf5(target, [rows], {}, features=LM_FEATURES, sequence_length=rows.shape[2])
        with read_hdf5(target) as reader:
            np.testing.assert_array_equal(np.concatenate(list(reader.blocks())), rows)
            counted.append(count(reader.blocks(), TEXTS, **ids, inverted_mask=inverted))
        assert not counted[-1].faults
    statistics = output(name).statistics
    for mine, key in (
        ("num_sequences", "n_examples"),
        ("num_tokens", "num_tokens"),
        ("loss_valid_tokens", "loss_valid_tokens"),
    ):
        assert sum(part.h5_dataset_stats()[mine] for part in counted) == getattr(statistics, key)


@pytest.mark.parametrize("sample", sorted((GOLDEN / "cerebras" / "sample_h5").glob("*.h5")), ids=str)
def test_files_of_the_original_open(sample: Path) -> None:
    with sample.open("rb") as stream, read_hdf5(stream) as reader:
        rows = np.concatenate(list(reader.blocks()))
    assert rows.dtype == np.int32
    assert rows.shape == (reader.n, len(reader.features), reader.sequence_length)
    assert reader.features == FEATURES_BY_CHANNELS[rows.shape[1]]
    every = [rows_of_case for name in cases() for rows_of_case in expected(name).values()]
    assert any(np.array_equal(rows, other) for other in every)
