"""`corpus publish` with the hub's own client, against a stand-in of the hub."""

import io
import json
import logging
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from corpus_assets.publish import manifest as lists
from corpus_assets.publish import publishing
from corpus_assets.publish.place import dataset_place
from corpus_assets.publish.publishing import Sent, publish
from corpus_assets.publish.wanted import wanted_files
from resources.errors import ConfigError, CorpusError, StorageError
from tests.build.small import Work, drive, opened, raw_rows, write_config, write_raw
from tests.hub_server import TOKEN, Hub
from tests.publish.conftest import CARD, DATASETS

PLACE = dataset_place("hf://org/name")


def published(work: Work, dataset: str | None = None, *, create: bool = False, replace: bool = False) -> Sent:
    return publish(opened(work.folder), PLACE, dataset, create=create, replace=replace)


def rows_of(hub: Hub, split: str) -> list[dict[str, Any]]:
    tables = [raw for path, raw in hub.files().items() if path.startswith(f"data/{split}/")]
    return [row for raw in tables for row in pq.read_table(io.BytesIO(raw)).to_pylist()]


def documents(work: Work, asset: str) -> list[dict[str, Any]]:
    corpus = opened(work.folder)
    made = [corpus.handle(record) for _, record in sorted(corpus.records(asset).items())]
    return [json.loads(line) for partition in made for line in partition.lines()]


def head(hub: Hub) -> dict[str, Any]:
    return yaml.safe_load(hub.files()["README.md"].decode().split("---\n")[1])  # type: ignore[no-any-return]


def change_a_text(work: Work) -> None:
    """Another text in one raw file, built."""
    rows = raw_rows()["books/three.jsonl"]
    rows[1]["text"] += " One more sentence stands at the end of this text."
    write_raw(work.folder, "books/three.jsonl", rows)
    corpus = opened(work.folder)
    assert not drive(corpus, list(corpus.graph)).failed


def test_the_splits_are_parquet_files_with_all_documents(corpus_folder: Work, stand_in: Hub) -> None:
    sent = published(corpus_folder)
    for asset, split in (("decontaminated_train", "train"), ("validation", "validation"), ("test", "test")):
        stored = documents(corpus_folder, asset)
        assert [(row["id"], row["text"], row["source"]) for row in rows_of(stand_in, split)] == [
            (one["id"], one["text"], one["source"]) for one in stored
        ]
        assert [row["metadata"] for row in rows_of(stand_in, split)] == [
            json.dumps(one["metadata"], separators=(",", ":")) if one.get("metadata") else None for one in stored
        ]
    assert stand_in.writes.commits == [sent.commit]
    assert ".gitattributes" in stand_in.files()
    assert stand_in.writes.verified == set(stand_in.writes.objects)


def test_the_card_has_the_head_that_the_hub_reads_and_names_what_is_there(corpus_folder: Work, stand_in: Hub) -> None:
    published(corpus_folder)
    found = head(stand_in)
    assert (found["license"], found["language"], found["pretty_name"]) == ("cc-by-4.0", ["en", "de"], CARD["title"])
    assert found["size_categories"] == ["n<1K"]
    (config,) = found["configs"]
    paths = stand_in.files()
    for one in config["data_files"]:
        assert [path for path in paths if Path(path).match(one["path"])], one
    card = paths["README.md"].decode()
    assert "| `data/train/*.parquet` | parquet | train |" in card
    assert "splits/" not in card
    assert "exports/" not in card
    assert "## How it was made" in card


def test_a_second_time_nothing_is_sent_and_no_commit_made(corpus_folder: Work, stand_in: Hub) -> None:
    first = published(corpus_folder)
    stand_in.writes.asked.clear()
    again = published(corpus_folder)
    assert (again.commit, again.sent, again.has_changes) == (first.commit, 0, False)
    assert again.kept == first.sent
    assert not stand_in.writes.asked


def test_only_what_changed_is_sent(corpus_folder: Work, stand_in: Hub) -> None:
    published(corpus_folder)
    before = stand_in.files()
    change_a_text(corpus_folder)
    stand_in.writes.uploaded.clear()
    sent = published(corpus_folder)
    after = stand_in.files()
    changed = {path for path in after if before.get(path) != after[path]} - {lists.NAME}
    assert sent.sent == len(changed) < len(after) - 2
    assert sum(stand_in.writes.uploaded.values()) == len([path for path in changed if path.endswith(".parquet")])
    assert len(rows_of(stand_in, "train")) == len(documents(corpus_folder, "decontaminated_train"))


def test_a_file_that_is_not_published_any_more_is_removed_and_no_file_of_others(
    corpus_folder: Work, stand_in: Hub
) -> None:
    stand_in.commit({**stand_in.files(), "data/train/of-others.parquet": b"theirs", "notes.txt": b"theirs"})
    published(corpus_folder)
    sent = published(corpus_folder, "olmo")
    paths = stand_in.files()
    assert sent.removed > 0
    assert {path for path in paths if path.startswith("data/")} == {"data/train/of-others.parquet"}
    assert paths["notes.txt"] == b"theirs"


