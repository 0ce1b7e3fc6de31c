"""Bad and odd files through the real stages: what can be read is, the rest is named and counted, nothing stops."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from resources.ledger.ledger import Record
from resources.shards.listing import Shard
from tests.data.building import assert_conserved, build, documents, open_corpus, partitions, rows_of, token_rows
from tests.golden import shared
from tests.raw.test_hostile import CHOSEN, EXPECT, REFUSED, SKIPPED_MEMBERS

IGNORED = {"unknown.xyz": "unknown suffix", ".hidden.jsonl": "hidden file", "expect.json": "unknown suffix"}
LARGE = "one_line_64MB.jsonl.gz"
FILES = [entry for entry in EXPECT.get("files", []) if entry["file"] not in IGNORED]
BAD_FILES = {entry["file"] for entry in FILES if entry["expect"] == "fail_file" or entry["file"] in REFUSED}
MEMORY = 1 << 20  # KiB: 1 GiB
PEAK = """
import re, sys
from pathlib import Path
from tests.data.building import build
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
build(Corpus.open(sys.argv[1]), sys.argv[2:])
print(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""


def hostile(folder: Path, location: Path, on_bad_file: str) -> Corpus:
    source = {"name": "hostile", "location": str(location), "on_bad_file": on_bad_file}
    return open_corpus(folder, {"sources": [source], "mix": {"chunks": 2}})


def by_path(corpus: Corpus) -> dict[str, tuple[Shard, Record | None]]:
    found = corpus.ledger.records("normalized_documents")
    return {shard.path: (shard, found.get(shard.key)) for shard in corpus.listing().shards}


@pytest.fixture(scope="module")
def skipping(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    corpus = hostile(tmp_path_factory.mktemp("skip"), shared("data", "hostile"), "skip")
    build(corpus, ["+normalized_documents"])
    return corpus


def test_what_is_no_data_file_is_ignored_with_a_notice(skipping: Corpus) -> None:
    ignored = dict(skipping.listing().ignored)
    assert set(ignored) == {f"hostile/{name}" for name in IGNORED}
    assert all(ignored[f"hostile/{name}"].startswith(why) for name, why in IGNORED.items())


@pytest.mark.parametrize("entry", FILES, ids=lambda entry: str(entry["file"])[:40])
def test_rows_read_and_rows_skipped(skipping: Corpus, entry: dict[str, Any]) -> None:
    name = entry["file"]
    _, record = by_path(skipping)[name]
    assert record is not None
    numbers = record.statistics
    reasons, examples = numbers.get("dropped", {}), numbers.get("dropped_examples", [])
    assert numbers["rows_in"] == numbers["rows_out"] + sum(reasons.values())
    assert all(example.startswith((f"hostile/{name}", name)) for example in examples)
    if name in BAD_FILES:
        assert (numbers["rows_out"], reasons, len(examples)) == (0, {"bad_file": 1}, 1)
        return
    good, lines = CHOSEN.get(name, (entry.get("good_rows"), entry.get("bad_lines")))
    bad = entry["bad_rows"] if lines is None else len(lines)
    skipped = SKIPPED_MEMBERS.get(name, 0)
    assert (numbers["rows_out"], sum(reasons.values())) == (good, bad + skipped)
    assert reasons.get("skipped_member", 0) == skipped
    assert len(examples) == min(10, bad + skipped)
    for line, example in zip(lines or [], [e for e in examples if "skipped_member" not in e], strict=False):
        assert f"line {line}:" in example


def test_names_give_unique_keys_and_outputs(skipping: Corpus) -> None:
    shards = skipping.listing().shards
    assert len({shard.key for shard in shards}) == len(shards) == len(FILES)
    assert all(set(shard.key) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-") for shard in shards)
    files = [file.path for partition in partitions(skipping, "normalized_documents") for file in partition.record.files]
    assert len(set(files)) == len(files) >= 3 * len(FILES)
    assert all(len(step) < 200 for file in files for step in file.split("/"))


def test_bad_files_fail_alone_and_say_so(tmp_path: Path) -> None:
    corpus = hostile(tmp_path, shared("data", "hostile"), "fail")
    build(corpus, ["+raw_source"])
    step = Step(corpus, corpus.graph["normalized_documents"])
    step.run()
    failed = {outcome.partition: outcome.error for outcome in step.outcomes if outcome.error}
    found = by_path(corpus)
    assert set(failed) == {found[name][0].key for name in BAD_FILES}
    assert all(name in str(failed[found[name][0].key]) for name in BAD_FILES)
    assert not any("Traceback" in str(error) or "Error:" in str(error) for error in failed.values())
    assert {path for path, (_, record) in found.items() if record is None} == BAD_FILES
    waiting = Step(corpus, corpus.graph["mixed_pass2"])
    assert waiting.run() == []
    assert all("does not exist yet" in why for why in waiting.failures())


@pytest.fixture(scope="module")
def without_large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small") / "raw"
    shutil.copytree(shared("data", "hostile"), folder, ignore=shutil.ignore_patterns(LARGE))
    return folder


def test_all_stages_over_what_was_accepted(without_large: Path, tmp_path: Path) -> None:
    corpus = hostile(tmp_path, without_large, "skip")
    build(corpus)
    assert_conserved(corpus)
    assert rows_of(corpus, "mixed_pass2") > 100
    assert token_rows(corpus, "train") > 0
    assert build(corpus) == {}
    for document in documents(corpus, "normalized_documents"):
        assert document.id
        document.text.encode()


def peak(corpus: Corpus, *stages: str) -> int:
    """Peak resident memory of one process that does all the work, in KiB."""
    command = [sys.executable, "-c", PEAK, str(corpus.folder / "corpus.yaml"), *stages]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    return int(done.stdout)


def test_memory_while_reading(tmp_path: Path) -> None:
    corpus = hostile(tmp_path, shared("data", "hostile"), "skip")
    assert peak(corpus, "+normalized_documents") < MEMORY


@pytest.mark.slow
def test_memory_of_all_stages(tmp_path: Path) -> None:
    corpus = hostile(tmp_path, shared("data", "hostile"), "skip")
    assert peak(corpus, *(stage.name for stage in corpus.graph)) < MEMORY


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that a repository cannot hold, and names at the limits of the file system."""
    folder = tmp_path_factory.mktemp("made") / "raw"
    folder.mkdir()
    script = shared("tools", "make_hostile_fs.py")
    subprocess.run([sys.executable, str(script), str(folder)], check=True, stderr=subprocess.DEVNULL)
    row = b'{"id": "1", "text": "one row"}\n'
    for name in (b"n" * 249 + b".jsonl", b"\xff" * 249 + b".jsonl", b"tab\t'\"\\$.jsonl", b"--.jsonl", b"-- .jsonl"):
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_bytes(row)
    return folder


UNREADABLE = {"fifo/pipe.jsonl": "not a regular file", "dangling_symlink/dangling.jsonl": "No such file"}


def test_odd_names_and_things_that_are_no_files(made: Path, tmp_path: Path) -> None:
    corpus = hostile(tmp_path, made, "skip")
    build(corpus)
    found = by_path(corpus)
    assert len({shard.key for shard, _ in found.values()}) == len(found)
    assert not any(path.startswith(("symlink_loop/loop", "dir_named_like_file")) for path in found)
    for path, (shard, record) in found.items():
        assert record is not None
        assert shard.label.isprintable()
        if path in UNREADABLE:
            assert UNREADABLE[path] in record.statistics["dropped_examples"][0]
            assert record.statistics["dropped"] == {"bad_file": 1}
        elif path != "unreadable/unreadable.jsonl" or os.access(made / path, os.R_OK):
            assert record.statistics["rows_out"] == 1
    assert_conserved(corpus)
    assert build(corpus) == {}


def test_things_that_are_no_files_fail_alone(made: Path, tmp_path: Path) -> None:
    corpus = hostile(tmp_path, made, "fail")
    build(corpus, ["+raw_source"])
    step = Step(corpus, corpus.graph["normalized_documents"])
    step.run()
    errors = [outcome.error for outcome in step.outcomes if outcome.error]
    assert len(errors) == len(UNREADABLE)
    for path, why in UNREADABLE.items():
        assert any(path in error and why in error for error in errors)
