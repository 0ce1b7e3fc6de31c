"""Counters: merging, records, what they add up to."""

import json
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.tokenize.counts.statistics import Statistics, merge

counts = st.integers(0, 10**9)
reasons = st.dictionaries(st.sampled_from(["no_label", "empty_text", "packed_tail"]), st.integers(1, 99)).map(Counter)
statistics = st.builds(
    Statistics,
    processed_files=counts,
    discarded_files=counts,
    n_examples=counts,
    raw_chars_count=counts,
    num_tokens=counts,
    discarded_documents=reasons,
    dropped_tokens=reasons,
)


@given(st.lists(statistics, max_size=4), st.integers(0, 4))
def test_merging_in_parts_is_merging_at_once(parts: list[Statistics], cut: int) -> None:
    assert merge([merge(parts[:cut]), merge(parts[cut:])]) == merge(parts)
    assert merge(parts).n_examples == sum(part.n_examples for part in parts)


@given(statistics)
def test_records_keep_the_counters(one: Statistics) -> None:
    assert Statistics.from_dict(json.loads(json.dumps(one.as_dict()))) == one


def test_averages_are_rounded_up() -> None:
    one = Statistics(n_examples=3, raw_chars_count=10, raw_bytes_count=12)
    assert (one.average_chars_per_sequence, one.average_bytes_per_sequence) == (4, 4)
    assert Statistics(raw_chars_count=5).average_chars_per_sequence == 0


def test_text_is_counted_in_code_points_and_bytes() -> None:
    one = Statistics()
    one.add_text("né", "n")
    assert (one.raw_chars_count, one.raw_bytes_count) == (2, 3)
    assert (one.normalized_chars_count, one.normalized_bytes_count) == (1, 1)


def test_every_id_is_a_label_a_start_or_dropped() -> None:
    one = Statistics(document_tokens=10, loss_valid_tokens=4, unlearned_labels=2, sequence_starts=1)
    one.drop("tail", 1, 2)
    assert one.unaccounted_tokens == 1
