"""The gate of licences, and the counts of pass 1, through the stages of a corpus."""

from pathlib import Path
from typing import Any

import pytest

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.licences.documents import MOST, NONE, OTHERS, Count
from resources.errors import ConfigError
from tests.data.building import build, documents, dropped, open_corpus, records, write_rows

LICENCES = ["MIT License", "mit", "GPL-3.0-only", "MIT OR GPL-3.0-only", None, "Terms of my own"]


def corpus(folder: Path, *, licence_key: str | None = "license", **changes: Any) -> Corpus:
    rows = [
        {"id": f"own-{n}", "text": f"word{n} " * 60, "metadata": {"license": licence} if licence else {"path": "x"}}
        for n, licence in enumerate(LICENCES)
    ]
    write_rows(folder / "raw" / "own" / "a.jsonl", rows)
    write_rows(folder / "raw" / "all" / "a.jsonl", [{"id": f"all-{n}", "text": f"other{n} " * 70} for n in range(3)])
    sources = [
        {"name": "own", "location": "raw/own", **({"licence_key": licence_key} if licence_key else {})},
        {"name": "all", "location": "raw/all", "licence": "Apache Software License"},
    ]
    made = open_corpus(folder, {"sources": sources, "short_documents": {"threshold": 0}, **changes})
    build(made, ["+mixed_pass1"])
    return made


def kept(made: Corpus, asset: str = "filtered_documents") -> set[str]:
    return {document.id for document in documents(made, asset)}


def test_documents_with_other_licences_are_held_back_and_counted(tmp_path: Path) -> None:
    made = corpus(tmp_path, licences={"allow": ["MIT", "Apache-2.0"]})
    assert kept(made) == {"own-0", "own-1", "own-3", "all-0", "all-1", "all-2"}
    assert dropped(made, "filtered_documents") == {"licence": 3}
    examples = [
        line for record in records(made, "filtered_documents") for line in record.statistics.get("dropped_examples", [])
    ]
    assert examples == [
        "own/own-2: licence: GPL-3.0-only",
        "own/own-4: licence: no licence stated",
        "own/own-5: licence: Terms of my own",
    ]


def test_documents_without_a_licence_stay_if_asked(tmp_path: Path) -> None:
    made = corpus(tmp_path, licences={"allow": ["MIT", "apache*"], "without": "keep"})
    assert kept(made) == {"own-0", "own-1", "own-3", "own-4", "all-0", "all-1", "all-2"}


def test_pass_1_counts_documents_and_bytes_by_licence(tmp_path: Path) -> None:
    made = corpus(tmp_path)
    of_own, of_all = (record.statistics.get("licences") for record in records(made, "mixed_pass1"))
    assert of_all is None
    assert of_own is not None
    assert {name: found["documents"] for name, found in of_own.items()} == {
        "MIT": 2,
        "GPL-3.0-only": 1,
        "MIT OR GPL-3.0-only": 1,
        NONE: 1,
        "Terms of my own": 1,
    }
    (record,) = (record for record in records(made, "mixed_pass1") if record.partition == "own--a")
    assert sum(found["text_bytes"] for found in of_own.values()) == record.statistics["text_bytes"]


def test_a_corpus_without_licences_keeps_its_recipes(tmp_path: Path) -> None:
    made = corpus(tmp_path, licence_key=None)
    assert "filtered_documents" not in made.graph.stages
    assert all("licence" not in name for record in records(made, "mixed_pass1") for name in record.parameters)


def test_a_dataset_with_files_under_another_licence_is_refused(tmp_path: Path) -> None:
    (tmp_path / "raw" / "chat").mkdir(parents=True)
    dataset = {"name": "chat", "input": {"location": "raw/chat", "licence": "GPL-3.0-only"}}
    with pytest.raises(ConfigError, match=r"datasets.chat.input.licence: received 'GPL-3.0-only'; .* MIT"):
        corpus(tmp_path, licences={"allow": ["MIT"]}, datasets=[dataset])


def test_many_licences_are_counted_in_bounded_memory() -> None:
    count = Count()
    for number in range(3 * MOST):
        count.add(f"terms {number}", number)
    found = count.numbers()
    assert len(found) == MOST + 1
    assert found[OTHERS]["documents"] == 2 * MOST
    assert sum(one["text_bytes"] for one in found.values()) == sum(range(3 * MOST))
