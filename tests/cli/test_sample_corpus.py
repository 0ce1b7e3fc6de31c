"""`corpus sample` leaves a folder in which `corpus build` can begin."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from corpus_assets.cli import sample_corpus
from corpus_assets.cli.main import app
from corpus_assets.config.corpus_config import CorpusConfig
from corpus_assets.config.datasets.files import Files
from corpus_assets.config.reading.loading import load_config
from corpus_assets.corpus.corpus import CONFIG_VARIABLE
from corpus_assets.raw.sample.writing import SampleSummary
from tests.house import TOP


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder. What the raw files hold is no matter here."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sample_corpus, "write_sample", lambda _root, *, megabytes: SampleSummary(3, 4_000_000, 2, {}))
    return tmp_path


def test_the_configuration_is_that_of_the_project(folder: Path) -> None:
    done = CliRunner().invoke(app, ["sample", "data/raw"])
    assert done.stdout.splitlines() == [
        "data/raw: 3 documents, 4.0 MB of text, 2 shards",
        "corpus.yaml: written; `corpus build` makes the corpus that it describes",
    ]
    assert (folder / "corpus.yaml").read_bytes() == (TOP / "corpus.yaml").read_bytes()


def locations(config: CorpusConfig) -> list[str]:
    """Where the files of sources, benchmarks and datasets are."""
    inputs = [dataset.input for dataset in config.datasets]
    places = [source.location for source in config.sources] + [one.location for one in config.benchmarks]
    return [*places, *(one.location for one in inputs if isinstance(one, Files))]


@pytest.mark.parametrize("name", ["raw", "/tmp/raw", "my: raw", "#1", "häuser \"klein\" '2'", "it's" * 60])
def test_its_locations_are_in_the_folder_that_was_given(folder: Path, name: str) -> None:
    (folder / "corpus.yaml").write_text(sample_corpus.sample_config(Path(name)), encoding="utf-8")
    found, asked = load_config(folder / "corpus.yaml"), load_config(TOP / "corpus.yaml")
    assert locations(found) == [one.replace("data/raw", name) for one in locations(asked)]


@pytest.mark.parametrize("occupy", [lambda file: file.write_text("mine"), lambda file: file.symlink_to("nowhere")])
def test_a_configuration_that_is_there_is_left_alone(folder: Path, occupy: Callable[[Path], object]) -> None:
    occupy(folder / "corpus.yaml")
    assert "written" not in CliRunner().invoke(app, ["sample", "raw"]).stdout
    assert [file.name for file in folder.iterdir()] == ["corpus.yaml"]
    assert not (folder / "corpus.yaml").exists() or (folder / "corpus.yaml").read_text() == "mine"


def test_none_is_written_where_the_environment_names_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CONFIG_VARIABLE, "other.yaml")
    assert "written" not in CliRunner().invoke(app, ["sample", "raw"]).stdout
    assert list(folder.iterdir()) == []
