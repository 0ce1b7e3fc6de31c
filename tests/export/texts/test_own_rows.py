"""Rows of files of a dataset's own: what they become, what is refused, and that all of them are counted."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.build.small import opened
from tests.export.exported import manifest_of
from tests.export.texts.made import all_rows, own

USER, ANSWER = {"role": "user", "content": "Wieso?"}, {"role": "assistant", "content": "Darum.\u2028 \U0001f600"}
CALL: dict[str, Any] = {
    "id": "c1",
    "type": "function",
    "function": {"name": "look", "arguments": {"a": [1, None, {"b": 1.5}], "c": ""}},
}
CALLING = {"role": "assistant", "content": "", "tool_calls": [CALL]}
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"properties": {"a": {"type": "array"}}}}}


def talk(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"messages": list(messages), **more}


TALKS = {"messages_key": "messages"}


def values(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows without what names them."""
    return [{key: value for key, value in row.items() if key not in ("id", "source")} for row in rows]


def test_conversations_keep_tools_and_every_key_of_their_messages(tmp_path: Path) -> None:
    rows = [
        talk(USER, {**ANSWER, "name": "bot", "weight": 0}),
        talk(USER, CALLING, {"role": "tool", "content": "3", "tool_call_id": "c1"}, tools=[TOOL]),
        talk({**USER, "name": None}, {**CALLING, "tool_calls": [{**CALL, "more": None}]}, tools=json.dumps([TOOL])),
        talk(USER, ANSWER, system="Be brief."),
    ]
    own(tmp_path, rows, keys=TALKS, rows="messages", files="jsonl")
    assert values(all_rows(tmp_path, "own")) == [
        rows[0],
        rows[1],
        talk(USER, CALLING, tools=[TOOL]),
        talk({"role": "system", "content": "Be brief."}, USER, ANSWER),
    ]


def test_a_table_has_one_type_for_messages_and_json_text_for_what_is_nested(tmp_path: Path) -> None:
    rows = [talk(USER, ANSWER), talk(USER, CALLING, tools=[TOOL]), talk(USER, {**ANSWER, "name": "bot"})]
    corpus = own(tmp_path, rows, keys=TALKS, rows="messages", files="parquet", message_keys=["tool_calls"])
    (plain, called) = values(all_rows(tmp_path, "own"))
    assert plain == {"messages": [{**USER, "tool_calls": None}, {**ANSWER, "tool_calls": None}], "tools": None}
    (call,) = called["messages"][1]["tool_calls"]
    assert json.loads(call["function"].pop("arguments")) == CALL["function"]["arguments"]
    assert call == {"id": "c1", "type": "function", "function": {"name": "look"}}
    assert json.loads(called["tools"]) == [TOOL]
    manifest = manifest_of(corpus, "own")
    assert (manifest["rows_in"], manifest["rows_out"]) == (3, 2)
    assert manifest["dropped"] == {"other_message_key": 1}


CASES: dict[str, tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]], dict[str, int]]] = {
    "prompt_completion": (
        {},
        [{"prompt": "a", "completion": " b"}, {"prompt": "a", "completion": ""}],
        [{"prompt": "a", "completion": " b"}],
        {},
    ),
    "instruction": (
        {"prompt_key": "instruction", "completion_key": "output"},
        [
            {"instruction": "i", "input": "x", "output": "o"},
            {"instruction": "i", "output": "o"},
            {"instruction": "i", "input": 3, "output": "o"},
        ],
        [{"instruction": "i", "input": given, "output": "o"} for given in ("x", "", "3")],
        {},
    ),
    "kto": (
        {},
        [
            {"prompt": "a", "completion": "b", "label": True},
            {"prompt": "a", "completion": "c", "label": False},
            {"prompt": "a", "completion": "d", "label": 1},
            {"prompt": "a", "completion": "d", "label": "ü" * 60},
            {"prompt": "a", "completion": "e"},
        ],
        [{"prompt": "a", "completion": "b", "label": True}, {"prompt": "a", "completion": "c", "label": False}],
        {"label_not_boolean": 2, "no_label": 1},
    ),
    "prompt_completion_messages": (
        {},
        [
            {"prompt": [USER], "completion": [CALLING], "tools": [TOOL], "system": "Be brief."},
            {"prompt": "a", "completion": [ANSWER]},
            {"prompt": [USER], "completion": "b", "tools": [json.dumps(TOOL)]},
            {"prompt": [USER], "completion": [ANSWER], "tools": "{"},
        ],
        [
            {"prompt": [{"role": "system", "content": "Be brief."}, USER], "completion": [CALLING], "tools": [TOOL]},
            {"prompt": [{"role": "user", "content": "a"}], "completion": [ANSWER]},
            {"prompt": [USER], "completion": [{"role": "assistant", "content": "b"}], "tools": [TOOL]},
        ],
        {"bad_tools": 1},
    ),
    "kto_messages": (
        {"completion_key": "answer"},
        [
            {"prompt": [USER], "answer": [ANSWER], "label": False},
            {"prompt": [USER], "answer": [ANSWER]},
        ],
        [{"prompt": [USER], "completion": [ANSWER], "label": False}],
        {"no_label": 1},
    ),
    "preference": (
        {},
        [
            {"prompt": "a", "chosen": "b", "rejected": "c"},
            {"prompt": "a", "chosen": "b", "rejected": "b"},
            {"chosen": "b", "rejected": "c"},
            {"prompt": "a", "chosen": [ANSWER], "rejected": [{**ANSWER, "content": "x"}]},
        ],
        [{"prompt": "a", "chosen": "b", "rejected": "c"}],
        {"equal_responses": 1, "no_prompt": 1, "not_texts": 1},
    ),
    "preference_messages": (
        {},
        [
            {"prompt": "a", "chosen": [ANSWER], "rejected": [{**ANSWER, "content": "x"}], "tools": [TOOL]},
            {"prompt": "unread", "chosen": [USER, ANSWER], "rejected": [USER, {**ANSWER, "content": "x"}]},
            {"prompt": [USER], "chosen": [ANSWER], "rejected": [CALLING]},
            {"chosen": [USER, ANSWER], "rejected": [USER]},
            {"chosen": [ANSWER], "rejected": [CALLING]},
            {"prompt": "a", "chosen": "b", "rejected": "c"},
            {"prompt": "a", "chosen": [ANSWER], "rejected": [ANSWER]},
        ],
        [
            {
                "prompt": [{"role": "user", "content": "a"}],
                "chosen": [ANSWER],
                "rejected": [{**ANSWER, "content": "x"}],
                "tools": [TOOL],
            },
            {"prompt": [USER], "chosen": [ANSWER], "rejected": [{**ANSWER, "content": "x"}]},
            {"prompt": [USER], "chosen": [ANSWER], "rejected": [CALLING]},
        ],
        {"no_response": 1, "no_prompt": 1, "not_messages": 1, "equal_responses": 1},
    ),
}


