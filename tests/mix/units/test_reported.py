"""What was asked for and reached of each unit, in tokens and in documents: manifest, report and viewer."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.export.mixture import document_hashes
from corpus_assets.export.weights.stored import stored_mix
from corpus_assets.report.model import decode
from corpus_assets.report.report import MODEL, PAGE
from corpus_assets.report.sections.blocks import Table
from corpus_assets.report.sections.tokens import tokens
from corpus_assets.viewer.app import standing_alone
from resources.documents.unit_tables import UNIT_NAMES, UNITS
from resources.formats.token_streams import DOCUMENTS, NAMES
from tests.build.small import drive, opened
from tests.export.exported import manifest_of, partitions
from tests.mix.units.buckets import TOPIC, configure
from tests.mix.units.test_units import STREAM, identities
from tests.report.conftest import build

SHARES = {"science": 0.5, "sports": 0.4, "missing": 0.1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("reported")
    configure(found, [TOPIC], {"shares": SHARES, "total": 60_000, "max_epochs": 9})
    build(found)
    return found


def counted(corpus: Corpus) -> tuple[Counter[str], Counter[str]]:
    """How many documents the stream has of each unit, and how often they are used."""
    (mixture,) = partitions(corpus, "mix_mixture")
    mix, there, used = stored_mix(mixture), Counter[str](), Counter[str]()
    tables = {table.key: table for table in partitions(corpus, "mixed_units")}
    for stream in partitions(corpus, STREAM):
        names, by_hash = tables[stream.key].json(UNIT_NAMES), dict(tables[stream.key].array(UNITS).tolist())
        units = [names[by_hash[one]] for one in identities(stream)]
        hashes = document_hashes(stream, mix.seed)
        numbers = stream.array(DOCUMENTS)["source"]
        times = mix.times(stream.key or "", hashes, stream.json(NAMES)["sources"], numbers)
        there.update(units)
        for unit, count in zip(units, times.tolist(), strict=True):
            used[unit] += count
    return there, used


def reported(corpus: Corpus) -> dict[str, Any]:
    found: dict[str, Any] = manifest_of(corpus, "mix")["mixture"]["units"]
    return found


def test_the_manifest_counts_documents_of_units(folder: Path) -> None:
    corpus = opened(folder)
    there, used = counted(corpus)
    units = reported(corpus)
    assert units.keys() == SHARES.keys()
    for unit, one in units.items():
        asked = round(one["target"] * there[unit] / one["available"])
        assert one["documents"] == {"available": there[unit], "asked": asked, "reached": used[unit]}
        assert abs(used[unit] - asked) <= max(2, asked // 20)
    assert max(used[unit] / there[unit] for unit in SHARES) > 1


def test_a_dataset_that_goes_on_counts_its_own_uses(tmp_path: Path) -> None:
    weights = {"total": 9_000, "max_epochs": 9}
    datasets = [
        {"name": name, "format": "megatron", "weights": {**weights, "shares": dict(SHARES), **more}}
        for name, more in (("mix", {}), ("more", {"after": "mix"}), ("all", {"total": 18_000}))
    ]
    configure(tmp_path, [TOPIC], None, datasets=datasets)
    corpus = opened(tmp_path)
    assert drive(corpus).failed == []
    first, second, both = (manifest_of(corpus, name)["mixture"]["units"] for name in ("mix", "more", "all"))
    for unit in SHARES:
        reached = [one[unit]["documents"]["reached"] for one in (first, second, both)]
        assert reached[1] > 0 and abs(reached[0] + reached[1] - reached[2]) <= 2


def test_the_report_and_the_viewer_show_units(folder: Path) -> None:
    corpus = opened(folder)
    model = decode((folder / "corpus" / MODEL).read_bytes())
    tables = [block for block in tokens(model).blocks if isinstance(block, Table)]
    (table,) = (one for one in tables if one.caption == "Weights of dataset mix")
    assert table.columns[0][0] == "unit"
    assert [name for name, _ in table.columns][-3:] == ["documents there are", "documents asked for", "documents used"]
    found = {row[0]: row[-3:] for row in table.rows}
    units = reported(corpus)
    assert found == {unit: [*one["documents"].values()] for unit, one in units.items()}
    assert "documents asked for" in (folder / "corpus" / PAGE).read_text(encoding="utf-8")
    pages = TestClient(standing_alone(folder / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1:3001")
    page = pages.get("/corpus/assets/mix_mixture").text
    one = units["science"]
    assert (
        f"{one['reached']:,} of {one['target']:,} tokens, {one['documents']['reached']:,} of "
        f"{one['documents']['asked']:,} documents" in page
    )


def test_weights_of_sources_are_a_table_of_sources(tmp_path: Path) -> None:
    configure(tmp_path, "source", {"shares": {"books": 0.5, "web": 0.5}})
    build(tmp_path)
    model = decode((tmp_path / "corpus" / MODEL).read_bytes())
    tables = [block for block in tokens(model).blocks if isinstance(block, Table)]
    (table,) = (one for one in tables if one.caption == "Weights of dataset mix")
    assert table.columns[0][0] == "source"
    assert "documents used" not in [name for name, _ in table.columns]
