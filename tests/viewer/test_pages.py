"""Every page of a built corpus is shown, its links lead somewhere, and what it says is what the ledger says."""

import html
import json
import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from corpus_assets import numbers
from corpus_assets.viewer.opened import View
from resources.errors import ReadOnlyError
from resources.ledger.records import partition_name
from resources.stage.partition import Partition
from tests.build.small import live_records, opened

LINKS = re.compile(r'(?:href|src)="([^"#]+)')


def links(content: str) -> set[str]:
    return {html.unescape(found) for found in LINKS.findall(content)} - {"data:,"}


def test_the_overview_has_every_source_dataset_and_stage(pages: TestClient, built_once: Path) -> None:
    shown = pages.get("/corpus/").text
    corpus = opened(built_once)
    for stage in corpus.graph:
        assert f'href="/corpus/assets/{stage.name}"' in shown
    for source in corpus.config.sources:
        assert f">{source.name}<" in shown
    for dataset in corpus.config.datasets:
        assert f'href="/corpus/tokens/{dataset.name}"' in shown
    assert "<td>fresh</td>" in shown


def test_the_overview_says_how_full_rows_are_as_data_params_does(pages: TestClient, built_once: Path) -> None:
    shown = re.sub(r"<[^>]+>", " ", pages.get("/corpus/").text)
    for params in sorted((built_once / "corpus" / "tokens").glob("*/data_params.json")):
        found = json.loads(params.read_bytes())["post-process"]
        wanted = [params.parent.name, ".*?", numbers.count(found["non_pad_tokens"]), r"\s+", r"[\d,]+", r"\s+"]
        assert re.search("".join(wanted) + re.escape(numbers.share(found["fill"])), shown), (params.parent.name, found)


def test_every_link_of_every_page_leads_to_a_page(pages: TestClient) -> None:
    waiting, seen = ["/corpus/"], {"/corpus/report"}
    while waiting and len(seen) < 300:
        address = waiting.pop()
        seen.add(address)
        answer = pages.get(address)
        assert answer.status_code == 200, f"{address}: {answer.text[-300:]}"
        if answer.headers["content-type"].startswith("text/html"):
            waiting += sorted(links(answer.text) - seen - set(waiting))
    assert len(seen) > 100


def test_every_partition_has_a_page_with_its_record(pages: TestClient, built_once: Path) -> None:
    for (asset, key), record in live_records(opened(built_once)).items():
        address = f"/corpus/assets/{asset}" + (f"/{key}" if key else "")
        answer = pages.get(address)
        assert answer.status_code == 200, partition_name(asset, key)
        assert record.recipe in answer.text
        assert record.digest in answer.text


def test_a_document_is_shown_whole_with_what_is_known_of_it(pages: TestClient, built_once: Path) -> None:
    corpus = opened(built_once)
    for key, record in corpus.ledger.records("normalized_documents").items():
        for row, document in enumerate(Partition(corpus.storage, record).documents()):
            shown = pages.get(f"/corpus/documents/normalized_documents/{key}?row={row}").text
            assert html.escape(document.text, quote=False) in re.sub(r"</?mark[^>]*>", "", shown)
            assert document.id in shown


def test_a_duplicate_names_the_document_that_was_kept(pages: TestClient) -> None:
    shown = pages.get("/corpus/documents/duplicates/books--two?row=0").text
    assert "kept instead" in shown
    assert "/corpus/duplicates/books--one?row=0" in shown


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        ("/corpus/assets/normalized_docs", 404, "did you mean &#39;normalized_documents&#39;"),
        ("/corpus/assets/normalized_documents/books--nine", 404, "is not built"),
        ("/corpus/documents/normalized_documents/books--one?row=99", 400, "valid is a whole number from 0 to 8"),
        ("/corpus/documents/normalized_documents/books--one?row=x", 400, "valid is a whole number"),
        ("/corpus/documents/mixed_pass1/books--one", 404, "no rows to show one by one"),
        ("/corpus/nothing", 404, "no such page"),
    ],
)
def test_what_there_is_not_is_said(pages: TestClient, address: str, status: int, words: str) -> None:
    answer = pages.get(address)
    assert answer.status_code == status
    assert words in answer.text


def test_the_viewer_has_no_way_to_write(built_once: Path) -> None:
    corpus = View(built_once / "corpus.yaml").corpus
    assert corpus.ledger.storage is corpus.storage
    for enter in (corpus.exclusive, corpus.building):
        with pytest.raises(ReadOnlyError, match="opened to be read only"), enter():
            pytest.fail("the store was held")
    with pytest.raises(ReadOnlyError, match=r"was asked to remove ledger/components/_\.json"):
        corpus.ledger.forget("components", None)
