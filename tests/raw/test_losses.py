"""What comes out empty, or lost most of its files or rows, holds everything downstream back."""

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.raw.losses import Read, lost_files, lost_rows, refused_deletions
from corpus_assets.raw.rehash import forget_stamps
from tests.build.small import Built, digests, drive, prose, statuses
from tests.data.building import open_corpus, write_rows
from tests.golden import shared

CHAT = {
    "name": "talks",
    "mode": "chat",
    "input": {"location": "talks", "messages_key": "messages"},
    "sequence_length": 128,
    "chat_template": "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}",
}
ROWS = {"max_bad_rows": 0.5, "may_be_empty": False}
FOLDER = {"location": "/raw", "glob": "**/*", "may_be_empty": False}


def opened(folder: Path, **books: Any) -> Corpus:
    sources = [{"name": "books", "location": "raw/books", **books}, {"name": "web", "location": "raw/web"}]
    rules = {"short_documents": {"threshold": 20}, "split": {"holdout": 0.2}, "mix": {"chunks": 2}}
    return open_corpus(folder, {"sources": sources, "minhash": {"width": 5}, **rules})


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good")
    for source, shards in (("books", "abc"), ("web", "d")):
        for shard in shards:
            rows = [{"id": f"{shard}{n}", "text": prose(f"{shard}{n}")} for n in range(5)]
            write_rows(folder / f"raw/{source}/{shard}.jsonl", rows)
    built = drive(opened(folder))
    assert (built.failed, built.waiting) == ([], [])
    return folder


@pytest.fixture
def folder(good: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(good, tmp_path / "corpus"))


def kept_whole(corpus: Corpus, before: dict[Any, str], built: Built) -> None:
    """Nothing behind the documents was made again, and the tokens are the old ones."""
    assert not built.failed
    assert built.assets() <= {"inventory", "raw_source", "normalized_documents"}
    now = digests(corpus)
    assert {k: v for k, v in before.items() if k[0].endswith("_tokens")} == {
        k: v for k, v in now.items() if k[0].endswith("_tokens")
    }


def test_what_holds_back_is_counted_once_however_many_stages_pass_it_on(tmp_path: Path) -> None:
    for source in ("books", "web"):
        (tmp_path / f"raw/{source}").mkdir(parents=True)
    corpus = opened(tmp_path)
    drive(corpus)
    held = {one.held_back for one in corpus.planner().plan().decisions if one.held_back}
    assert len(held) > 2
    assert {one.count(" more)") for one in held} == {1}
    assert all(one.endswith("(and 1 more)") for one in held)


def test_a_wrong_text_key_replaces_nothing_downstream(folder: Path) -> None:
    before = digests(opened(folder))
    corpus = opened(folder, text_key="body")
    built = drive(corpus)
    kept_whole(corpus, before, built)
    reason = "normalized_documents is held back: source books: 15 of 15 rows dropped (no_text 15), more than max_bad"
    (line,) = {line.partition(": ")[2] for line in built.waiting if "held back" in line}
    assert line.startswith(reason)
    assert "for example books/a.jsonl line 1: no_text: no key 'body'; the row has 'id', 'text'" in line
    drive(opened(folder))
    assert digests(opened(folder)) == before
    assert statuses(opened(folder).planner().plan()) == {}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"glob": "*.josnl"}, "no file in '.*raw/books' matches '\\*.josnl'"),
        ({"location": "empty"}, "no file in '.*empty' matches"),
        ({"glob": "a.jsonl"}, "2 files that were read before are not in '.*raw/books', which has 1 now"),
    ],
)
def test_files_that_are_not_there_hold_everything_back(folder: Path, change: dict[str, Any], why: str) -> None:
    (folder / "empty").mkdir()
    before = digests(opened(folder))
    corpus = opened(folder, **change)
    built = drive(corpus)
    kept_whole(corpus, before, built)
    assert any(re.search(f"source books: {why}", line) for line in built.waiting)
    assert len(refused_deletions(corpus.planner())) == 1
    going_on = opened(folder, **change, may_be_empty=True)
    built = drive(going_on)
    assert (built.failed, built.waiting) == ([], [])
    assert "train_tokens" in built.assets()
    assert refused_deletions(going_on.planner()) == []


def test_one_file_of_three_may_go(folder: Path) -> None:
    (folder / "raw/books/a.jsonl").unlink()
    built = drive(opened(folder))
    assert (built.failed, built.waiting) == ([], [])
    assert refused_deletions(opened(folder).planner()) == []


def test_a_corpus_whose_files_are_all_gone_keeps_its_mix(folder: Path) -> None:
    """No shard is left that could wait, so that the chunks themselves must."""
    before = digests(opened(folder))
    for file in (folder / "raw").rglob("*.jsonl"):
        file.unlink()
    corpus = opened(folder)
    kept_whole(corpus, before, drive(corpus))
    assert len(refused_deletions(corpus.planner())) == 2


def test_a_dataset_of_which_nothing_can_be_read_has_no_tokens(tmp_path: Path) -> None:
    rows = [{"id": str(n), "conversation": [{"role": "user", "content": "hello"}]} for n in range(3)]
    write_rows(tmp_path / "talks/a.jsonl", rows)
    corpus = open_corpus(
        tmp_path, {"sources": [], "datasets": [CHAT], "tokenizer": {"kind": "tokenizer_json", "path": "t"}}
    )
    planner = drive_to(corpus, "talks_examples")
    why = planner.gate(planner.graph["talks_examples"])
    assert why.startswith("dataset talks: 3 of 3 rows dropped (no_messages 3)")
    assert "the row has 'conversation'" in why


