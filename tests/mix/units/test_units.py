"""Datasets have the tokens of each bucket that were asked for, in any kind of bucket, and the same for any workers."""

import json
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.config.datasets.weights import Weights
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.export.mixture import UnitsOfStreams, document_hashes, mixture_of_units
from corpus_assets.export.weights.uses import times_of
from resources.documents.unit_tables import UNIT_NAMES, UNITS, unit_hash
from resources.formats.row_tables import identifiers
from resources.formats.token_streams import DOCUMENTS, IDS, LENGTHS, NAMES
from resources.stage.partition import Partition
from tests.build.small import contents, drive, opened, statuses
from tests.export.exported import partitions
from tests.mix.units.buckets import QUALITY, TOPIC, TOPICS, configure, counted, mixed, rows, write_buckets

STREAM = "decontaminated_train_token_stream"
NEAR = 1e-3
SHORTEST = 80
"""Tokens of the shortest documents: whole documents cannot come closer in these small units."""


def require_reached(found: Mapping[str, Any], shares: Mapping[str, float]) -> None:
    """Each unit has its share of the tokens, but for a document at most."""
    used = found["mixture"]["units"]
    whole = sum(one["reached"] for one in used.values())
    assert {unit for unit, one in used.items() if one["target"]} == {unit for unit, share in shares.items() if share}
    for unit, share in shares.items():
        assert abs(used[unit]["reached"] - used[unit]["target"]) <= max(NEAR * used[unit]["target"], SHORTEST)
        assert abs(used[unit]["target"] / sum(one["target"] for one in used.values()) - share) < NEAR
    assert sum(numbers["tokens"] for numbers in found["sources"].values()) == whole


def test_labels(tmp_path: Path) -> None:
    shares = {"science": 0.5, "sports": 0.2, "web/forum": 0.2, "missing": 0.1}
    corpus, found = mixed(tmp_path, [TOPIC], {"shares": shares})
    require_reached(found, shares)
    expected = Counter[str]()
    for source, count in (("books", 260), ("web", 420)):
        expected.update(row["metadata"].get("topic", "missing") for row in rows(source, count))
    assert counted(corpus) == expected


