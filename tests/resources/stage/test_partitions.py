"""What is found out about all partitions of an asset is found once, for as long as they are kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.errors import LedgerError
from resources.ledger.records import Record, folded, partition_name
from resources.stage.declaration import Input, every, own_segment, same
from resources.stage.jobs.digests_read import digests_read
from resources.stage.partition import Partition
from resources.stage.partitions import Partitions
from resources.storage.local.store import LocalStorage

STORE = LocalStorage.__new__(LocalStorage)
SEGMENTS = ("a", "b")
EDGES = st.sampled_from(
    [edge("x", folded=fold) for edge in (every, own_segment) for fold in (False, True)]
    + [every("x", segment="a"), every("x", segment="a", folded=True), every("x", tracked=False), same("x")]
)


def partitions(digests: list[dict[str, str]]) -> Partitions:
    """Partitions with these digests of segments; that of the whole is all of them."""
    records = (
        Record(
            asset="x",
            partition=f"p{number}",
            recipe="",
            digest=str(found),
            inputs={},
            parameters={},
            code_version="1",
            files=[],
            segments=found,
        )
        for number, found in enumerate(digests)
    )
    return Partitions(Partition(STORE, record) for record in records)


def test_a_function_is_called_once_for_what_it_is_given() -> None:
    calls: list[tuple[int, str]] = []

    def find(found: Partitions, given: str) -> int:
        calls.append((len(found), given))
        return len(calls)

    some, others = partitions([{}, {}]), partitions([{}])
    assert [some.once(find, "a"), some.once(find, "a"), some.once(find, "b"), others.once(find, "a")] == [1, 1, 2, 3]
    assert calls == [(2, "a"), (2, "b"), (1, "a")]


def expected(edge: Input, found: Partitions, key: str) -> dict[str, str]:
    """The digests that an edge reads, one by one."""
    segment = edge.segment_read(key)
    read = {partition_name("x", one.key): one.record.digest_of(segment) for one in found} if edge.tracked else {}
    return folded("x", read) if edge.folded else read


@given(
    edge=EDGES,
    states=st.lists(
        st.lists(st.fixed_dictionaries({name: st.sampled_from("01") for name in SEGMENTS}), max_size=3), max_size=3
    ),
    keys=st.lists(st.sampled_from([*SEGMENTS, "c"]), min_size=1, max_size=4),
)
def test_the_digests_of_every_job_are_those_of_its_own_segment(
    edge: Input, states: list[list[dict[str, str]]], keys: list[str]
) -> None:
    for digests in states:
        kept = partitions(digests)
        for key in keys:
            assert digests_read({edge: kept}, key, "reader") == expected(edge, kept, key)


def test_a_segment_that_is_absent_names_the_reader() -> None:
    kept = partitions([{"a": "0"}, {"b": "0"}])
    for _ in range(2):
        with pytest.raises(LedgerError, match=r"reader reads segment .a. of x/p1"):
            digests_read({every("x", segment="a"): kept}, None, "reader")
