"""Keys with dots lead into objects; texts of several keys are joined; some keys of the metadata are kept."""

import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.config.datasets.files import Files
from corpus_assets.raw.examples import ExampleRules, read_examples, rules_of
from corpus_assets.raw.items import ItemRules
from corpus_assets.raw.readers import BadRow, RawFile, RowRules, read_documents
from tests.raw.every_format import arrow_of
from tests.raw.test_arrow import parquet_of

SAFE = st.characters(codec="utf-8", exclude_characters="\0")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(SAFE, max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "x.y"]), inner, max_size=3),
    max_leaves=8,
)


def lines_of(*rows: Any) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def read(content: bytes, name: str = "a.jsonl", **rules: Any) -> list[Any]:
    return list(read_documents(RawFile(name, lambda: io.BytesIO(content)), RowRules("s", **rules)))


def shown(rows: list[Any]) -> list[Any]:
    """What rows give: id, text, creation and metadata of documents, or the reason why there is none."""
    return [
        row.reason
        if isinstance(row, BadRow)
        else (row.id, row.text, row.created, json.loads(bytes(row.metadata) or b"{}"))
        for row in rows
    ]


@given(
    text=VALUES,
    identifier=st.text(SAFE, min_size=1, max_size=4) | st.integers(0, 99),
    others=st.dictionaries(st.sampled_from(["k", "l", "m.n"]), VALUES, max_size=3),
    meta=st.dictionaries(st.sampled_from(["u", "v"]), VALUES, min_size=1, max_size=2),
)
def test_nested_rows_are_the_same_as_flat_ones(text: Any, identifier: Any, others: Any, meta: Any) -> None:
    nested = {"data": {"body": text, "nr": identifier, "more": {"meta": meta}}, **others}
    flat = {"data.body": text, "data.nr": identifier, "data.more.meta": meta, **others}
    keys: dict[str, Any] = {"text_key": "data.body", "id_key": "data.nr", "metadata_key": "data.more.meta"}
    assert shown(read(lines_of(nested), **keys)) == shown(read(lines_of(flat), **keys))
    plain = {"body": text, "nr": identifier, "meta": meta, **others}
    simple: dict[str, Any] = {"text_key": ("body",), "id_key": "nr", "metadata_key": "meta"}
    assert shown(read(lines_of(nested), **keys)) == shown(read(lines_of(plain), **simple))


def test_what_is_not_taken_out_of_an_object_stays_in_the_metadata() -> None:
    row = {"id": "1", "data": {"body": "a", "lang": "de", "deep": {"x": 1}}, "url": "u"}
    (document,) = read(lines_of(row), text_key="data.body")
    assert json.loads(bytes(document.metadata)) == {"data": {"lang": "de", "deep": {"x": 1}}, "url": "u"}


def test_a_key_that_is_there_with_its_dots_wins_and_so_does_the_longest_one() -> None:
    rows = [
        {"a.b.c": "whole", "a.b": {"c": "two"}, "a": {"b": {"c": "three"}, "b.c": "other"}},
        {"a.b": {"c": "two"}, "a": {"b": {"c": "three"}}},
        {"a": {"b.c": "other", "b": {"c": "three"}}},
        {"a": {"b": {"c": "three"}}},
        {"a.b.c": None, "a": {"b": {"c": "three"}}},
    ]
    assert [row[1] if len(row) == 4 else row for row in shown(read(lines_of(*rows), text_key="a.b.c"))] == [
        "whole",
        "two",
        "other",
        "three",
        "no_text",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"text": ["one", "", "two"]}, "one|two"),
        ([{"text": "one"}, {"n": 1}, {"text": ["two", "three"]}], "one|two|three"),
        ({"text": []}, ""),
        ({"text": ""}, ""),
        ([{"text": [{"x": 1}]}], "text_not_a_string"),
        ({"text": 5}, "text_not_a_string"),
        ([{"n": 1}], "no_text"),
        ([{"text": None}, {"n": 1}], "no_text"),
        ([{"text": None}, {"text": "a"}], "a"),
        (["no objects"], "no_text"),
        ("a string", "no_text"),
    ],
)
def test_texts_of_lists_are_joined(value: Any, text: str) -> None:
    (found,) = shown(read(lines_of({"id": "1", "answers": value}), text_key="answers.text", separator="|"))
    assert (found if isinstance(found, str) else found[1]) == text


