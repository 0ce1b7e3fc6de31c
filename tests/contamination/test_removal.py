"""`on_contamination`: what becomes of documents that hold items, and of all that is made of them."""

from pathlib import Path
from typing import Any

import pytest

from corpus_assets.corpus.corpus import Corpus
from tests.build.small import Built, digests, drive, opened, prose, write_raw, write_small
from tests.contamination.planted import FACTS, SUMS, configure, item, partitions, write_items

SPLITS = ("train", "holdout")


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A corpus with a document that holds two items, one that holds a third of one, and one that is an item."""
    write_small(tmp_path)
    third = " ".join(item("fact", 60).split()[:20])
    texts = {
        "whole": f"{prose('a')}\n{item('fact', 60)}\n{prose('b')}\n{item('sum')} {item('sum')}\n{prose('c')}",
        "third": f"{prose('d')}\n{third}\n{prose('e')}",
        "nothing else": item("fact", 60),
    }
    write_raw(tmp_path, "books/planted.jsonl", [{"id": name, "text": text} for name, text in texts.items()])
    write_items(tmp_path, "facts/test.jsonl", [{"id": "f", "text": item("fact", 60)}])
    write_items(tmp_path, "sums/test.jsonl", [{"id": "s", "question": item("sum"), "answer": ""}])
    return tmp_path


def built(folder: Path, action: str, **changes: Any) -> Corpus:
    corpus = configure(folder, [FACTS, SUMS], on_contamination=action, **changes)
    done = rebuilt(corpus)
    assert done.failed == [], done.failed
    assert done.waiting == [], done.waiting
    return corpus


def rebuilt(corpus: Corpus) -> Built:
    """Build all up to the splits."""
    return drive(corpus, corpus.graph.select([f"+{name}" for name in (*SPLITS, "contamination_report")]))


def texts(corpus: Corpus, *assets: str) -> dict[str, str]:
    """The texts of the planted documents in assets, by id."""
    found = (partition.documents() for asset in assets for partition in partitions(corpus, asset).values())
    return {document.id: document.text for documents in found for document in documents if document.id in WHOLE + THIRD}


WHOLE, THIRD = ["whole", "nothing else"], ["third"]


@pytest.mark.parametrize(("share", "left"), [(0.5, THIRD), (0.3, [])])
def test_documents_are_removed_before_the_split(planted: Path, share: float, left: list[str]) -> None:
    corpus = built(planted, "remove_document", contamination__share=share)
    assert sorted(texts(corpus, *SPLITS)) == left
    record = corpus.ledger.read("filtered_documents", "books--planted")
    assert record is not None
    assert record.statistics["dropped"] == {"contamination": 3 - len(left)}
    examples = record.statistics["dropped_examples"]
    assert "books/whole: contamination: 1.00 of item 0 of facts_1_0" in examples


def test_spans_are_removed_before_the_split(planted: Path) -> None:
    corpus = built(planted, "remove_span")
    found = texts(corpus, "filtered_documents")
    assert found["whole"] == f"{prose('a')}\n.\n{prose('b')}\n. .\n{prose('c')}"
    assert found["nothing else"] == "."
    assert item("fact", 60)[:80] in found["third"]
    assert sorted(texts(corpus, *SPLITS)) == ["third", "whole"]


def test_a_report_leaves_the_graph_and_everything_made_as_it_was(planted: Path) -> None:
    corpus = built(planted, "report")
    assert "filtered_documents" not in corpus.graph.stages
    assert sorted(texts(corpus, *SPLITS)) == ["nothing else", "third", "whole"]


def test_the_plan_says_why_documents_are_filtered_again(planted: Path) -> None:
    built(planted, "remove_document")
    corpus = configure(planted, [FACTS, SUMS], on_contamination="remove_span")
    reasons = {d.reason for d in corpus.planner().plan([corpus.graph["filtered_documents"]]).decisions}
    assert reasons == {"on_contamination remove_document -> remove_span"}


def test_an_item_that_is_nowhere_changes_nothing_that_is_filtered(planted: Path) -> None:
    before = digests(built(planted, "remove_document"))
    write_items(planted, "facts/unheld.jsonl", [{"id": "new", "text": item("nowhere", 40)}])
    done = rebuilt(opened(planted))
    assert done.failed == []
    assert done.assets() & {"filtered_documents", "minhashes", "mixed_pass1", "train"} == set()
    assert {name: before[name] for name in before if name[0] == "train"} == {
        name: digest for name, digest in digests(opened(planted)).items() if name[0] == "train"
    }


def test_a_found_item_recomputes_what_held_it(planted: Path) -> None:
    built(planted, "remove_document")
    rows = partitions(opened(planted), "normalized_documents")["web--b"].documents()
    write_items(planted, "facts/unheld.jsonl", [{"id": "new", "text": next(rows).text}])
    done = rebuilt(opened(planted))
    assert done.of("filtered_documents") == {"web--b"}


def test_a_filter_may_name_what_was_found(planted: Path) -> None:
    rules = {"contamination.facts_1_0.share": {"max": 0.3, "absent": "keep"}}
    corpus = built(planted, "report", filter={"rules": rules})
    assert texts(corpus, "filtered_documents") == {}
