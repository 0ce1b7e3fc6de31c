"""FIM against Cerebras' output, with the random decisions that it recorded."""

import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from corpus_assets.config.datasets.modes import FIMDataset
from corpus_assets.tokenize.counts.statistics import Statistics, merge
from corpus_assets.tokenize.encode.texts import encode_texts
from corpus_assets.tokenize.modes.fim_rows import fim_rows
from corpus_assets.tokenize.modes.fim_transform import Decisions, KeyedDecisions
from corpus_assets.tokenize.modes.lm import RowBuilder
from tests.golden import shared
from tests.tokenize.reference_reading import case, cases, chunks, file_name, leftover_name
from tests.tokenize.sections import cleaning, fim
from tests.tokenize.tokenizers_for_tests import for_case

CASES = cases("FIM")
SAME_STATISTICS = (
    *("processed_files", "discarded_files", "successful_files", "n_examples", "num_tokens"),
    *("raw_chars_count", "raw_bytes_count", "normalized_chars_count", "normalized_bytes_count"),
    *("average_chars_per_sequence", "average_bytes_per_sequence"),
)
Rows = NDArray[np.int32]


class Recorded:
    """Decisions of Cerebras, in the order in which it made them."""

    def __init__(self, trace: list[dict[str, Any]]) -> None:
        self._trace = iter(trace)

    def _next(self, kind: str) -> dict[str, Any]:
        step = next(self._trace)
        assert step["f"] == kind
        return step

    def applies(self, key: bytes) -> bool:
        return bool(self._next("binomial")["r"])

    def cuts(self, key: bytes, characters: int) -> tuple[int, int]:
        step = self._next("randint")
        assert step["high"] == characters + 1
        begin, end = sorted(step["r"])
        return begin, end

    def suffix_first(self, key: bytes) -> bool:
        return bool(self._next("binomial")["r"])

    def all_used(self) -> bool:
        return next(self._trace, None) is None


def section_of(given: dict[str, Any], *, reference: bool = True) -> FIMDataset:
    processing, dataset, cli = given["processing"], given["dataset"], given["processing"] | given["cli"]
    return fim(
        processing["max_seq_length"],
        prefix_token=cli["fim_prefix_tok"],
        middle_token=cli["fim_middle_tok"],
        suffix_token=cli["fim_suffix_tok"],
        fim_rate=cli.get("fim_rate", 0.9),
        spm_rate=cli.get("spm_rate", 0.5),
        fim_level="row",
        reference=reference,
        pack=dataset.get("pack_sequences", True),
        keep_tail=False,
        minimum_length=given["cli"].get("min_sequence_len", 6),
        short_sequence_probability=given["cli"].get("short_seq_prob", 0.0),
        seed=processing.get("seed", 0),
        short_sequence_draws="reference",
        split_text=processing.get("chunk_len_to_split", 2000) if processing.get("split_text_to_tokenize") else None,
        **cleaning(dataset),
    )


def expected(name: str) -> dict[str, Rows]:
    with np.load(shared("golden", "cerebras", "cases", name, "expected.npz"), allow_pickle=False) as arrays:
        return {key: arrays[key] for key in arrays.files}


def post_process(name: str) -> dict[str, Any]:
    text = shared("golden", "cerebras", "cases", name, "expected.json").read_text()
    return dict(json.loads(text)["post_process"])


def decisions_of(name: str) -> Decisions:
    trace = shared("golden", "cerebras", "cases", name) / "trace.json"
    if trace.exists():
        return Recorded(json.loads(trace.read_text()))
    section = section_of(case(name))
    if section.fim_rate:
        pytest.skip("Cerebras' random decisions were not recorded")
    return KeyedDecisions(0, section.fim_rate, section.spm_rate)


def run(name: str, decisions: Decisions, *, reference: bool = True) -> tuple[dict[str, Rows], Statistics, int]:
    """Files by name, statistics before the leftover, and ids left over."""
    given = case(name)
    tokenizer, section = for_case(given), section_of(given, reference=reference)
    files: dict[str, Rows] = {}
    statistics: list[Statistics] = []
    remainders: list[Rows] = []
    for share in chunks(given):
        counted = Statistics()
        builder = RowBuilder(section, tokenizer.eos_id, tokenizer.pad_id, counted, block_rows=7)
        for chunk in share:
            texts = [text for record in chunk.records for text in record.values()]
            batches = encode_texts(texts, tokenizer, section, counted)
            blocks = list(fim_rows(builder.rows(batches), tokenizer, section, counted, decisions=decisions))
            if blocks:
                files[file_name(chunk)] = np.concatenate(blocks)
        remainders.append(builder.remainder)
        statistics.append(counted)
    # The end of the run: full windows of what is left over are written without FIM
    # (docs/formats/cerebras-rows.md "LMData").
    left = np.concatenate(remainders)
    full = max(0, left.size - 1) // section.sequence_length
    if full:
        windows = np.stack([left[i * section.sequence_length :][: section.sequence_length + 1] for i in range(full)])
        ones = np.ones_like(windows[:, 1:])
        files[leftover_name(given)] = np.stack([windows[:, :-1], ones, windows[:, 1:]], axis=1)
    return files, merge(statistics), left.size