def test_texts_of_several_keys_are_joined_in_their_order() -> None:
    rows = [
        {"title": "T", "body": "B", "n": 1},
        {"body": "B", "title": ""},
        {"body": ["B", "C"]},
        {"title": None, "body": None},
        {"title": 1},
    ]
    found = shown(read(lines_of(*rows), text_key=("title", "body")))
    assert [row if isinstance(row, str) else row[1] for row in found] == [
        "T\n\nB",
        "B",
        "B\n\nC",
        "no_text",
        "text_not_a_string",
    ]
    assert found[0][3] == {"n": 1}
    assert [row[1] for row in shown(read(lines_of(rows[0]), text_key=("title", "body"), separator=" - "))] == ["T - B"]


def test_a_single_key_takes_a_string_alone_and_the_fault_names_what_takes_a_list() -> None:
    (bad,) = read(lines_of({"text": ["a"]}))
    assert (bad.reason, "`text_key: [text]` joins" in bad.detail) == ("text_not_a_string", True)
    (good,) = read(lines_of({"text": ["a", "b"]}), text_key=("text",))
    assert good.text == "a\n\nb"


def test_half_a_surrogate_stays_in_a_nested_text_if_it_is_repaired_later() -> None:
    line = b'{"data": {"body": "a\\ud83d"}, "title": "t\\ud83d", "n": "\\ud83d"}\n'
    (found,) = read(line, text_key=("title", "data.body"), lone_surrogates="keep")
    assert (found.text, json.loads(bytes(found.metadata))) == ("t\ud83d\n\na\ud83d", {"n": "\ufffd"})
    assert shown(read(line, text_key="data.body")) == ["lone_surrogate"]


STRUCTS = {
    "doc": pa.array([{"id": 7, "body": "text", "url": "u"}, {"id": 8, "body": None, "url": None}]),
    "parts": pa.array([[{"text": "a"}, {"text": "b"}], None]),
    "words": pa.array([["x", "y"], ["z"]]),
}


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_columns_of_objects_and_lists_are_read_as_the_same_rows_of_json_lines(name: str) -> None:
    content = parquet_of(STRUCTS) if name == "a.parquet" else arrow_of(STRUCTS, as_file=True)
    rows = [
        {"doc": {"id": 7, "body": "text", "url": "u"}, "parts": [{"text": "a"}, {"text": "b"}], "words": ["x", "y"]},
        {"doc": {"id": 8, "body": None, "url": None}, "parts": None, "words": ["z"]},
    ]
    for keys in ("doc.body", "parts.text", ("doc.body", "words"), ("words",), ("parts.text", "doc.body")):
        rules: dict[str, Any] = {"text_key": keys, "id_key": "doc.id"}
        assert shown(read(content, name, **rules)) == shown(read(lines_of(*rows), **rules))


def test_a_nested_key_that_no_column_has_is_a_bad_file() -> None:
    with pytest.raises(Exception, match=r"a\.parquet: no column 'doc\.bodi'; columns: doc, parts, words"):
        read(parquet_of(STRUCTS), "a.parquet", text_key="doc.bodi")


