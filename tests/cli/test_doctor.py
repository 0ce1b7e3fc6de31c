"""`corpus doctor`: one line per subject, what to do about it, and 1 only when something is broken."""

import json
from pathlib import Path

import pytest

from corpus_assets.cli import doctor, health
from corpus_assets.cli.health import Finding, findings
from corpus_assets.tokenize.encode.fast_libraries import encoded_by
from tests.build.small import Work, opened
from tests.faults.command import run


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home"))


def found(work: Work) -> dict[str, Finding]:
    return {finding.subject: finding for finding in findings(lambda: opened(work.folder))}


def test_a_machine_that_can_build(work: Work, capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor.run(work.folder / "corpus.yaml", as_json=True) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["ok"]
    subjects = {finding["subject"] for finding in report["findings"]}
    assert subjects >= {
        "engine",
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
    work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / "requirements.lock"
    monkeypatch.setattr(health, "LOCK", lock)
    lock.write_text("numpy==0.0.1 \\\n    --hash=sha256:0\nnever==1 ; sys_platform == 'other' \\\n")
    other = found(work)["packages"]
    assert "numpy" in other.found
    assert "never" not in other.found
    assert other.advice
    assert not other.broken
    lock.write_text("never-heard-of-it==1\n")
    assert found(work)["packages"].broken


def test_a_folder_that_cannot_be_written_breaks(work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "file" / "home"))
    home = found(work)["dagster home"]
    assert home.broken
    assert "DAGSTER_HOME" in home.advice


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