def test_roles_that_nobody_has_replace_no_tokens(tmp_path: Path) -> None:
    turns = [{"role": "human", "content": "hello you"}, {"role": "gpt", "content": "hello back"}]
    write_rows(tmp_path / "talks/a.jsonl", [{"id": str(n), "messages": turns} for n in range(3)])
    tokenizer = {
        "kind": "tokenizer_json",
        "path": str(shared("golden", "cerebras", "tokenizers", "tiny", "tokenizer.json")),
        "eos": 0,
    }
    template = "{% for m in messages %}{{ m.role }}: {{ m.content }}{{ eos_token }}{% endfor %}"

    def of(*roles: str, **files: Any) -> Corpus:
        given = {"location": "talks", "messages_key": "messages", **files}
        entry = {**CHAT, "chat_template": template, "loss_roles": list(roles), "input": given}
        return open_corpus(tmp_path, {"sources": [], "datasets": [entry], "tokenizer": tokenizer})

    assert drive(of("gpt")).failed == []
    before = digests(of("gpt"))
    built = drive(of("assistant"))
    assert digests(of("assistant")) == before
    assert any(
        "talks_examples is held back: dataset talks: no message has a role of loss_roles ('assistant')" in line
        and "the messages have 'gpt' 3, 'human' 3" in line
        for line in built.waiting
    )
    assert drive(of("assistant", "gpt")).waiting == []
    (waits,) = drive(of("assistant", may_be_empty=True)).waiting
    assert "3 of 3 examples give no row (nothing_learned 3), so there are no rows" in waits


def test_pairs_that_give_no_rows_hold_back_what_follows_but_in_the_rows_of_cerebras(tmp_path: Path) -> None:
    long = {"prompt": "one word and another " * 30, "completion": "more of them " * 30}
    short = {"prompt": "a question of some words", "completion": "an answer of some words"}
    tokenizer = {
        "kind": "tokenizer_json",
        "path": str(shared("golden", "cerebras", "tokenizers", "tiny", "tokenizer.json")),
    }

    def waits(rows: list[dict[str, str]], **options: Any) -> list[str]:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        write_rows(folder / "pairs/a.jsonl", [{"id": str(n), **row} for n, row in enumerate(rows)])
        entry = {"name": "pairs", "mode": "summarization", "input": {"location": "pairs"}, "sequence_length": 96}
        given = {"sources": [], "datasets": [entry | options], "tokenizer": {**tokenizer, "eos": 0}}
        return drive(open_corpus(folder, given)).waiting

    (most,) = waits([long, long, short])
    assert "2 of 3 examples give no row (too_long 2), more than max_discarded 0.5 allows" in most
    (none,) = waits([long], max_discarded=1)
    assert "1 of 1 examples give no row (too_long 1), so there are no rows" in none
    assert waits([long, long, short], max_discarded=0.7) == waits([long, short]) == []
    assert waits([long], compat="cerebras") == []


def drive_to(corpus: Corpus, asset: str) -> Any:
    drive(corpus, corpus.graph.select([f"+{asset}"]))
    return corpus.planner()


def test_a_file_is_no_row(tmp_path: Path) -> None:
    found = Read(files=3, rows_out=10)
    found.dropped.update({"bad_file": 1, "skipped_member": 40})
    assert list(lost_rows(ROWS, found)) == []
    assert list(found.all_dropped()) == [
        "1 of 3 files dropped (bad_file)",
        "40 members of archives dropped (skipped_member)",
    ]
    found.dropped["bad_file"] = 2
    assert next(lost_rows(ROWS, found)).startswith("2 of 3 files dropped (bad_file), more than max_bad_rows 0.5")


def test_half_of_the_rows_may_be_bad_and_no_more() -> None:
    found = Read(files=1, rows_out=5)
    found.dropped["no_text"] = 5
    assert list(lost_rows(ROWS, found)) == []
    found.dropped["no_text"] = 6
    assert len(list(lost_rows(ROWS, found))) == 1
    assert list(lost_rows({**ROWS, "max_bad_rows": 0.6}, found)) == []


def test_as_many_new_files_as_old_ones_are_a_renaming() -> None:
    assert list(lost_files(FOLDER, Read(files=3, gone=3))) == []
    assert len(list(lost_files(FOLDER, Read(files=2, gone=3)))) == 1


def test_records_without_numbers_hold_nothing_back() -> None:
    assert list(lost_rows(ROWS, Read())) == []
    assert list(lost_rows(ROWS, Read(files=2, counted=1))) == []
    assert len(list(lost_rows(ROWS, Read(files=2, counted=2)))) == 1


def test_rehash_finds_what_sizes_and_times_do_not_show(folder: Path) -> None:
    file = folder / "raw/books/a.jsonl"
    corpus = opened(folder)
    drive(corpus)
    record = corpus.ledger.read("raw_source", "books--a")
    assert record is not None
    lines = file.read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    rows[0]["text"] = rows[0]["text"][::-1]
    times = file.stat()
    write_rows(file, rows)
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    (shard,) = (shard for shard in corpus.listing().shards if shard.key == "books--a")
    assert shard.bytes == times.st_size
    corpus.ledger.write(record.with_seen(shard.seen()))
    assert statuses(corpus.planner().plan()) == {}
    assert forget_stamps(corpus.planner()) == 4
    stale = statuses(corpus.planner().plan())
    assert stale["raw_source", "books--a"] == ("stale", "raw shard books/a.jsonl changed")
    assert ("raw_source", "books--b") not in stale
