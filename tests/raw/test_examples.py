import dataclasses
import gzip
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.config.datasets.files import Files
from corpus_assets.raw.examples import BadRow, ExampleRules, Limits, RawFile, Shape, read_examples, rules_of
from corpus_assets.raw.readers import RowRules, read_documents
from resources.errors import BadFileError, ConfigError
from resources.formats.examples import Example, decode_example, encode_example
from tests.golden import SHARED, shared

LISTING = SHARED.joinpath("data", "hostile", "expect.json")
EXPECT: dict[str, Any] = json.loads(LISTING.read_bytes()) if LISTING.exists() else {}
INPUTS = ("golden", "cerebras", "inputs")

_MODES = {"text": "lm", "pair": "chat", "conversation": "chat", "preference": "dpo"}


def rules_for(shape: Shape = "text", *, mode: str | None = None, **options: Any) -> ExampleRules:
    """The rules of a dataset whose files hold examples of a shape."""
    usual = {"messages_key": "messages"} if shape == "conversation" else {}
    files = Files(location="own", **(usual | options))
    found = rules_of(mode or _MODES[shape], "s", files.model_dump())
    assert found.shape == shape
    return found


TEXT = rules_for()
PAIR = rules_for("pair")
CHAT = rules_for("conversation")
DPO = rules_for("preference")
SHAPES = (TEXT, PAIR, CHAT, DPO)

HI = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
STRINGS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def read(name: str, content: bytes, rules: ExampleRules, limits: Limits | None = None) -> list[Example | BadRow]:
    file = RawFile(name, lambda: io.BytesIO(content))
    return list(read_examples(file, rules, limits or Limits()))


def lines(rows: Iterable[object]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def parquet(rows: list[dict[str, Any]], **types: pa.DataType) -> bytes:
    table = pa.Table.from_pylist(rows)
    for name, kind in types.items():
        table = table.set_column(table.schema.get_field_index(name), name, table[name].cast(kind))
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


def one(row: object, rules: ExampleRules) -> Example | BadRow:
    (found,) = read("a.jsonl", lines([row]), rules)
    return found


def example(row: object, rules: ExampleRules) -> Example:
    found = one(row, rules)
    assert isinstance(found, Example), found
    assert decode_example(encode_example(found)) == found
    return found


def reason(row: object, rules: ExampleRules) -> str:
    found = one(row, rules)
    assert isinstance(found, BadRow), found
    assert found.where == "a.jsonl line 1"
    assert found.detail
    return found.reason


def metadata(found: Example) -> Any:
    return json.loads(bytes(found.metadata) or b"{}")


def read_path(path: Path, rules: ExampleRules) -> list[Example | BadRow]:
    return list(read_examples(RawFile(path.name, lambda: path.open("rb")), rules))


def split(rows: Iterable[Example | BadRow]) -> tuple[list[Example], Counter[str]]:
    good, bad = [], Counter[str]()
    for row in rows:
        if isinstance(row, Example):
            good.append(row)
        else:
            bad[row.reason] += 1
    return good, bad


# Values


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ('"a b"', "a b"),
        ('" "', " "),
        ("0", "0"),
        ("-0", "-0"),
        ("3.5", "3.5"),
        ("1.50", "1.50"),
        ("1e3", "1e3"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ('["a"]', "a"),
        ('["a", "b c", ""]', "a\n\nb c\n\n"),
    ],
)
def test_a_value_stands_for_its_text(written: str, text: str) -> None:
    row = f'{{"prompt": {written}, "completion": {written}, "text": {written}, "chosen": {written}, "rejected": "r"}}'
    for rules, fields in ((TEXT, ["text"]), (PAIR, ["prompt", "completion"]), (DPO, ["prompt", "chosen"])):
        (found,) = read("a.jsonl", row.encode(), rules)
        assert [getattr(found, field) for field in fields] == [text] * len(fields)


