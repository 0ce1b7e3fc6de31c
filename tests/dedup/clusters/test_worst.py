import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.dedup.clusters.guard import Examined, Finding
from corpus_assets.dedup.clusters.worst import MIN_JUDGED, Worst, broken_floors, losses, render, sampled

MAX_BYTES = 20_000


def examined(resemblances: list[float], kept: list[int], unlike: int) -> Examined:
    groups = np.zeros(len(resemblances), dtype=np.int64)
    return Examined(groups, np.array(kept, dtype=np.uint32), np.array(resemblances), unlike, 0.123456, 2)


def finding(kept: int, members: Any, found: Examined | None) -> Finding:
    return Finding(kept, len(members), members, found)


def numbers(*documents: int) -> Any:
    return np.array(documents, dtype=np.uint32)


def named(number: int) -> dict[str, Any]:
    return {"source": "web", "id": f"doc-{number}", "shard": f"web--{number // 100}", "row": number % 100}


def test_a_split_a_whole_and_an_unexamined_cluster() -> None:
    worst = Worst()
    worst.add(finding(12, numbers(10, 12, 14, 16), examined([0.4, 1.0, 0.9, 0.2], [12, 10], 2)))
    worst.add(finding(20, numbers(20, 21), examined([1.0, 1.0], [20], 0)))
    worst.add(finding(305, numbers(300, 305, 310), None))
    assert worst.documents() == [12, 14, 16, 20, 21, 300, 305, 310]
    report = worst.report(named, losses({"web": 5}, {"web": 100}))
    assert json.loads(json.dumps(report)) == report
    assert report["examined"] == {"whole": 1, "split": 1, "not examined": 1}
    assert report["sources"] == {"web": {"documents": 100, "removed": 5}}
    unexamined, split, whole = report["clusters"]
    assert [row["done"] for row in report["clusters"]] == [
        "not examined: too large",
        "split into 2",
        "whole",
    ]
    assert split | {"samples": []} == {
        "cluster": 10,
        "size": 4,
        "kept": named(12),
        "unlike": 2,
        "lowest": 0.2,
        "density": 0.1235,
        "core": 2,
        "groups": 2,
        "done": "split into 2",
        "samples": [],
    }
    assert split["samples"] == [
        {"document": 12, "resemblance": 1.0} | named(12),
        {"document": 16, "resemblance": 0.2} | named(16),
        {"document": 14, "resemblance": 0.9} | named(14),
    ]
    assert [sample["document"] for sample in whole["samples"]] == [20, 21]
    assert [sample["document"] for sample in unexamined["samples"]] == [305, 300, 310]
    assert ("web--3", 5) in sampled(report)
    assert len(sampled(report)) == 8


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(2, 6)), max_size=60), st.randoms(use_true_random=False))
def test_the_worst_are_held_whatever_the_order(found: list[tuple[int, int]], random: Any) -> None:
    clusters = [
        (first, np.arange(first, first + size, dtype=np.uint32), examined([1.0] * size, [first], unlike))
        for first, (unlike, size) in zip(range(0, 10 * len(found), 10), found, strict=True)
    ]
    expected = sorted(clusters, key=lambda c: (-c[2].unlike, -len(c[1]), c[0]))[:20]
    random.shuffle(clusters)
    worst = Worst()
    for cluster in clusters:
        worst.add(finding(*cluster))
    report = worst.report(named, {})
    assert [row["cluster"] for row in report["clusters"]] == [first for first, _, _ in expected]
    assert sum(report["examined"].values()) == len(clusters)


def test_a_source_that_loses_too_much() -> None:
    found = losses({"c4": 12_345, "wiki": 90}, {"c4": 12_968, "wiki": 100, "books": 30})
    assert found["books"] == {"documents": 30, "removed": 0}
    assert broken_floors(found, 0.9) == [
        "source c4 loses 95.2 % of its documents (12,345 of 12,968); dedup.max_loss allows 90 %"
    ]
    assert broken_floors(found, 0.905)[0].endswith("allows 90.5 %")
    assert [message.split()[1] for message in broken_floors(found, 0.89)] == ["c4", "wiki"]
    assert broken_floors(found, 1.0) == []


