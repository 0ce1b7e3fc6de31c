"""The Dagster instance of a corpus: `$DAGSTER_HOME`, or `.dagster_home` in the folder of corpus.yaml."""

import fcntl
import os
import signal
import socket
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import dagster as dg
import psutil
import yaml
from dagster._core.storage.event_log import SqliteEventLogStorage

from corpus_assets.addresses import HOST_VARIABLE, address, require_free
from corpus_assets.corpus.corpus import CONFIG_VARIABLE, Corpus
from corpus_assets.orchestration.events.lost_events import mark
from corpus_assets.orchestration.freshness.checks import tell
from corpus_assets.orchestration.freshness.state import freshness
from corpus_assets.orchestration.home.dagster_yaml import NAME, require_variables, write_settings
from corpus_assets.orchestration.home.faults import LOCK, home_fault, require_absolute
from corpus_assets.orchestration.home.folder import HOME_VARIABLE, dagster_home
from corpus_assets.orchestration.home.postgres import unreachable
from corpus_assets.orchestration.instance.migrations import read_scripts_once
from partitions.shards import register_shards
from resources.errors import ConfigError, CorpusError, StorageError
from resources.processes.alive import Birth, birth, has_ended, start_time

_LONGEST = 300  # Signs of a fault of a dagster.yaml that are shown: Dagster lists all keys that it knows.
_PATIENCE, _PAUSE = 30.0, 0.02
"""Seconds for which the lock of a DAGSTER_HOME is waited for, and between two attempts."""

PROCESS_TAG = ".dagster/corpus-process"
DAY = 24 * 3600.0
_UNFINISHED = [dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.CANCELING]


def prepare(folder: Path) -> Path:
    """Makes sure that there is a DAGSTER_HOME with a dagster.yaml in it, and returns its path.

    `.dagster_home` always gets a copy of the dagster.yaml next to corpus.yaml; a `$DAGSTER_HOME` that has one keeps its
    own. Without either it gets the project's defaults: no telemetry, and one run at a time.
    """
    require_absolute()
    home = dagster_home(folder)
    with usable(home), _alone_in(home):
        write_settings(home, folder)
    return home


@contextmanager
def _alone_in(home: Path) -> Iterator[None]:
    """Locks a DAGSTER_HOME while a process begins to use it, so that one process at a time creates Dagster's tables."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / LOCK).open("a") as file:
        with suppress(OSError):  # Some file systems have no locks; two processes at once are rare.
            _wait_for(file)
        yield


def _wait_for(file: IO[str]) -> None:
    """Locks a file; gives up after a while, because a stopped process would block all others."""
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_PAUSE)
        else:
            return


@contextmanager
def usable(home: Path) -> Iterator[None]:
    """Turns a fault of the DAGSTER_HOME (full, read-only) into one sentence; Dagster's error is a stack of 98 lines."""
    try:
        yield
    except Exception as error:
        cause: BaseException = error
        while cause.__cause__ is not None:
            cause = cause.__cause__
        if isinstance(error, CorpusError):
            raise
        if words := unreachable(cause):
            raise StorageError(words) from None
        if not isinstance(cause, OSError | sqlite3.Error):
            raise
        raise home_fault(home, cause) from None


def project_instance(folder: Path) -> dg.DagsterInstance:
    """Returns the instance that records runs and that the web UI shows."""
    home = prepare(folder)
    read_scripts_once()
    with usable(home), _alone_in(home):
        instance = _opened(home)
        _complete_tables(instance)
        close_abandoned_runs(instance)
        return instance


def _opened(home: Path) -> dg.DagsterInstance:
    try:
        # Not by the variable, or another corpus of this process would get the same instance.
        return dg.DagsterInstance.from_config(str(home))
    except dg.DagsterInvalidConfigError as error:
        require_variables(home / NAME)
        faults = "; ".join(" ".join(one.message.split())[:_LONGEST] for one in error.errors)
        raise ConfigError(f"{home / NAME}: Dagster refuses it: {faults}") from None


def _complete_tables(instance: dg.DagsterInstance) -> None:
    """Makes the tables that are missing since a build was killed while Dagster made them; else it refuses the rest."""
    storage = instance.event_log_storage
    if isinstance(storage, SqliteEventLogStorage):
        with storage.index_connection():  # Its first connection makes what is missing.
            pass


