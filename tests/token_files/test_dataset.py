"""A dataset of files of ids in a corpus: what is counted, refused, stale, traced, weighed and shown."""

from pathlib import Path
from typing import Any

import pytest

from corpus_assets.config.reading.loading import parse_config
from corpus_assets.orchestration.building.notes import build_notes
from corpus_assets.tracing.from_tokens.exports import trace_export
from corpus_assets.tracing.from_tokens.rows import trace_row
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.names import named
from corpus_assets.tracing.way import way_of
from resources.errors import ConfigError
from tests.build.small import drive, opened, write_config, write_raw, write_small
from tests.export.exported import manifest_of, partitions
from tests.token_files import writing
from tests.token_files.given import IDS, built, corpus_of, documents, read_back
from tests.token_files.writing import PLAIN, ROWS


def write(folder: Path, name: str = "a", rows: Any = ROWS) -> None:
    (folder / "tokens").mkdir(exist_ok=True)
    writing.megatron(folder / "tokens", rows, name=name)


MEGATRON = {"format": "megatron"}
ENTRY: dict[str, Any] = {
    "name": "again",
    "format": "ragged",
    "input": {"location": "tokens", **MEGATRON},
    "tokenizer": IDS,
}


def test_bad_documents_are_counted_and_named(tmp_path: Path) -> None:
    write(tmp_path, rows=[*ROWS, [7, 999, 0], [11, 0]])
    corpus, done = built(tmp_path, MEGATRON)
    assert done.failed == []
    (stream,) = partitions(corpus, "again_token_stream")
    assert [*documents(corpus).values()] == [[*PLAIN, [11]]]
    numbers = stream.record.statistics
    assert numbers["dropped"] == {"id_outside_vocabulary": 1}
    (example,) = numbers["dropped_examples"]
    assert example == "again/a.bin document 4: id_outside_vocabulary: id 999 at position 1; valid: 0 to 299"
    notes = list(build_notes(corpus.planner()))
    assert any("1 of 6 raw rows dropped (id_outside_vocabulary 1)" in note for note in notes)


def test_a_bad_document_can_fail_its_file(tmp_path: Path) -> None:
    write(tmp_path, rows=[*ROWS, [7, 999, 0]])
    write(tmp_path, "b")
    corpus, done = built(tmp_path, {**MEGATRON, "on_bad_row": "fail"})
    (fault,) = done.failed
    assert "again/a.bin document 4: id_outside_vocabulary: id 999" in fault
    assert [stream.key for stream in partitions_built(corpus)] == ["again--b"]


def partitions_built(corpus: Any) -> list[Any]:
    return [corpus.handle(record) for record in corpus.records("again_token_stream").values()]


def test_a_bad_file_fails_or_is_counted(tmp_path: Path) -> None:
    write(tmp_path)
    write(tmp_path, "b")
    writing.changed(tmp_path / "tokens" / "a.idx", 9, b"\x02")
    _, done = built(tmp_path, MEGATRON)
    assert any("again/a.idx: is version 2 of the index; valid: 1" in fault for fault in done.failed)
    assert read_back(tmp_path, {**MEGATRON, "on_bad_file": "skip"}) == PLAIN


@pytest.mark.parametrize(("gone", "kept"), [("a.idx", "a.bin"), ("a.bin", "a.idx")])
def test_half_a_pair_is_a_bad_file_that_names_the_other_half(tmp_path: Path, gone: str, kept: str) -> None:
    write(tmp_path)
    write(tmp_path, "b")
    (tmp_path / "tokens" / gone).unlink()
    _, done = built(tmp_path, MEGATRON)
    assert any(f"again/{kept}: needs {gone!r}, which is not there" in fault for fault in done.failed)
    assert read_back(tmp_path, {**MEGATRON, "on_bad_file": "skip"}) == PLAIN


def test_too_many_bad_documents_hold_back_what_reads_them(tmp_path: Path) -> None:
    write(tmp_path, rows=[[400, 0], [500, 0], [1, 0]])
    corpus = corpus_of(tmp_path, MEGATRON)
    done = drive(corpus, corpus.graph.select(["+again_manifest"]))
    why = "2 of 3 rows dropped (id_outside_vocabulary 2), more than max_bad_rows 0.5"
    assert any(why in one for one in done.waiting)


