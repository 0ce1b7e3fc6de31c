"""What `corpus build` says at its end."""

import json

import pytest

from corpus_assets.cli.build import _show
from corpus_assets.cli.console import output
from corpus_assets.orchestration.build_report import Report
from corpus_assets.orchestration.error_log import write_error_log
from corpus_assets.orchestration.summary import summary
from tests.build.small import Work, opened, raw_rows
from tests.faults.command import last_json, run


def test_a_build_ends_with_what_the_corpus_holds(work: Work) -> None:
    code, out, err = run(work.folder, "build", "--json")
    assert code == 0, err
    found = last_json(out)["summary"]
    assert found["documents"] == sum(len(rows) for rows in raw_rows().values())
    assert found["kept"] + sum(found["dropped"].values()) == found["documents"]
    assert {"short", "duplicate"} <= found["dropped"].keys()
    params = json.loads((work.folder / "corpus/ledger/train_token_params/_.json").read_text())["statistics"]
    train = next(one for one in found["datasets"] if one["name"] == "train")
    assert (train["tokens"], train["rows"]) == (params["tokens"], params["rows_out"])
    assert (work.folder / "corpus" / train["folder"]).is_dir()


def test_errors_are_whole_and_all_of_them_are_in_the_log(work: Work) -> None:
    corpus = opened(work.folder)
    long = "x" * 500
    report = Report(failed=[f"minhashes/{n}: {long}" for n in range(50)], waiting=["a: b"], failed_checks=["c"])
    log = write_error_log(corpus.folder, report)
    assert log is not None
    assert log.read_text().splitlines() == [*report.failed, "check: c", "waits: a: b"]
    for _ in range(30):
        write_error_log(corpus.folder, report)
    assert len(list(log.parent.iterdir())) == 20
    assert write_error_log(corpus.folder, Report()) is None


def test_names_of_others_do_not_break_the_report(work: Work, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = opened(work.folder)
    report = Report(failed_checks=["a: [/red] [bold]x"], crashes=["b: [/x]"], failed=["b: [/x]"], notes=["[/y]"])
    report.summary = summary(corpus.planner())
    _show(output(), report, corpus, None)
    said = capsys.readouterr().out
    assert "check a: [/red] [bold]x" in said
    assert "failed b: [/x]" in said
    assert "note: [/y]" in said