@pytest.mark.parametrize("field", ["text", "prompt", "completion", "chosen", "rejected"])
@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (..., "no_{}"),
        (None, "no_{}"),
        ("", "empty_{}"),
        ([], "empty_{}"),
        ([""], "empty_{}"),
        (True, "{}_not_text"),
        (False, "{}_not_text"),
        ({"a": 1}, "{}_not_text"),
        ([1, 2], "{}_not_text"),
        (["a", 1], "{}_not_text"),
        (["a", {"role": "user"}], "{}_not_text"),
    ],
)
def test_what_is_no_text_is_a_bad_row_of_its_own_reason(field: str, value: object, kind: str) -> None:
    rules = next(rules for rules in (TEXT, PAIR, DPO) if field in rules.keys)
    row: dict[str, object] = dict.fromkeys(rules.keys, "good")
    row[field] = value
    if value is ...:
        del row[field]
    optional = rules is DPO and field == "prompt"
    assert optional or reason(row, rules) == kind.format(field)


def test_a_bad_row_moves_no_other() -> None:
    rows = [{"prompt": f"p{n}", "completion": f"c{n}"} for n in range(9)]
    dirty: list[Any] = [dict(row) for row in rows]
    dirty[2]["prompt"] = ""
    del dirty[4]["completion"]
    dirty[5] = [1, 2]
    found = read("a.jsonl", lines(dirty), PAIR)
    assert [row.reason if isinstance(row, BadRow) else (row.id, row.prompt, row.completion) for row in found] == [
        {2: "empty_prompt", 4: "no_completion", 5: "not_an_object"}.get(n, (f"a.jsonl:{n}", f"p{n}", f"c{n}"))
        for n in range(9)
    ]


def test_several_prompt_keys_are_joined() -> None:
    alpaca = rules_for("pair", prompt_key=["instruction", "input"], completion_key="output")
    row = {"instruction": "Add.", "input": "1 2", "output": 3, "topic": "sums"}
    found = example(row, alpaca)
    assert (found.prompt, found.completion, metadata(found)) == ("Add.\n\n1 2", "3", {"topic": "sums"})
    assert example(row | {"input": ""}, alpaca).prompt == "Add."
    assert example({"instruction": "Add.", "output": "3"}, alpaca).prompt == "Add."
    assert reason(row | {"instruction": None, "input": ""}, alpaca) == "empty_prompt"
    assert reason({"output": "3"}, alpaca) == "no_prompt"
    (in_table,) = read("a.parquet", parquet([row]), alpaca)
    assert getattr(in_table, "prompt", None) == "Add.\n\n1 2"


@pytest.mark.parametrize("name", ["a.jsonl", "a.json.gz"])
def test_a_line_may_be_a_bare_string(name: str) -> None:
    content = b'"one\\n"\n{"text": "two"}\n""\n'
    packed = gzip.compress(content) if name.endswith("gz") else content
    first, second, third = read(name, packed, TEXT)
    assert getattr(first, "text", None) == ("one" if name == "a.json.gz" else "one\n")
    assert getattr(second, "text", None) == "two"
    assert getattr(third, "reason", None) == "empty_text"
    assert getattr(read(name, packed, PAIR)[0], "reason", None) == "not_an_object"


def test_messages_without_roles_take_turns_when_the_rules_say_so() -> None:
    row = {"talk": [{"said": "a"}, {"said": "b"}, {"role": "system", "said": "c"}]}
    rules = rules_for("conversation", mode="summarization", messages_key="talk", content_key="said")
    assert [message["role"] for message in example(row, rules).messages or ()] == ["user", "assistant", "system"]
    assert reason(row, dataclasses.replace(rules, roles_by_turn=False)) == "no_role"


def test_one_json_value_over_several_lines_fails_the_file() -> None:
    with pytest.raises(BadFileError, match="valid is one JSON value per line"):
        read("a.jsonl", json.dumps([{"text": "t"}], indent=1).encode(), TEXT)


def test_a_text_file_is_one_text_and_nothing_else() -> None:
    (found,) = read("b/a.txt", "é\r\n".encode(), TEXT)
    assert found == Example("b/a.txt:0", "s", text="é\n")
    assert read("a.txt", b"", TEXT) == []
    with pytest.raises(BadFileError, match="a text file holds no pair; valid: shape text"):
        read("b/a.txt", b"text", PAIR)


