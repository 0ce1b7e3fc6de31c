"""Which rows are in a sample: it depends on seed, source, file and row, and on nothing else."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.raw.losses import NOT_SAMPLED
from corpus_assets.raw.rows.faults import BadRow
from corpus_assets.raw.rows.rules import FormatOptions
from corpus_assets.raw.sampling import LEFT_OUT_BYTES, Chosen, count_rows, places, sampled, share_of_rows
from resources.shards.listing import Shard

SHARES = st.floats(0.001, 1.0)
SEEDS = st.integers(0, 2**63 - 1)


def shard(name: str, source: str = "books", folder: str = "/raw") -> Shard:
    return Shard(f"{source}--{name}", source, name, folder, name, 1, "")


class Counting(SimpleNamespace):
    """The part of a task that sampling uses."""

    def __init__(self, of: Shard) -> None:
        super().__init__(shard=of)
        self.counted: dict[str, Any] = {}

    def count(self, **numbers: Any) -> None:
        self.counted |= numbers


def kept(rows: list[Any], of: Shard, share: float, seed: int) -> list[Any]:
    task: Any = Counting(of)
    found = list(sampled(rows, task, Chosen(share, seed), len))
    assert len(found) == len(rows)
    good = [row for row in found if not isinstance(row, BadRow) or row.reason != NOT_SAMPLED]
    assert task.counted[LEFT_OUT_BYTES] == sum(map(len, rows)) - sum(map(len, good))
    return good


@given(st.lists(st.text(max_size=5), max_size=200), st.integers(0, 200), SHARES, SEEDS)
def test_a_row_is_chosen_whatever_the_others_are(rows: list[str], cut: int, share: float, seed: int) -> None:
    numbered = [f"{number} {row}" for number, row in enumerate(rows)]
    whole = kept(numbered, shard("a"), share, seed)
    first = kept(numbered[:cut], shard("a"), share, seed)
    assert whole[: len(first)] == first
    others = [f"{number} other" for number in range(len(rows))]
    assert [row.split()[0] for row in kept(others, shard("a"), share, seed)] == [row.split()[0] for row in whole]


@given(st.tuples(SHARES, SHARES), SEEDS)
def test_a_smaller_sample_is_part_of_a_larger_one(shares: tuple[float, float], seed: int) -> None:
    rows = [str(number) for number in range(300)]
    small, large = (set(kept(rows, shard("a"), share, seed)) for share in sorted(shares))
    assert small <= large
    assert kept(rows, shard("a"), 1.0, seed) == rows


def test_files_sources_and_seeds_give_other_samples_of_the_right_size() -> None:
    rows = [str(number) for number in range(20_000)]
    chosen = ((shard("a"), 0), (shard("b"), 0), (shard("a", "web"), 0), (shard("a"), 1))
    found = [kept(rows, of, 0.1, seed) for of, seed in chosen]
    assert len({tuple(one) for one in found}) == 4
    assert all(1_800 < len(one) < 2_200 for one in found)


def test_without_a_sample_rows_are_as_they_were() -> None:
    task: Any = Counting(shard("a"))
    assert list(sampled(["a", "b"], task, None, len)) == ["a", "b"]
    assert task.counted == {}
    assert Chosen.of({"source.format": "auto"}, "source") is None


@given(st.lists(st.integers(0, 60), min_size=1, max_size=5), st.integers(1, 200), SEEDS)
def test_a_limit_takes_exactly_as_many_rows_as_there_may_be(sizes: list[int], limit: int, seed: int) -> None:
    files = {shard(str(number)): size for number, size in enumerate(sizes)}
    share = share_of_rows(limit, files, files.__getitem__, seed)
    found = sum(len(kept([""] * size, of, share, seed)) for of, size in files.items())
    assert found == min(limit, sum(sizes))
    backwards = share_of_rows(limit, reversed(files), files.__getitem__, seed)
    assert backwards == share


def test_places_are_spread_evenly() -> None:
    place = places(shard("a"), 0)
    found = [place(number) / 2**53 for number in range(10_000)]
    assert 0.48 < sum(found) / len(found) < 0.52
    assert 0 <= min(found) < max(found) < 1


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("a.jsonl", b'{"text": "a"}\nno json\n\n{"text": 1}\n', 3),
        ("a.txt", b"one text\nof two lines", 1),
        ("a.csv", b"id,text\n1,a\n2,b\n", 2),
        ("a.jsonl.gz", b"not gzip", 0),
        ("a.jsonl", b"", 0),
    ],
)
def test_rows_are_counted_bad_ones_too(tmp_path: Path, name: str, content: bytes, rows: int) -> None:
    (tmp_path / name).write_bytes(content)
    found = count_rows(shard(name, folder=str(tmp_path)), "auto", 1 << 20, FormatOptions())
    assert found == rows
