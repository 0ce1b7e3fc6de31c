"""Near-duplicates through a whole build: what is removed, why, what is kept, and what stops the build."""

import json
import random
from itertools import combinations
from pathlib import Path
from typing import Any

import dagster as dg
import msgspec
import pytest
import yaml

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from corpus_assets.orchestration.building import build as building
from corpus_assets.orchestration.building.notes import build_notes
from resources.documents.slimpajama_cleaning import clean
from resources.formats.attributes import AttributeRow, attribute_rows
from resources.planning.planner import Status
from resources.stage.partition import Partition
from tests.build.small import Built, Rows, Work, contents, drive, near, opened, prose, write_config, write_raw
from tests.orchestration.silent import Silent

CLEAR = {
    # Most of these corpora leave a source empty, and some are a single document.
    **{f"sources.{place}.may_be_empty": True for place in range(3)},
    "split.holdout": 0.0,
    "minhash.bands": 20,
    "minhash.rows": 3,
    "minhash.permutations": 64,
}


def partitions(corpus: Corpus, asset: str) -> list[Partition]:
    records = corpus.planner().records(asset)
    return [Partition(corpus.storage, records[key]) for key in corpus.planner().partitions(corpus.graph[asset])]


def removed(folder: Path) -> dict[str, AttributeRow]:
    """Attribute rows of removed documents by id."""
    rows = [row for partition in partitions(opened(folder), "duplicates") for row in attribute_rows(partition.lines())]
    return {row.id: row for row in rows if row.kept is not None}


def kept_for(folder: Path) -> dict[str, str]:
    """Id of a removed document to that of the one that is kept instead."""
    return {name: str((row.kept or {})["id"]) for name, row in removed(folder).items()}


def write_shards(folder: Path, shards: dict[str, list[tuple[str, str]]], **more: Any) -> Path:
    for source in ("books", "web", "notes"):
        (folder / "raw" / source).mkdir(parents=True)
    for path, rows in shards.items():
        write_raw(folder, path, [{"id": name, "text": text} for name, text in rows])
    write_config(folder, CLEAR | {key.replace("__", "."): value for key, value in more.items()})
    return folder


def built(folder: Path) -> Built:
    result = drive(opened(folder))
    assert not result.failed
    assert not result.waiting
    return result


def shingles(text: str) -> set[str]:
    cleaned = clean(text)
    return {cleaned[start : start + 5] for start in range(len(cleaned) - 4)}


def jaccard(left: str, right: str) -> float:
    a, b = shingles(left), shingles(right)
    return len(a & b) / len(a | b)


def worn(text: str, words: int) -> str:
    """The same text with its last words exchanged for others."""
    kept = text.split()[:-words]
    return " ".join([*kept, *prose(f"worn {text} {words}", words).split()])


TEXTS = [(f"a{n}", prose(f"text {n}", 60)) for n in range(6)]
COPIES = [(f"b{n}", [text, near(text), worn(text, 3), worn(text, 12)][n % 4]) for n, (_, text) in enumerate(TEXTS)]


@pytest.mark.parametrize("verify", ["signature", "two_sided", "exact"])
def test_pairs_over_the_threshold_are_removed_and_others_stay(tmp_path: Path, verify: str) -> None:
    shards = {"books/one.jsonl": TEXTS, "web/b.jsonl.zst": COPIES, "notes/list.jsonl": [("c", prose("other", 60))]}
    folder = write_shards(tmp_path, shards, dedup__verify=verify)
    built(folder)
    expected = {
        late: early for (early, text), (late, copy) in zip(TEXTS, COPIES, strict=True) if jaccard(text, copy) >= 0.8
    }
    assert 3 <= len(expected) < len(COPIES)
    assert min(abs(jaccard(a[1], b[1]) - 0.8) for a, b in zip(TEXTS, COPIES, strict=True)) > 0.08
    assert kept_for(folder) == expected


