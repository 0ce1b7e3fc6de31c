"""The report is named where people look for it: at the end of a build, and on its asset in the web UI."""

from pathlib import Path

from corpus_assets.report.assets import NAME
from tests.build.small import opened
from tests.faults.command import last_json
from tests.forked import run


def test_a_build_says_where_the_report_is(folder: Path) -> None:
    code, out, err = run(folder, "build")
    assert code == 0, err
    assert out.splitlines()[-1].endswith("corpus/report/index.html")
    assert out.splitlines()[-1].startswith("Report: ")
    code, out, _ = run(folder, "build", "--json")
    assert last_json(out)["summary"]["page"] == "report/index.html"


def test_a_report_that_does_not_show_what_is_built_is_not_named(folder: Path) -> None:
    config = (folder / "corpus.yaml").read_text().replace("threshold: 60", "threshold: 61")
    (folder / "corpus.yaml").write_text(config)
    code, out, err = run(folder, "build", "--select", "short_documents")
    assert code == 0, err
    assert "Report: " not in out


def test_the_web_ui_links_to_it(folder: Path) -> None:
    from corpus_assets.orchestration.shown.metadata import partition_metadata

    corpus = opened(folder)
    (record,) = corpus.ledger.records(NAME).values()
    shown = partition_metadata(corpus.graph[NAME], record, (), place=corpus.storage.place, why="")
    assert "/corpus/report" in [getattr(value, "url", None) for value in shown.values()]
    assert "report/index.html" in [getattr(value, "path", None) for value in shown.values()]
