"""What rows hold is guessed from their values."""

from typing import Any

import pytest

from corpus_assets.beginning.looking.languages import language_of
from corpus_assets.beginning.looking.readings import id_key, reading_of, why_none
from tests.beginning.starts import prose, rows

TURNS = [{"role": "user", "content": "What is it?"}, {"role": "assistant", "content": "A river."}]
SHAREGPT = [{"from": "human", "value": "What is it?"}, {"from": "gpt", "value": "A river."}]
SPOKEN = [{"speaker": "user", "utterance": "What is it?"}, {"speaker": "bot", "utterance": "A river."}]
ASKED, ANSWERED, WORSE = "What is the river called?", "It is called the Rhine, I think.", "No idea at all."

CASES: list[tuple[dict[str, Any], str, dict[str, str]]] = [
    ({"text": "some words", "url": "https://a.org/b"}, "text", {"text": "text"}),
    ({"title": "A title", "body": prose(1), "url": "https://a.org/b"}, "text", {"text": "body"}),
    ({"idea": prose(1), "hash": "0123456789abcdef" * 20}, "text", {"text": "idea"}),
    ({"Text": prose(1), "n": 3}, "text", {"text": "Text"}),
    ({"text": "x", "content": prose(1, 200)}, "text", {"text": "content"}),
    ({"text": prose(1), "question": ASKED, "answer": ANSWERED}, "text", {"text": "text"}),
    ({"messages": TURNS, "system": "Be kind."}, "messages", {"messages": "messages"}),
    ({"conversations": SHAREGPT}, "messages", {"messages": "conversations", "role": "role", "content": "content"}),
    ({"dialog": SPOKEN}, "messages", {"messages": "dialog", "role": "speaker", "content": "utterance"}),
    ({"prompt": ASKED, "completion": ANSWERED}, "pair", {"prompt": "prompt", "completion": "completion"}),
    ({"question": ASKED, "answer": ANSWERED}, "pair", {"prompt": "question", "completion": "answer"}),
    (
        {"instruction": ASKED, "input": "", "output": ANSWERED, "text": prose(1)},
        "pair",
        {"prompt": "instruction", "input": "input", "completion": "output"},
    ),
    ({"prompt": TURNS[:1], "completion": TURNS[1:]}, "pair_messages", {"prompt": "prompt"}),
    ({"prompt": ASKED, "chosen": ANSWERED, "rejected": WORSE}, "preference", {"chosen": "chosen"}),
    ({"prompt": TURNS, "chosen": TURNS, "rejected": TURNS}, "preference_messages", {"rejected": "rejected"}),
    ({"prompt": ASKED, "chosen": TURNS, "rejected": TURNS}, "preference_messages", {"prompt": "prompt"}),
    ({"question": ASKED, "preferred": ANSWERED, "dispreferred": WORSE}, "preference", {"prompt": "question"}),
    ({"prompt": ASKED, "completion": ANSWERED, "label": True}, "kto", {"label": "label"}),
    ({"prompt": TURNS[:1], "completion": TURNS[1:], "good": False}, "kto_messages", {"label": "good"}),
]


@pytest.mark.parametrize(
    ("row", "kind", "keys"), CASES, ids=lambda case: ",".join(case) if isinstance(case, dict) else ""
)
def test_what_rows_hold(row: dict[str, Any], kind: str, keys: dict[str, str]) -> None:
    found = reading_of([row] * 4)
    assert found is not None
    assert found.kind == kind
    assert {key: getattr(found, key) for key in keys} == keys


@pytest.mark.parametrize("row", [{"n": 1, "ok": True}, {"id": "a" * 40}, {"url": "https://a.org/b c"}, {"data": {}}])
def test_rows_without_texts(row: dict[str, Any]) -> None:
    assert reading_of([row] * 4) is None
    assert next(iter(row)) in why_none([row])


def test_a_text_in_an_object_is_found() -> None:
    found = reading_of([{"data": {"body": prose(1), "n": 2}, "n": 1}] * 3)
    assert found is not None
    assert found.text == "data.body"


def test_a_key_of_ids_has_another_value_in_every_row() -> None:
    given = [{**row, "doc_id": row["id"], "id": "same"} for row in rows(5)]
    found = reading_of(given)
    assert found is not None
    assert id_key(given, found) == "doc_id"
    assert id_key(rows(5), found) == "id"
    assert id_key([{"text": "a"}, {"text": "b", "id": 1}], found) is None


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The house of the people is on the river and it was for them.", "English"),
        ("Das ist nicht die Straße, auf der sich das Haus mit dem Garten befindet.", "German"),
        ("Le chat est dans la maison et il ne sort pas avec les autres.", "French"),
        ("Это большой дом на берегу реки.", "a language in Cyrillic script"),
        ("これは川のそばの家です。", "Japanese"),
        ("def main():\n    return one(\n        two)\nimport os\nclass A:\n", "code"),
        ("12 34 56", "unknown"),
    ],
)
def test_languages(text: str, language: str) -> None:
    assert language_of(text) == language
