"""Builds of a corpus, each in a process that kills itself inside one stage."""

import multiprocessing
import os
import shutil
import signal
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

from corpus_assets.verification.verify import verify
from resources.ledger.ledger import Ledger
from resources.stage.task import Task
from resources.storage.local.unpublished import LocalUnpublished
from resources.storage.s3.paths import has_plain_name, unversioned
from resources.storage.s3.upload import S3Unpublished, Upload
from tests.build.small import contents, drive, live_records, opened

# A process that has imported all and has no threads; each build is a fork of it.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload([__name__])

MOMENTS = ("first file", "half written", "before publishing", "before the record")
IN_A_BUCKET = ("half written", "half sent", "before publishing", "before the record")
ONE_BY_NAME = "after the first file with a plain name"


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def arm(stage: str, moment: str) -> None:
    """Let the process die when the stage comes to that moment in its first partition."""
    running = [""]  # Before the first stage the store writes down whose it is.

    def begins(call: Any, task: Task, of: Any, *args: Any, **more: Any) -> None:
        running.append(of.asset)
        call(task, of, *args, **more)

    def creates(call: Any, pending: Any, path: str) -> Any:
        made = call(pending, path)
        if running[-1] == stage and moment == "first file":
            die()
        if running[-1] == stage and moment == "half written":
            made.write(b"half of something")
            made.flush()
            die()
        return made

    def sends(call: Any, upload: Upload, *args: Any, **more: Any) -> Any:
        reply = call(upload, *args, **more)
        if running[-1] == stage and (moment == "half sent" or (moment == ONE_BY_NAME and has_plain_name(upload.path))):
            die()
        return reply

    def publishes(call: Any, pending: Any) -> None:
        if running[-1] == stage and moment == "before publishing":
            die()
        call(pending)

    def replaces(call: Any, ledger: Ledger, record: Any, version: str | None) -> Any:
        if record.asset == stage and moment == "before the record":
            die()
        return call(ledger, record, version)

    around(Task, "__init__", begins)
    around(Upload, "part", sends)
    around(Ledger, "replace", replaces)
    for unpublished in (LocalUnpublished, S3Unpublished):
        around(unpublished, "create", creates)
        around(unpublished, "publish", publishes)


def around(place: Any, name: str, function: Any) -> None:
    """Have a function called with the method of a class, in its place."""
    call = getattr(place, name)
    setattr(place, name, lambda *args, **more: function(call, *args, **more))


def killed_and_finished(folder: Path, *stages: str) -> None:
    """Build a corpus that has raw files alone, and die in each stage, at one moment after the other; then finish it."""
    undisturbed = folder.with_name("undisturbed")
    shutil.copytree(folder, undisturbed)
    assert drive(opened(undisturbed)).failed == []
    killed_at(MOMENTS, contents(opened(undisturbed)), folder, *stages)


def kill(folder: Path, stage: str, moment: str) -> None:
    """Build a corpus in a process that dies in a stage."""
    process = FORKS.Process(target=build_and_die, args=(folder, stage, moment, dict(os.environ)))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL, (stage, moment)


def build_and_die(folder: Path, stage: str, moment: str, environment: dict[str, str]) -> None:
    """No stage after it is begun, so that these are there to die in later."""
    os.environ.update(environment)  # The process that forks has that of the time when it started.
    arm(stage, moment)
    corpus = opened(folder)
    order = [one.name for one in corpus.graph]
    drive(corpus, list(corpus.graph)[: order.index(stage) + 1])


def killed_at(moments: Sequence[str], whole: dict[str, str], folder: Path, *stages: str) -> None:
    """Build a corpus and die in each stage, at one moment after the other; each build goes on where the last one died.

    Of many stages one corpus is built, not one for each: what a killed build leaves is looked at after each kill.
    """
    kept: dict[tuple[str, str | None], Any] = {}
    order = [stage.name for stage in opened(folder).graph]
    for stage, moment in product(sorted(stages, key=order.index), moments):
        kill(folder, stage, moment)
        killed = opened(folder)
        assert verify(killed, deep=True).bad == [], (stage, moment)
        committed = live_records(killed)
        assert stage not in {asset for asset, _ in committed}, moment
        assert {name: committed[name] for name in kept} == kept, (stage, moment)
        kept = committed
    built = drive(opened(folder))
    assert not built.failed
    assert not built.recomputed & kept.keys()
    assert {unversioned(path): found for path, found in contents(opened(folder)).items()} == whole