@pytest.mark.parametrize("rows", CASES)
def test_rows_of_each_kind(rows: str, tmp_path: Path) -> None:
    keys, given, wanted, dropped = CASES[rows]
    corpus = own(tmp_path, given, keys=keys, rows=rows)
    assert values(all_rows(tmp_path, "own")) == wanted
    manifest = manifest_of(corpus, "own")
    assert manifest["dropped"] == dropped
    assert manifest["rows_in"] == manifest["rows_out"] + sum(dropped.values())


def test_sides_that_are_neither_texts_nor_messages_are_counted(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"prompt": [USER], "completion": [ANSWER]},
        {"prompt": [USER], "completion": []},
        {"prompt": 3.5, "completion": {"content": "x"}},
        {"prompt": [{"content": "nobody"}], "completion": [ANSWER]},
        {"completion": [ANSWER]},
    ]
    own(tmp_path, rows, keys={"max_bad_rows": 1.0}, rows="prompt_completion_messages")
    (examples,) = opened(tmp_path).records("own_examples").values()
    wanted = {"empty_completion": 1, "completion_not_text": 1, "no_role": 1, "no_prompt": 1}
    assert examples.statistics["dropped"] == wanted
    assert values(all_rows(tmp_path, "own")) == rows[:1]


def test_a_table_has_messages_on_both_sides_and_a_label(tmp_path: Path) -> None:
    rows = [{"prompt": [USER], "completion": [ANSWER], "label": label} for label in (True, False)]
    own(tmp_path, rows, rows="kto_messages", files="parquet")
    assert values(all_rows(tmp_path, "own")) == [{**row, "tools": None} for row in rows]


def test_hostile_rows_are_refused_by_name(tmp_path: Path) -> None:
    image = [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": "x"}]
    rows = [
        talk(USER, ANSWER),
        talk({"content": "nobody"}, ANSWER),
        talk({"role": "user", "content": image}, ANSWER),
        talk(USER, ANSWER, tools="{not json"),
        talk(USER, ANSWER, tools={"name": "one"}),
        talk(USER, ANSWER, system=3),
        talk(),
        {"messages": "none"},
        {},
    ]
    corpus = own(tmp_path, rows, keys={**TALKS, "max_bad_rows": 1.0}, rows="messages")
    assert values(all_rows(tmp_path, "own")) == [rows[0]]
    (examples,) = corpus.records("own_examples").values()
    assert examples.statistics["dropped"] == {
        "no_role": 1,
        "part_not_text": 1,
        "empty_messages": 1,
        "messages_not_a_list": 1,
        "no_messages": 1,
    }
    manifest = manifest_of(corpus, "own")
    assert manifest["dropped"] == {"bad_system": 1, "bad_tools": 2}
    (texts,) = corpus.records("own_texts").values()
    assert any(
        "bad_system: own/" in shown and "valid: a text" in shown for shown in texts.statistics["dropped_examples"]
    )
