"""Domains, hosts, suffixes and years of the documents of train, counted by source."""

import io
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from starlette.testclient import TestClient

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.numbers import share
from corpus_assets.origins.counts import Counts, Largest, Row, line_of, merged
from corpus_assets.origins.hooks import suffix_list
from corpus_assets.origins.hosts import host_of, suffixes
from corpus_assets.report.assets import NAME as REPORT
from corpus_assets.report.model import decode
from corpus_assets.tokenize.tokenizer import load_tokenizer_of
from corpus_assets.viewer.app import standing_alone
from resources.errors import ConfigError
from tests.build.small import drive, opened, prose

LIST = """// A list
com
org
uk
co.uk
*.ck
!www.ck
// ===BEGIN PRIVATE DOMAINS===
github.io
"""
HOSTS = ("www.a.com", "b.a.com", "a.com", "x.co.uk", "y.x.co.uk", "127.0.0.1", "n.org")


def rows(source: str, count: int = 60) -> list[dict[str, Any]]:
    """Documents of several hosts and years; some without a URL."""
    found: list[dict[str, Any]] = []
    for number in range(count):
        host = HOSTS[number % len(HOSTS)]
        key, url = ("url", f"https://{host}/{number}") if number % 2 else ("warc_url", f"http://me@{host}:80/{number}")
        metadata = {} if number % 11 == 0 else {key: url}
        made = {"id": f"{source}-{number}", "text": prose(f"{source} {number}", 12), "metadata": metadata}
        found.append({**made, **({"created": f"20{10 + number % 3}-01-02"} if number % 5 else {})})
    return found


def configure(folder: Path, origins: Any, **changes: Any) -> None:
    config = {
        "name": "counted",
        "sources": [{"name": "web", "location": "raw/web", "epochs": 2}, {"name": "blogs", "location": "raw/blogs"}],
        "origins": origins,
        "short_documents": {"threshold": 10},
        "dedup": {"ranges": 1},
        "minhash": {"permutations": 32, "bands": 2, "rows": 8},
        "mix": {"chunks": 3},
        "split": {"holdout": 0.1},
        "tokenizer": {"kind": "train", "vocabulary": 300, "sample": 20000},
        "datasets": [{"name": "train", "sequence_length": 64}],
        "engine": {"workers": 0},
        "storage": {"sync": False},
        **changes,
    }
    (folder / "corpus.yaml").write_text(yaml.safe_dump(config))