@pytest.mark.parametrize("name", ["olmo", "texts", "train"])
def test_a_dataset_lies_there_as_it_lies_here(name: str, corpus_folder: Work, stand_in: Hub) -> None:
    published(corpus_folder, name)
    top = corpus_folder.folder / "corpus" / ("tokens" if name == "train" else "exports")
    here = {str(file.relative_to(top)): file.read_bytes() for file in (top / name).rglob("*") if file.is_file()}
    there = {path: raw for path, raw in stand_in.files().items() if path.startswith(f"{name}/")}
    assert there == here
    assert ("configs" in head(stand_in), head(stand_in).get("viewer")) == (
        (True, None) if name == "texts" else (False, False)
    )


def test_files_in_several_parts_are_put_together(corpus_folder: Work, stand_in: Hub) -> None:
    stand_in.writes.part_bytes = 1500
    published(corpus_folder)
    assert any(len(parts) > 1 for parts in stand_in.writes.parts.values())
    assert len(rows_of(stand_in, "train")) == len(documents(corpus_folder, "decontaminated_train"))


@pytest.mark.parametrize("status", [401, 403])
def test_without_rights_one_sentence_and_nothing_is_published(
    status: int, corpus_folder: Work, stand_in: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = dict(stand_in.branches)
    stand_in.writes.refused = status
    made: list[str] = []
    monkeypatch.setattr("corpus_assets.publish.wanted.write_documents", lambda *_: made.append("table"))
    with pytest.raises(ConfigError, match=r"no right to write|no such dataset.*HF_TOKEN") as fault:
        published(corpus_folder)
    assert "nothing was published" in str(fault.value)
    assert "\n" not in str(fault.value)
    assert (stand_in.branches, stand_in.writes.objects, made) == (before, {}, [])


def test_a_branch_that_moved_meanwhile_is_refused(corpus_folder: Work, stand_in: Hub) -> None:
    def move(kind: str) -> None:
        if kind == "commit":
            stand_in.writes.before = lambda _: None
            stand_in.commit({**stand_in.files(), "theirs.txt": b"theirs"})

    stand_in.writes.before = move
    with pytest.raises(StorageError, match="got another commit meanwhile; nothing was published"):
        published(corpus_folder)
    assert set(stand_in.files()) == {".gitattributes", "theirs.txt"}
    uploads = dict(stand_in.writes.uploaded)
    published(corpus_folder)
    assert dict(stand_in.writes.uploaded) == uploads
    assert {"theirs.txt", "README.md"} <= set(stand_in.files())


def test_a_repository_that_is_not_there_is_made_on_demand_and_private(corpus_folder: Work, empty_hub: Hub) -> None:
    with pytest.raises(ConfigError, match=r"no such dataset.*--create"):
        published(corpus_folder)
    published(corpus_folder, create=True)
    made = empty_hub.writes.created
    assert made["type"] == "dataset"
    assert made.get("private") is True or made.get("visibility") == "private"  # Releases of the client differ.
    published(corpus_folder, create=True)
    assert len(empty_hub.writes.commits) == 1


def test_files_that_others_wrote_or_changed_are_replaced_on_demand_only(corpus_folder: Work, stand_in: Hub) -> None:
    stand_in.commit({**stand_in.files(), "README.md": b"theirs"})
    with pytest.raises(ConfigError, match=r"others wrote or changed README.md there; --replace"):
        published(corpus_folder)
    published(corpus_folder, replace=True)
    path = next(path for path in stand_in.files() if path.startswith("data/train/"))
    stand_in.commit({**stand_in.files(), path: b"changed"})
    with pytest.raises(ConfigError, match=f"others wrote or changed {path} there"):
        published(corpus_folder)
    published(corpus_folder, replace=True)
    assert len(rows_of(stand_in, "train")) == len(documents(corpus_folder, "decontaminated_train"))


def test_a_list_of_files_that_is_none_is_refused(corpus_folder: Work, stand_in: Hub) -> None:
    stand_in.commit({lists.NAME: b"[]"})
    with pytest.raises(StorageError, match="is no list of published files"):
        published(corpus_folder)


def test_what_the_repository_ignores_is_refused_before_anything_is_published(
    corpus_folder: Work, stand_in: Hub
) -> None:
    path = next(one.path for one in wanted_files(opened(corpus_folder.folder), None) if "train" in one.path)
    stand_in.writes.ignored = frozenset({path})
    with pytest.raises(ConfigError, match=f"gitignore leaves out {path}"):
        published(corpus_folder)
    assert not stand_in.writes.commits


@pytest.mark.parametrize("kind", ["preupload", "batch", "upload", "complete", "verify", "validate", "commit"])
@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_hub_is_asked_again(kind: str, status: int, corpus_folder: Work, stand_in: Hub) -> None:
    stand_in.writes.part_bytes = 1500
    stand_in.writes.fault = lambda what, number: status if what == kind and number == 1 else 0
    published(corpus_folder)
    assert stand_in.writes.asked[kind] > 1
    assert len(stand_in.writes.commits) == 1


def test_a_hub_that_stays_busy_is_one_sentence_and_the_next_try_sends_the_rest(
    corpus_folder: Work, stand_in: Hub
) -> None:
    stand_in.writes.fault = lambda what, number: 503 if what == "commit" else 0
    with pytest.raises(StorageError, match="answers 503; nothing was published; the same command"):
        published(corpus_folder)
    stand_in.writes.fault = lambda *_: 0
    uploads = dict(stand_in.writes.uploaded)
    published(corpus_folder)
    assert dict(stand_in.writes.uploaded) == uploads


def test_a_commit_whose_answer_is_lost_is_not_made_twice(corpus_folder: Work, stand_in: Hub) -> None:
    stand_in.writes.lost = lambda what, number: 502 if what == "commit" else 0
    sent = published(corpus_folder)
    assert stand_in.writes.commits == [sent.commit]


def test_a_corpus_that_is_not_fresh_is_refused(corpus_folder: Work, stand_in: Hub) -> None:
    write_raw(corpus_folder.folder, "books/three.jsonl", raw_rows()["books/three.jsonl"][:3])
    with pytest.raises(
        ConfigError, match=r"are not fresh, such as .*; `corpus build` makes them; nothing was published"
    ):
        published(corpus_folder)


def test_a_damaged_file_is_not_published(corpus_folder: Work, stand_in: Hub) -> None:
    (file, *_) = sorted((corpus_folder.folder / "corpus" / "exports" / "olmo").glob("*.npy"))
    raw = file.read_bytes()
    file.write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    with pytest.raises(CorpusError, match=file.name):
        published(corpus_folder, "olmo")
    assert not stand_in.writes.commits


def test_a_corpus_without_papers_and_a_dataset_that_is_not_there_are_named(corpus_folder: Work, stand_in: Hub) -> None:
    with pytest.raises(
        ConfigError, match=r"--dataset 'other': .* no such dataset; valid: train, validation, olmo, texts"
    ):
        published(corpus_folder, "other")
    write_config(corpus_folder.folder, {"datasets": DATASETS})
    with pytest.raises(ConfigError, match="no section `card`"):
        published(corpus_folder)


@pytest.mark.parametrize(
    "address", ["org/name", "hf://name", "hf://org/name/folder", "s3://org/name", "hf://spaces/org/n"]
)
def test_an_address_that_is_no_dataset_is_refused(address: str) -> None:
    with pytest.raises(ConfigError, match="valid is a dataset of the hub, hf://org/name"):
        dataset_place(address)


def test_an_address_may_name_the_kind_and_a_branch(corpus_folder: Work, stand_in: Hub) -> None:
    assert dataset_place("hf://datasets/org/name") == PLACE
    with pytest.raises(ConfigError, match="no branch 'next'"):
        publish(opened(corpus_folder.folder), dataset_place("hf://org/name@next"))
    stand_in.commit({"theirs.txt": b"theirs"}, branch="next")
    publish(opened(corpus_folder.folder), dataset_place("hf://org/name@next"))
    assert set(stand_in.files()) == {".gitattributes"}
    assert "README.md" in stand_in.files("next")
    with pytest.raises(ConfigError, match="valid is a branch"):
        publish(opened(corpus_folder.folder), dataset_place(f"hf://org/name@{stand_in.branches['main']}"))


def test_the_token_and_signed_addresses_are_in_no_log(
    corpus_folder: Work, stand_in: Hub, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.INFO)
    stand_in.writes.fault = lambda what, number: 503 if what == "upload" else 0
    with pytest.raises(StorageError) as fault:
        published(corpus_folder)
    said = "".join([caplog.text, str(fault.value), *capfd.readouterr()])
    assert TOKEN not in said
    assert "signature" not in said
    assert f"Bearer {TOKEN}" in stand_in.tokens


def test_few_bytes_wait_at_a_time(corpus_folder: Work, stand_in: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file is sent and removed before the next is made, if a batch holds no more."""
    monkeypatch.setattr(publishing, "BATCH_BYTES", 1)
    held: list[int] = []
    add = publishing._Sending.add

    def watched(self: Any, wanted: Any) -> None:
        add(self, wanted)
        held.append(len([file for file in self._scratch.iterdir() if file.stat().st_size > 2000]))

    monkeypatch.setattr(publishing._Sending, "add", watched)
    published(corpus_folder)
    assert len(held) > 4
    assert max(held) <= 1  # The card, which the commit itself carries.
