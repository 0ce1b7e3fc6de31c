"""Attributes that somebody else made: files beside the raw files, and what is said of bad ones."""

import gzip
import io
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
import zstandard

from corpus_assets.attributes.files.joined import UnjoinedError, joined
from corpus_assets.attributes.files.rows import GivenRow
from corpus_assets.attributes.files.texts import Changed, moved
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.normalize.text import nfc
from resources.errors import ConfigError
from resources.formats.attributes import AttributeRow, attribute_rows
from resources.stage.partition import Partition
from tests.build.small import Built, drive, live_records, opened, prose

Row = dict[str, Any]
TEXTS = [prose(n, 20) for n in range(6)]
DOCUMENTS = [{"id": f"d{n}", "text": text} for n, text in enumerate(TEXTS)]


def scores(documents: Sequence[Row] = DOCUMENTS) -> list[Row]:
    """A row for each raw row, with a value of every kind."""
    return [
        {
            "id": row.get("id"),
            "attributes": {"score": n / 10, "good": n % 2 == 0, "kind": "prose text", "part": [[0, 4, 0.5]]},
        }
        for n, row in enumerate(documents)
    ]


def write(file: Path, rows: Sequence[Row | str]) -> None:
    """Write rows in the format that the name says; a text is written as it is."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist([row for row in rows if isinstance(row, dict)]), file)
        return
    lines = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows).encode()
    packed = gzip.compress(lines, mtime=0) if file.suffix == ".gz" else lines  # Equal rows, equal bytes, at any time.
    file.write_bytes(zstandard.compress(lines) if file.suffix == ".zst" else packed)


def configure(folder: Path, entry: Mapping[str, Any] | None = None, **changes: Any) -> None:
    config = {
        "name": "scored",
        "sources": [{"name": "web", "location": "data/documents/web"}],
        "attributes": [{"name": "tox", "location": "data/attributes/tox", **(entry or {})}],
        "short_documents": {"threshold": 10},
        "mix": {"chunks": 1},
        "dedup": {"ranges": 1},
        "minhash": {"permutations": 32, "bands": 2, "rows": 8},
        "datasets": [],
        "engine": {"workers": 0},
        "storage": {"sync": False},
        **changes,
    }
    (folder / "corpus.yaml").write_text(yaml.safe_dump(config))


def build(folder: Path, upto: str = "tox_attributes") -> tuple[Corpus, Built]:
    corpus = opened(folder)
    return corpus, drive(corpus, corpus.graph.select([f"+{upto}"]))


def rows(corpus: Corpus, asset: str = "tox_attributes") -> dict[str, AttributeRow]:
    """The rows of an attribute by id."""
    found = Corpus.open(corpus.file).records(asset).values()
    return {row.id: row for record in found for row in attribute_rows(Partition(corpus.storage, record).lines())}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """One raw file of a source, and its attributes."""
    write(tmp_path / "data/documents/web/a.jsonl.gz", DOCUMENTS)
    write(tmp_path / "data/attributes/tox/web/a.jsonl.gz", scores())
    configure(tmp_path)
    return tmp_path


def test_values_of_every_kind_become_spans(data: Path) -> None:
    corpus, done = build(data)
    assert done.failed == []
    for number, (identifier, row) in enumerate(rows(corpus).items()):
        length = len(TEXTS[number])
        assert (identifier, row.source) == (f"d{number}", "web")
        assert row.attributes == {
            "tox__tox__score": [(0, length, number / 10)],
            "tox__tox__good": [(0, length, float(number % 2 == 0))],
            "tox__tox__kind__prose_text": [(0, length, 1.0)],
            "tox__tox__part": [(0, 4, 0.5)],
        }
    (record,) = corpus.records("tox_attributes").values()
    assert record.numbers["histograms"]["tox__tox__score"]["none"] == 0
    assert [*Partition(corpus.storage, record).flags()] == [True] * 6


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.gz", "jsonl.zst", "parquet"])
def test_files_of_every_format_give_the_same(data: Path, suffix: str) -> None:
    first, _ = build(data)
    wanted = {key: record.digest for key, record in first.records("tox_attributes").items()}
    (data / "data/attributes/tox/web/a.jsonl.gz").unlink()
    write(data / f"data/attributes/tox/web/a.{suffix}", scores())
    again, done = build(data)
    assert done.failed == []
    assert {key: record.digest for key, record in again.records("tox_attributes").items()} == wanted


def test_columns_of_a_table_are_attributes(data: Path) -> None:
    (data / "data/attributes/tox/web/a.jsonl.gz").unlink()
    table = [{"id": f"d{n}", "quality": n / 3, "spans": [{"start": 0, "end": 2, "score": 1.0}]} for n in range(6)]
    write(data / "data/attributes/tox/web/a.parquet", table)
    corpus, done = build(data)
    assert done.failed == []
    assert rows(corpus)["d3"].attributes == {
        "tox__tox__quality": [(0, len(TEXTS[3]), 1.0)],
        "tox__tox__spans": [(0, 2, 1.0)],
    }


def test_rows_without_ids_are_only_counted(data: Path) -> None:
    given = [{"score": n / 4} for n in range(6)]
    write(data / "data/attributes/tox/web/a.jsonl.gz", given)
    configure(data, {"id_key": None})
    corpus, done = build(data)
    assert done.failed == []
    assert rows(corpus)["d3"].attributes == {"tox__tox__score": [(0, len(TEXTS[3]), 0.75)]}
    write(data / "data/attributes/tox/web/a.jsonl.gz", given[1:])
    assert "row 5: is missing: 5 rows for the 6 raw rows" in build(data)[1].failed[0]


def test_keys_as_dolma_names_them_stay_and_rules_find_them(data: Path) -> None:
    given = [
        {"id": f"d{n}", "attributes": {"tox__jigsaw__toxic": [[0, 9, n / 10]], "other__x__y": 1}} for n in range(6)
    ]
    write(data / "data/attributes/tox/web/a.jsonl.gz", given)
    replaced = {"span": "tox.jigsaw.toxic", "min_score": 0.2, "replacement": "#"}
    rules = {"rules": {"tox.jigsaw.toxic": {"max": 0.4}}, "span_replacement": [replaced]}
    stream = {"name": "out", "attributes": ["tox"], "include": ["$.attributes[?(@.tox__other__x__y)]"]}
    configure(data, filter=rules, streams=[{**stream, "include": ["$.attributes.tox__other__x__y"]}])
    corpus, done = build(data, "filtered_documents")
    assert done.failed == []
    kept = {one.id: one.text for one in corpus.handle(corpus.records("filtered_documents")["web--a"]).documents()}
    assert kept == {f"d{n}": TEXTS[n] if n < 2 else "#" + TEXTS[n][9:] for n in range(5)}
    corpus, done = build(data, "out_stream_documents")
    lines = [*corpus.handle(corpus.records("out_stream_documents")["web--a"]).lines()]
    assert json.loads(lines[1])["attributes"]["tox__jigsaw__toxic"] == [[0, 9, 0.1]]


def test_flagged_documents_are_left_out_of_the_mix(data: Path) -> None:
    left_out = {"chunks": 1, "leave_out": ["tox_attributes"]}
    configure(data, {"flagged": {"attribute": "score", "min_score": 0.3, "max_score": 0.5}}, mix=left_out)
    corpus, done = build(data, "mixed_pass1")
    assert done.failed == []
    assert corpus.records("mixed_pass1")["web--a"].numbers["dropped"] == {"tox_attributes": 2}


def test_documents_are_flagged_by_label(data: Path) -> None:
    given = [{"id": f"d{n}", "attributes": {"kind": "spam" if n in (1, 4) else "ham"}} for n in range(6)]
    write(data / f"data/{DOLMA}", given)
    configure(data, {"flagged": {"attribute": "tox__tox__kind__spam", "min_score": 1}})
    corpus, done = build(data)
    assert done.failed == []
    assert [*corpus.handle(corpus.records("tox_attributes")["web--a"]).flags()] == [n in (1, 4) for n in range(6)]
    assert corpus.records("tox_attributes")["web--a"].numbers["looked_for"]["rows"]["found"] == {
        "attributes.tox.flagged.attribute": {"tox__tox__kind__spam": [2, 6]}
    }


def test_bad_raw_rows_have_rows_of_attributes(data: Path) -> None:
    raw = [*DOCUMENTS[:2], {"id": "no-text"}, *DOCUMENTS[2:]]
    write(data / "data/documents/web/a.jsonl.gz", raw)
    write(data / "data/attributes/tox/web/a.jsonl.gz", scores(raw))
    corpus, done = build(data)
    assert done.failed == []
    assert [row.attributes["tox__tox__score"][0][2] for row in rows(corpus).values()] == [0, 0.1, 0.3, 0.4, 0.5, 0.6]


@pytest.mark.parametrize("method", ["nfc", "none", "ftfy"])
def test_spans_move_with_a_text_that_normalization_changed(data: Path, method: str) -> None:
    text = "cafe\u0301 au lait, " + TEXTS[0]
    write(data / "data/documents/web/a.jsonl.gz", [{"id": "d0", "text": text}])
    word = text.index("lait")
    given = {"id": "d0", "attributes": {"word": [[word, word + 4, 1]], "score": 0.5}}
    write(data / "data/attributes/tox/web/a.jsonl.gz", [given])
    configure(data, normalize={"method": method})
    corpus, done = build(data)
    assert done.failed == []
    (document,) = corpus.handle(corpus.records("normalized_documents")["web--a"]).documents()
    ((start, end, _),) = rows(corpus)["d0"].attributes["tox__tox__word"]
    assert document.text[start:end] == "lait"
    assert rows(corpus)["d0"].attributes["tox__tox__score"] == [(0, len(document.text), 0.5)]
    assert (len(document.text) < len(text)) == (method != "none")


@pytest.mark.parametrize(
    ("choice", "says"),
    [
        ("move", "the span [0, 4] of tox__tox__part ends within"),
        ("fail", "normalization changed the text"),
        ("skip", ""),
    ],
)
def test_a_span_that_ends_within_changed_characters(data: Path, choice: str, says: str) -> None:
    write(data / "data/documents/web/a.jsonl.gz", [{"id": "d0", "text": "cafe\u0301 au lait, " + TEXTS[0]}])
    write(data / "data/attributes/tox/web/a.jsonl.gz", scores(DOCUMENTS[:1]))
    configure(data, {"on_changed_text": choice})
    corpus, done = build(data)
    if says:
        assert [line for line in done.failed if "row 0 (id 'd0')" in line and says in line] == done.failed != []
    else:
        assert rows(corpus)["d0"].attributes["tox__tox__part"] == []
        assert corpus.records("tox_attributes")["web--a"].numbers["spans_left_out"] == 1


def test_places_move_to_where_both_sides_are_the_normalized_text() -> None:
    text = "ae\u0301i\u0308o" * 3
    found = moved(range(len(text) + 1), Changed(text, nfc(text)), nfc)
    assert found == {
        place: len(nfc(text[:place]))
        for place in range(len(text) + 1)
        if place == len(text) or not unicodedata.combining(text[place])
    }


DOLMA = "attributes/tox/web/a.jsonl.gz"


def changed(number: int, **values: Any) -> list[Row | str]:
    """The rows with other values in one of them."""
    return [row if n != number else {**row, **values} for n, row in enumerate(scores())]


BAD: dict[str, tuple[list[Row | str], str]] = {
    "short": ([*scores()[:4]], "row 4: is missing: 4 rows for the 6 raw rows of web/a.jsonl.gz"),
    "long": ([*scores(), scores()[0]], "row 6: is one too many: 7 rows for the 6 raw rows of web/a.jsonl.gz"),
    "order": ([*scores()[::-1]], "row 0: has id 'd5', and the raw row there has 'd0'"),
    "other id": (changed(3, id="x"), "row 3: has id 'x', and the raw row there has 'd3'"),
    "no id": (changed(2, id=None), "line 3: no_id: key 'id' (`id_key`) holds nothing"),
    "id of another type": (changed(2, id=[1]), "line 3: no_id: key 'id' (`id_key`) holds a list"),
    "beyond": (changed(1, attributes={"part": [[0, 9999, 1]]}), "row 1 (id 'd1'): key 'part' holds the span [0, 9999]"),
    "backwards": (changed(1, attributes={"part": [[5, 2, 1]]}), "key 'part' holds the span [5, 2]"),
    "before": (changed(1, attributes={"part": [[-1, 2, 1]]}), "key 'part' holds the span [-1, 2]"),
    "two numbers": (changed(1, attributes={"part": [[1, 2]]}), "key 'part' holds the span [1, 2]; valid: [start"),
    "half": (changed(1, attributes={"part": [[0.5, 2, 1]]}), "begins or ends at '0.5'; valid: a whole number"),
    "score": (changed(1, attributes={"part": [[0, 2, "a"]]}), "key 'part' holds 'a' as a score"),
    "score of a span": (changed(1, attributes={"part": [[0, 2, True]]}), "key 'part' holds 'True' as a score"),
    "object": (changed(1, attributes={"part": {"a": 1}}), "row 1 (id 'd1'): key 'part' holds"),
    "list": (changed(1, attributes=[1]), "line 2: bad_attributes: key 'attributes' holds a list"),
    "nan": (
        [*scores()[:1], '{"id": "d1", "attributes": {"score": NaN}}'],
        "line 2: number_not_finite: key 'score' holds NaN",
    ),
    "inf": (
        [*scores()[:1], '{"id": "d1", "attributes": {"part": [[0, 1, -Infinity]]}}'],
        "line 2: number_not_finite: key 'part' holds -Infinity",
    ),
    "huge": ([*scores()[:1], '{"id": "d1", "attributes": {"score": 1e999}}'], "line 2: number_not_finite: key 'score'"),
    "no json": ([*scores()[:2], "{nothing"], "line 3: invalid_json"),
    "no row": ([*scores()[:2], "[1, 2]"], "line 3: not_an_object"),
    "no attributes": ([*scores()[:2], '{"id": "d2"}'], "line 3: no_attributes: no key 'attributes'"),
    "prose": (changed(1, attributes={"kind": "x" * 200}), "row 1 (id 'd1'): key 'kind' holds 'xxx"),
    "one name": (changed(1, attributes={"a b": 1, "a-b": 2}), "'a b' and 'a-b' would both be 'tox__tox__a_b'"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_fails_its_shard_alone_and_is_named(data: Path, name: str) -> None:
    write(data / "data/documents/web/b.jsonl", DOCUMENTS)
    write(data / "data/attributes/tox/web/b.jsonl", scores())
    configure(data, filter={"rules": {"tox.tox.score": {"max": 0.4}}})
    corpus, done = build(data, "filtered_documents")
    assert done.failed == []
    before = live_records(corpus)
    given, says = BAD[name]
    write(data / f"data/{DOLMA}", given)
    corpus, done = build(data, "filtered_documents")
    (line,) = done.failed
    assert line.startswith(f"tox_attributes/web--a: {data}/data/{DOLMA} ")
    assert says in line
    after = live_records(corpus)
    assert {key for key in before if after[key] != before[key]} == {("tox_attribute_files", "web--a")}
    write(data / f"data/{DOLMA}", scores())
    corpus, done = build(data, "filtered_documents")
    assert (done.failed, done.of("filtered_documents")) == ([], set())


def test_numbers_of_tables_are_finite(data: Path) -> None:
    (data / f"data/{DOLMA}").unlink()
    table = [{"id": f"d{n}", "quality": float("nan") if n == 3 else 0.5} for n in range(6)]
    write(data / "data/attributes/tox/web/a.parquet", table)
    (line,) = build(data)[1].failed
    place = data / "data/attributes/tox/web/a.parquet"
    assert f"{place} row 3 (id 'd3'): key 'quality' holds nan; valid: a finite number" in line


def test_a_file_that_is_cut_is_named(data: Path) -> None:
    file = data / f"data/{DOLMA}"
    file.write_bytes(file.read_bytes()[:-20])
    (line,) = build(data)[1].failed
    assert line.startswith(f"tox_attributes/web--a: {data}/data/{DOLMA}: ")


def test_a_missing_file_fails_its_shard_or_is_skipped(data: Path) -> None:
    write(data / "data/documents/web/b.jsonl", DOCUMENTS)
    assert opened(data).listing().notes() == ["attributes/tox/web/b.jsonl: is not there"]
    corpus, done = build(data)
    (line,) = done.failed
    assert "tox_attributes/web--b: attributes/tox/web/b.jsonl: is not there" in line
    assert str(data / "data/attributes/tox/web/b.jsonl") in line
    assert corpus.records("tox_attributes").keys() == {"web--a"}
    configure(data, {"on_missing": "skip"})
    corpus, done = build(data)
    assert done.failed == []
    assert corpus.records("tox_attributes")["web--b"].numbers["documents_without_row"] == 6
    (stage,) = (stage for stage in corpus.graph if stage.name == "tox_attributes")
    shards = corpus.listing().by_key()
    partitions = [
        Partition(corpus.storage, record, shards[key or ""]) for key, record in corpus.records(stage.name).items()
    ]
    notes = [*stage.hooks.notes(partitions, corpus.settings.values)]
    assert notes == ["attributes.tox: 6 of 12 documents have no row of attributes"]


def test_a_changed_file_makes_its_own_shard_stale(data: Path) -> None:
    write(data / "data/documents/web/b.jsonl", DOCUMENTS)
    write(data / "data/attributes/tox/web/b.jsonl", scores())
    build(data)
    write(data / f"data/{DOLMA}", changed(1, attributes={"score": 0.9}))
    plan = {
        (one.asset, one.partition): one.reason
        for one in opened(data).planner().plan().decisions
        if one.status == "stale"
    }
    assert plan == {("tox_attribute_files", "web--a"): f"file {DOLMA} changed"}
    _, done = build(data)
    assert done.recomputed == {("tox_attribute_files", "web--a"), ("tox_attributes", "web--a")}
    (data / f"data/{DOLMA}").unlink()
    plan = {
        (one.asset, one.partition): one.reason
        for one in opened(data).planner().plan().decisions
        if one.status == "stale"
    }
    assert plan == {("tox_attribute_files", "web--a"): f"file {DOLMA} is not there"}
    write(data / f"data/{DOLMA}", changed(1, attributes={"score": 0.9}))
    assert build(data)[1].recomputed == set()


def test_a_raw_file_with_another_bad_row_no_longer_fits(data: Path) -> None:
    build(data)
    write(data / "data/documents/web/a.jsonl.gz", [{"id": "no-text"}, *DOCUMENTS])
    (line,) = build(data)[1].failed
    assert f"{DOLMA} row 1: has id 'd1', and the raw row there has 'd0'" in line


def test_files_that_no_raw_file_has_are_noted(data: Path) -> None:
    write(data / "data/attributes/tox/web/z.jsonl", scores())
    assert "attributes/tox/web/z.jsonl: belongs to no raw file" in opened(data).listing().notes()


@pytest.mark.parametrize(
    ("location", "glob", "raw", "entry", "beside"),
    [
        ("data/documents/web", "**/*", "deep/a.jsonl", {}, "web/deep/a.jsonl"),
        ("data", "documents/**/*", "documents/web/a.jsonl", {}, "web/a.jsonl"),
        ("raw/web", "**/*", "deep/a.jsonl", {}, "deep/a.jsonl"),
        ("raw/web", "**/*", "a.jsonl", {"location": {"web": "data/attributes/tox/there"}}, "there/a.jsonl"),
        ("data/documents/web", "**/*", "a.jsonl", {"location": {"web": "data/attributes/tox"}}, "a.jsonl"),
    ],
)
def test_where_the_file_of_a_raw_file_lies(
    tmp_path: Path, location: str, glob: str, raw: str, entry: dict[str, Any], beside: str
) -> None:
    write(tmp_path / location / raw, DOCUMENTS)
    write(tmp_path / "data/attributes/tox" / beside, scores())
    configure(tmp_path, entry, sources=[{"name": "web", "location": location, "glob": glob}])
    corpus, done = build(tmp_path)
    assert done.failed == []
    assert len(rows(corpus)) == 6


def test_files_of_several_sources(tmp_path: Path) -> None:
    """Without a folder `documents` each source has a folder of its name; one that is not named has no attributes."""
    for name in ("web", "books"):
        write(tmp_path / f"raw/{name}/a.jsonl", [{**row, "id": f"{name}-{row['id']}"} for row in DOCUMENTS])
        given = [{**row, "id": f"{name}-{row['id']}"} for row in scores()]
        write(tmp_path / f"data/attributes/tox/{name}/a.jsonl", given)
    sources = [{"name": name, "location": f"raw/{name}"} for name in ("web", "books")]
    configure(tmp_path, sources=sources)
    corpus, done = build(tmp_path)
    assert done.failed == []
    assert all(row.attributes for row in rows(corpus).values())
    configure(tmp_path, {"location": {"web": "data/attributes/tox/web"}}, sources=sources)
    corpus, done = build(tmp_path)
    assert done.failed == []
    assert {row.source for row in rows(corpus).values() if row.attributes} == {"web"}
    assert {row.source for row in rows(corpus).values() if not row.attributes} == {"books"}


def test_rows_in_another_order_are_joined_by_id(data: Path) -> None:
    straight, _ = build(data)
    wanted = {key: record.digest for key, record in straight.records("tox_attributes").items()}
    write(data / f"data/{DOLMA}", [*scores()[::2], *scores()[1::2]])
    configure(data, {"align": "id"})
    corpus, done = build(data)
    assert done.failed == []
    assert {key: record.digest for key, record in corpus.records("tox_attributes").items()} == wanted


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([*scores(), scores()[2]], "row 6: has the id of row 2"),
        (scores()[:-1], ": has no row for document 5 of web/a.jsonl.gz (id 'd5')"),
        (
            [*scores(), {"id": "other", "attributes": {"score": 1}}],
            "row 6: has an id that no row of web/a.jsonl.gz has",
        ),
    ],
)
def test_rows_that_cannot_be_joined_are_named(data: Path, given: list[Row], says: str) -> None:
    write(data / f"data/{DOLMA}", given)
    configure(data, {"align": "id"})
    (line,) = build(data)[1].failed
    assert f"tox_attributes/web--a: {data}/data/{DOLMA}" in line
    assert says in line


def test_documents_with_one_id_cannot_be_joined(data: Path) -> None:
    write(data / "data/documents/web/a.jsonl.gz", [*DOCUMENTS, DOCUMENTS[0]])
    configure(data, {"align": "id"})
    (line,) = build(data)[1].failed
    assert "documents 0 and 6 have one id" in line


@pytest.mark.parametrize("memory", [1 << 11, 1 << 16, 1 << 24])
def test_a_join_beyond_memory_gives_the_same(memory: int) -> None:
    count, spilled = 5000, []

    def spill() -> io.BytesIO:
        spilled.append(io.BytesIO())
        return spilled[-1]

    given = [GivenRow(f"id {n * 7 % count}", {"n": n * 7 % count}) for n in range(count) if n % 10]
    found = joined(given, (f"id {n}" for n in range(count)), count, memory, spill)
    absent = {n * 7 % count for n in range(0, count, 10)}
    assert (found.rows, found.absent, found.first_absent, found.unmatched) == (4500, 500, min(absent), 0)
    values = [held for _, held in found.values()]
    assert values == [None if n in absent else {"n": n} for n in range(count)]
    assert (len(spilled) > 1) == (memory < 1 << 20)


def test_a_join_names_the_first_row_with_an_id_twice() -> None:
    given = [GivenRow(name, {}) for name in ("a", "b", "c", "c", "b")]
    with pytest.raises(UnjoinedError, match="has the id of row 2") as error:
        joined(given, ["a", "b", "c"], 3, 1 << 20, io.BytesIO)
    assert error.value.row == 3


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"location": "https://e.org/list.txt"}, "a folder of this machine, s3://bucket/prefix or hf://"),
        ({"location": {"books": "data/attributes/tox"}}, "no source named 'books'; valid: web"),
        ({"location": {"web": "x"}, "sources": ["web"]}, "sources: without effect"),
        ({"align": "id", "id_key": None}, "id_key: null cannot be with `align: id`"),
        ({"taggers": ["c4_v2"]}, r"attributes.0.taggers: unknown key.*valid: align, attributes_key, flagged"),
        ({"algin": "id"}, "attributes.0.algin: unknown key; did you mean 'align'"),
        ({"flagged": {"attribute": "score"}}, "give min_score, max_score or both"),
        ({"location": "data/nowhere"}, "attributes.tox.location: .* is not there"),
    ],
)
def test_entries_that_make_no_sense(data: Path, entry: dict[str, Any], says: str) -> None:
    configure(data, entry)
    with pytest.raises(ConfigError) as error:
        opened(data).planner()
    assert re.search(says, str(error.value))
