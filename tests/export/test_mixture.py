"""Weights: sources have the tokens that were asked for, the same documents whatever the partitions."""

import json
import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.config.datasets.weights import Weights
from corpus_assets.export.weights.choosing import HASHED, chosen, mapped
from corpus_assets.export.weights.shares import shares_of
from corpus_assets.export.weights.targets import without_empty
from corpus_assets.orchestration.building.notes import build_notes
from corpus_assets.tokenize.tokenizer import load_tokenizer_of
from resources.errors import BadFileError, ConfigError
from resources.formats.row_tables import identifiers
from tests.build.small import CONFIG, drive, opened, prose, write_config, write_raw, write_small
from tests.export.exported import exported, folder_of, manifest_of, partitions
from tests.export.test_megatron import read_indexed

DATASET = {"name": "mix", "format": "megatron"}


def many(folder: Path) -> None:
    """Sources with many short documents, so that shares can be met."""
    for source, count in (("books", 400), ("web", 700), ("notes", 150)):
        rows = [{"id": f"{source}{n}", "text": prose(f"{source} {n}", words=20)} for n in range(count)]
        write_raw(folder, f"{source}/many.jsonl", rows)


def mixed(folder: Path, weights: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The manifest of the dataset with weights."""
    if not (folder / "raw").exists():
        many(folder)
    corpus = exported(folder, {**DATASET, "weights": weights}, **changes)
    return manifest_of(corpus, "mix")


def test_shares_are_those_of_the_tokens(tmp_path: Path) -> None:
    shares = {"books": 0.5, "web": 0.2, "notes": 0.3}
    found = mixed(tmp_path, {"shares": shares})
    total = sum(numbers["tokens"] for numbers in found["sources"].values())
    for source, share in shares.items():
        assert found["sources"][source]["tokens"] == found["mixture"]["sources"][source]["reached"]
        assert abs(found["sources"][source]["tokens"] / total - share) < 0.01
    documents = [len(read_indexed(file.with_suffix(""))) for file in folder_of(tmp_path, "mix").glob("*.bin")]
    assert sum(documents) == found["documents"] == sum(one["documents"] for one in found["sources"].values())


def test_documents_are_used_whole_epochs_and_some_once_more(tmp_path: Path) -> None:
    found = mixed(tmp_path, {"tokens": {"books": 20_000, "notes": 12_000}})
    corpus = opened(tmp_path)
    uses = Counter[tuple[int, ...]]()
    for file in folder_of(tmp_path, "mix").glob("*.bin"):
        uses.update(tuple(ids) for ids in read_indexed(file.with_suffix("")))
    epochs = {source: use["epochs"] for source, use in found["mixture"]["sources"].items()}
    allowed = {int(value) + extra for value in epochs.values() for extra in (0, 1)}
    assert set(uses.values()) <= allowed
    assert "web" not in found["sources"] or found["sources"]["web"]["documents"] == 0
    ids = [
        list(identifiers(stream.array(".documents.npy")["id_end"], stream.array(".ids.npy")))
        for stream in partitions(corpus, "decontaminated_train_token_stream")
    ]
    assert sum(map(len, ids)) > 800


def test_repeats_do_not_follow_each_other(tmp_path: Path) -> None:
    mixed(tmp_path, {"tokens": {"books": 40_000}}, **{"mix.chunks": 1})
    (file,) = folder_of(tmp_path, "mix").glob("*.bin")
    documents = [tuple(ids) for ids in read_indexed(file.with_suffix(""))]
    neighbours = sum(one == two for one, two in pairwise(documents))
    assert neighbours < len(documents) / 50


def test_more_than_max_epochs_fails_or_is_capped(tmp_path: Path) -> None:
    many(tmp_path)
    asked = {"tokens": {"notes": 10_000_000}, "max_epochs": 3}
    with pytest.raises(AssertionError):
        mixed(tmp_path, asked)
    write_config(tmp_path, {"datasets": [{**DATASET, "weights": asked}]})
    corpus = opened(tmp_path)
    (failed,) = drive(corpus, corpus.graph.select(["+mix_manifest"])).failed
    assert "source 'notes' has" in failed
    assert "valid: at most max_epochs 3" in failed
    capped = mixed(tmp_path, {**asked, "on_excess": "cap"})["mixture"]["sources"]["notes"]
    assert capped["epochs"] == 3.0
    assert capped["reached"] == 3 * capped["available"]


def test_shares_of_a_csv_and_a_source_that_is_not_there(tmp_path: Path) -> None:
    many(tmp_path)
    (tmp_path / "mix.csv").write_text("domain,weight\nbooks,3\nweb,1\n")
    by_file = mixed(tmp_path, {"shares": "mix.csv"})
    given_ = mixed(tmp_path, {"shares": {"books": 3, "web": 1}})
    assert by_file["mixture"] == given_["mixture"]
    with pytest.raises(ConfigError, match=r"weights: no source named 'booksy'; valid: books, web, notes"):
        write_config(tmp_path, {"datasets": [{**DATASET, "weights": {"shares": {"booksy": 1}}}]})
    (tmp_path / "mix.csv").write_text("domain,weight\nbooksy,3\n")
    write_config(tmp_path, {"datasets": [{**DATASET, "weights": {"shares": "mix.csv"}}]})
    corpus = opened(tmp_path)
    (failed,) = drive(corpus, corpus.graph.select(["+mix_manifest"])).failed
    assert "source 'booksy' has no document (did you mean 'books'?); valid: books, notes, web" in failed


def test_a_source_that_may_be_empty_is_passed_over_with_a_note(tmp_path: Path) -> None:
    weights = {"shares": {"books": 1, "web": 1}}
    whole = mixed(tmp_path, weights)
    empty = {"sources": [*CONFIG["sources"], {"name": "later", "location": "raw/later", "may_be_empty": True}]}
    (tmp_path / "raw/later").mkdir()
    found = mixed(tmp_path, {"shares": {**weights["shares"], "later": 2}}, **empty)
    assert found["mixture"]["sources"] == whole["mixture"]["sources"]
    said = "datasets.mix.weights 'later': it has no documents, so the others share what it should have"
    assert said in build_notes(opened(tmp_path).planner())


def test_weights_of_nothing_but_empty_sources_are_refused() -> None:
    weights = Weights(tokens={"later": 5, "books": 0})
    with pytest.raises(ConfigError, match="w: none of later, books has a document"):
        without_empty(weights, {"later"}, "w")


def test_weights_recompute_only_their_dataset(tmp_path: Path) -> None:
    mixed(tmp_path, {"shares": {"books": 1, "web": 1}})
    write_config(tmp_path, {"datasets": [{**DATASET, "weights": {"shares": {"books": 1, "web": 2}}}]})
    corpus = opened(tmp_path)
    done = drive(corpus, corpus.graph.select(["+mix_manifest"]))
    assert done.assets() == {"mix_mixture", "mix_tokens", "mix_manifest"}


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"a,b\n", "columns are a, b; valid: domain, weight"),
        (b"domain,weight\nx,-1\n", "line 2: 'x', '-1'"),
        (b"domain,weight\nx,1\nx,2\n", "line 3"),
        (b"domain,weight\nx,nan\n", "line 2"),
        (b"domain,weight\n", "has no weight above 0"),
        (b"domain,weight\nx,0\n", "has no weight above 0"),
        (b"domain,weight\nx\xe9,1\n", "is no CSV in UTF-8"),
    ],
)
def test_a_csv_that_is_none_names_its_line(content: bytes, fault: str) -> None:
    with pytest.raises(BadFileError, match=fault):
        shares_of(content, "mix.csv")


@pytest.mark.parametrize(
    "weights", [{}, {"shares": {"a": 1}, "tokens": {"a": 1}}, {"shares": {"a": 0}}, {"tokens": {"a": 1}, "total": 5}]
)
def test_weights_that_make_no_sense_are_refused(tmp_path: Path, weights: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"datasets\.0"):
        write_config(tmp_path, {"datasets": [{**DATASET, "weights": weights}]})


@given(st.lists(st.tuples(st.integers(0, 2**63 - 1), st.integers(0, 50)), min_size=1, max_size=60), st.integers(1, 999))
def test_no_other_document_comes_closer(documents: list[tuple[int, int]], wanted: int) -> None:
    table = np.array(documents, HASHED)
    with tempfile.TemporaryFile() as file:
        file.write(table.tobytes())
        threshold, others, reached = chosen(mapped(file), wanted)
    taken = (table["hash"] < threshold) | np.isin(table["hash"], np.array(others, np.uint64))
    assert int(table["tokens"][taken].astype(int).sum()) == reached
    left = Counter[int]()
    for hash_, size in table[~taken].tolist():
        left[hash_] += size
    assert all(abs(reached - wanted) <= abs(reached + size - wanted) for size in left.values())


@pytest.mark.parametrize("options", [{}, {"mode": "lm_vsl"}, {"shuffle": True}], ids=str)
def test_rows_of_hdf5_are_made_of_as_many_tokens_of_each_source(tmp_path: Path, options: dict[str, Any]) -> None:
    weights = {"tokens": {"books": 30_000, "web": 10_000}}
    write_small(tmp_path)
    many(tmp_path)
    rows = {"name": "rows", "sequence_length": 64, "weights": weights, **options}
    write_config(tmp_path, {"datasets": [rows, {**DATASET, "weights": json.loads(json.dumps(weights))}]})
    corpus = opened(tmp_path)
    done = drive(corpus)
    assert done.failed == []
    found = Counter[str]()
    (tokenizer,) = partitions(corpus, "tokenizer")
    loaded = load_tokenizer_of(tokenizer)
    for chunk in partitions(corpus, "rows_documents"):
        table = chunk.array(".rows.npy")
        documents = list(chunk.documents())
        assert len(table) == len(documents)
        identities = {(one.source, one.id, copy) for one, copy in zip(documents, table["copy"].tolist(), strict=True)}
        assert len(identities) == len(documents)
        for document in documents:
            found[document.source] += len(loaded.encode_plain([document.text]).ids)
    for source, target in weights["tokens"].items():
        assert abs(found[source] - target) < 100
    (described,) = partitions(corpus, "rows_token_params")
    params = described.json("data_params.json")
    assert described.json("manifest.json")["mixture"] == manifest_of(corpus, "mix")["mixture"]
    assert params["post-process"]["processed_files"] == sum(
        len(chunk.array(".rows.npy")) for chunk in partitions(corpus, "rows_documents")
    )
    assert manifest_of(corpus, "mix")["mixture"]["sources"]["books"]["reached"] == found["books"]


def test_weights_do_not_go_with_files_in_hdf5(tmp_path: Path) -> None:
    files = {"name": "own", "weights": {"shares": {"own": 1}}, "input": {"location": "raw"}}
    with pytest.raises(ConfigError, match="weights go with a split of the corpus"):
        write_config(tmp_path, {"datasets": [files]})


def test_a_domain_of_weight_nothing_need_not_be_there(tmp_path: Path) -> None:
    many(tmp_path)
    (tmp_path / "mix.csv").write_text("domain,weight\nbooks,1\nmoon,0\n")
    assert list(mixed(tmp_path, {"shares": "mix.csv"})["mixture"]["sources"]) == ["books"]
