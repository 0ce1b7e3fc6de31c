"""Names that a command or page prints for a document are names that all take that take one."""

import hashlib
import html
import json
import re
import shlex
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from starlette.testclient import TestClient
from typer.testing import CliRunner

from corpus_assets.cli.main import app
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.names import named
from corpus_assets.viewer.app import standing_alone
from resources.documents.names import CUT, LONGEST, document_name, ids_of, is_named, parts_of, shown_id, start_of
from tests.build.small import prose
from tests.data.building import build, open_corpus, write_rows

IDS = [
    "plain",
    "python/pydoc_data/topics.py",
    "/leading and trailing/",
    " spaces  within and around ",
    "tab\tline\nfeed\x00\x1b[31m",
    "quotes'\"`$(x)",
    "unicode é 漢字 🦜\u200d🦜 \u202eturned",
    "back\\slash \\x41 \\u202e",
    "ends in …",
    "1234",
    "odd name.jsonl",
    "odd name.jsonl, row 1",
    "document 1 of books--odd name",
    "https://example.org/a page?x=1&y=2#z",
    "ab" * 32,
    "x" * 50_000 + "1",
    "🦜" * 5_000,
    "-dash",
    "<b>bold</b> & more",
    "books",
]
SOURCES = {"books": "odd name.jsonl", "web": "plain"}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Documents with hard ids; `web` has one that another name means too, and bad rows before and after it."""
    folder = tmp_path_factory.mktemp("names")
    rows = [
        {"id": name, "text": f"{prose(n)} {n}", "metadata": {"url": f"http://Example.com/{n}/"}}
        for n, name in enumerate(IDS)
    ]
    write_rows(folder / "raw" / "books" / "odd name.jsonl", rows)
    web: list[dict[str, Any]] = [
        {"id": "books/plain", "text": prose("other")},
        {"text": 5},
        {"id": "last", "text": prose("last")},
    ]
    write_rows(folder / "raw" / "web" / "b.jsonl", web)
    write_rows(folder / "raw" / "web" / "c.jsonl", [{"id": "plain", "text": prose("c")}])
    sources = [
        {"name": name, "location": f"raw/{name}", "metadata_key": "metadata", "on_bad_row": "skip"} for name in SOURCES
    ]
    made = open_corpus(folder, {"sources": sources, "datasets": []})
    build(made, ["+duplicates"])
    return made


@pytest.fixture(scope="module")
def client(corpus: Corpus) -> TestClient:
    return TestClient(standing_alone(corpus.file, "127.0.0.1"), base_url="http://127.0.0.1")


def numbers(corpus: Corpus, name: str, source: str | None = None) -> set[tuple[str, int | None]]:
    """Shards and numbers of the documents that a name means."""
    return {(one.shard, one.number) for one in named(Look(corpus), name, source).found}


def shard(corpus: Corpus) -> str:
    (found,) = {one.key for one in corpus.listing().shards if one.source == "books"}
    return found


def command(corpus: Corpus, *arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, [*arguments, "--config", str(corpus.file)])
    return done.exit_code, done.output + str(done.exception or "")


@pytest.mark.parametrize("number", range(len(IDS)))
def test_every_way_to_name_a_document_is_taken(corpus: Corpus, number: int) -> None:
    identifier, wanted = IDS[number], (shard(corpus), number)
    text = f"{prose(number)} {number}"
    for name in (
        identifier,
        shown_id(identifier),
        f"books/{identifier}",
        document_name("books", identifier),
        document_name("books", identifier, 30),
        hashlib.sha256(text.encode()).hexdigest(),
        f"sha256:{hashlib.sha256(text.encode()).hexdigest()}",
        f"https://example.com/{number}",
        f"odd name.jsonl, row {number:,} from 0",
        f"books/odd name.jsonl row {number}",
        f"{shard(corpus)}, row {number}",
        f"document {number:,} of {shard(corpus)}",
        f"document {number} of normalized_documents/{shard(corpus)}",
    ):
        assert wanted in numbers(corpus, name), name[:100]
        assert wanted in numbers(corpus, name, "books"), name[:100]
        assert wanted not in numbers(corpus, name, "web")


@pytest.mark.parametrize("number", range(len(IDS)))
def test_names_of_commands_are_taken_by_commands_and_pages(corpus: Corpus, client: TestClient, number: int) -> None:
    code, printed = command(corpus, "why", shard(corpus), str(number))
    assert code == 0, printed
    document, raw = (line[10:] for line in printed.split("\n")[:2])
    assert document == document_name("books", IDS[number])
    row = f"row={number}"
    for name in (document, raw):
        assert (shard(corpus), number) in numbers(corpus, name)
        found = html.unescape(client.get("/corpus/search", params={"q": name}).text)
        assert f"/corpus/documents/normalized_documents/{shard(corpus).replace(' ', '%20')}?{row}" in found
        assert client.get("/corpus/why", params={"id": name}).status_code == 200
    code, printed = command(corpus, "show", "normalized_documents", shard(corpus), "--id", document, "--rows", "1")
    assert code == 0
    assert printed.rpartition("rows)\n")[2].startswith('{"id":' + json.dumps(IDS[number], ensure_ascii=False)[:100])


@pytest.mark.parametrize("number", range(len(IDS)))
def test_names_of_pages_are_taken(corpus: Corpus, client: TestClient, number: int) -> None:
    page = client.get(f"/corpus/documents/normalized_documents/{shard(corpus)}?row={number}").text
    (shown,) = re.findall(r'<th scope="row">id</th><td class="long">(.*?)</td>', page)
    assert (shard(corpus), number) in numbers(corpus, html.unescape(shown))
    (way,) = set(re.findall(r'href="(/corpus/why[^"]*)"', page))
    followed = client.get(html.unescape(way))
    assert followed.status_code == 200
    for name in re.findall(r'<h2><a href="[^"]*">(.*?)</a></h2>', followed.text):
        assert numbers(corpus, html.unescape(name))


def test_a_name_that_means_several_is_answered_with_all_of_them(corpus: Corpus, client: TestClient) -> None:
    assert numbers(corpus, "books/plain") == {(shard(corpus), 0), ("web--b", 0)}
    code, printed = command(corpus, "why", "books/plain")
    assert code != 0
    assert "'books/plain' names 2 documents" in printed
    for one in re.findall(r"corpus (why [^;]*)(?:; |$)", printed.rstrip()):
        code, printed = command(corpus, *shlex.split(one))
        assert code == 0, one
    assert client.get("/corpus/why", params={"id": "books/plain"}).text.count("<section>") == 2
    code, printed = command(corpus, "why", "plain")
    assert code != 0
    assert "2 sources have a document 'plain': give --source books or web" in printed


def test_a_bad_row_is_named_as_notes_do(corpus: Corpus, client: TestClient) -> None:
    record = corpus.ledger.read("normalized_documents", "web--b")
    assert record is not None
    (said,) = record.statistics["dropped_examples"]
    name = said.partition(": ")[0]
    assert name == "web/b.jsonl line 2"
    code, printed = command(corpus, "why", name)
    assert code == 0, printed
    assert "no document was made of this row" in printed
    assert "a row that gave no document" in client.get("/corpus/search", params={"q": name}).text
    assert numbers(corpus, "web/b.jsonl, row 2 from 0") == {("web--b", 1)}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("web/b.jsonl row 9", "row 9: valid in normalized_documents/web--b: 0 to 2"),
        ("document 9 of web--b", "normalized_documents/web--b has 2 documents; number 9 was asked for"),
        ("https://example.com/none", "or the URL (metadata url, warc_url)"),
        ("books/nothing", "no document has the id 'books/nothing'"),
    ],
)
def test_a_name_of_nothing_is_refused_in_words(corpus: Corpus, client: TestClient, name: str, words: str) -> None:
    code, printed = command(corpus, "why", name)
    assert code != 0
    assert words in printed
    assert client.get("/corpus/search", params={"q": name}).status_code == 200
    assert client.get("/corpus/why", params={"id": name}).status_code == 404


@given(st.text(st.characters(exclude_categories=[]), min_size=1), st.integers(10, 40))
@example("\\x41", 40)
@example("\\x5cx41", 40)
@example("a …", 40)
@example("  ", 40)
def test_a_printed_id_says_which_id_it_is(identifier: str, most: int) -> None:
    whole = shown_id(identifier, 10**6)
    assert whole.isprintable()
    assert " ".join(whole.split()) == whole
    assert ids_of(whole)[-1] == identifier
    assert start_of(whole) is None
    cut = shown_id(identifier, most)
    start = start_of(cut)
    assert cut == whole or (start is not None and identifier.startswith(start) and len(cut) <= most + len(CUT))
    for name in (identifier, whole, cut, f"books/{identifier}", document_name("books", identifier)):
        assert is_named(name, "books", identifier)


def test_a_source_before_a_slash_is_one_that_there_is() -> None:
    assert list(parts_of("books/a/b", {"books", "web"})) == [("books", "a/b")]
    assert list(parts_of("books / a", {"books"})) == [("books", "a")]
    assert list(parts_of("bookz/a", {"books"})) == []
    assert list(parts_of("books/", {"books"})) == []
    assert len(shown_id("x" * 10_000)) == LONGEST + len(CUT)
    assert not is_named("web/a", "books", "a")
