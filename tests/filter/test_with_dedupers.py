"""A deduper looks at the documents that stay, unless a rule of the filter asks for what it finds."""

from pathlib import Path
from typing import Any

import pytest

from tests.build.small import drive
from tests.filter.corpora import documents, filtered, small, write_texts

TEXT: dict[str, Any] = {"name": "same", "by": "text"}


def test_repetitions_are_those_among_the_documents_that_stay(tmp_path: Path) -> None:
    corpus = small(tmp_path, {"min_text_length": 1}, dedupers=[TEXT], **{"mix.leave_out": ["same_attributes"]})
    assert {stage.name for stage in corpus.graph.readers("filtered_documents")} >= {"same_hashes", "same_attributes"}
    done = drive(corpus)
    assert (done.failed, done.waiting) == ([], [])


def test_a_rule_drops_what_was_there_before(tmp_path: Path) -> None:
    section = {"rules": {"same.text.duplicate": {"max": 0, "absent": "keep"}}}
    corpus = small(tmp_path, section, dedupers=[TEXT])
    write_texts(tmp_path, ["the same words", "other words", "the same words"])
    read = {stage.name for stage in corpus.graph.readers("normalized_documents")}
    assert read >= {"same_hashes", "same_attributes", "filtered_documents"}
    found = [document.text for document in documents(filtered(corpus), "filtered_documents")]
    assert len(found) == len(set(found))
    assert found.count("the same words") == 1
    assert len(documents(corpus, "normalized_documents")) > len(found)


@pytest.mark.parametrize("by", ["text", "paragraphs"])
def test_marks_are_integers_with_compat(by: str, tmp_path: Path) -> None:
    for name, whole in (("as_dolma", "dolma"), ("ours", None)):
        deduper = {**TEXT, "by": by, "compat": whole, "attribute": "again"}
        section = {"exclude": ["$.attributes[?(@.again[0][2] >= 1)]"], "attributes": ["same"], "compat": "dolma"}
        corpus = small(tmp_path / name, section, dedupers=[deduper])
        write_texts(tmp_path / name, ["the same words", "the same words"])
        left = [document.text for document in documents(filtered(corpus), "filtered_documents")]
        assert left.count("the same words") == (1 if whole else 2)
