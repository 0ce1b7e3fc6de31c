"""`corpus pull`: whole, compared with digests, continued where it stopped, and readable as what it is."""

import errno
import json
import os
from pathlib import Path

import numpy as np
import pytest

from corpus_assets.publish import manifest as lists
from corpus_assets.publish import pulled_folder, pulling
from corpus_assets.publish.place import dataset_place
from corpus_assets.publish.publishing import publish
from corpus_assets.publish.pulled_folder import RECORD
from corpus_assets.publish.pulling import Pulled, pull
from resources.errors import ConfigError, HeldError, StorageError
from resources.raw_places import ranged
from tests.build.small import Work, drive, opened, write_config
from tests.hub_server import Hub
from tests.web_server import BREAKS

PLACE = dataset_place("hf://org/name")
LARGE = bytes(range(256)) * 400
FILES = {"data/a.bin": LARGE, "data/deep/b.bin": LARGE[1:], "README.md": b"read me", "empty.txt": b""}


@pytest.fixture
def filled(stand_in: Hub) -> Hub:
    stand_in.commit(FILES)
    return stand_in


def pulled(folder: Path, address: str = "hf://org/name") -> Pulled:
    return pull(dataset_place(address), folder)


def held(folder: Path) -> dict[str, bytes]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): file.read_bytes() for file in files if file.name != RECORD}


def test_a_folder_holds_all_files_and_nothing_is_left_beside_it(filled: Hub, tmp_path: Path) -> None:
    done = pulled(tmp_path / "pulled")
    assert held(tmp_path / "pulled") == FILES
    assert (done.files, done.fetched, done.bytes) == (4, 4, sum(map(len, FILES.values())))
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".pulled")]
    assert filled.content.tokens == {None}


def test_a_second_pull_fetches_nothing_and_a_new_commit_only_what_it_changed(filled: Hub, tmp_path: Path) -> None:
    folder = tmp_path / "pulled"
    pulled(folder)
    before = (folder / "README.md").stat()
    assert pulled(folder).fetched == 0
    assert (folder / "README.md").stat() == before
    first = filled.branches["main"]
    changed = {**FILES, "data/a.bin": LARGE[2:], "data/deep": b"now a file"}
    del changed["data/deep/b.bin"]
    filled.commit(changed)
    assert pulled(folder).fetched == 2
    assert held(folder) == changed
    pulled(folder, f"hf://org/name@{first}")
    assert held(folder) == FILES


def test_a_file_that_was_damaged_or_removed_here_is_fetched_again(filled: Hub, tmp_path: Path) -> None:
    folder = tmp_path / "pulled"
    pulled(folder)
    (folder / "data" / "a.bin").write_bytes(LARGE[::-1])
    (folder / "README.md").unlink()
    assert pulled(folder).fetched == 2
    assert held(folder) == FILES


def test_a_pull_that_breaks_off_leaves_the_folder_as_it_was_and_goes_on(
    filled: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranged, "PART", 16 << 10)
    monkeypatch.setattr(pulling, "_BLOCK", 1 << 10)
    folder = tmp_path / "pulled"
    pulled(folder)
    changed = {**FILES, "data/a.bin": LARGE[2:], "data/deep/b.bin": LARGE[3:]}
    filled.commit(changed)
    filled.content.fault = lambda path, number: 500 if path.endswith("b.bin") and number > 3 else None
    with pytest.raises(StorageError):
        pulled(folder)
    assert held(folder) == FILES
    filled.content.fault = lambda path, number: None
    done = pulled(folder)
    assert held(folder) == changed
    assert done.fetched == 1
    assert 0 < done.bytes < len(LARGE[3:])


@pytest.mark.parametrize("fault", [429, 503, BREAKS + 100])
def test_faults_that_pass_are_tried_again(fault: int, filled: Hub, tmp_path: Path) -> None:
    filled.content.fault = lambda path, number: fault if number == 1 else None
    pulled(tmp_path / "pulled")
    assert held(tmp_path / "pulled") == FILES


def test_other_bytes_than_the_digest_says_never_appear(filled: Hub, tmp_path: Path) -> None:
    place = filled.content.folder / filled.branches["main"] / "data" / "a.bin"
    pulled(tmp_path / "other")
    place.write_bytes(LARGE[::-1])
    with pytest.raises(StorageError, match=r"data/a.bin: what came differs from the hub's digest"):
        pulled(tmp_path / "pulled")
    assert not (tmp_path / "pulled").exists()
    place.write_bytes(LARGE)
    pulled(tmp_path / "pulled")
    assert held(tmp_path / "pulled") == FILES


@pytest.mark.parametrize("name", ["mine.txt", "data/mine.txt"])
def test_a_folder_with_anything_else_in_it_is_refused(name: str, filled: Hub, tmp_path: Path) -> None:
    folder = tmp_path / "pulled"
    (folder / "data").mkdir(parents=True)
    (folder / name).write_text("mine")
    with pytest.raises(ConfigError, match="valid is a folder that is absent, empty or of `corpus pull`"):
        pulled(folder)
    (folder / name).unlink()
    (folder / "data").rmdir()
    pulled(folder)
    (folder / name).write_text("mine")
    with pytest.raises(ConfigError, match=f"holds '{name}', which no pull wrote"):
        pulled(folder)
    assert (folder / name).read_text() == "mine"


