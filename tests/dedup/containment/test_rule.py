"""`dedup.rule` through whole builds: what goes because another document holds it, and what is kept."""

import random
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.dedup.signatures.scheme import SignatureScheme
from tests.build.small import contents, opened, prose, statuses
from tests.build.test_near_duplicates import built, kept_for, removed, write_shards
from tests.dedup.containment.oracle import shares

CHARACTERS, WORDS = SignatureScheme(), SignatureScheme(unit="word", width=5)


def page(name: str, words: int = 60) -> str:
    return prose(name, words)


def within(name: str, text: str) -> str:
    """A longer page with a text in its middle."""
    return f"{page(f'{name} before', 200)} {text} {page(f'{name} after', 300)}"


def corpus(folder: Path, documents: dict[str, str], rule: str = "contained", **more: Any) -> Path:
    rows = list(documents.items())
    shards = {"books/one.jsonl": rows[::2], "web/b.jsonl.zst": rows[1::2]}
    options: dict[str, Any] = {
        "minhash__width": 13,
        "minhash__rows": 6,
        "minhash__bands": 20,
        "minhash__permutations": 128,
    }
    write_shards(folder, shards, dedup__rule=rule, **options | more)
    built(folder)
    return folder


def held_shares(folder: Path) -> dict[str, float]:
    """Share of its shingles that the kept one has, of each document that went for that reason."""
    found = {name: row.attributes.get("duplicates__minhash__contained") for name, row in removed(folder).items()}
    return {name: spans[0][2] for name, spans in found.items() if spans}


def test_a_page_within_a_longer_page_goes_and_the_longer_one_stays(tmp_path: Path) -> None:
    text = page("short")
    documents = {"page": text, "longer": within("long", text), "other": page("other")}
    folder = corpus(tmp_path, documents, dedup__keep=["first"])
    assert kept_for(folder) == {"page": "longer"}
    assert held_shares(folder) == {"page": 1.0}


def test_the_default_rule_keeps_a_page_within_a_longer_page(tmp_path: Path) -> None:
    text = page("short")
    folder = corpus(tmp_path, {"page": text, "longer": within("long", text)}, "similar")
    assert kept_for(folder) == {}
    assert "contained_pairs" not in {stage.name for stage in opened(folder).graph}


def test_what_stands_in_a_page_that_goes_is_compared_with_the_page_that_stays(tmp_path: Path) -> None:
    inner = page("inner")
    middle = within("middle", inner)
    folder = corpus(tmp_path, {"inner": inner, "middle": middle, "outer": within("outer", middle)})
    assert kept_for(folder) == {"inner": "outer", "middle": "outer"}


def test_a_page_that_only_a_removed_page_holds_is_kept(tmp_path: Path) -> None:
    # What the middle page lacks of the inner one is little, but most of what the inner one is.
    inner = page("inner", 40)
    middle = f"{page('m', 1500)} {inner}"
    outer = f"{page('o', 200)} {page('m', 1500)}"
    found = shares({"inner": inner, "middle": middle, "outer": outer}, CHARACTERS)
    assert found["middle", "outer"] >= 0.95 > 0.1 > found["inner", "outer"]
    folder = corpus(tmp_path, {"inner": inner, "middle": middle, "outer": outer})
    assert kept_for(folder) == {"middle": "outer"}


@pytest.mark.parametrize(("keep", "kept"), [(["first"], "one"), (["longest"], "two")])
def test_of_two_that_hold_each_other_the_rule_keep_decides(tmp_path: Path, keep: list[str], kept: str) -> None:
    text = page("same", 400)
    documents = {"one": text, "two": f"{text} and three more words"}
    found = shares(documents, CHARACTERS)
    assert min(found.values()) >= 0.95
    folder = corpus(tmp_path, documents, dedup__keep=keep)
    assert list(kept_for(folder).values()) == [kept]


def test_copies_of_a_contained_page_go_with_it(tmp_path: Path) -> None:
    text = page("short")
    documents = {"page": text, "longer": within("long", text), "again": text, "once more": text}
    folder = corpus(tmp_path, documents)
    assert kept_for(folder) == dict.fromkeys(["page", "again", "once more"], "longer")


def worn(text: str, chance: float, chosen: random.Random) -> str:
    words = text.split()
    return " ".join(f"{chosen.random():.4f}" if chosen.random() < chance else word for word in words)