def test_a_removed_document_says_of_whom_it_is_a_copy_and_of_how_many(tmp_path: Path) -> None:
    text = prose("much copied", 60)
    shards = {
        "books/one.jsonl": [("x", prose("x", 60)), ("first", text)],
        "web/b.jsonl.zst": [("copy", text), ("almost", near(text))],
    }
    folder = write_shards(tmp_path, shards)
    built(folder)
    rows = removed(folder)
    assert rows.keys() == {"copy", "almost"}
    for row in rows.values():
        assert row.kept is not None
        assert {key: row.kept[key] for key in ("source", "id", "shard", "row")} == {
            "source": "books",
            "id": "first",
            "shard": "books--one",
            "row": 1,
        }
        assert row.attributes["duplicates__minhash__cluster_size"][0][2] == 3
    assert len({(row.kept or {})["cluster"] for row in rows.values()}) == 1


RULES: list[tuple[Any, Any, str]] = [
    ("first", [], "short"),
    ("longest", [], "long"),
    ("newest", [], "new"),
    ("source", ["web"], "long"),
    ("source", ["notes"], "new"),
    (["source", "newest"], ["web", "books"], "long"),
]


@pytest.mark.parametrize(("keep", "priority", "expected"), RULES, ids=str)
def test_the_rules_say_which_document_is_kept(tmp_path: Path, keep: Any, priority: Any, expected: str) -> None:
    text = prose("kept by rule", 60)
    versions: dict[str, Rows] = {
        "books/one.jsonl": [{"id": "short", "text": text, "created": "2021-05-01"}],
        "web/b.jsonl.zst": [{"id": "long", "text": f"{text} And more.", "created": "2020-01-01T00:00:00Z"}],
    }
    for path, rows in versions.items():
        write_raw(tmp_path, path, rows)
    newest = {"id": "new", "body": near(text), "created": "2022-01-01T00:00:00.000Z"}
    (tmp_path / "raw/notes").mkdir(parents=True)
    (tmp_path / "raw/notes/list.jsonl").write_text(json.dumps(newest) + "\n", encoding="utf-8")
    write_config(tmp_path, CLEAR | {"dedup.keep": keep, "dedup.priority": priority})
    built(tmp_path)
    assert set(kept_for(tmp_path).values()) == {expected}
    assert len(kept_for(tmp_path)) == 2


def test_exact_copies_need_no_bands(tmp_path: Path) -> None:
    """Copies that are no longer than a shingle have no features, but are equal all the same."""
    rows = [("one", "abc"), ("two", "abc"), ("three", "abd")]
    folder = write_shards(tmp_path, {"books/one.jsonl": rows}, short_documents__threshold=0)
    built(folder)
    assert kept_for(folder) == {"two": "one"}
    pairs = [partition.array(".npy") for partition in partitions(opened(folder), "duplicate_pairs")]
    assert sum(map(len, pairs)) == 0


def drifting(steps: int) -> list[tuple[str, str]]:
    """Versions of a text, each near the one before; the last has nothing in common with the first."""
    words = prose("drift", 60).split()
    found = []
    for step in range(steps):
        found.append((f"v{step:02d}", " ".join(words)))
        words = [*words[2:], *prose(f"drift {step}", 2).rstrip(".").split()]
    return found


def test_a_large_cluster_is_split_whatever_the_memory(tmp_path: Path) -> None:
    found = []
    for memory in ("4 KiB", "1 GiB"):
        folder = write_shards(tmp_path / memory.split()[0], {"books/one.jsonl": drifting(40)}, engine__memory=memory)
        built(folder)
        found.append(contents(opened(folder)))
    assert found[0] == found[1]
    assert partitions(opened(folder), "components")[0].record.statistics["split_clusters"] == 1


def test_a_cluster_too_large_to_be_looked_at_stops_the_build(tmp_path: Path) -> None:
    folder = write_shards(
        tmp_path, {"books/one.jsonl": drifting(40)}, dedup__guard__max_examined=30, dedup__max_loss=1.0
    )
    result = drive(opened(folder))
    assert any("have more than dedup.guard.max_examined (30) documents" in line for line in result.waiting)
    assert "duplicates" not in result.assets()
    report = partitions(opened(folder), "components")[0].json("report.json")
    assert report["clusters"][0]["done"] == "not examined: too large"
    assert report["clusters"][0]["size"] == 40


def test_short_documents_do_not_hide_that_all_others_go(tmp_path: Path) -> None:
    text = prose("copied", 60)
    rows = [(f"short{n}", "Too short.") for n in range(40)] + [(f"copy{n}", text) for n in range(40)]
    folder = write_shards(tmp_path, {"books/one.jsonl": [("first", text)], "web/b.jsonl.zst": rows})
    held = drive(opened(folder)).waiting
    assert any("source web loses 100 % of its documents (40 of 40)" in line for line in held)


