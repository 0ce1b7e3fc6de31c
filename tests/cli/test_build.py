"""What `corpus build` says at its end."""

import json
import re
import shutil
from collections import Counter
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import Progress as Bars

from corpus_assets.cli.build import bars as bars_module
from corpus_assets.cli.build.bars import BarPerStage, fitting, new_bars, whole_words
from corpus_assets.cli.build.command import _show
from corpus_assets.cli.build.memory import in_words
from corpus_assets.cli.console import output
from corpus_assets.orchestration.building.error_log import write_error_log
from corpus_assets.orchestration.building.report import Report
from corpus_assets.orchestration.building.summary import Summary, summary
from corpus_assets.orchestration.building.work import Work
from resources.planning.planner import Planner
from resources.stage.jobs.job import Outcome
from tests.build.small import Work as SmallCorpus
from tests.build.small import opened, raw_rows
from tests.faults.command import last_json
from tests.forked import run


@pytest.fixture
def nothing_built(work: SmallCorpus) -> Planner:
    shutil.rmtree(work.folder / "corpus")
    return opened(work.folder).planner()


def test_a_build_ends_with_what_the_corpus_holds(work: SmallCorpus) -> None:
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


def test_errors_are_whole_and_all_of_them_are_in_the_log(work: SmallCorpus) -> None:
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


def test_the_memory_of_a_build_counts_what_each_worker_takes_before_it_holds_data() -> None:
    said = in_words(2, 2_000_000_000, 300_000_000, 8_000_000_000)
    assert said == "memory: up to 2.0 GB (2 workers, each with about 300 MB of its own and 700 MB for data)"
    assert in_words(1, 2_000_000_000, 300_000_000, 1_000_000_000).endswith(
        "but this machine has 1.0 GB; lower engine.workers or engine.memory"
    )
    scarce = in_words(10, 2_000_000_000, 300_000_000, 8_000_000_000)
    assert scarce.startswith("memory: up to 3.7 GB (10 workers, each")
    assert scarce.endswith("; engine.memory is only 2.0 GB: raise it, or lower engine.workers")
    assert in_words(2, 2_000_000_000, 300_000_000, None).startswith("memory: up to 2.0 GB on each machine (")


def test_a_build_says_its_memory_once_and_only_when_it_computes(work: SmallCorpus) -> None:
    stage = opened(work.folder).graph["train"]
    for disabled, times in ((False, 1), (True, 0)):
        console = Console(file=StringIO(), width=200)
        bars = BarPerStage(Bars(console=console, disable=disabled), lambda: "memory: up to 1 GB")
        bars.doing("planning")
        bars.begins(Work(opened(work.folder).planner(), (), 2))
        for _ in range(2):
            bars.stage(stage, 3)
        assert isinstance(console.file, StringIO)
        assert console.file.getvalue().count("memory: up to 1 GB") == times


