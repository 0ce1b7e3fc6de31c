"""What taggers need beside a text: libraries that may be absent, lists and models, and what they mean for the plan."""

from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.attributes import registry, wheels
from corpus_assets.corpus.step import Step
from resources.errors import ConfigError
from tests.attributes.test_stage import built, documents, rows
from tests.build.small import drive, opened, write_config, write_small

BLOCKED = "blocklist_hosts_porn_v1"
WEB: dict[str, Any] = {
    "name": "web",
    "taggers": [BLOCKED, "char_length_v1"],
    "options": {BLOCKED: {"lists": "lists/one.txt"}},
}


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """The small corpus, and a list beside its configuration."""
    write_small(tmp_path)
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "one.txt").write_text("bad.example.com\n(no host)\n")
    return tmp_path


def reasons(folder: Path, *entries: dict[str, Any]) -> dict[str, str]:
    write_config(folder, {"attributes": list(entries)})
    plan = opened(folder).planner().plan().decisions
    return {decision.asset: decision.reason for decision in plan if decision.status == "stale"}


def test_a_list_that_grows_computes_its_entry_alone(listed: Path) -> None:
    lengths = {"name": "lengths", "taggers": ["char_length_v1"]}
    corpus, _ = built(listed, WEB, lengths)
    for row, document in zip(rows(corpus, "web_attributes"), documents(corpus), strict=True):
        assert row.attributes == {"web__char_length_v1__length": [(0, len(document.text), float(len(document.text)))]}
    counted = [
        record.statistics["unread_lines_of_lists"] for record in corpus.ledger.records("web_attributes").values()
    ]
    assert counted == [{BLOCKED: 1}] * len(counted) != []
    file = listed / "lists" / "one.txt"
    file.rename(listed / "lists" / "moved.txt")
    moved = {**WEB, "options": {BLOCKED: {"lists": ["lists/moved.txt"]}}}
    assert reasons(listed, moved, lengths) == {}
    with (listed / "lists" / "moved.txt").open("a") as out:
        out.write("worse.example.com\n")
    changed = {"web_attributes": f"attributes.web.lists.{BLOCKED} changed"}
    assert reasons(listed, moved, lengths) == changed
    assert built(listed, moved, lengths)[1] == {"web_attributes"}


def test_a_list_that_changes_while_a_build_runs_fails_the_shard(listed: Path) -> None:
    corpus, _ = built(listed, WEB)
    (listed / "lists" / "one.txt").write_text("other.example.com\n")
    step = Step(opened(listed), corpus.graph["web_attributes"])
    (listed / "lists" / "one.txt").write_text("third.example.com\n")
    assert [str(outcome.error) for outcome in step.run()] != []
    for outcome in step.outcomes:
        assert f"attributes.0.options.{BLOCKED}.lists: " in str(outcome.error)
        assert "changed since the build began" in str(outcome.error)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"# nothing\n", "one.txt: none of its lines names a URL or host (0 could not be read)"),
        (b"fine.example.com\n\xff\xfe\n", "one.txt:2: no UTF-8"),
        (b"x" * (1 << 20), "one.txt:1: a line of 1048576 bytes or more"),
    ],
)
def test_a_list_that_is_none_is_named_with_its_line(listed: Path, content: bytes, message: str) -> None:
    (listed / "lists" / "one.txt").write_bytes(content)
    write_config(listed, {"attributes": [WEB]})
    corpus = opened(listed)
    failed = drive(corpus, corpus.graph.select(["+group:attributes"])).failed
    assert failed
    assert all(message in words for words in failed)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, f"attributes.0.options.{BLOCKED}.lists: missing, but {BLOCKED} needs it: the path of a local file"),
        ({BLOCKED: {"lists": "lists/none.txt"}}, "none.txt' cannot be read: No such file or directory"),
        ({BLOCKED: {"lists": []}}, f"attributes.0.options.{BLOCKED}.lists: "),
        ({BLOCKED: {"model": "lists/one.txt"}}, f"{BLOCKED}.model: {BLOCKED} has no such option; valid: lists"),
        ({"char_length_v1": {"model": "a"}}, "char_length_v1 has no such option; valid: none; leave it out"),
        ({"c4_v1": {"model": "a"}}, f"'c4_v1' is not one of its taggers; valid: {BLOCKED}, char_length_v1"),
        ({BLOCKED: {"list": "a"}}, "unknown key; did you mean 'lists'?"),
        ({BLOCKED: {"lists": "https://lists.example.com/a"}}, "https: is not read"),
    ],
)
def test_options_that_cannot_be_are_refused(listed: Path, options: dict[str, Any], message: str) -> None:
    given = options if BLOCKED in options or not options else {**WEB["options"], **options}
    with pytest.raises(ConfigError) as found:
        reasons(listed, {**WEB, "options": given})
    assert message in str(found.value)


def test_the_version_of_a_library_is_part_of_the_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needing = replace(registry.BUILT_IN["char_length_v1"], wheels=("numpy",), extra="cld2")
    monkeypatch.setattr(registry, "BUILT_IN", {**registry.BUILT_IN, "char_length_v1": needing})
    entry = {"name": "lengths", "taggers": ["char_length_v1"]}
    write_small(tmp_path)
    monkeypatch.setattr(wheels, "version", lambda wheel: {"numpy": "1.0"}[wheel])
    built(tmp_path, entry)
    monkeypatch.setattr(wheels, "version", lambda wheel: {"numpy": "1.1"}[wheel])
    assert reasons(tmp_path, entry) == {"lengths_attributes": "attributes.lengths.wheels.numpy 1.0 -> 1.1"}


def test_an_absent_library_is_named_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(wheel: str) -> str:
        raise PackageNotFoundError(wheel)

    monkeypatch.setattr(wheels, "version", absent)
    write_small(tmp_path)
    with pytest.raises(ConfigError) as found:
        reasons(tmp_path, {"name": "language", "taggers": ["cld3_en_doc_v2"]})
    assert str(found.value) == (
        "attributes.0.taggers: cld3_en_doc_v2 needs the wheel cld3-py (extra 'cld3'); "
        "run: pip install 'corpus-assets[cld3]'"
    )
