"""Notices: a command or a web address of the user's hears once how a build ended, and nothing says its secrets."""

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import psutil
import pytest
import yaml
from typing_extensions import override

from corpus_assets.config.notices import Notice
from corpus_assets.orchestration.building.build import build
from corpus_assets.orchestration.building.report import Report
from corpus_assets.orchestration.building.telling.delivery import cannot_be_told, deliver
from corpus_assets.orchestration.jobs import build_job
from resources.errors import StorageError
from resources.planning.planner import Status
from tests.build.small import prose, write_raw
from tests.faults.command import run
from tests.orchestration import test_backfill
from tests.orchestration.notice_server import Hook, receiving
from tests.orchestration.runs import Runs
from tests.orchestration.silent import Silent

SECRET = "T0P-s3cret-w0rd"
VARIABLE = "CORPUS_TEST_HOOK"
ALL = ["failed", "check_failed", "ended"]


class Warned(Silent):
    """Keeps what a build warns of."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    @override
    def warns(self, what: str) -> None:
        self.warnings.append(what)


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hook]:
    with receiving() as found:
        monkeypatch.setenv(VARIABLE, f"{found.url}/services/{SECRET}?key={SECRET}")
        yield found


def with_notices(runs: Runs, *notices: dict[str, Any], **changes: Any) -> None:
    """Adds notices, and other sections, to corpus.yaml."""
    file = runs.folder / "corpus.yaml"
    written = {**yaml.safe_load(file.read_text()), **changes, "notices": list(notices)}
    file.write_text(json.dumps(written))  # JSON is YAML, without anchors.


def webhook(*events: str, **keys: Any) -> dict[str, Any]:
    return {"on": list(events or ALL), "webhook": f"env:{VARIABLE}", **keys}


def writing(folder: Path, name: str = "got.jsonl") -> list[str]:
    """A command that adds what it reads to a file."""
    program = folder / f"write-{name}.sh"
    program.write_text(f"#!/bin/sh\ncat >> {name}\necho >> {name}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return [f"./{program.name}"]


def built_now(runs: Runs) -> tuple[Report, list[str]]:
    corpus, progress = runs.corpus, Warned()
    return build(corpus, list(corpus.graph), progress, instance=runs.instance), progress.warnings


def spoil(runs: Runs) -> None:
    (runs.folder / "raw/books/bad.jsonl.gz").write_bytes(b"this is no gzip file")


def test_a_build_is_told_once_to_everybody_and_one_with_nothing_to_do_to_nobody(empty: Runs, hook: Hook) -> None:
    command = writing(empty.folder)
    with_notices(empty, webhook(), {"on": ["ended"], "command": command}, webhook("failed"))
    report, warnings = built_now(empty)
    assert report.ok and warnings == []
    (told,) = hook.got
    assert hook.asked == [f"POST /services/{SECRET}?key={SECRET} application/json"]
    assert told["events"] == ["ended"]
    assert (told["corpus"], told["recomputed"], told["failed"]) == ("small", report.recomputed, 0)
    (run,) = empty.instance.get_runs()
    assert told["run"] == run.run_id
    assert told["text"].startswith(f"corpus small: {report.recomputed} partitions recomputed, in ")
    written = json.loads((empty.folder / "got.jsonl").read_text())
    assert written == told
    assert built_now(empty)[0].recomputed == 0
    assert len(hook.got) == 1


def test_a_failure_is_told_with_its_partition_and_only_to_those_who_asked(built: Runs, hook: Hook) -> None:
    spoil(built)
    with_notices(built, webhook("failed", "ended"), webhook("check_failed"))
    report, _ = built_now(built)
    (told,) = hook.got
    assert told["events"] == ["failed", "ended"]
    assert told["failed"] == 1 and told["errors"] == report.failed
    assert "normalized_documents/books--bad: " in told["text"]
    assert told["waiting"] == len(report.waiting) > 0


def test_a_red_check_is_told(built: Runs, hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    with_notices(built, webhook("check_failed"), dedup={"ranges": 2, "max_loss": 0.01})
    write_raw(built.folder, "books/three.jsonl", [{"id": f"new-{n}", "text": prose("again")} for n in range(4)])
    report, _ = built_now(built)
    assert report.failed_checks
    (told,) = hook.got
    assert told["events"] == ["check_failed"]
    assert told["red_checks"] == len(report.failed_checks)
    assert told["checks"] == [" ".join(line.split()) for line in report.failed_checks]


def test_a_build_that_ends_with_an_error_is_told(built: Runs, hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    with_notices(built, webhook())

    def full(*_: object, **__: object) -> None:
        raise StorageError("no space left")

    monkeypatch.setattr("corpus_assets.orchestration.building.build.Builder", full)
    with pytest.raises(StorageError):
        built_now(built)
    (told,) = hook.got
    assert told["events"] == ["failed", "ended"]
    assert told["errors"] == ["no space left"] and "no space left" in told["text"]


def test_notices_are_no_part_of_a_recipe(built: Runs) -> None:
    before = built.corpus
    with_notices(built, webhook(), {"on": ALL, "command": ["true"]})
    after = built.corpus
    assert [one.name for one in after.planner().plan().decisions if one.status is not Status.FRESH] == []
    assert after.builder.settings == before.builder.settings


def test_runs_of_jobs_tell_with_their_run(built: Runs, hook: Hook) -> None:
    spoil(built)
    with_notices(built, webhook("failed"))
    result = build_job(built.corpus).execute_in_process(instance=built.instance, raise_on_error=False)
    assert not result.success
    (told,) = hook.got
    assert told["run"] == result.run_id


def test_a_backfill_over_everything_tells_once(empty: Runs, hook: Hook) -> None:
    with_notices(empty, webhook())
    empty.register()
    test_backfill.launch(empty, test_backfill.everything(empty))
    first = test_backfill.run(empty, "inventory")
    assert first.success
    assert test_backfill.run(empty, "raw_source", "books--one").success
    assert [told["run"] for told in hook.got] == [first.run_id]


def test_what_cannot_be_delivered_is_a_warning_and_the_build_is_as_it_is(built: Runs, hook: Hook) -> None:
    write_raw(built.folder, "books/three.jsonl", [{"id": f"new-{n}", "text": prose(f"new {n}")} for n in range(4)])
    hook.status = 503
    with_notices(built, webhook(), {"on": ALL, "command": ["false"]}, {"on": ALL, "webhook": "env:CORPUS_NOT_SET"})
    report, warnings = built_now(built)
    assert report.ok
    assert warnings == [
        f"notices.0 (webhook env:{VARIABLE}) was not delivered: the server answered with status 503",
        "notices.1 (command false) was not delivered: it ended with exit code 1",
        "notices.2 (webhook env:CORPUS_NOT_SET) was not delivered: the environment variable CORPUS_NOT_SET is not set",
    ]


def test_the_command_line_shows_what_was_not_delivered(built: Runs) -> None:
    with_notices(built, {"on": ALL, "command": ["false"]})
    words = "notices.0 (command false) was not delivered: it ended with exit code 1"
    for count, option in enumerate(("--quiet", "--json", "--events")):
        rows = [{"id": f"new-{n}", "text": prose(f"{option} {n}")} for n in range(4 + count)]
        write_raw(built.folder, "books/three.jsonl", rows)
        code, out, err = run(built.folder, "build", "--select", "normalized_documents", option)
        assert code == 0
        assert (
            f"warning {words}" in err or {"kind": "warning", "what": words}.items() <= _events(out)["warning"].items()
        )
    logs = sorted((built.folder / ".dagster_home/logs").iterdir())
    assert len(logs) == 3 and all(f"WARNING {words}" in log.read_text() for log in logs)


def _events(out: str) -> dict[str, Any]:
    return {event["kind"]: event for event in map(json.loads, out.splitlines()) if "kind" in event}


def notice(**keys: Any) -> Notice:
    return Notice(**({"on": ALL, **keys}))


def test_a_redirect_is_not_followed(hook: Hook, tmp_path: Path) -> None:
    hook.status, hook.location = 302, f"{hook.url}/elsewhere"
    assert deliver(notice(webhook=f"env:{VARIABLE}"), b"{}", tmp_path) == "the server answered with status 302"
    assert len(hook.asked) == 1


def test_a_server_that_never_ends_its_answer_is_given_up(hook: Hook, tmp_path: Path) -> None:
    hook.drips = True
    found = deliver(notice(webhook=f"env:{VARIABLE}", timeout=0.3), b"{}", tmp_path)
    assert found == "no answer within 0.3 s"


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://127.0.0.1:1/{}", "the server cannot be asked: Connection refused"),
        ("http://[{}", "the server cannot be asked: ValueError"),
        ("http://127.0.0.1:{}/", "the server cannot be asked: InvalidURL"),
        ("http://127.0.0.1/a b{}", "the server cannot be asked: InvalidURL"),
        ("file:///etc/{}", f"{VARIABLE} holds no address of http or https"),
        ("{}", f"{VARIABLE} holds no address of http or https"),
    ],
)
def test_faults_of_an_address_are_told_without_it(
    address: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, address.format(SECRET))
    assert deliver(notice(webhook=f"env:{VARIABLE}"), b"{}", tmp_path) == said


def test_a_command_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    program = tmp_path / "hang.sh"
    program.write_text("#!/bin/sh\nsleep 1000 & echo $! > child\nwait\n")
    program.chmod(0o755)
    assert deliver(notice(command=["./hang.sh"], timeout=1), b"{}", tmp_path) == "it was ended, since it took over 1 s"
    child = int((tmp_path / "child").read_text())
    psutil.wait_procs([psutil.Process(child)] if psutil.pid_exists(child) else [], timeout=10)
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE


def test_a_command_that_reads_nothing_and_says_much_is_no_fault(tmp_path: Path) -> None:
    command = ["sh", "-c", "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2"]
    assert deliver(notice(command=command), b"x" * 1_000_000, tmp_path) == ""


def test_what_is_no_program_is_told(tmp_path: Path) -> None:
    words = "there is no such program, or it cannot be executed"
    assert cannot_be_told(notice(command=["no-such-program-anywhere"]), tmp_path) == words
    assert deliver(notice(command=["./none.sh"]), b"{}", tmp_path) == words
    (tmp_path / "bad").write_text("no program")
    (tmp_path / "bad").chmod(0o755)
    assert deliver(notice(command=["./bad"]), b"{}", tmp_path) == "it cannot be started: Exec format error"


def test_the_secret_is_nowhere(empty: Runs, hook: Hook, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Not in the store with its report, Dagster's database, logs, or what is printed, whatever goes wrong."""
    spoil(empty)
    hook.status = 500
    with_notices(
        empty, webhook(), {"on": ALL, "command": ["sh", "-c", f"echo ${VARIABLE}; echo ${VARIABLE} >&2; exit 3"]}
    )
    (tmp_path / "home").mkdir()
    with dg.DagsterInstance.local_temp(str(tmp_path / "home")) as instance:
        result = build_job(empty.corpus).execute_in_process(instance=instance, raise_on_error=False)
        (run,) = instance.get_runs()
        assert not result.success and len(hook.got) == 1
    files = [file for file in (*tmp_path.rglob("*"), *empty.folder.rglob("*")) if file.is_file()]
    assert files and [file for file in files if SECRET.encode() in file.read_bytes()] == []
    out, err = capfd.readouterr()
    assert "notices.1 (command sh) was not delivered: it ended with exit code 3" in err
    assert SECRET not in out + err and SECRET not in json.dumps(run.tags) and SECRET not in json.dumps(hook.got)
