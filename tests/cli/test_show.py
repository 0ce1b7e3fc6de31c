"""`corpus show`, `--version`, and questions that name what was meant."""

import json
from pathlib import Path

import pytest

from corpus_assets.cli.console import warn_of_open_door
from corpus_assets.cli.show import show_partition
from corpus_assets.cli.wanted import wanted
from corpus_assets.orchestration.instance import serve
from resources.errors import ConfigError
from tests.build.small import Work, live_records, opened
from tests.faults.command import run


def test_json_outputs_are_shown_whole(work: Work) -> None:
    shown = list(show_partition(opened(work.folder), "train_token_params", None, 3))
    place = next(number for number, line in enumerate(shown) if line.startswith("\ntokens/train/data_params.json"))
    assert json.loads(shown[place + 1]) == json.loads(
        (work.folder / "corpus/tokens/train/data_params.json").read_text()
    )


def test_rows_are_chosen_by_id_and_by_value(work: Work) -> None:
    corpus = opened(work.folder)
    all_rows = list(show_partition(corpus, "normalized_documents", "books--one", 2000))
    rows = [json.loads(line) for line in all_rows if line.startswith('{"id"')]
    assert len(rows) == live_records(corpus)["normalized_documents", "books--one"].files[0].rows
    last = rows[-1]["id"]
    for asked in (wanted(last, []), wanted(None, [f"id={last}", "source=books"])):
        chosen = list(show_partition(corpus, "normalized_documents", "books--one", 3, asked))
        assert [json.loads(line)["id"] for line in chosen if line.startswith('{"id"')] == [last]
    assert wanted(None, []) is None
    with pytest.raises(ConfigError, match="KEY=VALUE"):
        wanted(None, ["source"])


def test_values_inside_and_other_types_are_compared() -> None:
    asked = wanted(None, ["metadata.lang=en", "year=2024", "deep.key=1"])
    assert asked is not None
    assert asked('{"metadata": {"lang": "en"}, "year": 2024, "deep.key": 1}')
    assert not asked('{"metadata": {"lang": "de"}, "year": 2024, "deep.key": 1}')
    assert not asked('{"metadata": "en"}')
    assert not asked("no JSON")


def test_digests_are_hex(work: Work) -> None:
    document = json.loads((work.folder / "raw/books/one.jsonl").read_text().splitlines()[0])
    shown = "\n".join(show_partition(opened(work.folder), "holdout_hashes", None, 1))
    assert len(shown.splitlines()[-1]) == 64
    int(shown.splitlines()[-1], 16)
    assert document["text"] not in shown


def test_what_was_meant_is_asked(work: Work) -> None:
    for arguments, meant in (
        (["show", "normalised_documents"], "normalized_documents"),
        (["build", "--select", "group:dedupp"], "dedup"),
        (["show", "minhashes", "books--onee"], "books--one"),
    ):
        code, _, err = run(work.folder, *arguments)
        assert code == 2
        assert f"did you mean '{meant}'?" in err


def test_the_version_is_said(tmp_path: Path) -> None:
    code, out, _ = run(tmp_path, "--version")
    assert (code, out.split()[0]) == (0, "corpus")


def test_a_port_that_cannot_be_is_refused(work: Work) -> None:
    with pytest.raises(ConfigError, match="--port 99999: valid is 1 to 65535"):
        serve(opened(work.folder), None, "127.0.0.1", 99999)


def test_a_host_that_others_reach_is_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    for host in ("127.0.0.1", "localhost", "::1", "127.0.0.9"):
        warn_of_open_door(host)
    assert capsys.readouterr().err == ""
    for host in ("0.0.0.0", "::", "192.168.1.4", "machine"):
        warn_of_open_door(host)
        assert "has no login" in capsys.readouterr().err