def test_texts_may_be_empty_where_they_are_for_cerebras() -> None:
    rules = dataclasses.replace(TEXT, keeps_empty="not in JSON lines")
    rows: list[dict[str, Any]] = [{"text": ""}, {"text": "a"}, {"text": []}, {"text": None}]
    files = {
        "a.parquet": (parquet(rows[:2]), ["", "a"]),
        "b.json.gz": (gzip.compress(lines(["", " ", "a", {"text": ""}])), ["", "", "a", "empty_text"]),
        "c.txt": (b"", [""]),
        "d.txt": (b"\xef\xbb\xbf", [""]),
        "e.jsonl": (lines([*rows, ""]), ["empty_text", "a", "empty_text", "no_text", "empty_text"]),
        "f.jsonl": (b"", []),
    }
    for name, (content, outcome) in files.items():
        found = read(name, content, rules)
        assert [row.reason if isinstance(row, BadRow) else row.text for row in found] == outcome, name
    missing = read("a.parquet", parquet([{"text": "a"}, {"text": None}]), rules)
    assert [getattr(row, "reason", None) for row in missing] == [None, "no_text"]
    listed = RawFile("l.txt", lambda: io.BytesIO(b"x.txt\n"), lambda _: io.BytesIO(b""))
    (alone,) = read_examples(listed, dataclasses.replace(rules, format="txt_list"))
    assert alone == Example("x.txt:0", "s", text="")


def test_numbers_and_booleans_may_be_as_python_writes_them() -> None:
    rules = rules_for(numbers="python")
    values_of_json = (b"1.50", b"1e-5", b"1E3", b"7", b"true", b"0", b"false", b"-0.0")
    rows = b"".join(b'{"text": %s}\n' % value for value in values_of_json)
    found = read("a.jsonl", rows, rules)
    texts = [row.reason if isinstance(row, BadRow) else row.text for row in found]
    assert texts == ["1.5", "1e-05", "1000.0", "7", "True", "empty_text", "empty_text", "empty_text"]
    for values, written in (([1e-5, 0.0, 1e16], ["1e-05", "0.0", "1e+16"]), ([True, False], ["True", "False"])):
        columns = read("a.parquet", parquet([{"text": value} for value in values]), rules)
        assert [getattr(row, "text", None) for row in columns] == written
    contents: list[Any] = [0, 1e-5, True, False]
    messages = [{"role": "user", "content": value} for value in contents]
    chat = one({"messages": messages}, rules_for("conversation", numbers="python"))
    assert isinstance(chat, Example) and chat.messages is not None
    assert [message["content"] for message in chat.messages] == ["0", "1e-05", "True", "False"]


def test_a_list_of_text_files() -> None:
    file = RawFile("l.txt", lambda: io.BytesIO(b"x.txt\ny.txt\n"), lambda path: io.BytesIO(path.encode()))
    found = list(read_examples(file, rules_for(format="txt_list")))
    assert found == [Example("x.txt:0", "s", text="x.txt"), Example("y.txt:0", "s", text="y.txt")]


# Messages


@pytest.mark.parametrize(
    "written",
    [
        HI,
        ["hi", "hello"],
        [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "hello"}],
        [{"role": "user", "content": ["hi"]}, {"role": "assistant", "content": ["hello"], "name": None}],
    ],
)
def test_forms_of_a_conversation(written: list[Any]) -> None:
    assert example({"messages": written}, CHAT).messages == HI
    (found,) = read("a.parquet", parquet([{"messages": written}]), CHAT)
    assert getattr(found, "messages", None) == HI


def test_keys_of_messages_are_kept_or_named_by_the_rules() -> None:
    rules = rules_for("conversation", messages_key="turns", role_key="who", content_key="says")
    turn = {"who": "human", "says": 4, "role": "x", "weight": 0.5, "tags": [{"deep": [1, None]}], "n": 2**70}
    assert example({"turns": [turn], "messages": []}, rules).messages == [
        {"role": "human", "content": "4", "role_": "x", "weight": 0.5, "tags": [{"deep": [1, None]}], "n": 2**70}
    ]
    sharegpt = rules_for("conversation", messages_key="conversations", role_key="from", content_key="value")
    written = [{"from": "system", "value": ""}, {"from": "human", "value": "hi"}, {"from": "tool", "value": "t"}]
    found = example({"conversations": written}, sharegpt).messages or []
    assert [message["role"] for message in found] == ["system", "user", "tool"]


def test_a_call_of_a_tool_needs_no_content() -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
    assert example({"messages": [call]}, CHAT).messages == [call | {"content": ""}]


