"""`corpus doctor`: one line per subject, what to do about it, and 1 only when something is broken."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from errno import EACCES
from importlib.metadata import PackageNotFoundError, version
from os import strerror
from pathlib import Path
from types import SimpleNamespace

import pytest

from corpus_assets.cli.doctor import command as doctor
from corpus_assets.cli.doctor import health, packages
from corpus_assets.cli.doctor.finding import Finding
from corpus_assets.cli.doctor.health import findings
from corpus_assets.corpus.step import Step
from corpus_assets.estimate.known import Cost, keep_estimate, known_cost, recorded
from corpus_assets.numbers import duration, size
from corpus_assets.tokenize.encode.fast_libraries import encoded_by
from resources.user import cache as user_cache
from tests.build.small import CONFIG, Work, opened, write_config
from tests.forked import run
from tests.ports import free_ports


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(user_cache, "user_folder", lambda group: tmp_path / "user" / group)


def found(work: Work) -> dict[str, Finding]:
    return {finding.subject: finding for finding in findings(lambda: opened(work.folder))}


def test_notices_that_would_not_arrive(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CORPUS_HOOK", raising=False)
    notices = [{"webhook": "env:CORPUS_HOOK"}, {"command": ["no-such-program"]}, {"command": ["true"]}]
    write_config(work.folder, {"notices": notices})
    one, two, three = (found(work)[f"notices.{place}"] for place in range(3))
    assert one.found == "webhook env:CORPUS_HOOK: the environment variable CORPUS_HOOK is not set" and one.advice
    assert two.found.startswith("command no-such-program: there is no such program") and two.advice
    assert three == Finding("notices.2", "command true")


def test_a_machine_that_can_build(work: Work, capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor.run(work.folder / "corpus.yaml", as_json=True) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["ok"]
    subjects = {finding["subject"] for finding in report["findings"]}
    assert subjects >= {
        "engine",
        "first build",
        "python",
        "packages",
        "gigatoken",
        "cores",
        "memory",
        "storage",
        "dagster home",
        "kernels",
    }
    assert doctor.run(work.folder / "corpus.yaml", as_json=False) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(subjects)


def test_what_the_first_build_compiles_is_said(work: Work) -> None:
    # In a process of its own: this one may have compiled kernels for other tests, and then holds to their folder.
    _, out, _ = run(work.folder, "doctor", "--json")
    (kernels,) = (finding for finding in json.loads(out)["findings"] if finding["subject"] == "kernels")
    assert "not compiled" in kernels["found"]
    assert "CPU" in kernels["found"]
    assert not kernels["broken"]


def test_a_wrong_configuration_is_a_finding(tmp_path: Path) -> None:
    assert doctor.run(tmp_path / "nowhere.yaml", as_json=True) == 1


def test_a_package_that_is_missing_breaks_one_of_another_version_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "FOLDER", tmp_path)
    lock, project = tmp_path / "requirements.lock", tmp_path / "pyproject.toml"
    lock.write_text("numpy==0.0.1 \\\n    --hash=sha256:0\nnever==1 ; sys_platform == 'other' \\\n")
    assert "not compared" in packages.compared().found
    project.write_text('[project]\ndependencies = ["numpy>=2", "never", "never-heard-of-it"]\n')
    other = packages.compared()
    assert "numpy" in other.found
    assert "never" not in other.found
    assert other.advice
    assert not other.broken
    lock.write_text("never-heard-of-it==1\n")
    assert packages.compared().broken


@pytest.mark.parametrize("package", ["zstandard", "tokenizers", "numba"])
def test_what_cannot_be_loaded_without_a_package_is_a_finding(work: Work, package: str) -> None:
    without = f"import sys; sys.modules['{package}'] = None; from corpus_assets.cli.main import main; main()"
    command = [sys.executable, "-P", "-c", without, "doctor", "--json"]
    done = subprocess.run(command, cwd=work.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    said = {finding["subject"]: finding for finding in json.loads(done.stdout)["findings"]}
    assert {"python", "packages"} <= said.keys()
    assert package in said["program"]["found"]
    assert said["program"]["broken"]


def test_packages_that_only_tests_and_linters_need_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    tools = {"pytest", "pytest-xdist", "iniconfig", "mypy", "mypy-extensions", "ruff", "hypothesis", "tiktoken"}
    of_product = {"numpy", "dagster", "msgspec", "starlette", "graphql-core"}

    def without(absent: set[str]) -> Callable[[str], str]:
        def of(name: str) -> str:
            if name in absent:
                raise PackageNotFoundError(name)
            return version(name)

        return of

    wanted = packages.locked() or {}
    assert of_product <= wanted.keys()
    assert not tools & wanted.keys()
    monkeypatch.setattr(packages, "version", without(tools))
    assert not packages.compared().broken
    monkeypatch.setattr(packages, "version", without({"graphql-core"}))
    assert "1 are missing: graphql-core" in packages.compared().found
    assert packages.compared().broken


def cost_of(work: Work) -> Cost | None:
    corpus = opened(work.folder)
    return known_cost(corpus, corpus.planner())


def doubled(work: Work) -> None:
    """Put a copy beside every raw file."""
    for file in [file for file in (work.folder / "raw").rglob("*") if file.is_file()]:
        shutil.copy(file, file.with_name(f"copy-{file.name}"))


def test_what_a_first_build_costs_is_said_by_the_records_and_follows_the_raw_files(work: Work) -> None:
    corpus = opened(work.folder)
    before = cost_of(work)
    assert before is not None
    records = [one for stage in corpus.graph for one in corpus.ledger.records(stage.name).values()]
    assert before.stored > sum(file.bytes for record in records for file in record.files)
    assert (before.built, before.needed) == (True, 0)
    doubled(work)
    after = cost_of(work)
    assert after is not None
    assert after.raw == 2 * before.raw
    assert 1.5 < after.stored / before.stored < 2.5
    assert after.seconds > 1.5 * before.seconds
    assert 0 < after.needed <= after.stored
    said = found(work)["first build"]
    assert not said.broken
    assert f"of {size(after.raw)} of raw files" in said.found
    assert f"{size(after.stored)} of disk, by the records" in said.found
    assert duration(after.seconds) in said.found


def test_records_say_nothing_of_a_source_that_is_not_built(work: Work) -> None:
    shutil.copytree(work.folder / "raw/books", work.folder / "raw/more")
    sources = [*CONFIG["sources"], {"name": "more", "location": "raw/more"}]
    write_config(work.folder, {"sources": sources})
    assert cost_of(work) is None
    corpus = opened(work.folder)
    with corpus.building():
        Step(corpus, corpus.graph["raw_source"]).run()
    assert cost_of(work) is None, "its texts are not known"


def test_before_anything_is_built_the_last_estimate_says_it(work: Work) -> None:
    corpus = opened(work.folder)
    estimate, of_records = recorded(corpus, corpus.planner()), cost_of(work)
    assert estimate is not None
    assert of_records is not None
    shutil.rmtree(work.folder / "corpus")
    assert cost_of(work) is None
    unknown = found(work)["first build"]
    assert f"of {size(of_records.raw)} of raw files" in unknown.found
    assert "`corpus estimate`" in unknown.advice
    assert not unknown.broken
    keep_estimate(corpus, of_records.raw, estimate)
    kept = cost_of(work)
    assert kept is not None
    assert (kept.seconds, kept.stored, kept.needed, kept.built) == (
        of_records.seconds,
        of_records.stored,
        of_records.stored,
        False,
    )
    doubled(work)
    after = cost_of(work)
    assert after is not None
    assert after.stored > 1.5 * kept.stored
    assert after.seconds > 1.5 * kept.seconds
    assert "by the last `corpus estimate`" in found(work)["first build"].found
    write_config(work.folder, {"mix.chunks": 2})
    assert cost_of(work) is None, "an estimate of another configuration"


def test_room_on_the_disk_is_compared_with_what_a_build_needs(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    def storage(free: float) -> Finding:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=int(free)))
        return found(work)["storage"]

    assert storage(1).advice == "", "everything is built"
    doubled(work)
    cost = cost_of(work)
    assert cost is not None
    assert "a build needs about" in storage(cost.needed - 1).advice
    assert storage(cost.needed + 1).advice == ""
    shutil.rmtree(work.folder / "corpus")
    with (work.folder / "raw/books/large.jsonl").open("wb") as file:
        file.truncate(3 * health.SCARCE)
    assert "the raw files alone have 6.0 GB" in storage(2 * health.SCARCE).advice
    assert storage(4 * health.SCARCE).advice == ""


def test_raw_files_that_cannot_be_listed_break(work: Work) -> None:
    write_config(work.folder, {"sources.1.location": "raw"})
    first = found(work)["first build"]
    assert first.broken
    assert "both take" in first.found


def test_a_folder_that_cannot_be_written_breaks(work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "file" / "home"))
    home = found(work)["dagster home"]
    assert home.broken
    assert "DAGSTER_HOME" in home.advice


def test_a_folder_below_one_that_cannot_be_entered_breaks(
    work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "locked" / "home"))
    there = Path.exists

    def exists(path: Path) -> bool:  # as for a user who is not root
        if path.is_relative_to(tmp_path / "locked" / "home"):
            raise PermissionError(EACCES, strerror(EACCES), str(path))
        return there(path)

    monkeypatch.setattr(Path, "exists", exists)
    home = found(work)["dagster home"]
    assert home.broken
    assert "Permission denied" in home.found


def test_kernels_that_cannot_be_kept_are_said_to_cost_every_build(work: Work, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("in the way")
    _, out, _ = run(work.folder, "doctor", "--json")
    (kernels,) = (finding for finding in json.loads(out)["findings"] if finding["subject"] == "kernels")
    assert "cannot be kept" in kernels["found"]
    assert "NUMBA_CACHE_DIR" in kernels["advice"]
    assert not kernels["broken"]


def test_limits_of_a_container_count(work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "CGROUP", tmp_path)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)))
    (tmp_path / "cpu.max").write_text("150000 100000\n")
    (tmp_path / "memory.max").write_text("1000\n")
    assert "engine.workers to 1" in found(work)["cores"].advice
    assert found(work)["memory"].broken
    (tmp_path / "cpu.max").write_text("max 100000\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert found(work)["cores"].advice == ""
    assert not found(work)["memory"].broken


def test_a_library_with_other_ids_is_said(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    right = encoded_by

    def wrong(name: str, definition: str, texts: list[str]) -> object:
        return right(name, definition, [text + "!" for text in texts])

    monkeypatch.setattr(health, "encoded_by", wrong)
    assert "other ids" in found(work)["gigatoken"].found


def test_a_database_that_cannot_be_reached_is_said_without_its_password(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("dagster_postgres", reason="it comes with the extra `postgres`")
    assert "database" not in found(work)
    (port,) = free_ports(1)
    monkeypatch.setenv("CORPUS_POSTGRES_URL", f"postgresql://somebody:hunter2@127.0.0.1:{port}/dagster")
    database = found(work)["database"]
    assert database.broken
    assert f"port {port} failed: Connection refused" in database.found
    assert "hunter2" not in str(database)