@pytest.mark.parametrize("name", ["a.bin", "a.idx"])
def test_only_a_changed_file_is_read_again(tmp_path: Path, name: str) -> None:
    write(tmp_path)
    write(tmp_path, "b")
    built(tmp_path, MEGATRON)
    (tmp_path / "tokens" / "a.idx").write_bytes((tmp_path / "tokens" / "a.idx").read_bytes())
    assert built(tmp_path, MEGATRON)[1].recomputed == set()
    if name == "a.bin":
        writing.changed(tmp_path / "tokens" / name, 0, b"\x09\x00")
    else:
        write(tmp_path, rows=[[5, 6, 7, 0, 8, 0], [0], [9, 10, 0]])
    corpus, done = built(tmp_path, MEGATRON)
    changed = {("again_raw_source", "again--a"), ("again_token_stream", "again--a")}
    assert done.recomputed - {("inventory", None)} == changed
    assert documents(corpus)["again--a"][0][0] == (9 if name == "a.bin" else 5)


def test_files_in_no_group_are_named(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "tokens" / "notes.txt").write_text("x")
    corpus, _ = built(tmp_path, MEGATRON)
    assert corpus.listing().notes() == ["again/notes.txt: no part of a dataset with format megatron"]


def test_documents_without_separators_are_noted(tmp_path: Path) -> None:
    write(tmp_path, rows=[[1, 2], [3, 0], [4]])
    corpus, _ = built(tmp_path, MEGATRON)
    assert [*documents(corpus).values()] == [[[1, 2], [3], [4]]]
    (note,) = (note for note in build_notes(corpus.planner()) if "separator" in note)
    assert note.startswith("dataset again: 2 of 3 documents have no separator after them")
    assert read_back(tmp_path, {**MEGATRON, "separator": "none"}) == [[1, 2], [3, 0], [4]]


def test_the_separator_may_be_named(tmp_path: Path) -> None:
    write(tmp_path, rows=[[9, 1, 2], [9, 3], [9]])
    given = {**MEGATRON, "separator": "before", "separator_token": "<9>"}
    assert read_back(tmp_path, given) == [[1, 2], [3], []]
    corpus = corpus_of(tmp_path, {**given, "separator_token": "<900>"})
    with pytest.raises(ConfigError, match=r"datasets\.again\.input\.separator_token: '<900>' is no token"):
        corpus.graph["again_token_stream"].hooks.check_before(corpus.settings.values)


def test_a_mixture_by_weights_and_a_manifest(tmp_path: Path) -> None:
    write(tmp_path)
    corpus = corpus_of(tmp_path, MEGATRON, format="megatron", weights={"tokens": {"again": 12}, "max_epochs": 4})
    done = drive(corpus, corpus.graph.select(["+again_manifest"]))
    assert (done.failed, done.waiting) == ([], [])
    found = manifest_of(corpus, "again")
    assert found["mixture"]["sources"]["again"]["epochs"] == 2.0
    assert found["tokenizer"]["vocab_size"] == 300
    assert found["sources"]["again"]["tokens"] == 12


def test_tokens_lead_back_to_file_and_document(tmp_path: Path) -> None:
    write(tmp_path, "sub-a", rows=[[999, 0], *ROWS])
    corpus = corpus_of(tmp_path, {**MEGATRON, "max_bad_rows": 1.0}, format="parquet", unit="document")
    drive(corpus, corpus.graph.select(["+again_manifest"]))
    traced = trace_export(corpus, "again", "again--sub-a-00000.parquet", 1, 0)
    assert (traced.origin.id, traced.origin.row) == ("sub-a.bin:2", 2)
    assert traced.origin.file == f"{tmp_path}/tokens/sub-a.bin"
    assert (traced.token, traced.after) == ("<8>", "")
    way = way_of(Look(corpus), "again--sub-a", 2)
    assert [(step.stage, step.status) for step in way.steps] == [
        ("again_raw_source", "here"),
        ("again_token_stream", "here"),
        ("again_tokens", "here"),
    ]
    assert way.origin.id == "sub-a.bin:2"
    (match,) = named(Look(corpus), "sub-a.bin:2").found
    assert match.way(Look(corpus), 1.0).origin == way.origin
    lost = way_of(Look(corpus), "again--sub-a", 0)
    assert (lost.steps[-1].status, lost.steps[-1].reason) == ("dropped", "id_outside_vocabulary")