@pytest.mark.parametrize(
    ("messages", "kind"),
    [
        (None, "no_messages"),
        ([], "empty_messages"),
        ("hi", "messages_not_a_list"),
        (json.dumps(HI), "messages_not_a_list"),
        ({"role": "user", "content": "hi"}, "messages_not_a_list"),
        (0, "messages_not_a_list"),
        ([1], "message_not_an_object"),
        ([HI[0], "hello"], "message_not_an_object"),
        ([["user", "hi"]], "message_not_an_object"),
        ([HI[0], {"role": "assistant"}], "no_content"),
        ([{"role": "user", "content": None}], "no_content"),
        ([{"role": "user", "value": "hi"}], "no_content"),
        ([{"role": "user", "content": {"text": "hi"}}], "content_not_text"),
        ([{"role": "user", "content": [1]}], "content_not_text"),
        ([{"role": "user", "content": [{"text": "hi"}, {"type": "image", "url": "x"}]}], "part_not_text"),
        ([{"role": "user", "content": [{"type": "text", "text": None}]}], "part_not_text"),
        ([{"role": "user", "content": [{"type": "text"}, None]}], "part_not_text"),
        ([{"role": "user", "content": [{"type": "text", "text": "hi"}, 1]}], "part_not_text"),
        ([{"content": "hi"}], "no_role"),
        ([{"role": "", "content": "hi"}], "no_role"),
        ([{"role": 1, "content": "hi"}], "role_not_text"),
    ],
)
def test_what_is_no_conversation(messages: object, kind: str) -> None:
    assert reason({"messages": messages}, CHAT) == kind


def test_the_texts_of_parts_are_joined_and_others_are_named() -> None:
    parts = [{"type": "text", "text": "a "}, "b", {"text": "c", "cache": 1}]
    said = [parts, [{"type": "text", "text": ""}], ["d", "e"]]
    rows = [{"messages": [{"role": "user", "content": content}]} for content in said]
    found = [example(row, CHAT).messages for row in rows]
    assert [messages and messages[0]["content"] for messages in found] == ["a bc", "", "d\n\ne"]
    image = {"messages": [HI[0], {"role": "user", "content": [{"type": "image", "text": None, "url": "x"}]}]}
    bad = one(image, CHAT)
    assert isinstance(bad, BadRow)
    assert bad.detail == "key 'messages' message 2 key 'content' has a part of type 'image'; valid: text"


def test_parts_in_a_table_have_nulls_for_the_keys_of_others() -> None:
    text = {"type": "text", "text": "a", "url": None}
    rows: list[dict[str, Any]] = [
        {"messages": [{"role": "user", "content": [text, text]}]},
        {"messages": [{"role": "user", "content": [text, {"type": "image", "text": None, "url": "x"}]}]},
    ]
    good, bad = split(read("a.parquet", parquet(rows), CHAT))
    assert [one.messages for one in good] == [[{"role": "user", "content": "aa"}]]
    assert bad == {"part_not_text": 1}


def test_preferences_may_have_parts_and_cerebras_knows_none() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    row = {"prompt": [{"role": "user", "content": parts}], "chosen": HI[1:], "rejected": HI[1:]}
    assert example(row, DPO).prompt == [{"role": "user", "content": "ab"}]
    python = rules_for("conversation", numbers="python")
    assert reason({"messages": row["prompt"]}, python) == "content_not_text"


def test_faults_of_messages_say_where() -> None:
    found = one({"messages": [HI[0], {"role": "assistant", "text": "x"}]}, CHAT)
    assert isinstance(found, BadRow)
    assert found.detail == "key 'messages' message 2 has no 'content'; it has 'text'"
    found = one({"messages": [{"content": "hi", "name": "Ann"}]}, CHAT)
    assert isinstance(found, BadRow)
    assert found.detail == "key 'messages' message 1 has no 'role'; it has 'content', 'name'"
    found = one({"messages": json.dumps(HI)}, CHAT)
    assert isinstance(found, BadRow)
    assert "JSON inside a string is not read" in found.detail
    assert reason({"prompts": "p"}, CHAT) == "no_messages"


