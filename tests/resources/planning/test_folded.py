"""Edges that are one entry of a recipe: the digest covers every partition, its key and their order."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.ledger.records import Record, folded
from resources.planning.changes import input_change, shortened
from resources.planning.inputs import Inputs
from resources.stage.declaration import Input, Partitioning, Stage, every, same

Key = str | None
DIGESTS = st.dictionaries(st.text("abc/", max_size=3), st.text("0123", max_size=2), max_size=5)


def record(asset: str, key: Key, digest: str) -> Record:
    return Record(
        asset=asset, partition=key, recipe="", digest=digest, inputs={}, parameters={}, code_version="1", files=[]
    )


class Known:
    """Records of one asset, `docs`, and an unpartitioned one, `whole`."""

    def __init__(self, digests: Mapping[str, str]) -> None:
        self.records: dict[str, dict[Key, Record]] = {"whole": {None: record("whole", None, "w")}, "docs": {}}
        for key, digest in digests.items():
            self.records["docs"][key] = record("docs", key, digest)
        self.inputs = Inputs(self.keys, self.records.__getitem__)

    def keys(self, edge: Input, key: Key) -> list[Key]:
        return sorted(self.records[edge.asset], key=str)

    def of(self, *edges: Input) -> dict[str, str]:
        reader = Stage("reader", "g", "", Partitioning.NONE, print, "1", "records", edges)
        return self.inputs.of(reader, None)


def test_all_partitions_are_one_entry_beside_plain_ones() -> None:
    known = Known({"a": "1", "b": "2"})
    assert known.of(every("docs", folded=True), same("whole")) == {
        **folded("docs", {"docs/a": "1", "docs/b": "2"}),
        "whole": "w",
    }
    assert list(known.of(every("docs"))) == ["docs/a", "docs/b"]


@given(DIGESTS, DIGESTS)
def test_entries_are_equal_only_for_equal_partitions_in_the_same_order(
    one: dict[str, str], two: dict[str, str]
) -> None:
    assert (folded("docs", one) == folded("docs", two)) == (list(one.items()) == list(two.items()))


def test_a_digest_is_kept_until_a_record_changes() -> None:
    known = Known({"a": "1"})
    edge = every("docs", folded=True)
    before = known.of(edge)
    known.records["docs"]["a"] = record("docs", "a", "2")
    assert known.of(edge) == before
    known.inputs.forget("docs")
    assert known.of(edge) == folded("docs", {"docs/a": "2"}) != before


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        ({"docs/*": "1"}, {"docs/*": "2"}, "something in docs changed"),
        ({"docs/*": "1", "whole": "1"}, {"docs/*": "2", "whole": "2"}, "something in docs and 1 more changed"),
        ({}, {"docs/*": "2"}, "something in docs added"),
    ],
)
def test_a_change_is_said_without_the_star(before: dict[str, str], now: dict[str, str], words: str) -> None:
    assert input_change(before, now) == words


STEPS = "['Texts were normalized.', 'Documents were described.', '"


@pytest.mark.parametrize(
    ("before", "now", "shown"),
    [
        ("0.02", "0.03", ("0.02", "0.03")),
        ("a" * 40, "a" * 39 + "b", ("a" * 40, "a" * 39 + "b")),
        ("a" * 41, "b", ("a" * 37 + "...", "b")),
        (f"{STEPS}2 %']", f"{STEPS}3 %']", ("...ribed.', '2 %']", "...ribed.', '3 %']")),
        (STEPS + "x" * 90, STEPS + "y" * 90, (f"...ribed.', '{'x' * 24}...", f"...ribed.', '{'y' * 24}...")),
    ],
)
def test_values_are_cut_so_that_one_sees_how_they_differ(before: str, now: str, shown: tuple[str, str]) -> None:
    assert shortened(before, now) == shown
