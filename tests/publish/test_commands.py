"""The two commands as a person runs them, also killed in the middle."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from corpus_assets.cli.main import app
from tests.build.small import Work
from tests.hub_server import TOKEN, Hub
from tests.web_server import BREAKS

MAIN = "from corpus_assets.cli.main import main; main()"


def started(hub: Hub, *arguments: str) -> subprocess.Popen[str]:
    """The command in a process of its own, which asks the stand-in."""
    known = {"HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN, "HF_HUB_DISABLE_XET": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", MAIN, *arguments],
        env={**os.environ, **known},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> str:
    said, _ = process.communicate(timeout=300)
    assert TOKEN not in said
    return said


def publishes(work: Work) -> list[str]:
    return ["publish", "hf://org/name", "--config", str(work.folder / "corpus.yaml")]


def test_killed_in_the_middle_nothing_is_published_and_the_next_run_sends_the_rest(
    corpus_folder: Work, stand_in: Hub
) -> None:
    before = dict(stand_in.branches)
    running: list[subprocess.Popen[str]] = []

    def kill(kind: str) -> None:
        if kind == "upload" and len(stand_in.writes.objects) == 2:
            running[0].send_signal(signal.SIGKILL)
            running[0].wait()

    stand_in.writes.before = kill
    running.append(started(stand_in, *publishes(corpus_folder)))
    ended(running[0])
    assert running[0].returncode == -signal.SIGKILL
    assert stand_in.branches == before
    assert len(stand_in.writes.objects) >= 2
    stand_in.writes.before = lambda kind: None
    again = started(stand_in, *publishes(corpus_folder))
    assert "sent " in ended(again)
    assert again.returncode == 0
    assert len(stand_in.writes.commits) == 1
    first = list(stand_in.writes.objects)[:2]
    assert [stand_in.writes.uploaded[oid] for oid in first] == [1, 1]


def test_a_pull_that_is_killed_leaves_no_folder_and_goes_on(stand_in: Hub, tmp_path: Path) -> None:
    files = {f"data/{number}.bin": bytes([number]) * 50_000 for number in range(6)}
    stand_in.commit(files)
    running: list[subprocess.Popen[str]] = []

    def kill(path: str, number: int) -> int | None:
        if not path.endswith("3.bin"):
            return None
        running[0].send_signal(signal.SIGKILL)
        running[0].wait()
        return BREAKS

    stand_in.content.fault = kill
    folder = tmp_path / "pulled"
    running.append(started(stand_in, "pull", "hf://org/name", str(folder)))
    ended(running[0])
    assert running[0].returncode == -signal.SIGKILL
    assert not folder.exists()
    stand_in.content.fault = lambda path, number: None
    said = json.loads(ended(started(stand_in, "pull", "hf://org/name", str(folder), "--json")))
    assert (said["files"], said["fetched"]) == (6, 3)
    assert {f"data/{file.name}": file.read_bytes() for file in (folder / "data").iterdir()} == files


def asked(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(arguments))
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


def test_what_was_done_is_said_in_a_line(corpus_folder: Work, stand_in: Hub, tmp_path: Path) -> None:
    _, said = asked(*publishes(corpus_folder))
    commit = stand_in.branches["main"]
    assert "note: the card has " in said
    assert f"hf://datasets/org/name@main: sent {len(stand_in.files()) - 2} files (" in said
    assert f"; commit {commit}\n" in said
    _, said = asked(*publishes(corpus_folder))
    assert f"nothing differs from the {len(stand_in.files()) - 2} files there; commit {commit}" in said
    found = json.loads(asked(*publishes(corpus_folder), "--json")[1])
    assert (found["commit"], found["has_changes"]) == (commit, False)
    _, said = asked("pull", "hf://org/name", str(tmp_path / "pulled"))
    assert f"holds the {len(stand_in.files())} files of hf://datasets/org/name@main, commit {commit}" in said


def test_a_refused_write_is_one_line_and_no_traceback(corpus_folder: Work, stand_in: Hub) -> None:
    """Also where the client has asked a busy hub again."""
    stand_in.writes.fault = lambda kind, number: 503 if number == 1 else 403
    process = started(stand_in, *publishes(corpus_folder))
    said = ended(process)
    assert process.returncode == 2
    assert said.count("\n") == 1
    assert "nothing was published" in said
