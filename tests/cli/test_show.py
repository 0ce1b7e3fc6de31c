"""`corpus show`, `--version`, and questions that name what was meant."""

import json
from pathlib import Path
from typing import BinaryIO

import msgspec
import pytest

from corpus_assets.cli.console import warn_of_open_door
from corpus_assets.cli.questions.given_rows import given
from corpus_assets.cli.questions.show import Asked, show_partition
from corpus_assets.cli.questions.wanted import wanted
from corpus_assets.orchestration.instance.instance import serve
from resources.errors import ConfigError
from resources.stage.partition import Partition
from resources.storage.local.store import LocalStorage
from resources.version import VERSION
from tests.build.small import Work, drive, live_records, opened, prose, statuses, write_raw
from tests.forked import run


def test_json_outputs_are_shown_whole(work: Work) -> None:
    shown = list(show_partition(opened(work.folder), "train_token_params", None, Asked()))
    place = next(number for number, line in enumerate(shown) if line.startswith("\ntokens/train/data_params.json"))
    assert json.loads(shown[place + 1]) == json.loads(
        (work.folder / "corpus/tokens/train/data_params.json").read_text()
    )


def test_a_record_says_how_many_inputs_it_does_not_show(work: Work) -> None:
    corpus = opened(work.folder)
    shown = list(show_partition(corpus, "components", None, Asked(0)))
    inputs = json.loads("\n".join(shown[: shown.index("}") + 1]))["inputs"]
    record = live_records(corpus)["components", None]
    assert len(inputs) == 11
    assert inputs.pop("...") == f"{len(record.inputs) - 10} more"
    assert inputs.items() <= dict(record.inputs).items()


def test_rows_are_chosen_by_id_and_by_value(work: Work) -> None:
    corpus = opened(work.folder)
    all_rows = list(show_partition(corpus, "normalized_documents", "books--one", Asked(2000)))
    rows = [json.loads(line) for line in all_rows if line.startswith('{"id"')]
    assert len(rows) == live_records(corpus)["normalized_documents", "books--one"].files[0].rows
    last = rows[-1]["id"]
    for asked in (wanted(last, []), wanted(None, [f"id={last}", "source=books"])):
        chosen = list(show_partition(corpus, "normalized_documents", "books--one", Asked(3, asked)))
        assert [json.loads(line)["id"] for line in chosen if line.startswith('{"id"')] == [last]
    assert wanted(None, []) is None
    with pytest.raises(ConfigError, match="KEY=VALUE"):
        wanted(None, ["source"])


def test_rows_that_nothing_chooses_are_said_with_keys_that_no_row_has(work: Work) -> None:
    corpus = opened(work.folder)

    def fault(asset: str, key: str | None, asked: Asked) -> str:
        with pytest.raises(ConfigError) as error:
            list(show_partition(corpus, asset, key, asked))
        return str(error.value)

    one = ("normalized_documents", "books--one")
    nobody = fault(*one, Asked(3, wanted("nobody", ["source=books"])))
    assert nobody == "normalized_documents/books--one: no row is chosen by --id nobody and --where source=books"
    typo = fault(*one, Asked(3, wanted(None, ["sorce=books"])))
    assert (
        typo == "normalized_documents/books--one: no row is chosen by --where sorce=books; no row has the key 'sorce'"
    )
    assert fault("components", "chunk-0000", Asked()) == "components has no partitions; leave out 'chunk-0000'"


def test_given_rows_are_shown_in_order_and_once(work: Work) -> None:
    corpus = opened(work.folder)

    def ids(asset: str, key: str, asked: Asked) -> list[str]:
        shown = show_partition(corpus, asset, key, asked)
        return [json.loads(line)["id"] for line in shown if line.startswith('{"')]

    for asset, key in (("normalized_documents", "books--one"), ("duplicates", "books--one"), ("train", "chunk-0000")):
        everything = ids(asset, key, Asked(100))
        chosen = ids(asset, key, Asked(given=given(["4-6", "1", "5", "7"])))
        assert chosen == [everything[1], *everything[4:8]]
    shown = list(show_partition(corpus, "minhashes", "books--one", Asked(given=given(["8"]))))
    first = list(show_partition(corpus, "minhashes", "books--one", Asked(9)))
    assert [line for line in shown if len(line) == 256 and line in first]


def test_rows_that_are_asked_for_come_first(work: Work) -> None:
    corpus = opened(work.folder)
    for asked in (Asked(given=given(["3"])), Asked(wanted=wanted(None, ["source=books"]))):
        shown = list(show_partition(corpus, "normalized_documents", "books--one", asked))
        assert shown[0].startswith("documents/books/one.jsonl.gz (")
        assert json.loads(shown[1])["source"] == "books"
        assert not any('"recipe"' in line for line in shown)
    code, out, _ = run(work.folder, "show", "normalized_documents", "books--one", "--row", "3", "--record")
    assert code == 0
    head, _, record = out.partition("\n\n")
    assert head.splitlines()[1].startswith('{"id":')
    assert json.loads(record)["asset"] == "normalized_documents"
    code, out, _ = run(work.folder, "show", "normalized_documents", "books--one", "--no-record")
    assert '"recipe"' not in out
    assert out.count('{"id"') == 3


