"""Clusters are those of the ledger, and what only one of two texts has is marked."""

import html
import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from corpus_assets.html.comparing import compared
from resources.stage.partition import Partition
from tests.build.small import opened

WORDS = st.lists(st.sampled_from(["a", "b", "c", "the", "cat", "sat", ".", "\n"]), max_size=40).map(" ".join)


def test_every_cluster_is_listed_once_largest_first(pages: TestClient, built_once: Path) -> None:
    corpus = opened(built_once)
    record = corpus.ledger.read("components", None)
    assert record is not None
    table = Partition(corpus.storage, record).array("clusters.npy")
    page = pages.get("/corpus/duplicates").text
    sizes = [int(size) for size in re.findall(r">(\d+) documents, of which", page)]
    assert sizes == sorted((int(size) for member, kept, size in table if member == kept), reverse=True)


def test_clusters_of_a_source_and_in_a_random_order(pages: TestClient) -> None:
    every = set(re.findall(r'href="(/corpus/duplicates/[^"]+)"', pages.get("/corpus/duplicates").text))
    mixed = re.findall(r'href="(/corpus/duplicates/[^"]+)"', pages.get("/corpus/duplicates?order=random&seed=4").text)
    assert set(mixed) == every
    of_books = re.findall(r'href="(/corpus/duplicates/[^"]+)"', pages.get("/corpus/duplicates?source=books").text)
    assert set(of_books) == {one for one in every if "books--" in one}
    assert pages.get("/corpus/duplicates?source=nobody").status_code == 400


def test_a_cluster_shows_the_text_kept_beside_one_that_went(pages: TestClient) -> None:
    page = pages.get("/corpus/duplicates/books--one?row=2").text
    assert "<del> ending</del>" in page
    assert page.count("<ins>") == page.count("<del>") == 1 or "<ins>" in page
    assert "A cluster of 3 documents" in page
    assert html.unescape(page).count("resemblance about") == 1
    assert pages.get("/corpus/duplicates/books--one?row=2&member=1").status_code == 200
    assert pages.get("/corpus/duplicates/books--one?row=2&member=2").status_code == 400


def test_a_document_that_is_kept_of_no_cluster_is_refused(pages: TestClient) -> None:
    for address in ("books--one?row=7", "books--one?row=99999", "nothing?row=0", "..%2f..?row=0"):
        assert pages.get(f"/corpus/duplicates/{address}").status_code == 404


@given(WORDS, WORDS)
def test_pieces_make_the_texts_and_common_pieces_are_equal(first: str, second: str) -> None:
    left, right = compared(first, second)
    assert "".join(text for text, _ in left) == first
    assert "".join(text for text, _ in right) == second
    common = [" ".join("".join(text for text, same in side if same).split()) for side in (left, right)]
    assert common[0].replace(" ", "") == common[1].replace(" ", "")


@given(WORDS)
def test_a_text_is_like_itself_however_it_is_spaced(text: str) -> None:
    left, right = compared(text, text.replace(" ", "  "))
    assert all(same for _, same in (*left, *right))


def test_a_changed_word_is_all_that_is_marked() -> None:
    left, right = compared("The cat sat on the mat.", "The cat lay on the mat.")
    assert [text for text, same in left if not same] == [" sat"]
    assert [text for text, same in right if not same] == [" lay"]


def test_texts_that_a_plain_comparison_would_take_hours_for() -> None:
    """Few words, each very often; and all words in the other order."""
    numbers = " ".join(map(str, range(20_000)))
    for first, second in (("a b " * 20_000, "b a " * 20_000), (numbers, " ".join(numbers.split()[::-1]))):
        left, right = compared(first, second)
        assert "".join(text for text, _ in left) == first
        assert "".join(text for text, _ in right) == second
