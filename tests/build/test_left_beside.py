"""Files of partitions that are gone, in folders that trainers read: build and plan name them until `corpus clean`."""

import json
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.cli.clean import clean_corpus
from corpus_assets.cli.plan import run as plan
from corpus_assets.left_beside import MOST_FOLDERS, left_beside, left_beside_note
from corpus_assets.orchestration.building.build import build
from corpus_assets.orchestration.building.report import Report
from resources.ledger.ledger import record_path
from tests.build.small import drive, opened, prose, write_config, write_raw, write_small
from tests.export.test_every_format import dataset
from tests.orchestration.test_staleness import Silent

OWN = {"name": "sft", "mode": "lm", "sequence_length": 64, "input": {"location": "raw/sft"}}


def configure(folder: Path, chunks: int = 1, amber: int = 2, **options: Any) -> None:
    datasets = [{**OWN, **options}, dataset("megatron"), dataset("amber", chunks=amber)]
    write_config(folder, {"mix.chunks": chunks, "datasets": datasets})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A built corpus with a dataset that has two files of its own, and others of a split."""
    write_small(tmp_path)
    for name in "ab":
        write_raw(tmp_path, f"sft/{name}.jsonl", [{"id": f"{name}{n}", "text": prose(f"{name}{n}")} for n in range(3)])
    configure(tmp_path)
    rebuilt(tmp_path)
    assert found(tmp_path) == {}
    return tmp_path


def rebuilt(folder: Path) -> None:
    done = drive(opened(folder))
    assert (done.failed, done.waiting) == ([], [])


def found(folder: Path) -> dict[str, list[str]]:
    return left_beside(opened(folder).planner())


def built(folder: Path) -> Report:
    corpus = opened(folder)
    report = build(corpus, list(corpus.graph), Silent(), checks=False)
    assert report.ok, report.failed
    return report


def about_folders(notes: list[str]) -> list[str]:
    return [note for note in notes if "lie beside" in note]


def test_plan_and_build_name_the_files_of_an_input_file_that_is_gone(
    folder: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    (folder / "raw" / "sft" / "a.jsonl").rename(folder / "raw" / "sft" / "c.jsonl")
    old = ["tokens/sft/sft--a.h5", "tokens/sft/sft--a.lengths.npy"]
    plan(folder / "corpus.yaml", None, [], as_json=True, check=False, every=False)
    (said,) = about_folders(json.loads(capsysbinary.readouterr().out)["notes"])
    assert "tokens/sft (2 files: sft--a.h5, ...)" in said
    assert "`corpus clean`" in said
    assert about_folders(built(folder).notes) == [said]
    assert found(folder) == {"tokens/sft": old}
    clean_corpus(opened(folder), dry_run=False)
    assert found(folder) == {}
    assert about_folders(built(folder).notes) == []


def test_fewer_chunks(folder: Path) -> None:
    """What was replaced is no such file; what another partition has now is none either."""
    configure(folder, 2, 4)
    assert about_folders(built(folder).notes) == []
    configure(folder, 1, 3)
    report = built(folder)
    left = found(folder)
    assert sorted(left["exports/megatron"]) == [
        f"exports/megatron/chunk-0001_text_document.{end}" for end in ("bin", "idx")
    ]
    assert "splits/train" in left
    assert "exports/amber" not in left
    (said,) = about_folders(report.notes)
    assert "exports/megatron (2 files: chunk-0001_text_document.bin, ...)" in said
    assert ("amber_tokens", "chunk-0001") not in opened(folder).planner().orphans()
    assert report.orphans == len(opened(folder).planner().orphans())


def test_one_file_for_all_in_place_of_one_each(folder: Path) -> None:
    configure(folder, pack_over_files=True)
    assert found(folder)["tokens/sft"][0] == "tokens/sft/sft--a.h5"
    rebuilt(folder)
    left = found(folder)["tokens/sft"]
    assert [path for path in left if path.endswith(".h5")] == ["tokens/sft/sft--a.h5", "tokens/sft/sft--b.h5"]


def test_what_no_record_names_counts_unless_a_record_cannot_be_read(folder: Path) -> None:
    storage = opened(folder).storage
    storage.write("exports/megatron/chunk-0009_text_document.bin", b"killed before its record")
    storage.write("exports/other/data.bin", b"in a folder that nothing is made in")
    storage.write("exports/megatron/.hidden", b"")
    assert found(folder) == {"exports/megatron": ["exports/megatron/chunk-0009_text_document.bin"]}
    storage.write(record_path("megatron_tokens", "chunk-0000"), b"damaged")
    assert found(folder) == {}


def test_what_a_stopped_build_left_is_replaced_by_the_next(folder: Path) -> None:
    """A partition without a record is missing, so its files are no leftovers to clean first."""
    corpus = opened(folder)
    corpus.storage.write("exports/megatron/chunk-0009_text_document.bin", b"no partition makes this one")
    (record,) = (one for one in corpus.ledger.records("sft_tokens").values() if one.partition == "sft--a")
    corpus.storage.delete(record_path("sft_tokens", "sft--a"))
    cleaned, replaced = left_beside_note(opened(folder).planner())
    assert "exports/megatron (1 file: chunk-0009_text_document.bin)" in cleaned
    assert "any more" in cleaned
    assert f"tokens/sft ({len(record.files)} files: sft--a.h5, ...)" in replaced
    assert "the next build replaces what a stopped one left" in replaced
    (said,) = about_folders(built(folder).notes)
    assert "exports/megatron" in said
    assert "tokens/sft" not in said


def test_the_files_of_a_dataset_that_is_gone_lie_beside_none(folder: Path) -> None:
    write_config(folder, {"mix.chunks": 1, "datasets": [dataset("megatron")]})
    assert opened(folder).planner().orphans()
    assert found(folder) == {}


def test_the_note_names_some_folders(folder: Path) -> None:
    """So that it stays short, however many there are."""
    configure(folder, 2)
    many = [{"name": f"set{n}", "sequence_length": 64, "input": "train"} for n in range(MOST_FOLDERS)]
    write_config(folder, {"mix.chunks": 2, "datasets": many})
    rebuilt(folder)
    write_config(folder, {"mix.chunks": 1, "datasets": many})
    (said,) = left_beside_note(opened(folder).planner())
    assert said.endswith(f", and {len(found(folder)) - MOST_FOLDERS} more folders")