@cache
def replayed(name: str) -> tuple[dict[str, Rows], Statistics, int]:
    decisions = decisions_of(name)
    output = run(name, decisions)
    assert not isinstance(decisions, Recorded) or decisions.all_used()
    return output


@pytest.mark.parametrize("name", CASES)
def test_recorded_decisions_give_the_rows_of_the_original(name: str) -> None:
    given, files = case(name), replayed(name)[0]
    assert sorted(files) == sorted(expected(name))
    for file, rows in expected(name).items():
        if given.get("leftover_order_undefined") and f"{file}.h5" == given["leftover_file"]:
            assert len(files[file]) == len(rows)
        else:
            np.testing.assert_array_equal(files[file], rows)


@pytest.mark.parametrize("name", CASES)
def test_statistics_equal_the_original_but_for_padding(name: str) -> None:
    original, given = post_process(name), case(name)
    if given.get("statistics_comparable") is False or given["leftover_file"]:
        pytest.skip("Cerebras' statistics are of another input, or hold its leftover rows")
    files, statistics, left = replayed(name)
    counted = statistics.as_dict()
    assert {key: counted[key] for key in SAME_STATISTICS} == {key: original[key] for key in SAME_STATISTICS}
    assert counted["loss_valid_tokens"] == original["loss_valid_tokens"]
    assert counted["num_masked_tokens"] == original["num_masked_tokens"]
    # Cerebras counts every input that equals the pad id, real end-of-text ids included
    # (docs/formats/cerebras-hdf5.md "Defect: padding is counted by id").
    rows = np.concatenate(list(files.values()))
    real_pads = np.count_nonzero((rows[:, 0] == original["pad_id"]) & (rows[:, 1] == 1))
    assert statistics.num_pad_tokens + real_pads == original["num_pad_tokens"]
    assert statistics.unaccounted_tokens == max(0, left - 1)


@pytest.mark.parametrize("name", CASES)
def test_shares_are_about_the_rates(name: str) -> None:
    section = section_of(case(name))
    kinds = run(name, KeyedDecisions(5, section.fim_rate, section.spm_rate))[1].kinds
    transformed = kinds["fim_psm"] + kinds["fim_spm"]
    assert abs(transformed / kinds.total() - section.fim_rate) <= 4 / np.sqrt(kinds.total())
    if transformed:
        assert abs(kinds["fim_spm"] / transformed - section.spm_rate) <= 4 / np.sqrt(transformed)


@pytest.mark.parametrize("name", CASES)
def test_without_the_defects_every_segment_has_its_control_ids_once(name: str) -> None:
    given = case(name)
    tokenizer, section = for_case(given), section_of(given, reference=False)
    control = [tokenizer.token_id(text) for text in (section.prefix_token, section.middle_token, section.suffix_token)]
    files, statistics, left = run(name, KeyedDecisions(3, section.fim_rate, section.spm_rate), reference=False)
    rows = np.concatenate(list(files.values()))
    transformed = statistics.kinds["fim_psm"] + statistics.kinds["fim_spm"]
    for token in control:
        starts = np.concatenate([rows[:, 0], rows[:, 2, -1:]], axis=1)
        assert np.count_nonzero(starts == token) == transformed
    real = rows[:, 1] == 1
    np.testing.assert_array_equal(rows[:, 0, 1:][real[:, 1:]], rows[:, 2, :-1][real[:, 1:]])
    assert statistics.unaccounted_tokens == max(0, left - 1)


@pytest.mark.parametrize("name", CASES)
def test_without_the_defects_documents_end_where_they_ended(name: str) -> None:
    section, end = section_of(case(name)), for_case(case(name)).eos_id
    before = run(name, KeyedDecisions(3, 0, 0), reference=False)[0]
    after = run(name, KeyedDecisions(3, section.fim_rate, section.spm_rate), reference=False)[0]
    for file, rows in before.items():
        for old, new in zip(rows, after[file], strict=True):
            labels, made = old[2][old[1] == 1], new[2][new[1] == 1]
            assert (labels[-1] == end) == (made[-1] == end)
            starts = [np.append(row[0, row[1] == 1], last[-1]) for row, last in ((old, labels), (new, made))]
            assert np.count_nonzero(starts[0] == end) == np.count_nonzero(starts[1] == end)