def test_a_source_of_a_handful_of_documents_is_not_judged() -> None:
    few = MIN_JUDGED - 1
    assert broken_floors(losses({"few": few}, {"few": few, "none": 0}), 0.5) == []
    assert len(broken_floors(losses({"enough": MIN_JUDGED}, {"enough": MIN_JUDGED}), 0.5)) == 1


@given(st.integers(1, 1000), st.data())
def test_a_loss_of_exactly_the_limit_is_allowed(hundreds: int, data: st.DataObject) -> None:
    removed = data.draw(st.integers(0, 100))
    found = losses({"web": removed * hundreds}, {"web": 100 * hundreds})
    assert broken_floors(found, float(f"{removed / 100:.2f}")) == []
    if removed and 100 * hundreds >= MIN_JUDGED:
        assert len(broken_floors(found, removed / 100 - 0.001)) == 1


@pytest.mark.parametrize(("removed", "documents"), [({"web": 3}, {"web": 2}), ({"web": 1}, {}), ({"a": -1}, {"a": 1})])
def test_more_lost_than_there_was(removed: dict[str, int], documents: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="documents and loses"):
        losses(removed, documents)


def one_cluster(name: str = "doc") -> dict[str, Any]:
    worst = Worst()
    worst.add(finding(1, numbers(1, 2), examined([1.0, 0.25], [1, 2], 1)))
    return worst.report(lambda number: named(number) | {"id": f"{name}-{number}"}, losses({"web": 1}, {"web": 4}))


def test_rendered() -> None:
    report = one_cluster()
    text = render(report, {("web--0", 1): "the kept text", ("web--0", 2): "a\nb" + "x" * 500})
    assert "Examined 1: 1 split. The worst 1:" in text
    assert "| 2 | web | doc-1 | 1 | 0.25 | 0.1235 | 2 | split into 2 |" in text
    assert "| web | 4 | 1 | 25 % |" in text
    assert "doc-1 (kept)\n\n```\nthe kept text\n```\n" in text
    assert "doc-2 (resemblance 0.25)\n\n```\na\nb" + "x" * 197 + "\n```\n" in text
    assert "doc-2" not in render(report, {})


def test_nothing_examined() -> None:
    assert render(Worst().report(named, {}), {}) == "No clusters.\n"


@given(st.text(st.sampled_from("`~ab\n\r\x1b\u202e |<\t\ud800\u2028"), max_size=300))
def test_a_text_cannot_break_out_of_its_block(text: str) -> None:
    rendered = render(one_cluster(), {("web--0", 1): text})
    block = rendered[rendered.index("(kept)\n\n") + len("(kept)\n\n") :]
    fence, _, rest = block.partition("\n")
    assert re.fullmatch("`{3,}", fence)
    inside, closing, after = rest.rpartition("\n" + fence + "\n")
    assert closing
    assert not after.strip()
    assert fence not in inside
    assert all(character.isprintable() or character in "\n\t" for character in inside)
    rendered.encode()


@given(st.text(st.sampled_from("|`*_<>[]()!#\\a\n\r\x1b\u202e"), min_size=1, max_size=100))
def test_an_id_is_no_markup(name: str) -> None:
    lines = render(one_cluster(name), {}).splitlines()
    row = next(line for line in lines if "split into 2" in line and line.startswith("| 2 |"))
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 9
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*<\[]", row)


def test_never_larger_than_the_limit() -> None:
    worst = Worst()
    for first in range(0, 3000, 100):
        members = numbers(first, first + 1, first + 2)
        worst.add(finding(first, members, examined([1.0, 0.1, 0.3], [first, first + 1], 2)))
    sources = {"\U0001f600" * 48 + str(n): {"documents": 10**9, "removed": 10**8} for n in range(100)}
    report = worst.report(lambda number: named(number) | {"id": "\U00020000" * 500 + str(number)}, sources)
    texts: Mapping[tuple[str, int], str] = dict.fromkeys(sampled(report), "\U00020000" * 1000)
    text = render(report, texts)
    assert len(text.encode()) <= MAX_BYTES
    shown = text.count("\n```\n") // 2
    assert 0 < shown < len(texts)
    assert f"{len(texts) - shown} more texts are left out here." in text
    assert "and 70 more sources" in text
