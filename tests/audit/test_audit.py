"""`corpus audit dedup` on a built corpus: what is drawn, what is read, and what is refused."""

import csv
import io
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from corpus_assets.audit.audit import drawn
from corpus_assets.audit.removed import Bands, Deduplicated
from corpus_assets.cli.main import app
from corpus_assets.corpus.step import Step
from corpus_assets.tracing.look import Look
from corpus_assets.viewer.app import standing_alone
from resources.errors import CorpusError
from resources.planning.planner import Status
from tests.build.small import opened
from tests.build.test_near_duplicates import built, jaccard, kept_for, wandering, write_shards

Rows = list[dict[str, str]]
HOSTILE = "=HYPERLINK('x')"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Versions of a text in two sources; one id is a formula. The last document is a copy of the first."""
    rows = list(wandering(1, 120).items())
    rows[40] = (HOSTILE, rows[40][1])
    shards = {"books/one.jsonl": rows[:40], "web/b.jsonl.zst": [*rows[40:], ("copy", rows[0][1])]}
    folder = write_shards(tmp_path_factory.mktemp("audited"), shards, dedup__max_loss=1.0)
    built(folder)
    return folder


@pytest.fixture
def folder(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    target = tmp_path / "corpus"
    shutil.copytree(corpus, target, symlinks=True)
    monkeypatch.chdir(target)
    return target


def audit(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["audit", "dedup", *arguments])


def sheet_rows(path: Path) -> Rows:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))


def write_rows(path: Path, rows: Rows, delimiter: str = ",") -> None:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(out.getvalue(), encoding="utf-8")


def kept_file(folder: Path) -> bytes:
    with opened(folder).storage.open("audit/dedup.json") as file:
        return file.read()


def test_a_sheet_holds_removed_documents_of_each_source_and_band(folder: Path) -> None:
    assert audit("--size", "3").exit_code == 0
    rows, gone = sheet_rows(folder / "audit/sheet.csv"), kept_for(folder)
    texts = wandering(1, 120)
    found = Deduplicated(Look(opened(folder)))
    _, result = drawn(found, 1, 0)
    drawn_of = Counter((row["source"], row["band"]) for row in rows)
    expected = {
        (name, band): min(3, one.removed)
        for name, source in result.sources.items()
        for band, one in source.bands.items()
    }
    assert drawn_of == expected
    assert len({row["removed_id"] for row in rows}) == len(rows) > 10
    assert "copy" in gone
    assert "copy" not in {row["removed_id"] for row in rows}
    for row in rows:
        if row["removed_id"] in texts and row["kept_id"] in texts:
            assert gone[row["removed_id"]] == row["kept_id"]
            true = jaccard(texts[row["removed_id"]], texts[row["kept_id"]])
            assert float(row["similarity"]) == pytest.approx(true, abs=1e-4)
            plain = re.sub(r"\[-(.*?)-\]", r"\1", row["removed_text"], flags=re.DOTALL)
            assert plain == texts[row["removed_id"]]
    assert "=" not in {row["removed_id"][:1] for row in rows}
    page = (folder / "audit/sheet.html").read_text(encoding="utf-8")
    assert page.count("<del>") > len(rows) // 2
    assert page.count('<h2 id="row-') == len(rows)


def test_all_removed_documents_are_counted(folder: Path) -> None:
    _, result = drawn(Deduplicated(Look(opened(folder))), 1, 0)
    gone = kept_for(folder)
    assert sum(source.removed for source in result.sources.values()) == len(gone)
    for source in result.sources.values():
        near = source.removed - source.equal
        assert near == sum(band.removed for band in source.bands.values()) == sum(source.bars)
    assert sum(source.equal for source in result.sources.values()) == (gone["copy"] == "v000")
    assert sum(map(sum, (source.nearest for source in result.sources.values()))) > 0


def test_a_seed_draws_the_same_and_another_draws_others(folder: Path) -> None:
    found = Deduplicated(Look(opened(folder)))
    first, again, other = (drawn(found, 2, seed)[0] for seed in (0, 0, 1))
    assert first == again
    assert first != other
    larger = drawn(found, 4, 0)[0]
    assert {item.removed for item in first} <= {item.removed for item in larger}


def test_judgements_give_a_share_of_each_source(folder: Path) -> None:
    audit("--size", "3")
    rows = sheet_rows(folder / "audit/sheet.csv")
    for place, row in enumerate(rows):
        row["judgement"] = (" Wrong" if place % 3 == 0 else "right") if row["source"] == "books" else ""
    rows[-1]["judgement"] = "UNSURE"
    write_rows(folder / "judged.csv", rows[::-1], ";")
    said = json.loads(audit("--read", "judged.csv", "--json").stdout)
    books, web = said["sources"]["books"], said["sources"]["web"]
    assert sum(band["judged"] for band in books["bands"].values()) == sum(row["source"] == "books" for row in rows)
    assert sum(band["wrong"] for band in books["bands"].values()) == sum(row["judgement"] == " Wrong" for row in rows)
    assert books["wrong_share"]["low"] < books["wrong_share"]["share"] < books["wrong_share"]["high"]
    assert web["wrong_share"] is None
    assert sum(band["unsure"] for band in web["bands"].values()) == 1
    assert "wrong, share" in audit("--read", "judged.csv").stdout


def test_the_viewer_shows_what_was_judged(folder: Path) -> None:
    pages = TestClient(standing_alone(folder / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1:3001")
    assert "Nobody looked yet" in pages.get("/corpus/duplicates").text
    audit("--size", "3")
    page = pages.get("/corpus/duplicates").text
    assert "No removed document was judged yet" in page
    assert "by their similarity to the one kept" in page
    rows = sheet_rows(folder / "audit/sheet.csv")
    write_rows(folder / "judged.csv", [{**row, "judgement": "right"} for row in rows])
    audit("--read", "judged.csv")
    assert f"{len(rows)} removed documents were judged" in pages.get("/corpus/duplicates").text
    audit("--size", "4", "--output", "other")
    assert f"{len(rows)} removed documents were judged" in pages.get("/corpus/duplicates").text
    store = opened(folder).storage
    store.write("audit/dedup.json", b'{"build": 7')
    assert "Nobody looked yet" in pages.get("/corpus/duplicates").text


def test_the_report_shows_what_was_judged_and_stays_as_it_is_otherwise(folder: Path) -> None:
    make_report(folder)
    before = opened(folder).ledger.read("report", None)
    assert before is not None
    assert "Was it right?" not in report_page(folder)
    audit("--size", "3")
    rows = sheet_rows(folder / "audit/sheet.csv")
    write_rows(folder / "judged.csv", [{**row, "judgement": "wrong"} for row in rows])
    assert audit("--read", "judged.csv").exit_code == 0
    after = opened(folder).ledger.read("report", None)
    assert after is not None
    assert f"{len(rows)} removed documents were judged by people" in report_page(folder)
    assert (after.digest, after.recipe) == (before.digest, before.recipe)
    plan = opened(folder).planner().plan()
    assert all(decision.status is Status.FRESH for decision in plan.decisions)
    opened(folder).storage.write("audit/dedup.json", kept_file(folder).replace(b'"build":"', b'"build":"0'))
    make_report(folder)
    assert "Was it right?" not in report_page(folder)


def make_report(folder: Path) -> None:
    corpus = opened(folder)
    step = Step(corpus, corpus.graph["report"], force=True)
    step.run()
    assert step.failures() == []


def report_page(folder: Path) -> str:
    corpus = opened(folder)
    record = corpus.ledger.read("report", None)
    assert record is not None
    (path,) = (file.path for file in record.files if file.path.endswith("index.html"))
    with corpus.storage.open(path) as file:
        return file.read().decode()


def _second(change: dict[str, str]) -> Callable[[Rows], Rows]:
    return lambda rows: [{**rows[0], "judgement": "right"}, {**rows[1], "judgement": "right", **change}, *rows[2:]]


BAD: list[tuple[Callable[[Rows], Rows], str]] = [
    (_second({"judgement": "maybe"}), "row 2: judgement is 'maybe'; valid: right, wrong, unsure, or nothing"),
    (_second({"build": "0123"}), "row 2: is of build '0123', but the near-duplicates are now those of"),
    (_second({"removed_shard": "nowhere"}), "row 2: there is no row"),
    (_second({"removed_row": "99999"}), "row 2: there is no row 99999 of shard"),
    (_second({"removed_row": "-1"}), "row 2: removed_row is '-1'; valid: the row of a document"),
    (
        _second({"removed_shard": "books--one", "removed_row": "0"}),
        "row 2: row 0 of books--one is not a removed document",
    ),
    (lambda rows: [{**rows[0], "judgement": "right"}] * 2, "row 2: judges the document of row 1 again; keep one"),
    (lambda rows: [{"id": "a"}], "has no column 'judgement'; a sheet has judgement, removed_shard, removed_row, build"),
]


@pytest.mark.parametrize(("change", "said"), BAD, ids=[said[:30] for _, said in BAD])
def test_a_bad_row_is_named_and_nothing_is_kept(folder: Path, change: Callable[[Rows], Rows], said: str) -> None:
    audit("--size", "3")
    kept = kept_file(folder)
    write_rows(folder / "judged.csv", change(sheet_rows(folder / "audit/sheet.csv")))
    found = audit("--read", "judged.csv")
    assert found.exit_code != 0
    assert isinstance(found.exception, CorpusError)
    assert said in str(found.exception)
    assert str(found.exception).startswith("judged.csv")
    assert kept_file(folder) == kept


@pytest.mark.parametrize(
    ("content", "said"), [(b"\xff\xfe", "is not UTF-8"), (b"", "has no column"), (b"judgement,removed_shard", "column")]
)
def test_a_file_that_is_no_sheet(folder: Path, content: bytes, said: str) -> None:
    (folder / "judged.csv").write_bytes(content)
    found = audit("--read", "judged.csv")
    assert said in str(found.exception)


def test_a_row_of_other_cells_is_named(folder: Path) -> None:
    audit("--size", "3")
    content = (folder / "audit/sheet.csv").read_text(encoding="utf-8-sig")
    (folder / "judged.csv").write_text(f"{content}right,too,few\r\n", encoding="utf-8")
    rows = len(sheet_rows(folder / "audit/sheet.csv")) + 1
    assert f"judged.csv, row {rows}: has 3 cells; the head has 15" in str(audit("--read", "judged.csv").exception)


def test_a_sheet_that_is_there_is_not_replaced_unless_asked(folder: Path) -> None:
    audit("--size", "3")
    assert "may hold judgements" in str(audit().exception)
    assert audit("--force").exit_code == 0


def test_a_corpus_that_is_not_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_shards(tmp_path, {"books/one.jsonl": list(wandering(1, 3).items())})
    monkeypatch.chdir(folder)
    assert "run `corpus build`" in str(audit().exception)
    assert not (folder / "audit").exists()


def test_near_duplicates_that_are_not_up_to_date_are_said_to_be_so(folder: Path) -> None:
    assert "this is about" not in audit("--size", "3").stderr
    config = folder / "corpus.yaml"
    config.write_text(config.read_text(encoding="utf-8").replace("max_loss", "threshold: 0.7\n  max_loss"), "utf-8")
    said = audit("--size", "3", "--force")
    assert said.exit_code == 0
    assert "this is about the near-duplicates that are built; components is" in said.stderr


def test_bands_reach_from_the_threshold_to_one() -> None:
    assert Bands(0.8).names == ["under 0.8", "0.8 to 0.85", "0.85 to 0.9", "0.9 to 0.95", "0.95 to 1"]
    assert Bands(1.0).names == ["under 1", "1 to 1"]


def test_a_sheet_that_is_not_there_is_a_wrong_command_line() -> None:
    done = CliRunner().invoke(app, ["audit", "dedup", "--read", "nowhere.csv"])
    assert done.exit_code == 2
    assert "'nowhere.csv' does not exist" in done.output