def many(seed: int) -> dict[str, str]:
    """Documents, parts of them, and parts with some words changed; parts of parts, too."""
    chosen = random.Random(seed)
    found = {f"whole {number}": page(f"{seed} {number}", chosen.randint(60, 900)) for number in range(40)}
    for number in range(160):
        words = found[chosen.choice(sorted(found))].split()
        length = min(len(words), chosen.randint(45, 300))
        start = chosen.randint(0, len(words) - length)
        part = worn(" ".join(words[start : start + length]), chosen.choice([0, 0, 0.002, 0.005, 0.02, 0.1]), chosen)
        found[f"part {number}"] = f"{page(f'around {seed} {number}', chosen.choice([0, 0, 3, 400]))} {part}".strip()
    return found


@pytest.mark.parametrize(("unit", "scheme"), [("char", CHARACTERS), ("word", WORDS)])
def test_what_goes_and_what_stays_agrees_with_all_pairs(tmp_path: Path, unit: str, scheme: SignatureScheme) -> None:
    documents = many(5)
    folder = corpus(tmp_path, documents, minhash__unit=unit, minhash__width=scheme.width)
    found, gone, held = shares(documents, scheme), kept_for(folder), held_shares(folder)
    assert len(gone) > 40
    for name, kept in gone.items():
        assert kept not in gone
        assert found[name, kept] >= 0.95
        assert held[name] == pytest.approx(found[name, kept], abs=1e-6)
    stay = documents.keys() - gone
    assert [pair for pair, share in found.items() if share >= 0.95 and {*pair} <= stay] == []


def test_either_removes_similar_and_contained_ones_and_no_kept_one_stands_in_another(tmp_path: Path) -> None:
    documents = many(6)
    for number in range(10):
        documents[f"similar {number}"] = worn(documents[f"whole {number}"], 0.01, random.Random(number))
    folder = corpus(tmp_path, documents, "either")
    found, gone = shares(documents, CHARACTERS), kept_for(folder)
    stay = documents.keys() - gone
    assert [pair for pair, share in found.items() if share >= 0.95 and {*pair} <= stay] == []
    assert set() < held_shares(folder).keys() < gone.keys()
    assert not {*gone.values()} & gone.keys()


@pytest.mark.parametrize("workers", [2, 4])
def test_any_number_of_workers_and_ranges_gives_the_same(tmp_path: Path, workers: int) -> None:
    documents = many(7)
    one = corpus(tmp_path / "one", documents, "either")
    other = corpus(tmp_path / "other", documents, "either", engine__workers=workers)
    assert contents(opened(one)) == contents(opened(other))
    ranges = corpus(tmp_path / "ranges", documents, "either", dedup__ranges=3)
    assert kept_for(ranges) == kept_for(one)


@pytest.mark.parametrize("keep", [["first"], ["longest"], ["newest", "first"]])
def test_of_many_records_in_one_frame_that_hold_each_other_one_is_kept(tmp_path: Path, keep: list[str]) -> None:
    frame = page("frame", 300).split()
    documents = {
        f"r{n}": " ".join([*frame[:150], f"{random.Random(n).random():.12f}", *frame[150:]]) for n in range(150)
    }
    found = shares({name: documents[name] for name in ("r0", "r1")}, CHARACTERS)
    assert 0.95 <= min(found.values()) < 1
    folder = corpus(tmp_path, documents, dedup__keep=keep, dedup__max_loss=1.0)
    assert len(kept_for(folder)) == 149


def test_another_share_asks_for_the_comparisons_again_and_for_nothing_before(tmp_path: Path) -> None:
    folder = corpus(tmp_path, many(8), "either")
    config = (folder / "corpus.yaml").read_text()
    (folder / "corpus.yaml").write_text(config.replace("rule: either", "rule: either\n  contained: 0.9"))
    plan = statuses(opened(folder).planner().plan())
    assert "dedup.contained 0.95 -> 0.9" in plan["contained_pairs", "range-000"][1]
    assert "containment_candidates" not in {asset for asset, _ in plan}
    assert "dedup.contained 0.95 -> 0.9" in plan["components", None][1]


@pytest.mark.parametrize(("before", "after"), [("similar", "either"), ("either", "similar"), ("either", "contained")])
def test_another_rule_is_the_only_reason_for_other_clusters(tmp_path: Path, before: str, after: str) -> None:
    folder = corpus(tmp_path, {"a": page("a"), "b": page("b"), "c": page("c")}, before)
    config = (folder / "corpus.yaml").read_text()
    (folder / "corpus.yaml").write_text(config.replace(f"rule: {before}", f"rule: {after}"))
    plan = statuses(opened(folder).planner().plan())
    assert plan["components", None] == ("stale", f"dedup.rule {before} -> {after}")
