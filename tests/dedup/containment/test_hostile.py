"""Inputs made to break containment and templates: they are compared in bounded time, and what is left out is told."""

from pathlib import Path
from typing import Any

import pytest

from corpus_assets.dedup.containment import candidates
from corpus_assets.dedup.containment.holders import ALL
from corpus_assets.dedup.containment.samples import ASKED
from corpus_assets.orchestration.building.notes import build_notes
from resources.stage.partition import Partition
from tests.build.small import opened, prose
from tests.build.test_near_duplicates import kept_for, partitions
from tests.dedup.containment.test_rule import corpus

BOTH = {"dedup__template_share": 0.5, "dedup__max_loss": 1.0}


def counted(folder: Path, asset: str, key: str) -> int:
    found: list[Partition] = partitions(opened(folder), asset)
    return sum(one.record.statistics[key] for one in found)


@pytest.mark.parametrize("more", [{}, BOTH])
def test_texts_of_one_letter_and_of_equal_lines(tmp_path: Path, more: dict[str, Any]) -> None:
    line = prose("line", 12)
    documents = {
        "letter": "a" * 2_000_000,
        "letters": "a" * 300,
        "lines": f"{line}\n" * 20_000,
        "few lines": f"{line}\n" * 5,
        "other": prose("other", 100),
    }
    folder = corpus(tmp_path, documents, "either", **more)
    gone = kept_for(folder)
    assert len({gone.get(name, name) for name in ("letter", "letters")}) == 1
    assert len({gone.get(name, name) for name in ("lines", "few lines")}) == 1
    assert "other" not in gone


@pytest.mark.slow
def test_a_text_of_one_letter_of_fifty_megabytes_and_a_million_equal_lines(tmp_path: Path) -> None:
    documents = {"letter": "a" * 50_000_000, "lines": "the same line again\n" * 1_000_000, "few": "a" * 500}
    folder = corpus(tmp_path, documents, "either", **BOTH, engine__memory="1 GiB")
    assert len({kept_for(folder).get(name, name) for name in ("letter", "few")}) == 1


def test_a_frame_shared_by_all_documents_gives_each_a_bounded_number_of_pairs(tmp_path: Path) -> None:
    frame, count = prose("frame", 150), 1200
    documents = {f"r{number}": f"{frame} {prose(f'own {number}', 60)}" for number in range(count)}
    folder = corpus(tmp_path, documents)
    assert kept_for(folder) == {}
    assert counted(folder, "containment_candidates", "rows_out") <= ASKED * ALL * 2 * count
    assert counted(folder, "contained_pairs", "compared") <= candidates.MOST * count


def test_what_is_not_compared_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "MOST", 3)
    frame, count = prose("frame", 300), 400
    documents = {f"r{number}": f"{frame} {number * 7919:x}" for number in range(count)}
    folder = corpus(tmp_path, documents, dedup__max_loss=1.0)
    assert counted(folder, "contained_pairs", "compared") <= 3 * count
    left_out = counted(folder, "contained_pairs", "not_compared")
    assert left_out > 0
    notes = [note for note in build_notes(opened(folder).planner()) if note.startswith("containment")]
    assert notes == [f"containment: {left_out:,} pairs were not compared, since a document is compared with 64 at most"]
    assert len(kept_for(folder)) == count - 1


@pytest.mark.parametrize("rule", ["contained", "either"])
def test_a_corpus_without_documents(tmp_path: Path, rule: str) -> None:
    folder = corpus(tmp_path, {}, rule, **BOTH)
    assert kept_for(folder) == {}
