"""The share of a removed document that the kept one holds: in the sheet to judge, the report, the pages and `why`."""

import csv
import io
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from corpus_assets.cli.main import app
from corpus_assets.viewer.app import standing_alone
from resources.stage.partition import Partition
from tests.audit.test_audit import make_report, report_page
from tests.build.small import opened
from tests.dedup.containment.test_rule import corpus, page, within


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = page("short", 200)
    worn = text.replace(text.split()[100], "changed")
    documents = {"page": worn, "longer": within("long", text), "again": worn, "other": page("other")}
    return corpus(tmp_path_factory.mktemp("shown") / "corpus", documents, "either")


def share(folder: Path) -> float:
    record = opened(folder).ledger.read("components", None)
    assert record is not None
    assert record.statistics["removed_contained"] == {"books": 1}
    held = Partition(opened(folder).storage, record).array("held.npy")
    assert len(held) == 2
    return float(held["share"][0]) / 1_000_000


def test_the_sheet_says_the_share_and_has_a_band_for_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    found = CliRunner().invoke(app, ["audit", "dedup"])
    assert found.exit_code == 0, found.output
    rows = list(csv.DictReader(io.StringIO((folder / "audit/sheet.csv").read_text(encoding="utf-8-sig"))))
    assert {row["removed_id"]: (row["band"], row["contained"]) for row in rows} == {
        name: ("contained", f"{share(folder):.4f}") for name in ("page", "again")
    }
    assert f"{100 * share(folder):.1f} % of the shingles" in (folder / "audit/sheet.html").read_text(encoding="utf-8")


def test_a_way_of_a_document_says_the_share(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    found = CliRunner().invoke(app, ["why", "page"])
    assert f"{share(folder):.1%} of its shingles stand in" in " ".join(found.output.split()), found.output


def test_show_prints_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    found = CliRunner().invoke(app, ["show", "duplicates", "books--one"])
    assert "duplicates__minhash__contained" in found.output
    assert f"{share(folder)}" in found.output


def test_report_and_viewer_say_how_many_and_how_much(folder: Path) -> None:
    make_report(folder)
    assert "stands in the one kept" in report_page(folder)
    assert "Documents that stand in the one kept, by the share" in report_page(folder)
    pages = TestClient(standing_alone(folder / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1:3001")
    shown = pages.get("/corpus/duplicates/web--b?row=0").text
    assert "of its shingles stand in the one kept" in shown