def process_tags() -> dict[str, str]:
    """Returns tags that name the process that drives a run; they identify the runs of a killed build."""
    born = birth(os.getpid())
    began = f"{born.place}/{born.ticks}" if born.place else f"{psutil.Process().create_time():.2f}"
    return {PROCESS_TAG: f"{socket.gethostname()} {os.getpid()} {began}"}


def claim_run(instance: dg.DagsterInstance, run: dg.DagsterRun) -> None:
    """Notes that this process drives a run that Dagster launched, so that it is closed should the process be killed."""
    instance.add_run_tags(run.run_id, process_tags())


def close_abandoned_runs(instance: dg.DagsterInstance) -> int:
    """Marks runs as failed whose process was killed on this machine; otherwise they would stay active for ever.

    Runs from before the last start of this machine, or in another container of the same name, are closed when they have
    reported nothing for a day, since it is unknown whether they still run.
    """
    closed = 0
    for run in instance.get_runs(dg.RunsFilter(statuses=_UNFINISHED)):
        if PROCESS_TAG in run.tags and not _runs(instance, run, run.tags[PROCESS_TAG]):
            mark(instance, run, untold=True)
            instance.report_run_failed(run, "the process that drove this run was killed; what it had committed is kept")
            closed += 1
    return closed


def _runs(instance: dg.DagsterInstance, run: dg.DagsterRun, process: str) -> bool:
    """Returns whether a tagged process still runs; True for a process on another machine."""
    host, pid, began = process.rsplit(" ", 2)
    if host != socket.gethostname():
        return True
    place, born, ticks = began.rpartition("/")
    if not born:  # A system that tells no place: the time is all there is.
        return f"{start_time(int(pid)) or 0:.2f}" == began
    if place != birth(os.getpid()).place:
        return time.time() - _last_sign(instance, run) < DAY
    return not has_ended(int(pid), Birth(place, int(ticks)))


def _last_sign(instance: dg.DagsterInstance, run: dg.DagsterRun) -> float:
    """Returns when a run reported last, or was made, in seconds since 1970."""
    for record in instance.get_records_for_run(run.run_id, limit=1, ascending=False).records:
        return record.timestamp
    made = instance.get_run_record_by_id(run.run_id)
    return made.create_timestamp.timestamp() if made else time.time()


def serve(corpus: Corpus, config: Path | None, host: str, port: int) -> None:
    """Registers the shard partitions, and replaces this process by the web UI on this corpus (`services`).

    It runs in the DAGSTER_HOME, and imports modules of the user's own stages from the folder of corpus.yaml.
    """
    require_free(host, port)
    _say_where(host, port)
    chosen = config or Path(os.environ.get(CONFIG_VARIABLE) or "corpus.yaml")
    os.environ[CONFIG_VARIABLE] = str(chosen.absolute())
    home = dagster_home(corpus.home)
    os.environ[HOME_VARIABLE] = str(home)  # For the services: all of them ask Dagster for its instance.
    with project_instance(corpus.home) as found:
        planner = corpus.planner()
        register_shards(planner, found)
        tell(corpus, found, freshness(planner))
    module = {
        "module_name": "corpus_assets.definitions",
        "location_name": "corpus",
        "working_directory": str(corpus.folder),
    }
    workspace = home / "workspace.yaml"
    workspace.write_text(yaml.safe_dump({"load_from": [{"python_module": module}]}), encoding="utf-8")
    os.chdir(workspace.parent)
    os.environ[HOST_VARIABLE] = host
    command = ["corpus_assets.orchestration.instance.services", workspace.name, host, str(port)]
    # A shell that starts us in the background ignores SIGINT, which the services would hand on.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.execv(sys.executable, [sys.executable, "-m", *command])


def _say_where(host: str, port: int) -> None:
    """Prints the addresses before anything else; the services take a while to start, and write much."""
    where = address(host, port)
    sys.stderr.write(f"the corpus:  {where}/corpus/\nDagster:     {where}/\nboth answer in about half a minute; ")
    sys.stderr.write("Ctrl-C stops them\n")
    sys.stderr.flush()