def test_topics_by_quality_in_a_table(tmp_path: Path) -> None:
    write_buckets(tmp_path)
    shares = {f"{topic.replace('/', '%2F')}/q{n}": n / 40 for topic in ("science", "web/forum") for n in range(1, 5)}
    shares |= {"sports/missing": 0.25, "missing/q4": 0.25}
    lines = [f"{topic},q{n},{n / 40}" for topic in ("science", "web/forum") for n in range(1, 5)]
    table = "\n".join(["topic,quality,weight", *lines, "sports,missing,0.25", "missing,q4,0.25"]) + "\n"
    (tmp_path / "weights.csv").write_text(table)
    corpus, found = mixed(tmp_path, [TOPIC, QUALITY], {"shares": "weights.csv", "max_epochs": 100})
    require_reached(found, shares)
    of_quality = Counter[str]()
    for unit, documents in counted(corpus).items():
        of_quality[unit.rpartition("/")[2]] += documents
    buckets = [of_quality[f"q{n}"] for n in range(1, 5)]
    assert max(buckets) - min(buckets) <= 1  # Each quantile has as many documents as every other.
    (borders,) = partitions(corpus, "mix_borders")
    scores = sorted(
        row["metadata"]["scores"]["quality"]
        for source, count in (("books", 260), ("web", 420))
        for row in rows(source, count)
        if "scores" in row["metadata"]
    )
    expected = [scores[-(-part * len(scores) // 4) - 1] for part in range(1, 4)]
    assert borders.json()["units-quality"] == expected


def test_ranges_of_a_tagger_and_sources_after_a_filter(tmp_path: Path) -> None:
    """Attributes describe documents before the filter; the units are of those that it leaves."""
    units = [{"by": "source"}, {"by": "words.gopher_v2.word_count", "ranges": [16, 22], "name": "length"}]
    shares = {"books/under 16": 0.2, "books/from 22": 0.3, "web/16 to 22": 0.5}
    more = {
        "attributes": [{"name": "words", "taggers": ["gopher_v2"]}],
        "filter": {"rules": {"words.gopher_v2.word_count": {"min": 14, "max": 28}}},
    }
    corpus, found = mixed(tmp_path, units, {"shares": shares, "max_epochs": 20}, **more)
    require_reached(found, shares)
    expected = Counter[str]()
    for source, count in (("books", 260), ("web", 420)):
        for words in (len(row["text"].split()) for row in rows(source, count)):
            if 14 <= words <= 28:
                name = "under 16" if words < 16 else "16 to 22" if words < 22 else "from 22"
                expected[f"{source}/{name}"] += 1
    assert counted(corpus) == expected


def test_labels_are_types_of_a_tagger(tmp_path: Path) -> None:
    units = [{"by": "kind.length_v1", "name": "kind"}]
    module = """
from resources import Tagger

def kind(text):
    length = len(text.document.text.split())
    return {"long" if length > 20 else "brief": [(0, 1, 0.9)], "other": [(0, 1, 0.5)]}

TAGGERS = [Tagger("length_v1", kind, "1", ("long", "brief", "other"))]
"""
    write_buckets(tmp_path)
    (tmp_path / "kinds.py").write_text(module)
    more = {"taggers": ["kinds"], "attributes": [{"name": "kind", "taggers": ["length_v1"]}]}
    _, found = mixed(tmp_path, units, {"tokens": {"long": 9_000, "brief": 4_000}}, **more)
    used = found["mixture"]["units"]
    assert [used[unit]["target"] for unit in ("brief", "long")] == [4_000, 9_000]
    assert all(abs(one["reached"] - one["target"]) <= SHORTEST for one in used.values())


def test_labels_and_scores_of_files_of_attributes(tmp_path: Path) -> None:
    write_buckets(tmp_path)
    for source, count in (("books", 260), ("web", 420)):
        given = [
            {"id": row["id"], "attributes": {"grade": f"g{number % 3}", "score": number}}
            for number, row in enumerate(rows(source, count))
        ]
        (tmp_path / "scores" / source).mkdir(parents=True)
        for shard in range(2):
            lines = "".join(json.dumps(row) + "\n" for row in given[shard::2])
            (tmp_path / "scores" / source / f"{shard}.jsonl").write_text(lines)
    units = [
        {"by": "judge.judge__grade", "name": "grade"},
        {"by": "judge.judge.score", "name": "score", "ranges": [100]},
    ]
    places = {"location": {name: f"scores/{name}" for name in ("books", "web")}}
    shares = {"g0/under 100": 0.4, "g1/from 100": 0.35, "g2/from 100": 0.25}
    _, found = mixed(tmp_path, units, {"shares": shares}, attributes=[{"name": "judge", **places}])
    require_reached(found, shares)


def test_hdf5_and_tokens_in_a_table(tmp_path: Path) -> None:
    write_buckets(tmp_path)
    (tmp_path / "tokens.csv").write_text("unit,tokens\nscience,6000\nweb/forum,3000\n")
    dataset = {"name": "rows", "input": "train", "sequence_length": 64, "weights": {"tokens": "tokens.csv"}}
    configure(tmp_path, [TOPIC], None, datasets=[dataset])
    corpus = opened(tmp_path)
    assert drive(corpus).failed == []
    topics = Counter[str]()
    for chunk in partitions(corpus, "rows_documents"):
        for line in chunk.lines():
            topics[json.loads(line)["metadata"].get("topic", "missing")] += 1
    assert topics.keys() == {"science", "web/forum"}
    (mixture,) = partitions(corpus, "rows_mixture")
    used = mixture.json("mixture.json")["units"]
    assert {unit: one["target"] for unit, one in used.items()} == {"science": 6000, "web/forum": 3000}
    assert all(abs(one["reached"] - one["target"]) <= SHORTEST for one in used.values())


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """A corpus of topics and qualities, in which every document has a unit."""
    corpus, _ = mixed(tmp_path_factory.mktemp("units"), [TOPIC, QUALITY], {"shares": {"sports/q1": 1.0}, "total": 100})
    return corpus


UNITS_THERE = [f"{topic.replace('/', '%2F')}/{bucket}" for topic in TOPICS for bucket in ("q1", "q2", "q3", "missing")]


@settings(max_examples=15, deadline=None)
@given(
    shares=st.dictionaries(st.sampled_from(UNITS_THERE), st.floats(0.01, 1), min_size=1, max_size=8),
    total=st.integers(2_000, 60_000),
    seed=st.integers(0, 9),
)
def test_targets_are_reached_and_nothing_is_lost(
    built: Corpus, tmp_path_factory: pytest.TempPathFactory, shares: dict[str, float], total: int, seed: int
) -> None:
    """The uses of documents give exactly the tokens that are said to be reached, and these are those asked for."""
    streams = partitions(built, STREAM)
    tables = {table.key: table for table in partitions(built, "mixed_units")}
    scratch = iter((tmp_path_factory.mktemp("scratch") / str(number)).open("w+b") for number in range(9))
    units = UnitsOfStreams(streams, tables, lambda: next(scratch))
    weights = Weights(shares=shares, total=total, max_epochs=1000, seed=seed)
    mix = mixture_of_units(units, weights, "weights")
    found = uses_by_unit(streams, tables, mix.units, mix.seed)
    assert found == {unit: use.reached for unit, use in mix.units.items()}
    longest = max(int(stream.array(LENGTHS).max()) for stream in streams)
    for unit, use in mix.units.items():
        assert abs(use.reached - use.target) <= max(NEAR * use.target, longest / 2)
        assert abs(use.target - total * shares[unit] / sum(shares.values())) <= 1


def uses_by_unit(
    streams: list[Partition], tables: Mapping[str | None, Partition], used: Mapping[str, Any], seed: int
) -> dict[str, int]:
    """The tokens of each unit, from how often each document is used."""
    found = Counter[str](dict.fromkeys(used, 0))
    for stream in streams:
        table = tables[stream.key]
        names, by_hash = table.json(UNIT_NAMES), dict(table.array(UNITS).tolist())
        hashes, ids = document_hashes(stream, seed), identities(stream)
        of = [names[by_hash[one]] for one in ids]
        for unit, use in used.items():
            own = np.array([name == unit for name in of])
            found[unit] += int((times_of(hashes[own], use) * stream.array(LENGTHS)[own]).sum())
    return dict(found)


def identities(stream: Partition) -> list[int]:
    """The hash of source and id of each document of a stream."""
    table, sources = stream.array(DOCUMENTS), stream.json(NAMES)["sources"]
    ids = identifiers(table["id_end"], stream.array(IDS))
    return [unit_hash(sources[number], id_) for number, id_ in zip(table["source"].tolist(), ids, strict=True)]


def test_any_number_of_workers_gives_the_same(tmp_path: Path) -> None:
    weights = {"shares": {"science/q1": 0.5, "sports/q4": 0.5}}
    found = []
    for workers in (1, 2, 4):
        folder = tmp_path / str(workers)
        folder.mkdir()
        corpus, _ = mixed(folder, [TOPIC, QUALITY], weights, **{"engine": {"workers": workers}})
        found.append({path: digest for path, digest in contents(corpus).items() if "unit" in path or "mix" in path})
    assert all(one == other for one, other in pairwise(found))
    assert any(path.endswith(UNITS) for path in found[0])


def test_a_changed_score_makes_again_what_depends_on_it(tmp_path: Path) -> None:
    """One document goes to another bucket: no text is mixed or tokenized again, and the plan says why."""
    configure(tmp_path, [TOPIC, {**QUALITY, "quantiles": 2}], {"shares": {"science/q1": 0.5, "sports/q2": 0.5}})
    more = [{"by": "words.gopher_v2.word_count", "quantiles": 2}]
    corpus, _ = mixed(tmp_path, more, {"shares": {"q1": 0.5, "q2": 0.5}}, attributes=[tagged("gopher_v2")])
    configure(
        tmp_path,
        [{"by": "words.gopher_v2.word_count", "quantiles": 4}],
        {"shares": {"q1": 0.5, "q4": 0.5}},
        attributes=[tagged("gopher_v2")],
    )
    plan = statuses(opened(tmp_path).planner().plan())
    assert {asset for asset, _ in plan} - {"validation", "test"} == {
        "mix_scores", "mix_borders", "document_units", "mixed_units", "mix_mixture", "mix_tokens", "mix_manifest",
    }  # fmt: skip
    assert "units-word_count" in plan["mix_borders", None][1]
    corpus = opened(tmp_path)
    assert drive(corpus).recomputed


def tagged(*taggers: str) -> dict[str, Any]:
    return {"name": "words", "taggers": [*taggers]}