@pytest.mark.parametrize("depth", [300, 100_000])
@pytest.mark.parametrize("rules", SHAPES)
def test_deep_nesting_is_a_bad_row(depth: int, rules: ExampleRules) -> None:
    nest = b"[" * depth + b"]" * depth
    key = rules.keys[-1].encode()
    rows = b'{"%s": [{"role": "user", "content": "c", "x": %s}]}\n{"x": %s}' % (key, nest, nest)
    found = read("a.jsonl", rows, rules)
    assert len(found) == 2
    assert all(isinstance(row, BadRow) for row in found)
    if rules in (CHAT, DPO):
        assert getattr(found[0], "reason", None) in ("too_deep", "no_chosen")


def test_limits_hold_in_messages() -> None:
    row = {"messages": [{"role": "user", "content": "c", "x": [[[1]]]}]}
    (found,) = read("a.jsonl", lines([row]), CHAT, Limits(nesting=4))
    assert getattr(found, "reason", None) == "too_deep"
    (found,) = read("a.jsonl", lines([row]), CHAT, Limits(nesting=5))
    assert isinstance(found, Example)
    (found,) = read("a.jsonl", b'{"messages": [{"role": "user", "content": "c", "x": 1e999}]}', CHAT)
    assert getattr(found, "reason", None) == "number_out_of_range"
    (found,) = read("a.jsonl", lines([row]), CHAT, Limits(line_bytes=20))
    assert getattr(found, "reason", None) == "line_too_long"


@pytest.mark.parametrize("rules", [TEXT, PAIR, CHAT, DPO])
@pytest.mark.parametrize(("bad", "kind"), [(b'"\\ud800"', "lone_surrogate"), (b'"\xff"', "invalid_utf8")])
def test_no_text_that_is_no_unicode(rules: ExampleRules, bad: bytes, kind: str) -> None:
    good = {key.encode(): b'"t"' for key in rules.keys}
    if rules is CHAT:
        bad, good = b'[{"role": "user", "content": %s}]' % bad, {b"messages": b"[]"}
    for key in good:
        row = b"{%s}" % b",".join(b'"%s": %s' % item for item in (good | {key: bad}).items())
        assert [getattr(found, "reason", None) for found in read("a.jsonl", row, rules)] == [kind]


# Preferences


@pytest.mark.parametrize("prompt", ["p", HI, None, ["p", "q"]])
@pytest.mark.parametrize("responses", [("c", "r"), (HI, HI[:1])])
def test_forms_of_a_preference(prompt: Any, responses: tuple[Any, Any]) -> None:
    row = {"prompt": prompt, "chosen": responses[0], "rejected": responses[1], "score": 1}
    found = example(row, DPO)
    assert (found.chosen, found.rejected) == responses
    assert found.prompt == ("p\n\nq" if prompt == ["p", "q"] else prompt)
    assert metadata(found) == {"score": 1}
    (from_table,) = read("a.parquet", parquet([row]), DPO)
    assert from_table == Example(
        **{field: getattr(found, field) for field in Example.__struct_fields__} | {"id": "a.parquet:0"}
    )


def test_a_preference_needs_no_prompt_and_responses_of_one_form() -> None:
    absent: list[dict[str, object]] = [{}, {"prompt": ""}, {"prompt": []}]
    for prompt in absent:
        assert example({"chosen": "c", "rejected": "r"} | prompt, DPO).prompt is None
    assert reason({"chosen": "c", "rejected": HI}, DPO) == "mixed_responses"
    assert reason({"chosen": [HI[0], "x"], "rejected": HI}, DPO) == "message_not_an_object"
    assert reason({"prompt": True, "chosen": "c", "rejected": "r"}, DPO) == "prompt_not_text"
    assert read("a.parquet", parquet([{"chosen": "c", "rejected": "r"}]), DPO)[0] == Example(
        "a.parquet:0", "s", chosen="c", rejected="r"
    )


# Ids, metadata, columns


@pytest.mark.parametrize(
    ("ids", "outcome"),
    [
        ("auto", ["x", "7", "no_id", "bad_id"]),
        ("given", ["x", "7", "no_id", "bad_id"]),
        ("derived", ["f/a.jsonl:0", "f/a.jsonl:1", "f/a.jsonl:2", "f/a.jsonl:3"]),
        ("optional", ["x", "7", "f/a.jsonl:2", "f/a.jsonl:3"]),
    ],
)
def test_ids_are_those_of_documents(ids: Any, outcome: list[str]) -> None:
    content = lines([{"text": "t", **key} for key in ({"id": "x"}, {"id": 7}, {}, {"id": None})])
    found = read("f/a.jsonl", content, rules_for(ids=ids))
    assert [row.id if isinstance(row, Example) else row.reason for row in found] == outcome
    file = RawFile("f/a.jsonl", lambda: io.BytesIO(content))
    documents = read_documents(file, RowRules("s", ids=ids))
    assert [row.reason if isinstance(row, BadRow) else row.id for row in documents] == outcome