def test_given_rows_of_tokens_are_decoded(work: Work) -> None:
    corpus = opened(work.folder)
    everything = list(show_partition(corpus, "train_tokens", "chunk-0000", Asked(1000)))
    chosen = list(show_partition(corpus, "train_tokens", "chunk-0000", Asked(given=given(["2", "30-31"]))))
    assert [line.partition(":")[0] for line in chosen if line.startswith("row ")] == ["row 2", "row 30", "row 31"]
    assert {line for line in chosen if line.startswith("row ")} <= set(everything)


def test_a_given_row_is_read_without_those_before_it(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    write_raw(work.folder, "books/one.jsonl", [{"id": f"long-{n}", "text": prose(n, 3000)} for n in range(30)])
    corpus = opened(work.folder)
    drive(corpus, [corpus.graph["inventory"], corpus.graph["raw_source"], corpus.graph["normalized_documents"]])
    file, *_ = live_records(corpus)["normalized_documents", "books--one"].files
    table = Partition(corpus.storage, live_records(corpus)["normalized_documents", "books--one"]).array(".members.npy")
    assert len(table) > 3
    reads: list[tuple[str, int, int]] = []
    read, open_whole = LocalStorage.read, LocalStorage.open

    def noted(storage: LocalStorage, path: str, offset: int, size: int) -> bytes:
        reads.append((path, offset, size))
        return read(storage, path, offset, size)

    def only_others(storage: LocalStorage, path: str) -> BinaryIO:
        assert path != file.path, "read from the start"
        return open_whole(storage, path)

    monkeypatch.setattr(LocalStorage, "read", noted)
    monkeypatch.setattr(LocalStorage, "open", only_others)
    shown = list(show_partition(corpus, "normalized_documents", "books--one", Asked(given=given(["29"]))))
    assert '"long-29"' in shown[-1]
    last = int(table["stored"][-1])
    assert [one for one in reads if one[0] == file.path] == [(file.path, file.bytes - last, last)]


def test_rows_that_cannot_be_are_refused(work: Work) -> None:
    corpus = opened(work.folder)
    for asked, words in (("9", "has 9 rows; valid: 0 to 8"), ("3-2", "valid is a row"), ("-1", "N-M"), ("x", "N-M")):
        with pytest.raises(ConfigError, match=words):
            list(show_partition(corpus, "normalized_documents", "books--one", Asked(given=given([asked]))))
    with pytest.raises(ConfigError, match="has no rows in"):
        list(show_partition(corpus, "train_token_params", None, Asked(given=given(["0"]))))
    with pytest.raises(ConfigError, match="one of the two"):
        Asked(3, wanted("some", []), given(["0"]))
    code, _, err = run(work.folder, "show", "train", "chunk-0000", "--row", "2", "--row", "10000")
    assert code == 2
    assert "--row 10000" in err
    assert "chunk-0000.jsonl.gz" in err


def test_values_inside_and_other_types_are_compared() -> None:
    asked = wanted(None, ["metadata.lang=en", "year=2024", "deep.key=1"])
    assert asked is not None
    assert asked('{"metadata": {"lang": "en"}, "year": 2024, "deep.key": 1}')
    assert not asked('{"metadata": {"lang": "de"}, "year": 2024, "deep.key": 1}')
    assert not asked('{"metadata": "en"}')
    assert not asked("no JSON")


def test_digests_are_hex(work: Work) -> None:
    document = json.loads((work.folder / "raw/books/one.jsonl").read_text().splitlines()[0])
    shown = "\n".join(show_partition(opened(work.folder), "holdout_hashes", None, Asked(1)))
    assert len(shown.splitlines()[-1]) == 64
    int(shown.splitlines()[-1], 16)
    assert document["text"] not in shown


def test_what_was_meant_is_asked(work: Work) -> None:
    for arguments, meant in (
        (["show", "normalised_documents"], "normalized_documents"),
        (["build", "--select", "group:deduplicatoin"], "deduplication"),
        (["show", "minhashes", "books--onee"], "books--one"),
    ):
        code, _, err = run(work.folder, *arguments)
        assert code == 2
        assert f"did you mean '{meant}'?" in err


def test_the_version_is_said(tmp_path: Path) -> None:
    code, out, _ = run(tmp_path, "--version")
    assert (code, out) == (0, f"corpus {VERSION}\n")


def test_a_partition_says_which_version_made_it_and_another_version_makes_nothing_stale(work: Work) -> None:
    _, out, _ = run(work.folder, "show", "minhashes", "books--one")
    assert f'"corpus-assets": "{VERSION}"' in out
    corpus = opened(work.folder)
    for record in corpus.ledger.records("minhashes").values():
        corpus.ledger.write(msgspec.structs.replace(record, versions={"corpus-assets": "0.2.1"}))
    assert statuses(opened(work.folder).planner().plan()) == {}


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


def test_an_asset_with_partitions_asks_for_one(work: Work) -> None:
    corpus = opened(work.folder)
    keys = sorted(str(key) for key in corpus.ledger.records("normalized_documents"))
    with pytest.raises(ConfigError) as fault:
        list(show_partition(corpus, "normalized_documents", None, Asked()))
    assert (
        str(fault.value)
        == f"normalized_documents is built partition by partition: name one; there are {', '.join(keys)}"
    )
    corpus.ledger.forget("components", None)
    with pytest.raises(ConfigError, match=r"^components is not built$"):
        list(show_partition(corpus, "components", None, Asked()))
