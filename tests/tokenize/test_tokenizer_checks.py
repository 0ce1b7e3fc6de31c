"""What cannot be used is found before anything runs: tokenizer files, named tokens, chat templates."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.tokenize import tokenizer as module
from corpus_assets.tokenize.tokenizer import check_template, check_tokenizer, vocabulary_note
from resources.errors import ConfigError
from resources.ledger.ledger import Record
from resources.stage.partition import Partition
from resources.storage.local.store import LocalStorage
from tests.tokenize.tokenizers_for_tests import trained


def settings(path: Path, content: bytes, **given: Any) -> dict[str, Any]:
    path.write_bytes(content)
    return {"kind": "neox", "path": str(path), "chat_template": None, **given}


@pytest.mark.parametrize("content", [b"", b"\x00\xff garbage", b"[]", b"{}", b'{"model": {"type": "BPE"}}'])
def test_a_file_that_is_no_tokenizer_is_refused_with_its_key(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ConfigError, match=r"^datasets\.chat\.tokenizer: .*tokenizer\.json"):
        check_tokenizer(settings(tmp_path / "any.json", content), "datasets.chat.tokenizer")


def test_tokens_that_a_tokenizer_lacks_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    for role in ("eos", "pad"):
        with pytest.raises(ConfigError, match=rf"^tokenizer: {role} token is '<none>'"):
            check_tokenizer(settings(path, trained(), **{role: "<none>"}))
    with pytest.raises(ConfigError, match="neither an eos nor a pad"):
        check_tokenizer(settings(path, trained(), kind="tokenizer_json"))


def test_a_file_is_loaded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = settings(tmp_path / "tokenizer.json", trained(), eos="<|padding|>")
    first = check_tokenizer(given)
    monkeypatch.setattr(module, "load_tokenizer", None)
    assert check_tokenizer(given) is first
    assert check_tokenizer({"kind": "hub", "chat_template": None}) is None


@pytest.mark.parametrize("source", ["{% for m in messages %}", "{{ messages[ }}", "{{ a | nosuchfilter }}", "{% x %}"])
def test_a_template_that_does_not_parse_is_refused_with_its_key(source: str) -> None:
    with pytest.raises(ConfigError, match=r"^datasets\.chat\.chat_template: chat template cannot be compiled"):
        check_template(source, "datasets.chat.chat_template", {})


def test_a_template_may_ask_for_a_day_that_is_fixed() -> None:
    source = "{{ strftime_now('%d') }}"
    check_template(source, "key", {}, date(2026, 1, 1))
    with pytest.raises(ConfigError, match=r"^key: .*asks for the day"):
        check_template(source, "key", {})


def test_a_template_that_says_what_is_learned_has_generation_blocks() -> None:
    check_template("{%- generation %}a{% endgeneration %}", "key", {}, marks=True)
    with pytest.raises(ConfigError, match=r"^key: with `loss_roles: none` its generation blocks"):
        check_template("{{ messages }}", "key", {}, marks=True)


def test_a_vocabulary_that_was_not_reached_is_noted() -> None:
    record = Record(
        asset="tokenizer", partition=None, recipe="", digest="", inputs={}, parameters={}, code_version="2", files=[],
        statistics={"vocabulary": 300},
    )  # fmt: skip
    made = [Partition(LocalStorage(Path("unused")), record)]
    (line,) = vocabulary_note(made, {"vocabulary": 8192})
    assert line.startswith("tokenizer: it has 300 tokens, and vocabulary asks for 8,192")
    assert list(vocabulary_note(made, {"vocabulary": 300})) == list(vocabulary_note(made, {})) == []
