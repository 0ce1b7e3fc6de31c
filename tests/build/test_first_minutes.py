"""The first minutes of a new user: dropped rows are reported, mistakes are named, nothing is sent anywhere."""

import socket
from pathlib import Path

import pytest
import yaml

from corpus_assets.addresses import require_free
from corpus_assets.corpus.corpus import CONFIG_VARIABLE, Corpus
from corpus_assets.corpus.step import Step
from corpus_assets.orchestration.building.notes import build_notes
from corpus_assets.orchestration.home.dagster_yaml import DEFAULTS
from corpus_assets.orchestration.instance.instance import prepare, serve
from resources.errors import ConfigError
from resources.stage.jobs.run_job import run_job
from tests.build.small import Work, drive, opened

ROOT = Path(__file__).resolve().parents[2]


def test_a_wrong_text_key_is_said_with_its_numbers(work: Work) -> None:
    work.config(**{"sources.0.text_key": "nothing"})
    corpus = opened(work.folder)
    drive(corpus, [corpus.graph["normalized_documents"]])
    (note,) = build_notes(opened(work.folder).planner())
    rows = note.split(" of ")
    assert note.startswith("source books: ")
    assert rows[0].rpartition(" ")[2] == rows[1].partition(" ")[0]
    assert "no_text" in note


def test_a_source_without_files_and_what_is_passed_over_are_said(work: Work) -> None:
    (work.folder / "raw/books/notes.pdf").write_bytes(b"%PDF")
    work.config(**{"sources.1.glob": "*.nope"})
    name = opened(work.folder).config.sources[1].name
    notes = opened(work.folder).planner().plan().notes
    assert f"source {name} has no raw files" in notes
    assert any(note.startswith("books/notes.pdf: unknown suffix") for note in notes)


def test_a_missing_tokenizer_file_stops_the_plan_of_a_new_corpus(work: Work) -> None:
    work.config(tokenizer={"kind": "tokenizer_json", "path": "nope.json"})
    with pytest.raises(ConfigError, match=r"tokenizer\.path: .*nope\.json"):
        opened(work.folder).planner().plan()


def test_an_undeclared_parameter_is_named(work: Work) -> None:
    corpus = opened(work.folder)
    step = Step(corpus, corpus.graph["short_documents"], ["books--one"], force=True)
    (decision,) = step.due
    job = corpus.jobs(step.planner).job(step.stage, decision.partition)
    outcome = run_job(type(job)(**{**job.__dict__, "parameters": {}}))
    assert outcome.error is not None
    assert "reads 'short_documents.threshold' but does not list it" in outcome.error


def test_any_corpus_gets_an_instance_that_sends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home"))
    home = prepare(tmp_path)
    assert yaml.safe_load((home / "dagster.yaml").read_text()) == DEFAULTS
    assert yaml.safe_load((ROOT / "dagster.yaml").read_text()) == DEFAULTS


def test_a_port_in_use_is_named(work: Work) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(ConfigError, match=f"127.0.0.1:{port} is not free"):
            serve(opened(work.folder), None, "127.0.0.1", port)


@pytest.mark.parametrize("host", ["256.1.1.1", "192.0.2.1"])
def test_a_host_that_is_no_address_of_this_machine_is_not_called_a_port_in_use(host: str) -> None:
    with pytest.raises(ConfigError, match=f"--host {host}: no address of this machine"):
        require_free(host, 0)


def test_who_names_a_configuration_that_is_not_there_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(CONFIG_VARIABLE, raising=False)
    with pytest.raises(ConfigError, match=r"corpus\.yaml: there is no such file, and neither --config nor"):
        Corpus.open()
    monkeypatch.setenv(CONFIG_VARIABLE, "gone.yaml")
    with pytest.raises(ConfigError, match=r"gone\.yaml: there is no such file, and \$CORPUS_CONFIG names it"):
        Corpus.open()


def test_a_location_that_is_no_folder_is_told_from_one_that_is_not_there(work: Work) -> None:
    work.config(**{"sources.0.location": "raw/gone"})
    with pytest.raises(ConfigError, match=r"sources\.books\.location: '.*gone' is not there"):
        opened(work.folder).listing()
    work.config(**{"sources.0.location": "raw/books/one.jsonl"})
    with pytest.raises(ConfigError, match=r"not a folder but a file; valid: its folder, with `glob: one\.jsonl`"):
        opened(work.folder).listing()


def test_a_variable_that_is_not_set_is_named(work: Work) -> None:
    work.config(**{"sources.0.location": "${NO_SUCH_PLACE}/books"})
    with pytest.raises(ConfigError, match=r"\$\{NO_SUCH_PLACE\} stands for nothing: no such variable is set"):
        opened(work.folder).listing()


@pytest.mark.parametrize("root", ["corpus.yaml", "corpus.yaml/below"])
def test_a_file_where_the_store_should_be_is_a_fault_of_the_configuration(work: Work, root: str) -> None:
    work.config(**{"storage.root": root})
    with pytest.raises(ConfigError, match=r"storage\.root: received '.*', but .*corpus\.yaml is not a folder"):
        opened(work.folder)