def test_documents_without_a_shingle_never_resemble_each_other(tmp_path: Path) -> None:
    rows = [(name, name) for name in ("ab", "cd", "xyz")]
    folder = write_shards(
        tmp_path, {"books/one.jsonl": rows}, dedup__short_documents="include", short_documents__threshold=0
    )
    built(folder)
    assert kept_for(folder) == {}


@pytest.mark.parametrize("action", ["split", "report", "off"])
def test_a_chain_of_versions_is_split_where_they_no_longer_resemble(tmp_path: Path, action: str) -> None:
    versions = drifting(40)
    texts = dict(versions)
    folder = write_shards(tmp_path, {"books/one.jsonl": versions}, dedup__guard__action=action, dedup__max_loss=1.0)
    built(folder)
    kept = kept_for(folder)
    likeness = [jaccard(texts[late], texts[early]) for late, early in kept.items()]
    statistics = partitions(opened(folder), "components")[0].record.statistics
    if action == "split":
        assert min(likeness) >= 0.8
        assert len(set(kept.values())) > 3
        assert statistics["split_clusters"] == 1
    else:
        assert set(kept.values()) == {"v00"}
        assert min(likeness) < 0.05
        assert statistics["split_clusters"] == 0
    assert statistics["suspicious_clusters"] == (0 if action == "off" else 1)
    report = partitions(opened(folder), "components")[0].json("report.json")
    done = {"split": "split into", "report": "whole", "off": "not suspicious"}
    assert report["clusters"][0]["done"].startswith(done[action])


def wandering(seed: int, count: int) -> dict[str, str]:
    """Versions of a text, each made from one of those before it by some other words."""
    chance = random.Random(seed)
    texts = [prose(f"wandering {seed}", 50)]
    for step in range(1, count):
        words = chance.choice(texts).rstrip(".").split()
        for place in chance.sample(range(len(words)), chance.randint(1, 2)):
            words[place] = prose(f"wandering {seed} {step} {place}", 1).rstrip(".")
        texts.append(" ".join(words) + ".")
    return {f"v{number:03d}": text for number, text in enumerate(texts)}


def clusters_of(folder: Path) -> list[set[str]]:
    """The ids of documents that pairs join, before the guard."""
    together: dict[str, set[str]] = {}
    corpus = opened(folder)
    ids = [row.id for part in partitions(corpus, "duplicates") for row in attribute_rows(part.lines())]
    for asset in ("verified_pairs", "exact_duplicates"):
        for pair in (pair for part in partitions(corpus, asset) for pair in part.array(".npy").tolist()):
            one, other = (together.setdefault(ids[number], {ids[number]}) for number in pair)
            if one is not other:
                one |= other
                together |= dict.fromkeys(one, one)
    return list({id(found): found for found in together.values()}.values())


@pytest.mark.sampled(every=3)  # The first with the first seed, and the second with the second.
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("more", [{}, {"dedup__verify": "exact", "dedup__keep": "longest", "engine__memory": "8 KiB"}])
def test_no_two_kept_documents_of_a_cluster_are_similar(tmp_path: Path, seed: int, more: dict[str, Any]) -> None:
    """And a document that goes is similar to the one that is kept in its place."""
    texts = wandering(seed, 150)
    half = len(texts) // 2
    rows = [*texts.items(), *((f"copy {name}", text) for name, text in list(texts.items())[::7])]
    shards = {"books/one.jsonl": rows[:half], "web/b.jsonl.zst": rows[half:]}
    folder = write_shards(tmp_path, shards, dedup__max_loss=1.0, **more)
    built(folder)
    gone, contents = kept_for(folder), dict(rows)
    for cluster in clusters_of(folder):
        kept = sorted(cluster - gone.keys())
        alike = [pair for pair in combinations(kept, 2) if jaccard(*(contents[name] for name in pair)) >= 0.8]
        assert alike == []
    assert all(jaccard(contents[name], contents[kept]) >= 0.8 for name, kept in gone.items())
    assert not gone.keys() & set(gone.values())
    statistics = partitions(opened(folder), "components")[0].record.statistics
    assert statistics["split_clusters"]
    assert statistics["kept_documents_joined"]


