"""A small corpus with everything that a report shows, built with its report."""

import shutil
from pathlib import Path

import pytest

from corpus_assets.corpus.corpus import Corpus
from tests.build.small import drive, opened, prose, raw_rows, write_config, write_raw

HOSTILE = "</script><script>alert(1)</script><!-- <b onclick='x'>\"&amp;\x00\u202e "


def build(folder: Path) -> Corpus:
    corpus = opened(folder)
    built = drive(corpus, list(corpus.graph))
    assert not built.failed
    assert not built.waiting
    return corpus


def write_hostile(folder: Path) -> None:
    """The small corpus, in which a cluster, an id, a benchmark item and a name of the corpus try to be markup."""
    for path, rows in raw_rows().items():
        if path in ("books/one.jsonl", "web/b.jsonl.zst"):
            text = HOSTILE + prose("hostile")
            rows[0] |= {"id": HOSTILE + path, "text": text if path.startswith("books") else text[:-1] + " more."}
        write_raw(folder, path, rows)
    (folder / "raw/exam").mkdir(parents=True)
    (folder / "raw/exam/items.jsonl").write_text('{"id": "<i>1</i>", "text": "' + prose("books/three.jsonl 1") + '"}\n')
    write_config(
        folder,
        {
            "benchmarks": [{"name": "exam", "location": "raw/exam"}],
            "attributes": [{"name": "quality", "taggers": ["char_length_v1"]}],
            "filter": {"rules": {"quality.char_length_v1.length": {"min": 1}}},
            "sources.0.licence": HOSTILE,
        },
    )


@pytest.fixture(scope="session")
def built_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reported")
    write_hostile(folder)
    build(folder)
    return folder


@pytest.fixture
def folder(built_once: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "work"
    shutil.copytree(built_once, copy)
    return copy
