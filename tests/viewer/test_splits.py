"""The split of a document is the one that the stored splits have it in; documents are asked for by it."""

import html
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from corpus_assets.filter.assets import READ
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.tables import count_of
from corpus_assets.tracing.way import way_of_document
from corpus_assets.viewer.app import standing_alone
from corpus_assets.viewer.listing.splits import NONE, NOT_KNOWN, SPLITS
from tests.build.small import drive, opened, prose, write_config, write_raw

CARD = re.compile(r'<h2><a href="[^"]+">([^<]+)</a></h2>\n<p class="soft"><a [^>]+>[^<]+</a>(?: <span [^>]+>([^<]+)<)?')
WAYS = {"decontaminated_train": "train", "validation": "validation", "test": "test"}


def built(folder: Path, split: Mapping[str, Any]) -> Path:
    """Two sources with the same texts, as duplicates stay, and one of short texts."""
    texts = [{"id": str(number), "text": prose(number, 60)} for number in range(24)]
    write_raw(folder, "books/one.jsonl", [*texts, {"id": "short", "text": "a b"}])
    write_raw(folder, "web/one.jsonl", texts)
    sources = [{"name": name, "location": f"raw/{name}"} for name in ("books", "web")]
    changes = {
        "sources": sources,
        "split": split,
        "datasets": [],
        "mix": {"chunks": 2, "leave_out": ["short_documents"]},
    }
    write_config(folder, changes)
    corpus = opened(folder)
    done = drive(corpus, corpus.graph.select(["+decontaminated_train", "+validation", "+test"]))
    assert (done.failed, done.waiting) == ([], [])
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("splits"), {"holdout": 0.4, "validation": 0.5})


def by_way(folder: Path) -> dict[str, str]:
    """The split that each document's way through the stored partitions ends in."""
    look, found = Look(opened(folder)), {}
    for made in look.partitions(READ):
        for number in range(count_of(made)):
            way = way_of_document(look, made.key or "", number)
            last = way.steps[-1]
            lost = "text in holdout" if last.reason == "text_in_holdout" else ""
            found[f"{way.origin.source} / {way.origin.id}"] = lost or WAYS.get(last.stage, "")
    return found


def listed(folder: Path, **asked: str) -> dict[str, str]:
    client = TestClient(standing_alone(folder / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1")
    found: dict[str, str] = {}
    answer = client.get("/corpus/documents", params=asked)
    while True:
        assert answer.status_code == 200, answer.text[-500:]
        found |= {html.unescape(name): split for name, split in CARD.findall(answer.text)}
        further = re.search(r'<a href="([^"]+)" rel="next">', answer.text)
        if further is None:
            return found
        answer = client.get(html.unescape(further[1]))


def test_each_document_has_the_split_that_its_way_ends_in(folder: Path) -> None:
    wanted = by_way(folder)
    assert set(wanted.values()) == {*SPLITS, ""}
    assert listed(folder) == wanted


@pytest.mark.parametrize("split", SPLITS)
def test_a_split_is_asked_for(folder: Path, split: str) -> None:
    wanted = {name for name, found in by_way(folder).items() if found == split}
    assert wanted
    assert set(listed(folder, split=split)) == wanted


def test_a_document_that_was_dropped_is_in_none(folder: Path) -> None:
    assert listed(folder, split=NONE) == {"books / short": ""}


def test_a_split_by_places_in_chunks_is_not_known_of_a_document(tmp_path: Path) -> None:
    folder = built(tmp_path, {"method": "slimpajama", "holdout": 0.3})
    assert set(listed(folder).values()) == {""}
    assert len(listed(folder, split=NOT_KNOWN)) == 48
