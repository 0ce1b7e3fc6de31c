"""Where the runs of a corpus are kept: in its own folder, unless whoever started the process said otherwise."""

import os
from pathlib import Path

import pytest

from corpus_assets.orchestration.home.folder import FOLDER, HOME_VARIABLE, dagster_home
from corpus_assets.orchestration.instance.instance import project_instance


def home_of(folder: Path) -> Path:
    """Folder in which a corpus's instance keeps its runs."""
    with project_instance(folder) as instance:
        return Path(instance.root_directory)


def test_corpora_of_one_process_keep_their_runs_apart(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other, one):
        assert home_of(folder) == folder / FOLDER
        assert HOME_VARIABLE not in os.environ, "the next one would take it for the user's"


def test_a_home_that_was_named_before_is_that_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "named"))
    for folder in (tmp_path / "one", tmp_path / "other"):
        assert home_of(folder) == tmp_path / "named"
        assert dagster_home(folder) == tmp_path / "named"
