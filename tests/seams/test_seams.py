"""One of each that may be added: a tagger, an exporter, an engine, a store, from one file each beside corpus.yaml."""

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import resources
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.verification.verify import verify
from resources.errors import ConfigError
from resources.formats.hdf5.reader import read_hdf5
from resources.stage.partition import Partition
from tests.build.small import digests, drive, opened, prose, write_config, write_raw, write_small

OWN = Path(__file__).parent / "own"
MODULES = sorted(file.stem for file in OWN.glob("my_*.py"))
TAGGER = {
    "stages": ["my_tagger"],
    "own": {"questions": {"most": 2}},
    "mix.leave_out": ["short_documents", "duplicates", "questions"],
}
EXPORTER = {"stages": ["my_exporter"]}
ENGINE = {"engine": {"kind": "my_engine:open_threads", "options": {"threads": 3}}}
STORE = {"storage": {"kind": "my_store:open_sqlite", "root": "all", "options": {"suffix": "sqlite"}}}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A small corpus with one module of each kind beside it."""
    for name in MODULES:
        shutil.copy(OWN / f"{name}.py", tmp_path)
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    write_small(tmp_path)
    yield tmp_path
    for name in MODULES:
        sys.modules.pop(name, None)


def built(folder: Path, changes: Mapping[str, Any]) -> Corpus:
    """The corpus with other values, built; nothing failed, and a second build finds nothing to do."""
    write_config(folder, changes)
    corpus = opened(folder)
    done = drive(corpus)
    assert (done.failed, done.waiting) == ([], [])
    assert drive(opened(folder)).recomputed == set()
    return corpus


@pytest.mark.parametrize("name", MODULES)
def test_the_public_face_is_enough(name: str) -> None:
    tree = ast.parse((OWN / f"{name}.py").read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    ours = {module for module in modules if module and module.partition(".")[0] in ("resources", "corpus_assets")}
    assert ours == {"resources"}


def test_every_name_of_the_face_can_be_imported() -> None:
    for name in resources.__all__:
        assert getattr(resources, name) is not None
    assert set(resources.__all__) <= set(dir(resources))
    with pytest.raises(AttributeError, match="has no attribute 'Stagge'; it has: "):
        _ = resources.Stagge


def test_a_tagger(folder: Path) -> None:
    asking = [{"id": f"asks-{n}", "text": f"{prose(n)} {'Why? ' * n}"} for n in range(6)]
    write_raw(folder, "books/asking.jsonl", asking)
    corpus = built(folder, TAGGER)
    record = corpus.ledger.read("mixed_pass1", "books--asking")
    assert record is not None
    assert record.statistics["dropped"] == {"questions": 3}
    write_config(folder, {**TAGGER, "own": {"questions": {"most": 4}}})
    stale = {d.asset for d in opened(folder).planner().plan().decisions if d.status == "stale"}
    assert stale == {"questions"}
    drive(opened(folder))
    record = opened(folder).ledger.read("mixed_pass1", "books--asking")
    assert record is not None and record.statistics["dropped"] == {"questions": 1}


def test_a_tagger_that_flags_nothing_leaves_the_mix_as_it_was(folder: Path) -> None:
    before = digests(built(folder, {}))
    after = digests(built(folder, {**TAGGER, "own": {"questions": {"most": 1000}}}))
    assert {name: digest for name, digest in after.items() if name[0] != "questions"} == before


def test_an_exporter(folder: Path) -> None:
    corpus = built(folder, EXPORTER)
    for key, record in corpus.ledger.records("validation_flat").items():
        tokens = corpus.ledger.read("validation_tokens", key)
        assert tokens is not None
        files = [file for file in tokens.files if not file.derived]
        assert [file.rows for file in record.files] == [file.rows for file in files]
        for file in files:
            with Partition(corpus.storage, tokens).open(file.path) as raw, read_hdf5(raw) as rows:
                expected = rows[:][:, 0].astype("<u2").tobytes()
            with Partition(corpus.storage, record).open(".bin") as flat:
                assert flat.read() == expected
    assert verify(corpus, deep=True).bad == []


def test_an_engine_makes_the_same(folder: Path) -> None:
    expected = digests(built(folder, {}))
    shutil.rmtree(folder / "corpus")
    assert digests(built(folder, ENGINE)) == expected


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_a_store_holds_the_same(folder: Path, workers: int) -> None:
    expected = digests(built(folder, {}))
    shutil.rmtree(folder / "corpus")
    corpus = built(folder, {**STORE, "engine": {"workers": workers}})
    assert digests(corpus) == expected
    assert not (folder / "corpus").exists()
    assert not (folder / "all").exists()
    assert verify(corpus, deep=True).bad == []


@pytest.mark.slow
def test_the_command_works_on_a_store_of_ones_own(folder: Path) -> None:
    write_config(folder, {**STORE, **EXPORTER})
    for command in ("build", "plan --check", "show validation_tokens chunk-0000", "verify --deep", "clean"):
        run = [str(Path(sys.executable).with_name("corpus")), *command.split()]
        done = subprocess.run(run, cwd=folder, check=False, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        if command == "build":
            assert f"The corpus is in sqlite://{folder / 'all.sqlite'}" in done.stdout.replace("\n", "")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"engine": {"kind": "spark"}},
            "engine.kind: received 'spark'; valid: 'local', 'ray', or module:function of your",
        ),
        ({"storage": {"kind": "tape"}}, "storage.kind: received 'tape'; valid: 'local', 's3', or module"),
        ({"engine": {"kind": "my_engin:open_threads"}}, "engine.kind: module 'my_engin' cannot be imported: "),
        ({"storage": {"kind": "my_store:open"}}, "storage.kind: module 'my_store' has no 'open'"),
        ({"own": {"questions": {"most": 2}}}, "own.questions.most: no stage reads it; declared are none"),
        (
            {**TAGGER, "own": {"questions": {"moost": 2}}},
            "own.questions.moost: no stage reads it; declared are own.questions",
        ),
        ({"mix.leave_out": ["nothing_like_it"]}, "mix.leave_out: no asset named 'nothing_like_it'"),
        ({"mix.leave_out": ["minhashes"]}, "mix.leave_out: 'minhashes' is not an attribute"),
    ],
)
def test_what_cannot_be_opened_is_said(folder: Path, changes: Mapping[str, Any], message: str) -> None:
    write_config(folder, changes)
    with pytest.raises(ConfigError) as found:
        _ = opened(folder).engine
    assert message in str(found.value)