def test_metadata_keys_keep_what_they_name() -> None:
    row = {
        "id": "1",
        "text": "t",
        "url": "u",
        "metadata": {"lang": "de", "n": 1, "crawl": {"date": "d", "host": "h"}},
        "list": [{"a": 1, "b": 2}, {"b": 3}],
        "x.y": 5,
        "created": "2024",
    }

    def kept(*keys: str) -> Any:
        ((_, text, created, metadata),) = shown(read(lines_of(row), metadata_keys=keys))
        assert (text, created) == ("t", "2024")
        return metadata

    assert kept() == {}
    assert kept("lang", "url", "none") == {"lang": "de", "url": "u"}
    assert kept("crawl.date") == {"crawl": {"date": "d"}}
    assert kept("crawl.date", "crawl.host", "x.y") == {"crawl": {"date": "d", "host": "h"}, "x.y": 5}
    assert kept("crawl", "crawl.host") == {"crawl": {"date": "d", "host": "h"}}
    assert kept("list.a") == {"list": [{"a": 1}, {}]}
    assert kept("n.more", "list.c", "url.x") == {}


def test_of_a_table_only_the_columns_that_are_kept_are_read() -> None:
    columns = {"id": ["1"], "text": ["t"], "url": ["u"], "big": ["x" * 99], "crawl": pa.array([{"date": "d", "n": 1}])}
    for name, content in (("a.parquet", parquet_of(columns)), ("a.arrow", arrow_of(columns, as_file=True))):
        ((_, text, _, metadata),) = shown(read(content, name, metadata_keys=("url", "crawl.date")))
        assert (text, metadata) == ("t", {"url": "u", "crawl": {"date": "d"}})
    out = io.BytesIO()
    pq.write_table(pa.table({**columns, "big": ["y" * 50_000]}), out, compression="none", use_dictionary=False)
    broken = bytearray(out.getvalue())
    place = broken.index(b"y" * 16)
    broken[place - 40 : place - 20] = bytes(20)
    assert shown(read(bytes(broken), "a.parquet", metadata_keys=("url",)))[0][1] == "t"


def examples(rows: list[Any], mode: str, **options: Any) -> list[Any]:
    files = {**Files(location="x").model_dump(), **options}
    rules = rules_of(mode, "d", {key: value for key, value in files.items() if key not in ("csv", "metadata_keys")})
    content = lines_of(*rows)
    return list(read_examples(RawFile("a.jsonl", lambda: io.BytesIO(content)), rules))


def test_examples_have_nested_keys_too() -> None:
    (pair,) = examples(
        [{"q": {"context": "C", "question": "Q"}, "answers": {"text": ["A", "B"]}, "n": 1}],
        "summarization",
        prompt_key=["q.context", "q.question"],
        completion_key="answers.text",
    )
    assert (pair.prompt, pair.completion) == ("C\n\nQ", "A\n\nB")
    assert json.loads(bytes(pair.metadata)) == {"n": 1}
    said = (("user", "x"), ("assistant", "y"))
    turns = [{"author": {"role": role}, "content": {"parts": [text]}} for role, text in said]
    (talk,) = examples(
        [{"data": {"turns": turns}}],
        "chat",
        messages_key="data.turns",
        role_key="author.role",
        content_key="content.parts",
    )
    assert talk.messages == [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
    (text,) = examples([{"title": "T", "data": {"body": "B"}}], "lm", text_key=["title", "data.body"])
    assert text.text == "T\n\nB"


def test_items_have_nested_keys_too() -> None:
    rules = ItemRules(
        "s",
        shape="text",
        files=Files.model_construct(None, location=""),
        text_keys=("data.q", "data.a"),
        id_key="data.id",
    )
    assert isinstance(rules, ExampleRules)
    columns = {"data": pa.array([{"q": "Q", "a": "A", "id": "7"}]), "other": [1]}
    for name, content in (
        ("a.jsonl", lines_of({"data": {"q": "Q", "a": "A", "id": "7"}})),
        ("a.parquet", parquet_of(columns)),
        ("a.arrow", arrow_of(columns, as_file=False)),
    ):
        (item,) = read_examples(RawFile(name, lambda content=content: io.BytesIO(content)), rules)  # type: ignore[misc]
        assert (item.id, item.text) == ("7", "Q\n\nA")  # type: ignore[union-attr]
