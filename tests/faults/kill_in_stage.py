"""Builds a corpus and kills itself inside one stage: `python -m tests.faults.kill_in_stage FOLDER STAGE MOMENT`."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from corpus_assets.cli.verify import verify
from resources.ledger import Ledger
from resources.stage.task import Task
from resources.storage.local import LocalUnpublished
from tests.build.small import contents, drive, live_records, opened

ROOT = Path(__file__).resolve().parents[2]

MOMENTS = ("first file", "half written", "before publishing", "before the record")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def arm(stage: str, moment: str) -> None:
    """Let the process die when the stage comes to that moment in its first partition."""
    running = [""]  # Before the first stage the store writes down whose it is.
    begin, create, publish, replace = Task.__init__, LocalUnpublished.create, LocalUnpublished.publish, Ledger.replace

    def beginning(task: Task, of: Any, *args: Any, **more: Any) -> None:
        running.append(of.asset)
        begin(task, of, *args, **more)

    def creating(pending: LocalUnpublished, path: str) -> Any:
        made = create(pending, path)
        if running[-1] == stage and moment == "first file":
            die()
        if running[-1] == stage and moment == "half written":
            made.write(b"half of something")
            made.flush()
            die()
        return made

    def publishing(pending: LocalUnpublished) -> None:
        if running[-1] == stage and moment == "before publishing":
            die()
        publish(pending)

    def replacing(ledger: Ledger, record: Any, version: str | None) -> Any:
        if record.asset == stage and moment == "before the record":
            die()
        return replace(ledger, record, version)

    patched: list[tuple[Any, str, Any]] = [
        (Task, "__init__", beginning),
        (LocalUnpublished, "create", creating),
        (LocalUnpublished, "publish", publishing),
        (Ledger, "replace", replacing),
    ]
    for place, name, function in patched:
        setattr(place, name, function)


def killed_and_finished(raw: Path, whole: dict[str, str], folder: Path, stage: str) -> None:
    """Build a copy of `raw` and die in a stage, at one moment after the other; the next build finishes the rest."""
    shutil.copytree(raw, folder, dirs_exist_ok=True)
    kept: dict[tuple[str, str | None], Any] = {}
    for moment in MOMENTS:
        command = [sys.executable, "-m", "tests.faults.kill_in_stage", str(folder), stage, moment]
        assert subprocess.run(command, cwd=ROOT, check=False).returncode == -signal.SIGKILL
        killed = opened(folder)
        assert verify(killed, deep=True).bad == [], moment
        committed = live_records(killed)
        assert stage not in {asset for asset, _ in committed}, moment
        assert {name: committed[name] for name in kept} == kept, moment
        kept = committed
    built = drive(opened(folder))
    assert not built.failed
    assert not built.recomputed & kept.keys()
    assert contents(opened(folder)) == whole


if __name__ == "__main__":
    arm(sys.argv[2], sys.argv[3])
    drive(opened(Path(sys.argv[1])))
