"""Every asset check passes on a sound corpus and fails on the damage it is there to find."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import h5py
import msgspec
import pytest

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.assembly import assemble
from resources.formats.documents import Document, decode_document, encode_document
from resources.ledger.ledger import Record
from resources.stage.partition import Partition
from tests.orchestration.runs import Runs

SHARD = "books--one"
CHUNK = "chunk-0000"


def evaluations(runs: Runs) -> dict[str, dg.AssetCheckEvaluation]:
    """Run all checks; evaluations by `asset:check`."""
    assembly = assemble(runs.corpus)
    chosen = dg.define_asset_job("asset_checks", dg.AssetSelection.checks(*assembly.checks))
    found = dg.Definitions(assembly.assets, jobs=[chosen], asset_checks=assembly.checks, resources=assembly.resources)
    result = found.resolve_job_def("asset_checks").execute_in_process(instance=runs.instance, raise_on_error=False)
    assert result.success
    all_of_them = result.get_asset_check_evaluations()
    return {f"{one.asset_key.to_user_string()}:{one.check_name}": one for one in all_of_them}


def failed(runs: Runs) -> dict[str, str]:
    """Names and descriptions of the checks that did not pass."""
    return {name: one.description or "" for name, one in evaluations(runs).items() if not one.passed}


def rewrite_lines(corpus: Corpus, path: str, change: Callable[[list[bytes]], list[bytes]]) -> None:
    file = Path(corpus.storage.fetch(path))
    lines = gzip.decompress(file.read_bytes()).splitlines(keepends=True)
    file.write_bytes(gzip.compress(b"".join(change(lines))))


def rewrite_record(corpus: Corpus, asset: str, partition: str, **statistics: Any) -> None:
    record = corpus.ledger.read(asset, partition)
    assert record is not None
    corpus.ledger.write(msgspec.structs.replace(record, statistics=record.statistics | statistics))


def record_of(corpus: Corpus, asset: str, partition: str) -> Record:
    record = corpus.ledger.read(asset, partition)
    assert record is not None
    return record


def test_all_pass_on_a_sound_corpus_and_say_what_they_looked_at(built: Runs) -> None:
    found = evaluations(built)
    assert {
        "short_documents:row_alignment",
        "duplicates:row_alignment",
        "components:retention_of_sources",
        "decontaminated_train:conservation_of_rows",
        "decontaminated_train:no_holdout_text_in_train",
        "train_tokens:token_files",
        "validation_tokens:token_files",
        "train_token_params:sums_of_files",
        "validation_token_params:sums_of_files",
    } == found.keys()
    assert all(one.passed for one in found.values())
    flow = found["decontaminated_train:conservation_of_rows"].metadata
    assert flow["equations judged"].value == 6
    assert flow["rows of normalized_documents"].value == 44
    assert found["train_tokens:token_files"].metadata["files"].value == 3


@pytest.mark.parametrize("section", ["post-process", "h5_dataset_stats"])
def test_data_params_that_are_no_sums_are_found(built: Runs, section: str) -> None:
    path = Path(built.corpus.storage.fetch("tokens/train/data_params.json"))
    params = json.loads(path.read_text())
    params[section]["num_tokens"] += 1
    path.write_text(json.dumps(params))
    assert failed(built).keys() == {"train_token_params:sums_of_files"}
    assert f"recorded {params[section]['num_tokens']}" in failed(built)["train_token_params:sums_of_files"]


@pytest.mark.parametrize("asset", ["short_documents", "duplicates"])
def test_rows_out_of_line_are_found(built: Runs, asset: str) -> None:
    path = f"attributes/{asset}/books/one.jsonl.gz"
    rewrite_lines(built.corpus, path, lambda lines: [lines[1], lines[0], *lines[2:]])
    assert failed(built).keys() == {f"{asset}:row_alignment"}
    assert f"{SHARD} row 0" in failed(built)[f"{asset}:row_alignment"]


def test_a_missing_attribute_row_and_a_cut_file_are_found(built: Runs) -> None:
    rewrite_lines(built.corpus, "attributes/duplicates/books/one.jsonl.gz", lambda lines: lines[:-1])
    cut = Path(built.corpus.storage.fetch("attributes/short_documents/books/two.jsonl.gz"))
    cut.write_bytes(cut.read_bytes()[:-20])
    found = failed(built)
    assert "attribute None" in found["duplicates:row_alignment"]
    assert "books--two: cannot be read" in found["short_documents:row_alignment"]


@pytest.mark.parametrize(
    ("asset", "partition", "statistics", "rule"),
    [
        ("normalized_documents", SHARD, {"rows_in": 99}, "raw rows = documents + bad rows: 134 is not 44"),
        ("mixed_pass1", SHARD, {"dropped": {}}, "documents = kept + dropped"),
        ("mixed_pass2", CHUNK, {"rows_out": 0}, "kept + repeats = mixed"),
        ("holdout", CHUNK, {"dropped": {"repeat_of_held_out": 50}}, "mixed = train + holdout + repeats of held-out"),
        ("validation", CHUNK, {"rows_out": 77}, "holdout = validation + test"),
        (
            "decontaminated_train",
            CHUNK,
            {"dropped": {"text_in_holdout": 5}},
            "train = decontaminated + text in holdout",
        ),
    ],
)
def test_a_row_that_is_not_accounted_for_is_found(
    built: Runs, asset: str, partition: str, statistics: dict[str, Any], rule: str
) -> None:
    rewrite_record(built.corpus, asset, partition, **statistics)
    found = failed(built)
    assert found.keys() == {"decontaminated_train:conservation_of_rows"}
    assert rule in found["decontaminated_train:conservation_of_rows"]


def test_conservation_judges_only_what_is_fresh(built: Runs) -> None:
    built.corpus.ledger.forget("mixed_pass2", CHUNK)
    one = evaluations(built)["decontaminated_train:conservation_of_rows"]
    assert one.passed
    assert one.metadata["equations judged"].value == 2
    assert "mixed_pass2" in str(one.metadata["not judged yet, for these are not fresh"].value)


def test_a_held_out_text_in_train_is_found_by_reading_the_texts(built: Runs) -> None:
    corpus = built.corpus
    chunk, leak = _some_held_out(corpus)
    train = record_of(corpus, "decontaminated_train", chunk)
    rewrite_lines(
        corpus, Partition(corpus.storage, train).file(".jsonl.gz").path, lambda lines: _with_text(lines, leak)
    )
    found = failed(built)
    assert found == {"decontaminated_train:no_holdout_text_in_train": f"{chunk}: 1 texts are in the holdout"}


def _some_held_out(corpus: Corpus) -> tuple[str, str]:
    for key, record in sorted(corpus.ledger.records("holdout").items(), key=lambda item: str(item[0])):
        for document in Partition(corpus.storage, record).documents():
            return str(key), document.text
    raise AssertionError("the small corpus has a holdout")


def _with_text(lines: list[bytes], text: str) -> list[bytes]:
    first: Document = decode_document(lines[0])
    first.text = text
    return [encode_document(first), *lines[1:]]


def test_orphans_are_none_of_a_checks_business(built: Runs) -> None:
    corpus = built.corpus
    _, leak = _some_held_out(corpus)
    record = record_of(corpus, "decontaminated_train", CHUNK)
    path = Partition(corpus.storage, record).file(".jsonl.gz").path
    gone = path.replace(CHUNK, "chunk-0099")
    corpus.storage.write(gone, Path(corpus.storage.fetch(path)).read_bytes())
    rewrite_lines(corpus, gone, lambda lines: _with_text(lines, leak))
    files = [msgspec.structs.replace(file, path=file.path.replace(path, gone)) for file in record.files]
    corpus.ledger.write(msgspec.structs.replace(record, partition="chunk-0099", files=files))
    assert failed(built) == {}


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (lambda data: data.__setitem__((0, 0, 0), 1 << 20), "ids "),
        (lambda data: data.__setitem__((0, 1, slice(None)), 0), "loss_valid_tokens is"),
        (lambda data: data.__setitem__((0, 0, 0), 3), "content differs from what was recorded"),
    ],
)
def test_damage_to_a_token_file_is_found(built: Runs, damage: Callable[[Any], None], fault: str) -> None:
    corpus = built.corpus
    path = record_of(corpus, "train_tokens", CHUNK).files[0].path
    with h5py.File(Path(corpus.storage.fetch(path)), "r+") as file:
        damage(file["data"])
    one = evaluations(built)["train_tokens:token_files"]
    assert not one.passed
    assert fault in str(one.metadata["found"].value)


def test_a_token_file_that_is_no_file_any_more_is_found(built: Runs) -> None:
    corpus = built.corpus
    Path(corpus.storage.fetch(record_of(corpus, "train_tokens", CHUNK).files[0].path)).write_bytes(b"nothing")
    records = corpus.ledger.records("validation_tokens").values()
    corpus.storage.delete(next(record for record in records if record.files).files[0].path)
    found = failed(built)
    assert "not an HDF5 file" in found["train_tokens:token_files"]
    assert "cannot be read" in found["validation_tokens:token_files"]