def test_kept_documents_are_not_compared_where_no_texts_are(tmp_path: Path) -> None:
    texts = wandering(1, 150)
    folder = write_shards(tmp_path, {"books/one.jsonl": list(texts.items())}, dedup__verify="signature")
    built(folder)
    statistics = partitions(opened(folder), "components")[0].record.statistics
    assert statistics["split_clusters"]
    assert statistics["kept_documents_joined"] == 0


def boilerplate(folder: Path) -> Path:
    """A source of 30 documents, 29 of which are the same."""
    text = prose("notice", 60)
    rows = [(f"n{n}", text) for n in range(29)] + [("own", prose("own", 60))]
    shards = {"books/one.jsonl": [(f"b{n}", prose(f"b{n}", 60)) for n in range(25)], "web/b.jsonl.zst": rows}
    return write_shards(folder, shards)


def test_a_source_that_all_but_vanishes_holds_the_build_back(tmp_path: Path) -> None:
    folder = boilerplate(tmp_path)
    result = drive(opened(folder))
    assert not result.failed
    assert "components" in result.assets()
    assert not result.assets() & {"duplicates", "mixed_pass1", "train"}
    held = next(line for line in result.waiting if line.startswith("duplicates/"))
    assert "components is held back: source web loses 93.3 % of its documents (28 of 30)" in held
    decisions = opened(folder).planner().plan().decisions
    assert {d.status for d in decisions if d.asset == "duplicates"} == {Status.MISSING}
    assert all("held back" in d.blocked for d in decisions if d.asset == "duplicates")
    step = Step(opened(folder), opened(folder).graph["duplicates"])
    assert "held back" in step.failures()[0]
    write_config(folder, CLEAR | {"dedup.max_loss": 0.95})
    after = drive(opened(folder))
    assert not after.waiting
    assert not after.assets() & {"components", "verified_pairs", "minhashes"}
    assert after.of("duplicates") == {"books--one", "web--b"}


def test_the_check_of_a_build_shows_the_worst_clusters_and_their_texts(tmp_path: Path) -> None:
    """The build itself fails with the check's words, and stays held back when it is tried again."""
    folder = boilerplate(tmp_path)

    with dg.DagsterInstance.ephemeral() as instance:
        corpus = opened(folder)
        report = building.build(corpus, list(corpus.graph), Silent(), instance=instance)
        assert not report.ok
        assert any("source web loses 93.3 %" in line for line in report.failed_checks)
        again = opened(folder)
        second = building.build(again, list(again.graph), Silent(), instance=instance)
        write_config(folder, CLEAR | {"dedup.max_loss": 0.95})
        third = opened(folder)
        last = building.build(third, list(third.graph), Silent(), instance=instance)
        evaluations = instance.event_log_storage.get_asset_check_execution_history(
            dg.AssetCheckKey(dg.AssetKey("components"), "retention_of_sources"), limit=10
        )
    assert second.recomputed == 0
    assert any("held back" in line for line in second.waiting)
    assert last.ok
    events = [record.event.dagster_event for record in evaluations if record.event is not None]
    newest, *earlier = [event.asset_check_evaluation_data for event in events if event is not None]
    assert newest.passed
    assert [evaluation.passed for evaluation in earlier] == [False, False]
    shown = earlier[0].metadata["worst clusters"].value
    assert prose("notice", 60)[:40] in str(shown)


def test_a_small_source_that_vanishes_is_mentioned(tmp_path: Path) -> None:
    text = prose("copied", 60)
    shards = {"books/one.jsonl": [("first", text)], "web/b.jsonl.zst": [(f"copy{n}", text) for n in range(19)]}
    folder = write_shards(tmp_path, shards)
    built(folder)
    assert "source web: 19 of 19 documents are duplicates of others" in build_notes(opened(folder).planner())


def test_clusters_of_an_older_version_are_made_anew(work: Work) -> None:
    """Their record does not say what the gate asks for."""
    corpus = opened(work.folder)
    record = corpus.ledger.read("components", None)
    assert record is not None
    corpus.ledger.write(msgspec.structs.replace(record, code_version="1", statistics={}))
    assert work.plan()["components", None] == ("stale", "code version 1 -> 3")
    assert Step(opened(work.folder), opened(work.folder).graph["duplicates"]).failures() == []
    assert drive(opened(work.folder)).of("components") == {None}