def test_what_is_no_id_is_metadata_where_ids_are_optional() -> None:
    found = example({"text": "t", "id": [1.5]}, rules_for(ids="optional"))
    assert metadata(found) == {"id": [1.5]}


def test_a_null_id_of_a_table_is_none() -> None:
    found = read("a.parquet", parquet([{"text": "t", "id": None}, {"text": "u", "id": "x"}]), TEXT)
    assert [getattr(row, "id", None) for row in found] == ["a.parquet:0", "x"]


def test_everything_else_given_is_metadata() -> None:
    row = {"prompt": "p", "completion": "c", "source": "s", "added": "2020", "meta": {"k": 1, "n": 2}, "n": [3]}
    assert metadata(example(row, PAIR)) == {"k": 1, "n": 2, "n_": [3], "added": "2020"}
    assert metadata(example({"text": "t", "prompt": "p", "source": "other"}, TEXT)) == {
        "prompt": "p",
        "source": "other",
    }


def test_columns_that_are_not_there_fail_the_file() -> None:
    content = parquet([{"prompt": "p", "answer": "c"}])
    with pytest.raises(BadFileError, match="no column 'completion'; columns: prompt, answer"):
        read("a.parquet", content, PAIR)
    with pytest.raises(BadFileError, match="no column 'prompt_'"):
        read("a.parquet", content, rules_for("conversation", messages_key="prompt_"))
    with pytest.raises(BadFileError, match=r"no column 'prompt' \(datasets\.\w+\.input\.messages_key\); columns: text"):
        read("a.parquet", parquet([{"text": "t"}]), rules_for("conversation", messages_key="prompt"))
    either = rules_for("pair", prompt_key=["question", "ask"], completion_key="answer")
    with pytest.raises(BadFileError, match="no column 'question' or 'ask'"):
        read("a.parquet", content, either)


def test_typed_columns_follow_the_rules_of_json() -> None:
    rows = [{"prompt": 0, "completion": 3.5}, {"prompt": 7, "completion": float("nan")}]
    good, bad = split(read("a.parquet", parquet(rows), PAIR))
    assert [(row.prompt, row.completion) for row in good] == [("0", "3.5")]
    assert bad == {"no_completion": 1}
    (found,) = read("a.parquet", parquet([{"prompt": True, "completion": "c"}]), PAIR)
    assert getattr(found, "reason", None) == "prompt_not_text"


def test_binary_columns_are_utf8() -> None:
    struct = pa.list_(pa.struct([("role", pa.binary()), ("content", pa.large_binary())]))
    (found,) = read("a.parquet", parquet([{"messages": HI}], messages=struct), CHAT)
    assert getattr(found, "messages", None) == HI
    rows = read("a.parquet", parquet([{"text": b"\xc3\xa9"}, {"text": b"\xff"}]), TEXT)
    assert [getattr(row, "text", None) for row in rows] == ["é", None]
    assert getattr(rows[1], "reason", None) == "invalid_utf8"


def test_where_ids_come_from_is_checked() -> None:
    with pytest.raises(ConfigError, match="ids is 'none'; valid: auto"):
        ExampleRules("s", ids="none", shape="text", files=Files(location="own"))  # type: ignore[arg-type]


# Any rows

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | STRINGS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(STRINGS, inner, max_size=3),
    max_leaves=6,
)
MESSAGES = st.lists(
    st.dictionaries(st.sampled_from(["role", "content", "from", "value", "role_", "x"]), STRINGS | JSON), max_size=3
)
KEYS = ["id", "text", "prompt", "completion", "messages", "chosen", "rejected", "metadata", "source", "x"]
ROWS = st.lists(st.dictionaries(st.sampled_from(KEYS), STRINGS | MESSAGES | JSON, max_size=8) | JSON, max_size=5)


