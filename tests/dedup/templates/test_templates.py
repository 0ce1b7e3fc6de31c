"""`dedup.template_share` through whole builds, and the shingles it leaves out against plain sets."""

import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from corpus_assets.dedup.signatures.scheme import SignatureScheme
from corpus_assets.dedup.templates import counting
from corpus_assets.orchestration.building.notes import build_notes
from corpus_assets.viewer.app import standing_alone
from resources.errors import ConfigError
from resources.stage.partition import Partition
from tests.audit.test_audit import make_report, report_page
from tests.build.small import contents, near, opened, prose
from tests.build.test_near_duplicates import built, kept_for, write_shards
from tests.dedup.oracles import shingles, window_hashes

SCHEME = SignatureScheme()
FRAME = prose("frame", 200)


def record(number: int, words: int = 20) -> str:
    return f"{FRAME[:700]} {prose(f'own {number}', words)} {FRAME[700:]}"


def records(count: int = 60) -> dict[str, str]:
    """Records in one frame, each with words of its own; number 7 stands twice, with one word changed."""
    found = {f"r{number}": record(number) for number in range(count)}
    return found | {"again": record(7).replace(prose("own 7", 20).split()[10], "other")}


def corpus(folder: Path, documents: dict[str, str], **more: Any) -> Path:
    rows = list(documents.items())
    shards = {"books/one.jsonl": rows[: len(rows) // 3], "books/two.jsonl": rows[len(rows) // 3 :]}
    options = {"minhash__width": 13, "minhash__rows": 6, "minhash__bands": 20, "minhash__permutations": 128}
    write_shards(folder, shards, **options | {"dedup__max_loss": 1.0} | more)
    built(folder)
    return folder


def stored(folder: Path) -> set[int]:
    """The hashes of the template of `books`."""
    record = opened(folder).ledger.read("templates", None)
    assert record is not None
    found = Partition(opened(folder).storage, record)
    place = found.json("sources.json")["books"]
    return set(found.array("shingles.npy")[place["from"] : place["to"]].tolist())


def frequent(documents: dict[str, str], share: float) -> set[int]:
    """Hashes of the shingles that a share of the documents have, by plain sets."""
    found = Counter(shingle for text in documents.values() for shingle in shingles(text, SCHEME))
    common = [shingle for shingle, count in found.items() if count >= share * len(documents)]
    return {int(window_hashes(shingle, "char", 13)[0]) for shingle in common}


def test_records_of_one_frame_go_without_the_key_and_stay_with_it(tmp_path: Path) -> None:
    documents = records()
    assert len(kept_for(corpus(tmp_path / "without", documents))) > 50
    assert kept_for(corpus(tmp_path / "with", documents, dedup__template_share=0.5)) == {"again": "r7"}


@pytest.mark.parametrize("rule", ["contained", "either"])
def test_what_stands_in_another_record_beside_the_frame_goes(tmp_path: Path, rule: str) -> None:
    documents = records()
    documents["part"] = record(9, 80)
    documents["whole"] = record(9, 80).replace(FRAME[700:], prose("more", 100) + FRAME[700:])
    documents["more"] = prose("no frame", 150)
    folder = corpus(tmp_path, documents, dedup__rule=rule, dedup__template_share=0.5)
    gone = kept_for(folder)
    assert gone["part"] == "whole"
    assert len(gone) <= 3


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 1.0])
def test_a_template_is_the_shingles_that_a_share_of_the_documents_have(tmp_path: Path, share: float) -> None:
    chosen = random.Random(4)
    parts = [prose(f"part {number}", 12) for number in range(12)]
    documents = {
        f"d{number}": " ".join(part for place, part in enumerate(parts) if chosen.random() < place / 10)
        for number in range(90)
    }
    documents = {name: f"{text} {prose(name, 15)}" for name, text in documents.items()}
    folder = corpus(tmp_path, documents, dedup__template_share=share)
    expected = frequent(documents, share)
    assert stored(folder) == expected
    assert expected or share == 1.0