def test_rows_of_hdf5_lead_back_too(tmp_path: Path) -> None:
    long = [[*range(20 + n, 60 + n), 0] for n in range(0, 200, 40)]
    write(tmp_path, rows=long)
    corpus = corpus_of(tmp_path, MEGATRON, format="hdf5", mode="lm", sequence_length=64)
    drive(corpus, corpus.graph.select(["+again_token_params"]))
    found = trace_row(corpus, "again", "again--a.h5", 0, 50)
    assert [one.id for one in found.found] == ["a.bin:1"]
    way = way_of(Look(corpus), "again--a", 1)
    assert (way.steps[-1].stage, way.steps[-1].status, way.steps[-1].row) == ("again_tokens", "here", 0)


def test_a_sample_has_some_documents(tmp_path: Path) -> None:
    write(tmp_path, rows=[[n, 0] for n in range(1, 200)])
    write_config(tmp_path, {"sources": [], "sample": {"share": 0.2}, "datasets": [ENTRY]})
    corpus = opened(tmp_path)
    drive(corpus, corpus.graph.select(["+again_token_stream"]))
    (rows,) = documents(corpus).values()
    (stream,) = partitions(corpus, "again_token_stream")
    assert 10 < len(rows) < 90
    assert stream.record.statistics["dropped"] == {"not_sampled": 199 - len(rows)}
    number = rows[5][0] - 1
    assert way_of(Look(corpus), "again--a", number).origin.id == f"a.bin:{number}"


def test_a_mix_of_amber_takes_given_ids_and_texts(tmp_path: Path) -> None:
    """One mix of documents of a split and of files of ids, with one tokenizer."""
    write_small(tmp_path)
    write(tmp_path, rows=[[*range(1, 90), 0]] * 3)
    texts = {"name": "texts", "format": "megatron", "input": "decontaminated_train"}
    given = {"name": "again", "format": "megatron", "input": {"location": "tokens", **MEGATRON}}
    sets = [{"source": "one", "datasets": ["texts"]}, {"source": "two", "datasets": ["again"]}]
    mix = {"name": "mix", "format": "amber", "input": sets, "window": 16, "chunks": 2}
    write_config(tmp_path, {"datasets": [texts, given, mix]})
    corpus = opened(tmp_path)
    done = drive(corpus, corpus.graph.select(["+mix_manifest"]))
    assert (done.failed, done.waiting) == ([], [])
    assert manifest_of(corpus, "mix")["sources"].keys() >= {"again"}


REFUSED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"mode": "fim", "format": "hdf5"}, {}, "mode is 'fim'"),
    ({"format": "hdf5", "keep_empty": True}, {}, "keep_empty is True"),
    ({"format": "hdf5", "compat": "cerebras"}, {}, "valid with an input of ids: none"),
    ({"ftfy": True}, {}, "ftfy is True; valid with an input of ids: none"),
    ({"format": "olmo", "compat": "dolma"}, {}, "compat is 'dolma'"),
    ({}, {"format": "nanogpt", "borders": "stored"}, "nanogpt stores none"),
    ({}, {"format": "nanogpt", "separator": "none"}, "no documents can be told apart"),
    ({}, {"format": "megatron", "wrapped_ids": True}, "wrapped_ids is not read with format megatron"),
    ({}, {"format": "ragged", "column": "x"}, "column is not read with format ragged"),
    ({}, {"format": "megatron", "id_type": "uint16"}, "id_type is not read with format megatron"),
    ({}, {"format": "ragged", "separator_token": "x"}, "valid without a separator: none"),
    ({}, {"format": "megatron", "text_key": "x"}, "text_key"),
    ({"tokenizer": {"kind": "ids", "vocabulary": 10, "eos": 10}}, {}, "eos is 10; valid: less than vocabulary, 10"),
    ({"tokenizer": {"kind": "ids", "vocabulary": 10}}, {}, "eos and pad are missing"),
    ({"format": "text", "tokenizer": None}, {}, "datasets.0.input.format: received 'megatron'"),
    ({"input": {"location": "raw/own"}}, {}, "needs a tokenizer of texts, and received `kind: ids`"),
]


@pytest.mark.parametrize(("dataset", "given", "words"), REFUSED)
def test_what_makes_no_sense_is_refused(dataset: Any, given: Any, words: str) -> None:
    entry = {**ENTRY, "input": {**ENTRY["input"], **given}, **dataset}
    with pytest.raises(ConfigError) as caught:
        parse_config({"sources": [], "datasets": [entry]})
    assert words in str(caught.value)


def test_ids_and_a_list_to_remove_are_refused(tmp_path: Path) -> None:
    write_raw(tmp_path, "x.jsonl", [])
    with pytest.raises(ConfigError, match="in which nobody can find what `remove` names"):
        parse_config({"sources": [], "datasets": [ENTRY], "remove": {"location": "lists"}})
