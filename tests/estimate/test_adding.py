"""What one more source costs the small corpus, compared with the build that follows."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from corpus_assets.cli.console import output
from corpus_assets.cli.estimating.added import _as_json, _show
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.estimate.adding.copies import copies_in
from corpus_assets.estimate.adding.run import Cost, run_added
from resources.errors import CorpusError
from tests.build.conftest import built_once, work
from tests.build.small import Work, drive, near, opened, prose, raw_rows, write_small
from tests.forked import run

__all__ = ["built_once", "work"]

NEW = 16


def old_texts() -> list[str]:
    return [row["text"] for path, rows in raw_rows().items() if path.startswith("books") for row in rows]


def write_new(folder: Path, texts: Sequence[str], key: str = "content", file: str = "new/a.jsonl") -> None:
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps({"id": f"{file}-{n}", key: text}) + "\n" for n, text in enumerate(texts)))


def copied() -> list[str]:
    """Two texts of the corpus, two that are near to some, and others."""
    old = old_texts()
    return [old[0], old[5], near(old[6]), near(old[7]), *(prose(f"new {number}") for number in range(NEW))]


def added(folder: Path, given: str, changes: Sequence[str] = ()) -> Cost:
    return run_added(folder / "corpus.yaml", changes, given, 5, lambda _: None)


def state(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def built_whole(work: Work) -> None:
    assert run(work.folder, "build", "--quiet")[0] == 0


@pytest.mark.slow
def test_documents_copies_and_partitions_are_those_of_the_build_that_follows(
    work: Work, capsys: pytest.CaptureFixture[str]
) -> None:
    built_whole(work)
    write_new(work.folder, copied())
    before = state(work.folder)
    found = added(work.folder, f"new={work.folder / 'new'}")
    assert state(work.folder) == before
    said = _as_json(found)
    assert (said["documents"], said["files"], said["share"]) == (NEW + 4, 1, 1)
    assert said["copies"] == {"looked_up": NEW + 4, "equal": 0.1, "near": 0.1, "of_each_other": 0.0}
    assert said["kept"] == NEW
    assert said["source"]["text_key"] == "content"
    json.dumps(said)
    _show(output(), found)
    assert "20.0% of the documents (10.0% equal, 10.0% near)" in capsys.readouterr().out
    values = yaml.safe_load((work.folder / "corpus.yaml").read_text())
    values["sources"].append(dict(found.section))
    (work.folder / "corpus.yaml").write_text(yaml.safe_dump(values))
    built = drive(opened(work.folder))
    assert built.failed == []
    for stage in found.stages:
        if stage.asset != "report":
            count = len(built.of(stage.asset))
            assert stage.new <= count <= stage.new + stage.again + stage.perhaps, stage.asset
            assert not stage.new or count == stage.new + stage.again + round(stage.likely), stage.asset
            assert stage.new == sum(str(key).startswith("new--") for key in built.of(stage.asset)), stage.asset
    assert built.assets() <= {stage.asset for stage in found.stages}
    assert found.seconds[1] <= found.seconds[0] <= found.seconds[2]


def test_a_source_of_new_texts_leaves_the_documents_of_others_alone(work: Work) -> None:
    built_whole(work)
    write_new(work.folder, [prose(f"new {number}") for number in range(NEW)], "text")
    found = added(work.folder, f"new={work.folder / 'new'}")
    assert found.copies.all == 0
    stages = {stage.asset: stage for stage in found.stages}
    # `duplicates` of the other shards may change for all the plan knows, and are not expected to.
    assert (stages["duplicates"].perhaps, stages["duplicates"].likely) == (7, 0)
    assert stages["mixed_pass1"].likely == 0
    assert stages["mixed_pass2"].again == 3


def test_files_of_one_kind_in_several_folders_are_one_source(work: Work) -> None:
    built_whole(work)
    for name in ("first", "second"):
        write_new(work.folder, [prose(f"{name} {n}") for n in range(5)], "content", f"new/{name}/a.jsonl")
    found = added(work.folder, f"new={work.folder / 'new'}")
    assert (found.files, round(found.documents)) == (2, 10)


def test_a_source_that_was_there_before_is_new_only_as_far_as_it_is_computed(work: Work) -> None:
    built_whole(work)
    write_new(work.folder, copied(), "text")
    file = work.folder / "corpus.yaml"
    before = file.read_text()
    values = yaml.safe_load(before)
    file.write_text(yaml.safe_dump({**values, "sources": [*values["sources"], {"name": "new", "location": "new"}]}))
    built_whole(work)
    file.write_text(before)
    built_whole(work)
    found = added(work.folder, f"new={work.folder / 'new'}")
    assert found.copies.all == 4
    stages = {stage.asset: stage for stage in found.stages}
    assert "minhashes" not in stages
    assert stages["components"].again == 1


@pytest.fixture
def built(work: Work) -> Work:
    built_whole(work)
    return work


def test_what_cannot_be_estimated_is_said_in_a_sentence(built: Work) -> None:
    folder = built.folder
    (folder / "empty").mkdir()
    write_new(folder, copied(), "text", "one/a.jsonl")
    write_new(folder, copied(), "body", "mixed/a/one.jsonl")
    write_new(folder, copied(), "content", "mixed/b/two.jsonl")
    talk = [{"messages": [{"role": "user", "content": "a b"}, {"role": "assistant", "content": "c"}]}] * 3
    Path(folder, "talk").mkdir()
    Path(folder, "talk/a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in talk))
    cases = {
        "new": "--add: received 'new'; valid is NAME=LOCATION",
        f"books={folder / 'one'}": "--add: there is a source 'books'",
        f"train={folder / 'one'}": "--add: there is a dataset 'train'",
        f"new={folder / 'empty'}": "has no files",
        f"new={folder / 'nowhere'}": "is not there; valid: a folder or file of this machine",
        f"new={folder / 'mixed'}": "files of several kinds, each a source of its own",
        f"new={folder / 'talk'}": "holds no documents; seen: .*conversations",
        f"No Name={folder / 'one'}": r"sources\.3\.name",
        f"new={folder / 'raw' / 'books'}": "sources that share no file",
    }
    for given, words in cases.items():
        with pytest.raises(CorpusError, match=words):
            added(folder, given)
    with pytest.raises(CorpusError, match=r"sources\.new\.speed|sources\.3\.speed"):
        added(folder, f"new={folder / 'one'}", ["sources.new.speed=3"])


def test_a_corpus_that_is_not_built_is_not_estimated(work: Work) -> None:
    write_new(work.folder, copied())
    shutil.rmtree(work.folder / "corpus" / "ledger" / "minhashes")
    with pytest.raises(CorpusError, match=r"--add: the corpus is not built: minhashes and .* run `corpus build` first"):
        added(work.folder, f"new={work.folder / 'new'}")


def test_options_of_the_source_are_given_by_set(built: Work) -> None:
    write_new(built.folder, [f"{text} {text}" for text in copied()], "content")
    Path(built.folder, "new/b.jsonl").write_text(json.dumps({"id": "b", "body": prose("b")}) + "\n")
    found = added(
        built.folder, f"new={built.folder / 'new'}", ["sources.new.text_key=body", "sources.new.glob=b.jsonl"]
    )
    assert (found.files, round(found.documents)) == (1, 1)


@pytest.mark.parametrize("verify", ["two_sided", "signature", "none"])
def test_copies_are_those_of_a_plain_comparison(tmp_path: Path, verify: str) -> None:
    """Each document of the corpus is its own copy; near ones are found by any of the bands."""
    whole = write_small(tmp_path / "whole", {"dedup.verify": verify})
    corpus = opened(whole)
    assert drive(corpus).failed == []
    part: dict[str, Any] = {"dedup.verify": verify, "sources": [{"name": "new", "location": "new"}]}
    other = tmp_path / "part"
    write_new(other, copied(), "text")
    sample = opened(write_small(other, part))
    assert drive(sample).failed == []
    found = copies_in(corpus, sample)
    assert (found.looked_up, found.equal, found.near) == (NEW + 4, 2, 2)
    assert sum(near for _, near in found.by_shard.values()) >= 2
    # The first text of `books` has a copy in `two`, which is removed there.
    assert {shard for shard, (again, _) in found.by_shard.items() if again} == {"books--two"}
    same = copies_in(corpus, Corpus.open(whole / "corpus.yaml"))
    assert same.equal == same.looked_up