def test_two_pulls_into_one_folder_exclude_each_other(filled: Hub, tmp_path: Path) -> None:
    with pulled_folder.staging(tmp_path / "pulled"), pytest.raises(HeldError, match="another pull into it is running"):
        pulled(tmp_path / "pulled")


def test_a_pull_that_ended_between_its_two_renames_is_ended(filled: Hub, tmp_path: Path) -> None:
    folder = tmp_path / "pulled"
    pulled(folder)
    folder.rename(tmp_path / ".pulled.before")
    assert pulled(folder).fetched == 0
    assert held(folder) == FILES


def test_a_pulled_folder_that_the_machine_cannot_read_is_told_as_that(
    filled: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(path: Path) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

    pulled(tmp_path / "pulled")
    monkeypatch.setattr(Path, "read_bytes", fails)
    with pytest.raises(OSError, match=r"Input/output error while reading: .*pulled\.json"):
        pulled(tmp_path / "pulled")


def test_a_pull_that_ended_between_its_two_renames_is_ended_where_a_look_may_fail(
    filled: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From Python 3.14 on `Path.exists` is false for a fault of the machine."""
    folder, look = tmp_path / "pulled", Path.exists
    pulled(folder)
    folder.rename(tmp_path / ".pulled.before")
    monkeypatch.setattr(Path, "exists", lambda path: path.name != ".pulled.before" and look(path))
    assert pulled(folder).fetched == 0


@pytest.mark.parametrize("path", ["../outside", "/outside", "a/../../outside", RECORD, "a//b"])
def test_a_name_that_leads_out_of_the_folder_is_refused(
    path: str, filled: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = filled.tree
    bad = {"type": "file", "path": path, "size": 1, "oid": "0" * 40}
    monkeypatch.setattr(filled, "tree", lambda commit, below: [bad, *tree(commit, below)])
    with pytest.raises(StorageError, match="which cannot lie in a pulled folder"):
        pulled(tmp_path / "pulled")
    assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize(
    ("address", "words"), [("hf://org/other", "no such dataset"), ("hf://org/name@other", "no such revision")]
)
def test_what_is_not_there_is_one_sentence(address: str, words: str, filled: Hub, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=words):
        pulled(tmp_path / "pulled", address)
    assert list(tmp_path.glob("*pulled*")) == []


def test_a_file_that_was_changed_after_it_was_published_is_named(
    corpus_folder: Work, stand_in: Hub, tmp_path: Path
) -> None:
    sent = publish(opened(corpus_folder.folder), PLACE)
    path = next(path for path in stand_in.files() if path.startswith("data/train/"))
    stand_in.commit({**stand_in.files(), path: b"changed"})
    with pytest.raises(StorageError, match=f"{path}: is not as it was published; valid is @COMMIT"):
        pulled(tmp_path / "pulled")
    pulled(tmp_path / "pulled", f"hf://org/name@{sent.commit}")


def test_what_was_published_is_pulled_as_a_source(corpus_folder: Work, stand_in: Hub, tmp_path: Path) -> None:
    corpus = opened(corpus_folder.folder)
    publish(corpus, PLACE)
    pulled(tmp_path / "pulled")
    listed = lists.decode((tmp_path / "pulled" / lists.NAME).read_bytes(), "here")
    assert {file.path for file in listed.files} | {lists.NAME, ".gitattributes"} == set(held(tmp_path / "pulled"))
    other = tmp_path / "other"
    other.mkdir()
    sources = [{"name": "again", "location": str(tmp_path / "pulled" / "data" / "train")}]
    write_config(other, {"sources": sources, "datasets": []})
    again = opened(other)
    drive(again, [again.graph.stages[name] for name in ("inventory", "raw_source", "normalized_documents")])
    texts = [
        json.loads(line)["text"]
        for record in again.records("normalized_documents").values()
        for line in again.handle(record).lines()
    ]
    published = [
        json.loads(line)["text"]
        for record in corpus.records("decontaminated_train").values()
        for line in corpus.handle(record).lines()
    ]
    assert sorted(texts) == sorted(published)


def test_what_was_published_is_pulled_as_the_dataset_that_was_built(
    corpus_folder: Work, stand_in: Hub, tmp_path: Path
) -> None:
    publish(opened(corpus_folder.folder), PLACE, "olmo")
    pulled(tmp_path / "pulled")
    built = corpus_folder.folder / "corpus" / "exports" / "olmo"
    manifest = json.loads((tmp_path / "pulled" / "olmo" / "manifest.json").read_text())
    assert manifest == json.loads((built / "manifest.json").read_text())
    for file in built.rglob("*.npy"):
        there = tmp_path / "pulled" / "olmo" / file.relative_to(built)
        assert np.array_equal(np.fromfile(there, np.uint8), np.fromfile(file, np.uint8))
