"""`kill -9` of a build at any moment: what is committed is whole, and the next build finishes the rest."""

import io
import os
import random
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from corpus_assets.checking import asset_key
from corpus_assets.orchestration.instance.instance import project_instance
from corpus_assets.orchestration.shown.provenance import DATA_VERSION
from corpus_assets.report.assets import NAME as REPORT
from corpus_assets.verification.verify import verify
from resources.formats.jsonl.members import TABLE
from resources.hashing import content_digest
from resources.stage.declaration import Partitioning
from resources.storage.local.locks import BUILDERS, LEASES, LOCK
from resources.storage.local.unpublished import TEMPORARY
from resources.storage.owner_file import OWNER
from tests.build.small import contents, decompressed, digests, drive, live_records, opened, write_small
from tests.faults.command import last_json, run, start

KILLS = 8
NO_CONTENT = (TEMPORARY, LOCK, LEASES, BUILDERS, OWNER, "ledger", "history", "report/index.html")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_small(tmp_path_factory.mktemp("undisturbed"), {"engine.workers": 2})
    code, _, err = run(folder, "build", "--json", "--no-checks")
    assert code == 0, err
    return folder


def session(leader: int) -> list[psutil.Process]:
    """Every living process of a session."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == leader and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


def kill_at(folder: Path, commits: float, more: float) -> None:
    """Kill a build's main process so many commits and seconds after its start; what it had started goes with it."""
    process = start(folder, "build", "--json", "--no-checks")
    goal = committed(folder) + commits
    while process.poll() is None and committed(folder) < goal:
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.005)
    with suppress(subprocess.TimeoutExpired):
        process.wait(more)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    _, alive = psutil.wait_procs(session(process.pid), timeout=20)
    assert not alive, "processes outlived their build"


def committed(folder: Path) -> int:
    """Number of records in the ledger."""
    return sum(1 for _ in (folder / "corpus/ledger").glob("[!.]*/**/*.json"))


def stored_files(folder: Path) -> dict[str, str]:
    """Digest of the content of all in the store that is neither temporary nor a record, and has no times or places."""
    top = folder / "corpus"
    paths = [path for path in top.rglob("*") if path.is_file()]
    names = {str(path.relative_to(top)): path for path in paths}
    return {
        name: content_digest(*decompressed(io.BytesIO(path.read_bytes()), name))
        for name, path in names.items()
        if not name.startswith(NO_CONTENT) and not name.endswith(TABLE)
    }


@pytest.mark.slow
@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("number", range(KILLS))
def test_a_killed_build_leaves_whole_partitions_and_the_next_one_finishes(
    undisturbed: Path, tmp_path: Path, number: int
) -> None:
    chance = random.Random(number)
    write_small(tmp_path, {"engine.workers": 2})
    kill_at(tmp_path, (number + chance.random()) / (KILLS + 1) * committed(undisturbed), chance.random() / 20)

    corpus = opened(tmp_path)
    assert verify(corpus, deep=True).bad == []
    whole = stored_files(undisturbed)
    assert all(whole[name] == content for name, content in stored_files(tmp_path).items())
    kept = live_records(corpus)

    code, out, err = run(tmp_path, "build", "--json", "--no-checks")
    assert code == 0, err
    expected: dict[str, int] = {}
    for name in digests(opened(undisturbed)):
        if name not in kept:
            expected[name[0]] = expected.get(name[0], 0) + 1
    # The report reads every stage; `digests` leaves it out.
    assert last_json(out)["by_asset"] == {**expected, REPORT: 1}
    after = live_records(opened(tmp_path))
    assert {name: after[name] for name in kept} == kept
    assert {name: record.digest for name, record in after.items()} == digests(opened(undisturbed))
    assert contents(opened(tmp_path)) == contents(opened(undisturbed))
    assert not list((tmp_path / "corpus" / TEMPORARY).glob("*"))
    assert told(tmp_path) == digests(opened(tmp_path))


def told(folder: Path) -> dict[tuple[str, str | None], str]:
    """Content digest of every partition but the report, as Dagster was last told; sums of assets left out."""
    corpus = opened(folder)
    with project_instance(folder) as instance:
        newest: dict[tuple[str, str | None], str] = {}
        for stage in corpus.graph:
            for found in instance.fetch_materializations(asset_key(stage.name), limit=10_000, ascending=True).records:
                if found.partition_key is not None or stage.partitioning is Partitioning.NONE:
                    newest[stage.name, found.partition_key] = (found.event_log_entry.tags or {}).get(DATA_VERSION, "")
        return {name: digest for name, digest in newest.items() if name[0] != REPORT}


def changed_seed(folder: Path) -> bool:
    """True if any shard is mixed with the new seed."""
    records = opened(folder).ledger.records("mixed_pass1").values()
    return any(record.parameters["mix.seed"] == 5 for record in records)


@pytest.mark.slow
def test_a_change_of_mind_in_the_middle_of_a_build(undisturbed: Path, tmp_path: Path) -> None:
    """Configuration A is built, B is killed midway, and A again is what it was."""
    write_small(tmp_path, {"engine.workers": 2})
    assert not drive(opened(tmp_path)).failed
    write_small(tmp_path, {"engine.workers": 2, "short_documents.threshold": 90, "mix.seed": 5})
    process = start(tmp_path, "build", "--json", "--no-checks")
    while process.poll() is None and not changed_seed(tmp_path):
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.005)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    write_small(tmp_path, {"engine.workers": 2})
    code, _, err = run(tmp_path, "build", "--json", "--no-checks")
    assert code == 0, err
    assert contents(opened(tmp_path)) == contents(opened(undisturbed))