def test_names_of_others_do_not_break_the_report(work: SmallCorpus, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = opened(work.folder)
    report = Report(failed_checks=["a: [/red] [bold]x"], crashes=["b: [/x]"], failed=["b: [/x]"], notes=["[/y]"])
    report.summary = summary(corpus.planner())
    _show(output(), report, corpus, None)
    said = capsys.readouterr().out
    assert "check a: [/red] [bold]x" in said
    assert "failed b: [/x]" in said
    assert "note: [/y]" in said


def test_events_are_lines_of_json_and_the_last_is_that_of_json(work: SmallCorpus) -> None:
    code, out, err = run(work.folder, "build", "--events", "--json")
    assert (code, out) == (2, "")
    assert "one of --json, --events and --quiet" in err
    shutil.rmtree(work.folder / "corpus")
    code, out, err = run(work.folder, "build", "--events")
    assert code == 0, err
    events = [json.loads(line) for line in out.splitlines()]
    kinds = Counter(event["kind"] for event in events)
    assert events[-1]["kind"] == "end"
    assert kinds["begin"] == kinds["end"] == 1
    assert kinds["partition"] == events[-1]["recomputed"] > 50
    assert kinds["settled"] == kinds["stage"] == len(events[-1]["by_asset"])
    read = [event for event in events if event["kind"] == "partition" and event["asset"] == "normalized_documents"]
    assert sum(event["rows_in"] for event in read) == events[-1]["summary"]["documents"]
    assert [event["time"] for event in events] == sorted(event["time"] for event in events)
    code, out, err = run(work.folder, "build", "--json")
    assert json.loads(out).keys() == events[-1].keys() - {"kind", "time"}


def test_a_quiet_build_prints_failures_and_one_line(work: SmallCorpus) -> None:
    code, out, err = run(work.folder, "build", "--quiet")
    assert (code, err) == (0, "")
    assert re.fullmatch(r"0 partitions recomputed, .*\n", out)
    (work.folder / "raw/books/one.jsonl").write_bytes(b"\x1f\x8b no rows")
    code, out, err = run(work.folder, "build", "-q")
    assert code == 1
    assert err.startswith("failed normalized_documents/books--one: books/one.jsonl")
    assert "1 failed" in out.splitlines()[-1]


def test_a_build_keeps_a_log_with_levels(work: SmallCorpus) -> None:
    (work.folder / "raw/books/one.jsonl").write_bytes(b"\x1f\x8b no rows")
    for level, debug in (("debug", True), ("info", False)):
        code, out, err = run(work.folder, "build", "--json", "--log-level", level)
        assert code == 1, err
        lines = Path(json.loads(out)["build_log"]).read_text().splitlines()
        levels = Counter(line.split()[1] for line in lines)
        assert ("DEBUG" in levels) == debug
        assert levels["ERROR"] >= 1
        assert levels["INFO"] > 2
        assert any("ERROR normalized_documents/books--one: books/one.jsonl" in line for line in lines)
    code, out, err = run(work.folder, "build", "--log-level", "loud")
    assert code == 2
    assert "valid: debug, info, warning, error" in err


def test_the_line_of_the_whole_says_how_a_build_goes(work: SmallCorpus) -> None:
    shutil.rmtree(work.folder / "corpus")
    corpus = opened(work.folder)
    found = Work(corpus.planner(), list(corpus.graph), 2)
    assert re.fullmatch(
        r"(about \d+ s|less than 1 s) left, 0 running, [\d.]+ [MG]B of memory", ", ".join(whole_words(found))
    )


def test_a_rule_is_called_as_in_the_configuration(work: SmallCorpus, capsys: pytest.CaptureFixture[str]) -> None:
    dropped = {"quality.gopher_v2.word_count": 2, "too_short": 3}
    _show(output(), Report(summary=Summary(documents=9, kept=4, dropped=dropped)), opened(work.folder), None)
    said = capsys.readouterr().out
    assert "2 dropped as quality.gopher_v2.word_count, 3 dropped as too short" in said


def test_what_a_bad_file_keeps_from_being_built_does_not_look_lost(work: SmallCorpus) -> None:
    (work.folder / "raw/books/bad.jsonl").write_bytes(b"\x1f\x8b no rows")
    code, out, err = run(work.folder, "build")
    assert code == 1, err
    assert re.match(r"\d+ documents in \(7 of 8 raw files\), \d+ dropped as ", out)
    assert "\nbuilt in part: which documents are kept\n" in out
    assert "\nnot up to date: documents for training, documents held out, datasets.train, datasets.validation\n" in out
    shutil.rmtree(work.folder / "corpus")
    code, out, err = run(work.folder, "build")
    assert code == 1, err
    first, second = out.splitlines()[:2]
    assert first == f"{sum(map(len, raw_rows().values()))} documents in (7 of 8 raw files)"
    assert second.startswith(
        "not built: which documents are kept, documents for training, documents held out, datasets.tr"
    )
    code, out, err = run(work.folder, "build", "--json")
    found = last_json(out)["summary"]
    assert (found["kept"], found["train"], found["held_out"]) == (None, None, None)
    assert found["unfinished"]["kept"] == found["unfinished"]["datasets.validation"] == "not built"
    assert found["documents"] == sum(len(rows) for rows in raw_rows().values())


def test_documents_of_a_file_that_is_bad_now_are_told_as_those_of_before(work: SmallCorpus) -> None:
    (work.folder / "raw/books/three.jsonl").write_bytes(b"\x1f\x8b no rows")
    code, out, err = run(work.folder, "build")
    assert code == 1, err
    assert "\nnot up to date: documents in, " in out


def test_only_what_is_built_wholly_is_a_number_of_the_whole(work: SmallCorpus) -> None:
    corpus = opened(work.folder)
    assert summary(corpus.planner()).unfinished == {}
    corpus.ledger.forget("mixed_pass1", "books--one")
    found = summary(opened(work.folder).planner())
    assert (found.unfinished["kept"], found.unfinished["train"]) == ("built in part", "not up to date")
    assert (found.whole("kept"), found.whole("train")) == (False, True)


def test_bars_fit_a_narrow_console_and_end_with_what_was_done(work: SmallCorpus) -> None:
    for key in ("books--one", "books--three"):
        opened(work.folder).ledger.forget("minhashes", key)
    planner = opened(work.folder).planner()
    stage = planner.graph["minhashes"]
    found = Work(planner, [stage, planner.graph["duplicate_pairs"]], 2)
    console = Console(file=StringIO(), width=80, force_terminal=True, color_system=None)
    bars = BarPerStage(made := new_bars(console, disable=False), lambda: "")
    bars.begins(found)
    bars.stage(stage, 2)
    failed = Outcome("minhashes/books--one", "minhashes", "books--one", error="it failed")
    found.took(failed)
    bars.outcome(failed)
    lines = [*console.render_lines(made.make_tasks_table(made.tasks), pad=False)]
    assert len(lines) == len(made.tasks) == 2
    assert all(sum(len(piece.text) for piece in line) <= 80 for line in lines)
    found.settled("minhashes")
    bars.settled(stage)
    bars.done()
    assert [(task.completed, task.total) for task in made.tasks] == [(1, 1), (1, 1)]


@pytest.mark.parametrize("width", [40, 60, 80, 100, 119, 120, 200])
def test_names_leave_room_for_numbers_at_any_width(width: int) -> None:
    console = Console(file=StringIO(), width=width, force_terminal=True, color_system=None)
    made = new_bars(console, disable=False)
    made.add_task("decontaminated_train_token_stream", total=4, completed=4)
    made.add_task("all", total=396, completed=96, words=lambda: ["about 36 min left", "2 running"])
    long, whole = [
        "".join(piece.text for piece in line) for line in console.render_lines(made.make_tasks_table(made.tasks))
    ]
    assert len(long) <= width and len(whole) <= width
    assert " 4/4 " in long and " 96/396 " in whole
    assert "0:00:00" in whole or "-:--:--" in whole
    assert width < 80 or "about 36 min left" in whole
    assert "…" not in whole
    assert whole.split()[0] == "all"


WHOLE = ["about 36 min left", "2 running", "37.6 kB/s of raw files", "1.2 GB of memory"]


def test_what_does_not_fit_is_left_out_and_not_cut() -> None:
    assert fitting(WHOLE, 80) == "about 36 min left, 2 running, 37.6 kB/s of raw files, 1.2 GB of memory"
    assert fitting(WHOLE, 53) == "about 36 min left, 2 running, 37.6 kB/s of raw files"
    assert fitting(WHOLE, 51) == "about 36 min left, 2 running"
    assert fitting(WHOLE, 5) == ""


def test_on_a_terminal_the_whole_has_a_line_of_its_own(work: SmallCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bars_module, "whole_words", lambda _: WHOLE)
    for width in (40, 80, 200):
        console = Console(file=StringIO(), width=width, force_terminal=True, color_system=None)
        made = new_bars(console, disable=False)
        bars = BarPerStage(made, lambda: "memory: " + "up to 2 GB, " * 20)
        bars.begins(Work(opened(work.folder).planner(), (), 2))
        line, *_ = made.get_renderables()
        assert str(line) == fitting(WHOLE, width)
        assert isinstance(console.file, StringIO)
        assert all(len(one) <= width for one in console.file.getvalue().splitlines())
        bars.done()
        assert len([*made.get_renderables()]) == 1


def test_where_no_bars_are_drawn_a_line_now_and_then_says_how_far_the_build_is(
    nothing_built: Planner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bars_module, "whole_words", lambda _: WHOLE)
    now = [0.0]
    console = Console(file=StringIO(), width=80)
    bars = BarPerStage(new_bars(console, disable=False), lambda: "", lambda: now[0])
    stage = nothing_built.graph["minhashes"]
    bars.begins(Work(nothing_built, [stage], 2))
    for now[0] in (10.0, 29.0, 31.0, 40.0, 62.0):
        bars.outcome(Outcome("minhashes/books--one", "minhashes", "books--one"))
    assert isinstance(console.file, StringIO)
    said = [line for line in console.file.getvalue().splitlines() if line]
    assert said == ["0 of 7 partitions, about 36 min left, 2 running, 37.6 kB/s of raw files"] * 2