@pytest.mark.parametrize("rules", SHAPES, ids=lambda rules: str(rules.shape))
@given(rows=ROWS)
def test_every_row_is_an_example_or_a_reason(rules: ExampleRules, rows: list[object]) -> None:
    found = read("a.jsonl", lines([{}, *rows]), rules)[1:]
    assert len(found) == len(rows)
    for row, written in zip(found, rows, strict=True):
        if isinstance(row, BadRow):
            assert row.reason
            assert row.detail
            continue
        assert decode_example(encode_example(row)) == row
        if isinstance(written, dict) and "x" in written:
            assert written["x"] in metadata(row).values()


CHATS = st.lists(st.fixed_dictionaries({"role": STRINGS.filter(bool), "content": STRINGS, "x": STRINGS}), min_size=1)
VALUES: dict[Shape, dict[str, st.SearchStrategy[Any]]] = {
    "text": {"text": STRINGS | st.none()},
    "pair": {"prompt": STRINGS | st.none(), "completion": STRINGS},
    "conversation": {"messages": CHATS | st.none()},
    "preference": {"prompt": CHATS | st.none(), "chosen": CHATS, "rejected": CHATS},
}


@pytest.mark.parametrize("rules", SHAPES, ids=lambda rules: str(rules.shape))
@given(data=st.data())
def test_lines_and_tables_give_the_same(rules: ExampleRules, data: st.DataObject) -> None:
    given_beside = {"n": st.integers(-(2**63), 2**63 - 1), "id": STRINGS}
    written_rows = st.fixed_dictionaries(VALUES[rules.shape] | given_beside)
    rows: list[dict[str, Any]] = data.draw(st.lists(written_rows, min_size=1, max_size=5))
    packed = zstandard.ZstdCompressor().compress(lines(rows))
    from_lines = read("a.jsonl.zst", packed, rules)
    from_table = read("a.parquet", parquet(rows), rules)
    assert [row.reason if isinstance(row, BadRow) else row for row in from_lines] == [
        row.reason if isinstance(row, BadRow) else row for row in from_table
    ]
    for written, found in zip(rows, from_lines, strict=True):
        if isinstance(found, Example):
            assert found.id == written["id"]
            assert metadata(found) == {"n": written["n"]}
            for key in rules.keys:
                assert getattr(found, key) == (written[key] or None)


# Files of others


def test_dirty_pairs_are_the_clean_ones_and_reasons() -> None:
    dirty, bad = split(read_path(shared(*INPUTS, "pairs_dirty", "p.jsonl"), PAIR))
    clean, none = split(read_path(shared(*INPUTS, "pairs_clean", "p.jsonl"), PAIR))
    assert [(row.prompt, row.completion) for row in dirty] == [(row.prompt, row.completion) for row in clean]
    assert bad == {"empty_prompt": 1, "no_prompt": 1, "no_completion": 2}
    assert not none


def given_rows(path: Path) -> Iterator[Any]:
    """The records of a file by other means than the readers."""
    if path.suffix == ".parquet":
        yield from pq.read_table(path).to_pylist()
    elif path.suffix == ".gz":
        yield from map(json.loads, gzip.decompress(path.read_bytes()).splitlines())
    else:
        content = path.read_bytes()
        content = zstandard.ZstdDecompressor().decompressobj().decompress(content) if path.suffix == ".zst" else content
        yield from map(json.loads, content.splitlines())


@pytest.mark.parametrize(
    ("path", "rules"),
    [
        ("turns/turns.jsonl", CHAT),
        ("turns_flat/turns.jsonl", PAIR),
        ("dpo_str/dpo.jsonl", DPO),
        ("dpo_msgs/msgs.jsonl", DPO),
        ("dpo_inline/inline.jsonl", DPO),
        ("pairs_formats/p.parquet", PAIR),
        ("pairs_formats/q.jsonl.zst", PAIR),
        ("text_formats/a.jsonl", TEXT),
        ("text_formats/b.jsonl.zst", TEXT),
        ("text_formats/d.json.gz", TEXT),
        ("text_formats/e.parquet", TEXT),
    ],
)
def test_golden_inputs_give_their_values(path: str, rules: ExampleRules) -> None:
    file = shared(*INPUTS, path)
    found, bad = split(read_path(file, rules))
    expected = list(given_rows(file))
    absent = [row for row in expected if rules is DPO and not (row["chosen"] and row["rejected"])]
    assert bad.total() == len(absent)
    expected = [row for row in expected if row not in absent]
    assert len(found) == len(expected) > 0
    for row, record in zip(found, expected, strict=True):
        values = {"text": record} if isinstance(record, str) else record
        assert [getattr(row, key) for key in rules.keys] == [values.get(key) for key in rules.keys]


