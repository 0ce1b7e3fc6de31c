"""Web crawls through the product: what is no text, and what could not be decoded, is counted and told."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.raw.losses import GUESSED, REPLACED
from resources.errors import ConfigError
from resources.stage.partition import Partition
from tests.build.small import opened, prose
from tests.build.test_input_formats import documents, normalized, write
from tests.golden import shared
from tests.raw.warc_files import conversion, response, zipped

CRAWL = [
    response(b"%PDF-1.7\n" + bytes(range(256)) * 9, url="https://e.org/pdf"),
    response(b"Fu\xdfball und \xc4pfel, " * 20, url="https://e.org/guessed"),
    response(b"one \xff bad byte", kind="text/plain; charset=utf-8"),
    conversion(prose("good")),
]


def notes(corpus: Any) -> list[str]:
    stage = corpus.graph["normalized_documents"]
    shards = {shard.key: shard for shard in corpus.listing().shards}
    records = corpus.ledger.records(stage.name)
    partitions = [Partition(corpus.storage, record, shard=shards[key]) for key, record in records.items()]
    return list(stage.hooks.notes(partitions, corpus.settings.values))


def test_what_is_no_text_and_what_decoding_replaced_is_told(tmp_path: Path) -> None:
    write(
        tmp_path,
        [{"name": "crawl"}, {"name": "lines"}],
        {"crawl/a.warc.gz": zipped(CRAWL), "lines/b.jsonl": json.dumps({"text": "\ufffd"}).encode()},
    )
    corpus = opened(tmp_path)
    assert normalized(corpus).failed == []
    assert [row.text[:12] for row in documents(corpus, "crawl--a")] == [
        "Fußball und ",
        "one \ufffd bad by",
        prose("good")[:12],
    ]
    numbers = corpus.ledger.records("normalized_documents")
    assert (numbers["crawl--a"].statistics[REPLACED], numbers["crawl--a"].statistics[GUESSED]) == (1, 1)
    assert REPLACED not in numbers["lines--b"].statistics
    assert numbers["crawl--a"].statistics["dropped"] == {"binary_content": 1}
    (example,) = numbers["crawl--a"].statistics["dropped_examples"]
    assert example == (
        "crawl/a.warc.gz record 1 at byte 0: binary_content: begins like application/pdf, and is called text/plain"
    )
    passed, decoded = notes(corpus)
    assert passed.startswith("source crawl: 1 records without a document passed over (binary_content 1); for example ")
    assert decoded.startswith("source crawl: 1 characters that could not be decoded are U+FFFD; of 1 documents")


@pytest.mark.parametrize("report", ["binary-as-text-warc", "charset-labels"])
def test_reported_crawls(tmp_path: Path, report: str) -> None:
    folder = shared("data", "reports", report)
    expected = json.loads((folder / "expected.json").read_text())
    write(tmp_path, [{"name": "s"}], {"s/all.warc.gz": (folder / "raw" / "all.warc.gz").read_bytes()})
    corpus = opened(tmp_path)
    assert normalized(corpus).failed == []
    found = {json.loads(bytes(row.metadata))["warc_url"]: row.text for row in documents(corpus, "s--all")}
    if "kept_urls" in expected:
        assert set(expected["kept_urls"]) <= set(found) <= {*expected["kept_urls"], *expected["may_keep"]}
    for name, text in expected.get("must_contain", {}).items():
        assert text in found[f"http://site.example/{name}"]


OWN = "def text(page):\n    return page.partition('<main>')[2].partition('</main>')[0] or None\n"


def test_an_extractor_of_ones_own_and_the_next_one_in_a_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    pages = [f"<main>{prose(n)}</main>".encode() for n in range(2)] + [f"<p>{prose('p')}</p>".encode()]
    crawl = [response(page, url=f"https://e.org/{n}", kind="text/html") for n, page in enumerate(pages)]
    sources = [{"name": "crawl", "extractor": ["own_text:text", "own_text_too:text"]}]
    (tmp_path / "own_text.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "own_text_too.py").write_text(OWN.replace("main", "p"), encoding="utf-8")
    write(tmp_path, sources, {"crawl/a.warc": b"".join(crawl)})
    corpus = opened(tmp_path)
    assert normalized(corpus).failed == []
    assert [row.text for row in documents(corpus, "crawl--a")] == [prose(0), prose(1), prose("p")]
    (tmp_path / "own_text.py").write_text(f"# Another one.\n{OWN}", encoding="utf-8")
    (decision,) = (one for one in opened(tmp_path).planner().plan().decisions if one.asset == "normalized_documents")
    assert decision.status == "stale"
    assert decision.reason is not None
    assert decision.reason.startswith("source.extractor ['own_text:text ")


def test_a_page_on_which_an_extractor_never_ends_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    endless = "def text(page):\n    while 'endless' in page: pass\n    return page\n"
    (tmp_path / "endless_text.py").write_text(endless, encoding="utf-8")
    pages = [prose(0), "endless", prose(1)]
    crawl = [response(page.encode(), url=f"https://e.org/{n}", kind="text/html") for n, page in enumerate(pages)]
    sources = [{"name": "crawl", "extractor": "endless_text:text", "html": {"seconds": 0.2}}]
    write(tmp_path, sources, {"crawl/a.warc": b"".join(crawl)})
    corpus = opened(tmp_path)
    assert normalized(corpus).failed == []
    assert [row.text for row in documents(corpus, "crawl--a")] == [prose(0), prose(1)]
    statistics = corpus.ledger.records("normalized_documents")["crawl--a"].statistics
    assert statistics["dropped"] == {"extraction_too_long": 1}
    (example,) = statistics["dropped_examples"]
    assert example.startswith("crawl/a.warc record 2 at byte ")
    assert "extraction_too_long: it takes more than 0.2 s of CPU time (`html.seconds`)" in example
    write(tmp_path, [{**sources[0], "html": {"seconds": 0.3}}], {})
    (decision,) = (one for one in opened(tmp_path).planner().plan().decisions if one.asset == "normalized_documents")
    assert decision.reason == "source.html.seconds 0.2 -> 0.3"


@pytest.mark.parametrize(
    ("extractor", "message"),
    [
        ("justext", r"received 'justext'; valid: combined, trafilatura, resiliparse, or module:function of your own"),
        (["resiliparse", "resiliparse"], "received resiliparse, resiliparse; valid: each extractor once"),
        ([], "extractor"),
        ("no_such_module:text", r"sources.crawl.extractor: module 'no_such_module' cannot be imported"),
        ("json:no_such_function", r"sources.crawl.extractor: module 'json' has no 'no_such_function'"),
        ("json:__doc__", "sources.crawl.extractor: 'json:__doc__' is no function"),
    ],
)
def test_an_extractor_that_cannot_be_is_refused(tmp_path: Path, extractor: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        opened(write(tmp_path, [{"name": "crawl", "extractor": extractor}], {}))
