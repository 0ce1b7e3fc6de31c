"""Pages about documents whose ids were given in files: they have no text, and everything else."""

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from corpus_assets.viewer.app import standing_alone
from tests.build.small import drive
from tests.token_files import writing
from tests.token_files.given import corpus_of


@pytest.fixture
def pages(tmp_path: Path) -> TestClient:
    (tmp_path / "tokens").mkdir()
    writing.megatron(tmp_path / "tokens", [[999, 0], [*range(20, 60), 0], [8, 0]])
    corpus = corpus_of(tmp_path, {"format": "megatron"}, format="parquet", sequence_length=8)
    assert drive(corpus, corpus.graph.select(["+again_manifest"])).failed == []
    return TestClient(standing_alone(tmp_path / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1")


def test_a_search_leads_to_the_way_of_a_document(pages: TestClient) -> None:
    found = pages.get("/corpus/search", params={"q": "a.bin:1"})
    (href,) = set(re.findall(r'href="(/corpus/why\?[^"]+)"', found.text.replace("&amp;", "&")))
    way = pages.get(href)
    assert way.status_code == 200
    assert "again_token_stream" in way.text
    assert "windows 0 to 4 of" in way.text


def test_a_number_that_there_is_not_is_refused(pages: TestClient) -> None:
    refused = pages.get("/corpus/why", params={"shard": "again--a", "number": 2})
    assert (refused.status_code, "again--a has 2 documents" in refused.text) == (404, True)


def test_the_tokens_of_a_file_are_shown_by_the_names_of_ids(pages: TestClient) -> None:
    shown = pages.get("/corpus/tokens/again")
    assert shown.status_code == 200
    assert "&lt;20&gt;" in shown.text
    assert "again--a" in pages.get("/corpus/assets/again_token_stream/again--a").text