def test_flat_turns_are_the_pairs_of_the_conversations() -> None:
    conversations, _ = split(read_path(shared(*INPUTS, "turns", "turns.jsonl"), CHAT))
    flat, _ = split(read_path(shared(*INPUTS, "turns_flat", "turns.jsonl"), PAIR))
    texts = [message["content"] for row in conversations for message in row.messages or []]
    assert texts == [text for row in flat for text in (row.prompt, row.completion)]


COMMANDS = {"prompt_key": "question", "completion_key": "answer"}


@pytest.mark.parametrize(
    ("path", "rules", "rows"),
    [
        ("sft/seed_tasks.jsonl", PAIR, 175),
        ("sft/commands.jsonl.zst", rules_for("pair", **COMMANDS), 6_000),
        ("sft/commands.jsonl.zst.tar", rules_for("pair", **COMMANDS), 2_100),
        ("sft/man_summaries.parquet", PAIR, 985),
        ("dpo/chat.jsonl", DPO, 150),
    ],
)
def test_counts_of_the_sample_sets(path: str, rules: ExampleRules, rows: int) -> None:
    found, bad = split(read_path(shared("data", path), rules))
    assert (len(found), len({row.id for row in found}), bad) == (rows, rows, {})


def test_counts_of_the_preferences() -> None:
    names = ("commands.jsonl", "commands.jsonl.zst", "commands.parquet")
    parts = [split(read_path(shared("data", "dpo", name), DPO)) for name in names]
    assert sum(len(found) for found, _ in parts) == 3_000
    assert not any(bad for _, bad in parts)


# For an example a number is a text, a list of strings too, and an empty text is none; a table of numbers is no fault.
CHOSEN = {
    "text_types.jsonl": {"no_text": 1, "text_not_text": 2},
    "text_empty.jsonl": {"empty_text": 1},
    "text_short_ngram.jsonl": {"empty_text": 1},
    "parquet_int_text.parquet": {},
    "parquet_nested.parquet": {},
}


@pytest.mark.parametrize("entry", EXPECT.get("files", []), ids=lambda entry: str(entry["file"])[:40])
def test_hostile_files(entry: dict[str, Any]) -> None:
    name = entry["file"]
    path = shared("data", "hostile", name)
    if entry["expect"] == "fail_file" and name not in CHOSEN:
        with pytest.raises(BadFileError) as refused:
            read_path(path, TEXT)
        assert refused.value.where.startswith(name)
        return
    try:
        good, bad = split(read_path(path, TEXT))
    except BadFileError as error:
        assert entry["expect"] == "either", error
        return
    assert all(decode_example(encode_example(row)) == row for row in good)
    if name in CHOSEN:
        assert bad == CHOSEN[name]
    elif entry["expect"] != "either":
        assert (len(good), bad.total()) == (entry["good_rows"], entry["bad_rows"])


@pytest.mark.parametrize("entry", EXPECT.get("files", []), ids=lambda entry: str(entry["file"])[:40])
def test_hostile_files_hold_no_pairs(entry: dict[str, Any]) -> None:
    name = entry["file"]
    path = shared("data", "hostile", name)
    try:
        good, _ = split(read_path(path, PAIR))
    except BadFileError as error:
        assert error.where.startswith(name)
    else:
        assert good == []


def test_a_document_whose_metadata_is_no_utf8_is_a_bad_row() -> None:
    rows = b'{"id": "1", "text": "t", "metadata": {"k": "\xff"}}\n{"id": "2", "text": "t"}'
    first, second = read_documents(RawFile("a.jsonl", lambda: io.BytesIO(rows)), RowRules("s"))
    assert isinstance(first, BadRow)
    assert (first.where, first.reason) == ("a.jsonl line 1", "invalid_utf8")
    assert getattr(second, "id", None) == "2"
