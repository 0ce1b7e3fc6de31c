"""Documents that lists name leave every output, only what held them is recomputed, and their absence can be proven."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from corpus_assets.cli.main import app
from corpus_assets.config.reading.loading import parse_config
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.takedown.lists import entries
from docs.generate import FOLDER
from resources.errors import ConfigError
from resources.stage.partition import Partition
from tests.build.small import Work, drive, opened, raw_rows, write_raw, write_small

ONE = "books--one"
REMOVE = {"remove": {"location": "lists/*.txt"}}


def write_list(folder: Path, *lines: str, name: str = "legal.txt") -> Path:
    path = folder / "lists" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def built_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_small(tmp_path_factory.mktemp("takedown"), REMOVE)
    urls = raw_rows()["web/b.jsonl.zst"]
    for number, row in enumerate(urls):
        row["metadata"] = {"url": f"https://Example.org/page/{number}/"}
    write_raw(folder, "web/b.jsonl.zst", urls)
    write_list(folder, "# nothing so far")
    assert not drive(opened(folder)).failed
    return folder


@pytest.fixture
def work(built_once: Path, tmp_path: Path) -> Work:
    folder = tmp_path / "work"
    shutil.copytree(built_once, folder)
    return Work(folder)


def documents(corpus: Corpus, asset: str) -> list[tuple[str, str]]:
    records = corpus.ledger.records(asset).values()
    return [(row.id, row.text) for record in records for row in Partition(corpus.storage, record).documents()]


def verify(folder: Path, path: Path) -> tuple[int, dict[str, Any]]:
    done = CliRunner().invoke(app, ["verify", "-c", str(folder / "corpus.yaml"), "--absent", str(path), "--json"])
    return done.exit_code, json.loads(done.stdout)


ID, TEXT = (raw_rows()["books/one.jsonl"][5][key] for key in ("id", "text"))


def test_a_line_removes_its_document_from_every_output_and_recomputes_only_what_held_it(work: Work) -> None:
    shown = write_list(work.folder, f"books\t{ID}", name="new.txt")
    before, old = len(documents(opened(work.folder), "normalized_documents")), dict(work.before)
    code, found = verify(work.folder, shown)
    assert code == 1
    places = {row["partition"] for row in found["found"]}
    assert places > {f"{asset}/{ONE}" for asset in ("normalized_documents", "short_documents", "mixed_pass1")}
    (chunk,) = {place.removeprefix("mixed_pass2/") for place in places if place.startswith("mixed_pass2/")}
    assert {f"components: waiting: {why}" for _, why in [work.plan()["components", None]]} <= set(found["unproven"])
    plan = work.plan()
    assert plan["takedown_list", None][1].startswith("remove.lists ")
    assert plan["normalized_documents", ONE][0] == "waiting"
    built = work.rebuild()
    for asset in ("normalized_documents", "short_documents", "minhashes", "mixed_pass1"):
        assert built.of(asset) == {ONE}, asset
    assert built.of("document_keys") == built.of("raw_source") == built.of("tokenizer") == set()
    assert built.of("mixed_pass2") == {chunk}
    assert built.of("train_tokens") | built.of("validation_tokens") == {chunk}
    assert len(documents(opened(work.folder), "normalized_documents")) == before - 1
    inputs = work.before["normalized_documents", ONE].inputs
    assert set(inputs) - set(old["normalized_documents", ONE].inputs) == {f"takedown/{ONE}"}
    code, found = verify(work.folder, shown)
    assert (code, found["found"], found["unproven"]) == (0, [], [])
    assert found["searched"] > 100
    restored(work)


def restored(work: Work) -> None:
    """What no list names any more comes back."""
    (work.folder / "lists/new.txt").unlink()
    built = drive(opened(work.folder))
    assert (built.failed, built.of("normalized_documents")) == ([], {ONE})
    assert ID in {identifier for identifier, _ in documents(opened(work.folder), "mixed_pass2")}


def test_every_kind_of_line_removes_its_documents(work: Work) -> None:
    rows = raw_rows()
    copied = rows["web/deep/a.parquet"][1]["text"]
    kept = rows["books/one.jsonl"][2]["id"]  # of near-duplicates the one that was kept
    write_list(
        work.folder,
        f"id: {ID}",
        kept,
        hashlib.sha256(copied.encode()).hexdigest().upper(),
        "http://example.org/page/4#top",
        *(row["id"] for row in rows["books/three.jsonl"]),
        f"web\t{rows['notes/list.jsonl'][2]['id']}",  # of another source
    )
    built = drive(opened(work.folder))
    assert built.failed == []
    corpus = opened(work.folder)
    shards = {"books--one", "books--three", "web--deep--a", "web--b"}
    assert built.of("normalized_documents") == shards
    records = corpus.ledger.records("normalized_documents")
    dropped = {key: records[key].statistics["dropped"]["takedown"] for key in shards}
    assert dropped == {"books--one": 2, "books--three": 6, "web--deep--a": 1, "web--b": 2}
    assert records["books--three"].statistics["rows_in"] == 6
    assert corpus.planner().gate(corpus.graph["normalized_documents"]) == ""  # they are no bad rows
    here = documents(corpus, "normalized_documents")
    assert not {ID, kept, rows["web/b.jsonl.zst"][4]["id"]} & {identifier for identifier, _ in here}
    assert copied not in {text for _, text in here}
    mixed = {identifier for identifier, _ in documents(corpus, "mixed_pass2")}
    assert len({rows["books/two.jsonl.gz"][2]["id"], rows["web/deep/a.parquet"][3]["id"]} & mixed) == 1


def test_a_corpus_that_begins_to_remove_recomputes_only_what_is_named(work: Work) -> None:
    work.config()
    assert work.plan() == {}  # where nothing is removed, all is as it is without takedown
    for asset in ("takedown", "takedown_list", "document_keys"):
        shutil.rmtree(work.folder / "corpus/ledger" / asset)
    write_list(work.folder, ID)
    work.config(**REMOVE)
    built = drive(opened(work.folder))
    assert (built.failed, built.of("normalized_documents")) == ([], {ONE})


def test_a_list_that_names_nothing_here_recomputes_nothing(work: Work) -> None:
    write_list(work.folder, "nobody", "https://elsewhere.org/", f"web\t{ID}")
    assert drive(opened(work.folder)).assets() == {"takedown_list", "takedown"}


def test_absence_is_not_proven_by_what_is_stale_orphaned_damaged_or_unowned(work: Work) -> None:
    shown = write_list(work.folder, "nobody", name="other.list")
    assert verify(work.folder, shown)[0] == 0
    tokens = work.folder / "corpus/tokens/train/chunk-0000.h5"
    for change, expected in (
        (lambda: work.config(**REMOVE, mix__chunks=2), "no longer part of the corpus"),
        (lambda: work.config(**REMOVE, split__seed=5), "waiting: "),
        (lambda: tokens.write_bytes(tokens.read_bytes()[:-1]), "train_tokens/chunk-0000: "),
        (lambda: shutil.copy(tokens, tokens.with_name("left.h5")), "left.h5: no record names it"),
    ):
        change()
        code, found = verify(work.folder, shown)
        assert code == 1
        assert any(expected in place for place in found["unproven"]), (expected, found["unproven"])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["ok", "bookz\tx"], r"legal\.txt line 2: no source named 'bookz'; valid: books, web, notes"),
        (["a\tb\tc"], r"legal\.txt line 1: 'a\\tb\\tc'; valid with a tab: the name of a source, a tab, an id"),
        (["books\t"], "line 1"),
        (["", "# x", "sha256:12"], r"line 3: '12' is no SHA-256; valid: 64 hexadecimal digits"),
        (["id:"], "nothing stands after id:"),
        (["x" * 70_000], "70000 characters"),
        (["a\0b"], "NUL"),
    ],
)
def test_a_line_that_names_no_document_is_an_error_before_anything_is_built(
    work: Work, lines: list[str], message: str
) -> None:
    write_list(work.folder, *lines)
    corpus = opened(work.folder)
    with pytest.raises(ConfigError, match=message):
        corpus.graph["takedown_list"].hooks.check_before(corpus.settings.values)


def test_a_stream_of_raw_rows_is_no_place_for_takedown() -> None:
    stream = {"name": "mixed", "compat": "dolma"}
    config = {"sources": [{"name": "a", "location": "raw"}], **REMOVE, "streams": [stream]}
    with pytest.raises(ConfigError, match="has `compat: dolma`, so it holds all rows of the raw files"):
        parse_config(config)


def test_a_list_that_is_gone_is_no_empty_list(work: Work) -> None:
    shutil.rmtree(work.folder / "lists")
    with pytest.raises(ConfigError, match=r"remove\.location: no file matches '.*lists/\*\.txt'"):
        opened(work.folder).planner().plan()


def test_lists_that_are_no_utf8_are_named(work: Work) -> None:
    (work.folder / "lists/legal.txt").write_bytes(b"ok\n\xff\n")
    (failed,) = drive(opened(work.folder)).failed
    assert "legal.txt line 2: no UTF-8" in failed


def test_the_page_shows_a_configuration_and_a_list_that_work(work: Work) -> None:
    page = (FOLDER / "takedown.md").read_text(encoding="utf-8")
    (section,) = (block.partition("```")[0] for block in page.split("```yaml\n")[1:])
    work.config(**yaml.safe_load(section))
    corpus = opened(work.folder)
    listing = page.split("```text\n")[1].partition("```")[0]
    write_list(work.folder, *listing.splitlines())
    corpus.graph["takedown_list"].hooks.check_before(corpus.settings.values)
    assert len(list(entries({"legal.txt": listing.encode()}, ["web"]))) == 4


def test_rows_of_a_datasets_own_files_go_too(tmp_path: Path) -> None:
    rows = [{"id": f"qa-{n}", "prompt": f"why {n}?", "completion": "so"} for n in range(4)]
    write_raw(tmp_path, "own/a.jsonl", rows[:2])
    write_raw(tmp_path, "own/b.jsonl", rows[2:])
    own = {"name": "pairs", "mode": "summarization", "input": {"location": "raw/own"}, "sequence_length": 64}
    write_small(tmp_path, {**REMOVE, "datasets": [own]})
    write_list(tmp_path, "# none")
    upto = ("inventory", "takedown_list", *(f"pairs_{name}" for name in ("raw_source", "document_keys", "takedown")))

    def built() -> Any:
        corpus = opened(tmp_path)
        return drive(corpus, [corpus.graph[name] for name in (*upto, "pairs_examples")])

    assert (built().failed, built().recomputed) == ([], set())
    write_list(tmp_path, "pairs\tqa-2", f"books\t{rows[0]['id']}")
    after = built()
    assert (after.failed, after.of("pairs_examples")) == ([], {"pairs--b"})
    corpus = opened(tmp_path)
    (line,) = Partition(corpus.storage, corpus.ledger.records("pairs_examples")["pairs--b"]).lines()
    assert b'"id":"qa-3"' in line