def test_documents_that_are_nothing_but_the_frame_are_compared_whole(tmp_path: Path) -> None:
    documents = records() | {"bare": FRAME[:700], "bare too": FRAME[:690]}
    gone = kept_for(corpus(tmp_path, documents, dedup__template_share=0.5))
    assert gone == {"again": "r7", "bare too": "bare"}


def test_a_source_of_few_documents_has_no_template(tmp_path: Path) -> None:
    documents = dict(list(records().items())[: counting.FEWEST - 1])
    folder = corpus(tmp_path, documents, dedup__template_share=0.5)
    assert stored(folder) == set()
    assert len(kept_for(folder)) == len(documents) - 1


def test_a_source_whose_shingles_fill_the_buckets_has_none() -> None:
    rows = np.zeros(2 * counting.BUCKETS, dtype=counting.BUCKET_ROW)
    rows["bucket"], rows["documents"] = np.arange(2 * counting.BUCKETS), 30
    assert counting.chosen_buckets([rows], 40, 0.5) is None
    rows["documents"][counting.BUCKETS // 10 :] = 3
    assert counting.chosen_buckets([rows], 40, 0.5) is not None


@pytest.mark.parametrize("workers", [2, 4])
def test_any_number_of_workers_and_files_gives_the_same(tmp_path: Path, workers: int) -> None:
    documents = records()
    one = corpus(tmp_path / "one", documents, dedup__template_share=0.5, dedup__rule="either")
    other = corpus(
        tmp_path / "other", documents, dedup__template_share=0.5, dedup__rule="either", engine__workers=workers
    )
    assert contents(opened(one)) == contents(opened(other))
    shards = {f"books/{name}.jsonl": [(name, text)] for name, text in documents.items()}
    options = {"minhash__width": 13, "minhash__rows": 6, "minhash__bands": 20, "minhash__permutations": 128}
    single = write_shards(tmp_path / "single", shards, **options, dedup__max_loss=1.0, dedup__template_share=0.5)
    built(single)
    assert stored(single) == stored(one)


def test_signatures_of_another_family_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"dedup\.template_share.*'affine32'"):
        corpus(tmp_path, records(30), dedup__template_share=0.5, minhash__family="affine32")


def said(folder: Path) -> list[str]:
    return [note for note in build_notes(opened(folder).planner()) if "template" in note]


def test_a_source_that_loses_mainly_to_a_template_is_told_with_the_key_that_mends_it(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "without", records())
    (note,) = said(folder)
    make_report(folder)
    assert "mainly by a template" in report_page(folder)
    pages = TestClient(standing_alone(folder / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1:3001")
    assert "mainly by a template" in pages.get("/corpus/duplicates").text
    assert re.match(r"source books: 60 of 61 documents are duplicates of others, mainly by a template: .*", note)
    assert "60 of 60 looked at are not like the one kept; `dedup.template_share: 0.5`" in note
    mended = corpus(tmp_path / "with", records(), dedup__template_share=0.5)
    assert said(mended) == []
    make_report(mended)
    assert "Shingles left out, by source" in report_page(mended)
    assert (
        "a lower `dedup.template_share`"
        in said(corpus(tmp_path / "high", {**records(), **unframed()}, dedup__template_share=1.0))[0]
    )


def unframed() -> dict[str, str]:
    return {f"u{number}": prose(f"unframed {number}", 60) for number in range(10)}


@pytest.mark.parametrize("rule", ["contained", "similar"])
def test_a_source_of_true_copies_is_not_told_of_a_template(tmp_path: Path, rule: str) -> None:
    texts = {f"t{number}": prose(f"text {number}", 120) for number in range(40)}
    copies = {f"c{name}": near(text) for name, text in texts.items()}
    folder = corpus(tmp_path, texts | copies, dedup__rule=rule)
    assert len(kept_for(folder)) == 40
    assert said(folder) == []