def test_more_of_a_cluster_leaves_old_shards_fresh_downstream(work: Work) -> None:
    """A third copy changes what is said of the second, not that it is removed."""
    rows = [{"id": "third", "text": prose("books/one.jsonl 0")}, {"id": "new", "text": prose("new")}]
    work.rows("notes/more.jsonl", rows)
    after = work.rebuild()
    assert after.of("minhashes") == after.of("band_keys") == {"notes--more"}
    assert after.of("duplicates") == {"books--two", "notes--more"}
    assert after.of("mixed_pass1") == {"notes--more"}


def test_word_shingles_and_derived_bands(tmp_path: Path) -> None:
    minhash = {"permutations": 128, "shingle": {"unit": "word", "width": 2}, "threshold": 0.5}
    folder = write_shards(tmp_path, {"books/one.jsonl": TEXTS, "web/b.jsonl.zst": COPIES})
    config = yaml.safe_load((folder / "corpus.yaml").read_text(encoding="utf-8"))
    config |= {"minhash": minhash, "dedup": {"threshold": 0.6}}
    (folder / "corpus.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    built(folder)
    assert len(partitions(opened(folder), "duplicate_pairs")) == 25
    assert len(kept_for(folder)) >= 3
    scheme = partitions(opened(folder), "minhashes")[0].json(".scheme.json")
    assert (scheme["unit"], scheme["width"], scheme["sketch"]) == ("word", 2, 1024)


@pytest.mark.parametrize("family", ["affine32", "legacy", "oph"])
@pytest.mark.parametrize("memory", ["64 KiB", "1 GiB"])
def test_every_family_finds_the_same_copies_in_any_memory(tmp_path: Path, family: str, memory: str) -> None:
    shards = {"books/one.jsonl": TEXTS, "web/b.jsonl.zst": COPIES}
    folder = write_shards(tmp_path, shards, minhash__family=family, engine__memory=memory)
    built(folder)
    likely = {b[0] for a, b in zip(TEXTS, COPIES, strict=True) if jaccard(a[1], b[1]) > 0.9}
    assert likely <= kept_for(folder).keys()


def test_the_ways_to_build_agree(tmp_path: Path) -> None:
    shards = {"books/one.jsonl": TEXTS + drifting(12), "web/b.jsonl.zst": COPIES}
    found = []
    for number, (memory, workers) in enumerate([("32 KiB", 0), ("1 GiB", 2)]):
        folder = write_shards(tmp_path / str(number), shards, engine__memory=memory, engine__workers=workers)
        built(folder)
        found.append(contents(opened(folder)))
    assert found[0] == found[1]


def test_no_two_kept_documents_are_near_copies(tmp_path: Path) -> None:
    """Sketches estimate: a pair a little over the threshold may stay, a pair well over it does not."""
    texts = TEXTS + COPIES + drifting(30)
    folder = write_shards(tmp_path, {"books/one.jsonl": texts}, dedup__max_loss=1.0)
    built(folder)
    gone = kept_for(folder).keys()
    left = [(name, text) for name, text in texts if name not in gone and not name.startswith("v")]
    assert all(jaccard(a[1], b[1]) < 0.9 for a, b in combinations(left, 2))


def test_the_report_is_plain_json(tmp_path: Path) -> None:
    folder = write_shards(tmp_path, {"books/one.jsonl": drifting(40)}, dedup__max_loss=1.0)
    built(folder)
    report = msgspec.json.decode((folder / "corpus/components/report.json").read_bytes())
    cluster = report["clusters"][0]
    assert cluster["size"] == 40
    assert cluster["kept"]["id"] == "v00"
    assert cluster["done"].startswith("split into")
    assert report["sources"]["books"]["documents"] == 40


def test_a_resemblance_over_the_threshold_counts_among_kept_documents_too(tmp_path: Path) -> None:
    texts = wandering(1, 60)
    shards = {"books/one.jsonl": list(texts.items())}
    folder = write_shards(tmp_path, shards, dedup__guard__resemblance=0.97, dedup__max_loss=1.0)
    built(folder)
    assert partitions(opened(folder), "components")[0].record.statistics["split_clusters"]
    for name, kept in kept_for(folder).items():
        assert jaccard(texts[name], texts[kept]) > 0.9