@pytest.fixture
def given(tmp_path: Path) -> Path:
    for name in ("web", "blogs"):
        (tmp_path / f"raw/{name}").mkdir(parents=True)
        (tmp_path / f"raw/{name}/a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(name)))
    (tmp_path / "suffixes.dat").write_text(LIST)
    configure(tmp_path, {"suffix_list": "suffixes.dat", "most": 3})
    return tmp_path


def built(folder: Path) -> tuple[Corpus, dict[str, Any]]:
    corpus = opened(folder)
    done = drive(corpus, corpus.graph.select(["+origins"]))
    assert (done.failed, done.waiting) == ([], [])
    partition = opened(folder).partition("origins", None)
    assert partition is not None
    return opened(folder), partition.json("origins.json")


def of_train(corpus: Corpus) -> list[Any]:
    """The documents of train, each once, with the number of their tokens."""
    tokenizer = corpus.partition("tokenizer", None)
    assert tokenizer is not None
    encode = load_tokenizer_of(tokenizer)
    seen: dict[tuple[str, str], Any] = {}
    for record in corpus.records("decontaminated_train").values():
        for document in corpus.handle(record).documents():
            seen[document.source, document.id] = document
    ids = encode.encode_plain([document.text for document in seen.values()]).lengths.tolist()
    return list(zip(seen.values(), ids, strict=True))


def test_counts_are_those_of_the_documents_of_train(given: Path) -> None:
    corpus, found = built(given)
    assert found["tokens"] is True
    for source in ("web", "blogs"):
        ours = [(one, tokens) for one, tokens in of_train(corpus) if one.source == source]
        counted = found["sources"][source]
        assert counted["documents"] == len(ours)
        assert counted["tokens"] == sum(tokens for _, tokens in ours) > 0
        assert counted["text_bytes"] == sum(len(one.text.encode()) for one, _ in ours)
        domains, hosts, years = Counter[str](), Counter[str](), Counter[str]()
        for one, tokens in ours:
            url = next(iter(json.loads(bytes(one.metadata) or b"{}").values()), "")
            host = url.partition("//")[2].partition("/")[0].rpartition("@")[2].partition(":")[0]
            if host:
                name = {"com": "a.com", "uk": "x.co.uk", "org": "n.org"}.get(host.rpartition(".")[2], host)
                domains[name] += tokens
                hosts[host] += tokens
            years[(one.created or "")[:4]] += 1
        assert counted["domains"]["different"] == len(domains)
        listed = {one["name"]: one["tokens"] for one in counted["domains"]["largest"]}
        assert list(listed.items()) == sorted(domains.items(), key=lambda item: (-item[1], item[0]))[:3]
        assert {one["name"] for one in counted["hosts"]["largest"]} <= hosts.keys()
        assert counted["hosts"]["different"] == len(hosts)
        assert {one["name"]: one["tokens"] for one in counted["suffixes"]["largest"]}["com"] == domains["a.com"]
        assert {year: numbers["documents"] for year, numbers in counted["years"].items()} == years
        without = [one for one, _ in ours if b"url" not in bytes(one.metadata)]
        assert counted["without_url"]["documents"] == len(without)
    table = [Row(*json.loads(line)) for line in corpus.partition("origins", None).lines()]  # type: ignore[union-attr]
    assert len(table) == sum(one["domains"]["different"] for one in found["sources"].values())
    assert table == sorted(table, key=lambda row: row[:2]) or {row.source for row in table} == {"web", "blogs"}


def test_report_papers_and_viewer_have_the_counts(given: Path) -> None:
    said = {"sources": {"web": {"origin": "crawled", "domains": ["typed.example"]}, "blogs": {"origin": "crawled"}}}
    configure(given, {"suffix_list": "suffixes.dat"}, card=said)
    corpus = opened(given)
    done = drive(corpus, [*corpus.graph])
    assert (done.failed, done.waiting) == ([], [])
    found = opened(given).partition("origins", None).json("origins.json")["sources"]["web"]  # type: ignore[union-attr]
    (first, *_) = found["domains"]["largest"]
    summary = (given / "corpus/card/training-content-summary.md").read_text()
    part = share(first["tokens"] / found["tokens"])
    assert f"Most relevant domain names: {first['name']} ({part}). Counted: 1 of" in summary
    assert f"1 of {found['domains']['different']} domains" in summary
    assert "typed.example" not in summary
    blanks = json.loads((given / "corpus/card/to-be-written.json").read_text())
    assert not [key for key in blanks if key.endswith("domains")]
    model = decode((given / "corpus/report/report.json").read_bytes())
    assert [origin.source for origin in model.origins] == ["blogs", "web"]  # type: ignore[union-attr]
    page = (given / "corpus/report/index.html").read_text()
    assert "Domains and dates" in page
    assert f"The largest of {found['domains']['different']} domains of web" in page
    pages = TestClient(standing_alone(given / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1:3001")
    shown = pages.get("/corpus/origins").text
    assert f"{found['hosts']['different']} hosts of web, most documents first" in shown
    assert "www.a.com" in shown
    assert 'href="/corpus/origins"' in pages.get("/corpus/").text


def test_without_counts_the_viewer_says_how_to_have_them(given: Path) -> None:
    configure(given, None)
    assert drive(opened(given), [stage for stage in opened(given).graph if stage.lists_shards]).failed == []
    pages = TestClient(standing_alone(given / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1:3001")
    assert "<code>origins</code> in corpus.yaml does" in pages.get("/corpus/origins").text


def test_any_number_of_chunks_counts_the_same(given: Path) -> None:
    origins = {"suffix_list": "suffixes.dat", "tokens": False}
    configure(given, origins, split={"holdout": 0})
    _, found = built(given)
    assert (found["tokens"], found["sources"]["web"]["tokens"]) == (False, 0)
    assert found["sources"]["web"]["documents"] == 60
    configure(given, origins, split={"holdout": 0}, mix={"chunks": 1})
    assert built(given)[1] == found


def test_without_the_section_there_is_no_stage(given: Path) -> None:
    configure(given, None)
    corpus = opened(given)
    assert not [stage.name for stage in corpus.graph if stage.group == "origins"]
    (report,) = (stage for stage in corpus.graph if stage.name == REPORT)
    assert "origins" not in report.hooks.derived_parameters(corpus.settings.values)["configuration"]


@pytest.mark.parametrize(("content", "says"), [("// nothing\n", "holds no suffix"), (None, "cannot be read")])
def test_a_list_that_is_none_is_named(given: Path, content: str | None, says: str) -> None:
    (given / "suffixes.dat").write_text(content) if content else (given / "suffixes.dat").unlink()
    corpus = opened(given)
    with pytest.raises(ConfigError, match=f"origins.suffix_list: .*suffixes.dat.* {says}"):
        corpus.graph["origin_counts"].hooks.check_before(corpus.settings.values)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://www.Example.org/a?b", "www.example.org"),
        ("example.org/a", "example.org"),
        ("//example.org:81/a", "example.org"),
        ("http://user:secret@example.org./", "example.org"),
        ("https://b\u00fccher.example/", "xn--bcher-kva.example"),
        ("http://[2001:db8::1]:80/", "[2001:db8::1]"),
        ("http://10.0.0.1/", "10.0.0.1"),
        ("mailto", ""),
        ("", ""),
        ("a b", ""),
        ("http:///nothing", ""),
        ("https://-.org/", ""),
    ],
)
def test_hosts_of_urls(url: str, host: str) -> None:
    assert host_of(url) == host


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.example.com", "example.com"),
        ("com", "com"),
        ("a.b.co.uk", "b.co.uk"),
        ("co.uk", "co.uk"),
        ("b.uk", "b.uk"),
        ("a.b.c.ck", "b.c.ck"),
        ("www.ck", "www.ck"),
        ("a.www.ck", "www.ck"),
        ("me.github.io", "github.io"),
        ("host.unknown", "host.unknown"),
        ("10.0.0.1", "10.0.0.1"),
    ],
)
def test_domains_of_hosts(host: str, domain: str) -> None:
    assert suffixes(LIST.splitlines()).domain(host) == domain


@pytest.mark.parametrize("memory", [1, 4096, 1 << 20])
def test_counts_beyond_memory_are_the_same(memory: int) -> None:
    chance, wanted = random.Random(3), Counter[tuple[str, str, str]]()
    counts = Counts(memory, io.BytesIO)
    for _ in range(3000):
        key = (f"s{chance.randrange(2)}", f"d{chance.randrange(40)}", f"h{chance.randrange(60)}")
        counts.add(key, 10, 3)
        wanted[key] += 1
    found = list(counts.rows())
    assert [(row[:3], row.documents, row.text_bytes, row.tokens) for row in found] == [
        (key, count, 10 * count, 3 * count) for key, count in sorted(wanted.items())
    ]


def test_many_runs_are_merged_in_rounds() -> None:
    opened_files: list[io.BytesIO] = []

    def spill() -> io.BytesIO:
        opened_files.append(io.BytesIO())
        return opened_files[-1]

    runs = [[line_of(Row("s", f"d{number % 7}", "h", 1, 2, 3))] for number in range(300)]
    found = list(merged(runs, spill))
    assert [(row.domain, row.documents) for row in found] == [(f"d{n}", 300 // 7 + (n < 300 % 7)) for n in range(7)]
    assert len(opened_files) == 3


def test_the_largest_are_exact() -> None:
    chance, held = random.Random(5), Largest(10)
    numbers = {f"n{n}": (chance.randrange(50), chance.randrange(50), chance.randrange(50)) for n in range(900)}
    for name, values in numbers.items():
        held.add(name, values)
    for measure in range(3):
        wanted = sorted(numbers, key=lambda name: (-numbers[name][measure], name))[:10]
        assert [name for name, *_ in held.top(measure)] == wanted


def test_domains_are_those_of_another_implementation() -> None:
    pytest.importorskip("tldextract", reason="it comes with the extra `domains`")
    from tldextract import TLDExtract

    other = TLDExtract(suffix_list_urls=(), cache_dir=None)
    rules = suffixes(suffix_list({"origins": {"suffix_list": None}}).decode().splitlines())
    chance = random.Random(11)
    ends = [*sorted(rules.names), *sorted(f"x.{name}" for name in rules.below), *sorted(rules.exceptions)]
    for end in chance.sample(ends, 3000):
        for host in (end, f"a.{end}", f"c.b.{end}"):
            assert rules.domain(host) == (other(host).top_domain_under_public_suffix or host), host


def test_without_a_list_the_build_says_how_to_have_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpus_assets.origins.hooks._PACKAGE", "not_installed_anywhere")
    with pytest.raises(ConfigError, match=r"origins.suffix_list: .*pip install 'corpus-assets\[domains\]'"):
        suffix_list({"origins": {"suffix_list": None}})


def test_scores_are_counted_by_language(given: Path) -> None:
    """Attributes of somebody else say the language; without one a document's is unknown."""
    for name in ("web", "blogs"):
        scored = [
            {"id": row["id"], "attributes": {"lang": ["de", "en", None][n % 3], "good": n % 2}}
            for n, row in enumerate(rows(name))
        ]
        (given / f"scores/{name}").mkdir(parents=True)
        (given / f"scores/{name}/a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in scored))
    entries = [{"name": "s", "location": "scores"}, {"name": "len", "taggers": ["char_length_v1"]}]
    configure(given, {"suffix_list": "suffixes.dat", "language": "s.s__lang"}, attributes=entries)
    corpus = opened(given)
    done = drive(corpus, [*corpus.graph])
    assert (done.failed, done.waiting) == ([], [])
    found = opened(given).partition("languages", None).json()  # type: ignore[union-attr]
    assert {name: numbers["documents"] for name, numbers in found["web"].items()} == {"de": 20, "en": 20, "unknown": 20}
    for number, name in enumerate(("de", "en", "unknown")):
        counted = found["blogs"][name]["histograms"]
        assert counted.keys() == {"s__s__good", "len__char_length_v1__length"}
        good = sum(n % 2 for n in range(60) if n % 3 == number)
        assert counted["s__s__good"]["counts"][-1] == good
        assert sum(counted["len__char_length_v1__length"]["counts"]) == 20
    model = decode((given / "corpus/report/report.json").read_bytes())
    languages = {(one.source, one.language): one.documents for one in model.languages}  # type: ignore[union-attr]
    assert languages["web", "en"] == 20
    assert "de in web: 20 documents" in (given / "corpus/report/index.html").read_text()
    pages = TestClient(standing_alone(given / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1:3001")
    assert "Documents by source and language" in pages.get("/corpus/origins").text
    configure(given, {"suffix_list": "suffixes.dat", "language": "x.lang"}, attributes=entries)
    with pytest.raises(ConfigError, match=r"origins\.language: no attribute named 'x'"):
        opened(given)
