"""The list of documents: fates as the ways of documents have them, filters, orders, limits, and counts of facets."""

import html
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
from starlette.testclient import TestClient

from corpus_assets.filter.assets import READ
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.tables import count_of, id_at, text_at
from corpus_assets.tracing.way import way_of_document
from corpus_assets.viewer.app import standing_alone
from corpus_assets.viewer.listing import looking
from corpus_assets.viewer.listing.facets import bins_of
from corpus_assets.viewer.listing.recent import Recent
from tests.build.small import drive, opened, prose, write_raw, write_small

LENGTH = "quality__char_length_v1__length"
CHANGES: dict[str, Any] = {
    "attributes": [{"name": "quality", "taggers": ["char_length_v1"]}],
    "filter": {"rules": {"quality.char_length_v1.length": {"min": 5, "max": 400}}},
    "sources": [
        {"name": "books", "location": "raw/books", "licence_key": "rights", "licence": None},
        {"name": "web", "location": "raw/web", "epochs": 0.5, "licence": "CC0-1.0"},
        {"name": "notes", "location": "raw/notes", "text_key": "body"},
    ],
    "datasets": [],
}
CARD = re.compile(
    r'<h2><a href="([^"]+)">([^<]+)</a></h2>\n<p class="soft"><a class="badge [a-z]+" href="[^"]+">([^<]+)<'
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_small(tmp_path_factory.mktemp("listing"), CHANGES)
    more = [
        {"id": "long", "text": prose("long", 90), "rights": "MIT", "language": "la"},
        {"id": "licensed", "text": prose("licensed"), "rights": "MIT License", "language": "la"},
        {"id": "free", "text": prose("free"), "rights": "CC BY 4.0", "language": "it"},
    ]
    file = folder / "raw/books/more.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in more), encoding="utf-8")
    corpus = opened(folder)
    done = drive(corpus, corpus.graph.select(["+mixed_pass2"]))
    assert (done.failed, done.waiting) == ([], [])
    return folder


@pytest.fixture(scope="module")
def client(built: Path) -> TestClient:
    return TestClient(standing_alone(built / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1")


def documents(folder: Path) -> Iterator[tuple[str, str, str, str]]:
    """Source, id, text, and fate of each document, followed one by one."""
    look = Look(opened(folder))
    for made in look.partitions(READ):
        for number in range(count_of(made)):
            way = way_of_document(look, made.key or "", number)
            ends = [end.reason for end in way.ends() if end.stage not in ("holdout", "train")]
            source = (made.key or "").partition("--")[0]
            yield source, id_at(made, number), text_at(made, number), (ends or ["kept"])[0] or ""


def listed(client: TestClient, **asked: Any) -> list[tuple[str, str]]:
    """Name and fate of every document of a list, on all of its pages."""
    found: list[tuple[str, str]] = []
    answer = client.get("/corpus/documents", params=asked)
    while True:
        assert answer.status_code == 200, answer.text[-500:]
        found += [(html.unescape(name), fate) for _, name, fate in CARD.findall(answer.text)]
        further = re.search(r'<a href="([^"]+)" rel="next">', answer.text)
        if further is None:
            return found
        answer = client.get(html.unescape(further[1]))


def test_the_list_has_every_document_once_with_the_fate_that_its_way_ends_with(client: TestClient, built: Path) -> None:
    wanted = [(f"{source} / {identifier}", fate) for source, identifier, _, fate in documents(built)]
    assert {"kept", "short", "duplicate", "not_in_this_epoch"} < {fate for _, fate in wanted}
    shown = [(name, fate.replace(" ", "_")) for name, fate in listed(client)]
    assert shown == [(name, fate.replace(" ", "_")) for name, fate in wanted]


@pytest.mark.parametrize("fate", ["kept", "short", "duplicate", "not_in_this_epoch", "quality.char_length_v1.length"])
def test_a_fate_is_asked_for(client: TestClient, built: Path, fate: str) -> None:
    wanted = [f"{source} / {identifier}" for source, identifier, _, found in documents(built) if found == fate]
    assert wanted
    assert [name for name, _ in listed(client, fate=fate)] == wanted


def test_dropped_is_every_fate_but_kept(client: TestClient, built: Path) -> None:
    wanted = [f"{source} / {identifier}" for source, identifier, _, found in documents(built) if found != "kept"]
    assert [name for name, _ in listed(client, fate="dropped")] == wanted


@pytest.mark.parametrize("name", ["characters", LENGTH])
def test_documents_are_chosen_and_sorted_by_a_number(client: TestClient, built: Path, name: str) -> None:
    every = [(len(text), f"{source} / {identifier}") for source, identifier, text, _ in documents(built)]
    low, high = np.percentile([one for one, _ in every], [10, 70]).astype(int).tolist()
    inside = [one for one in every if low <= one[0] <= high]
    assert 0 < len(inside) < len(every)
    asked = {"number": name, "min": low, "max": high}
    assert [one for one, _ in listed(client, **asked)] == [one for _, one in inside]
    up = [one for _, one in sorted(inside, key=lambda one: one[0])]
    down = [one for _, one in sorted(inside, key=lambda one: -one[0])]
    assert [one for one, _ in listed(client, **asked, order="least")] == up
    assert [one for one, _ in listed(client, **asked, order="most")] == down


def test_several_ranges_are_asked_for_at_once(client: TestClient, built: Path) -> None:
    every = [
        (len(text), len(text.encode()), f"{source} / {identifier}") for source, identifier, text, _ in documents(built)
    ]
    middle = sorted(characters for characters, *_ in every)[len(every) // 2]
    top = sorted(size for _, size, _ in every)[-4]
    asked: dict[str, Any] = {"number": LENGTH, "min": middle, "number3": "bytes", "max3": top, "min6": 1}
    wanted = [name for characters, size, name in every if characters >= middle and size <= top]
    assert 0 < len(wanted) < len(every)
    assert [name for name, _ in listed(client, **asked)] == wanted
    both = client.get("/corpus/documents", params=asked).text
    assert f"<code>{LENGTH}</code>" in both and "<code>bytes</code>" in both
    assert 'name="max2" inputmode="decimal" value="' + str(top) in both, "the form has what was sent, without gaps"


def test_a_bar_keeps_the_ranges_that_were_asked_for(client: TestClient, built: Path) -> None:
    sizes = sorted(len(text.encode()) for _, _, text, _ in documents(built))
    asked: dict[str, Any] = {"number": "bytes", "min": sizes[5] + 1, "max": sizes[-5], "number2": LENGTH, "min2": 20}
    shown = re.sub(r"<svg.*?</svg>", "", client.get("/corpus/facets", params=asked).text)
    tables = re.findall(r'aria-label="([^"]+)"><table><thead>(.*?)</table>', shown, re.DOTALL)
    assert [name for name, _ in tables] == ["bytes", LENGTH, "characters"]
    for name, table in tables:
        bars = re.findall(r'<a href="([^"]+)">[^<]+</a></td><td class="n">[^<]+</td><td class="n">(\d+)<', table)
        assert bars, name
        for href, count in bars:
            assert len(listed(client, **dict(parse_qsl(urlsplit(html.unescape(href)).query)))) == int(count), (
                name,
                href,
            )


def test_a_duplicate_leads_to_the_document_that_is_kept_instead(client: TestClient) -> None:
    shown = client.get("/corpus/documents", params={"fate": "duplicate"}).text
    instead = re.findall(r'instead <a href="([^"]+)">([^<]+)</a>', shown)
    assert len(instead) == len(CARD.findall(shown))
    for href, name in instead:
        kept = client.get(html.unescape(href)).text
        assert name.replace("/", " / ", 1) in kept and "it is kept" in kept


def test_licences_and_languages_are_asked_for_as_documents_state_them(client: TestClient) -> None:
    assert [name for name, _ in listed(client, licence="MIT")] == ["books / long", "books / licensed"]
    assert [name for name, _ in listed(client, language="it")] == ["books / free"]
    assert {name.partition(" /")[0] for name, _ in listed(client, licence="CC0-1.0")} == {"web"}


def test_a_page_that_stops_at_its_limit_says_so_and_goes_on(
    client: TestClient, built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = list(documents(built))
    monkeypatch.setattr(looking, "BLOCK", 4)
    monkeypatch.setattr(looking, "MOST_DOCUMENTS", 12)
    first = client.get("/corpus/documents", params={"order": "most"}).text
    said = re.search(r"Only (\d+) documents of (\d+) were looked at", first)
    assert said and int(said[1]) <= 12 and int(said[2]) == len(every)
    assert Counter(name for name, _ in listed(client, order="most")) == Counter(f"{s} / {i}" for s, i, *_ in every)


def test_facets_count_what_the_list_has(client: TestClient, built: Path) -> None:
    shown = re.sub(r"<svg.*?</svg>", "", client.get("/corpus/facets").text)
    rows = dict(re.findall(r'<th scope="row"><a href="[^"]+">([^<]+)</a></th><td class="n" data-v="(\d+)">', shown))
    fates = Counter(fate.replace("_", " ") for *_, fate in documents(built))
    sources = Counter(source for source, *_ in documents(built))
    for word, count in {**fates, **sources, "MIT": 2, "la": 2, "it": 1}.items():
        assert rows[word if word in rows else word.replace(" ", "_")] == str(count), word


def test_each_bar_leads_to_as_many_documents_as_it_counts(client: TestClient) -> None:
    shown = re.sub(r"<svg.*?</svg>", "", client.get("/corpus/facets", params={"number": LENGTH}).text)
    bars = re.findall(
        r'<td class="n"><a href="([^"]+)">[^<]+</a></td><td class="n">[^<]+</td><td class="n">(\d+)<', shown
    )
    assert len(bars) > 4
    for href, count in bars:
        assert len(CARD.findall(client.get(html.unescape(href)).text)) == min(25, int(count))


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({"fate": "<script>"}, 400),
        ({"number": "nothing"}, 400),
        ({"min": "nan"}, 400),
        ({"max": "1e999"}, 400),
        ({"min4": "some"}, 400),
        ({"number2": "nothing"}, 400),
        ({"order": "sideways"}, 400),
        ({"cursor": "no--shard:0"}, 404),
        ({"cursor": "books--one:-1"}, 404),
        ({"cursor": "books--one:99999999"}, 200),
        ({"from": "99999999999"}, 400),
    ],
)
def test_a_request_that_means_nothing_is_refused_in_words(
    client: TestClient, asked: dict[str, str], status: int
) -> None:
    for page in ("documents", "facets"):
        answer = client.get(f"/corpus/{page}", params=asked)
        assert answer.status_code == (200 if page == "facets" and set(asked) & {"from"} else status)
        assert "<script>" not in answer.text.replace('<script src="', "")


@pytest.mark.parametrize("values", [[0.0], [-3.5, -3.5], [0, 1e-9], [-1e12, 1e12], [5, 7, 900], [0.1, 0.2, 0.3]])
@pytest.mark.parametrize("doubling", [True, False])
def test_bins_hold_every_value(values: list[float], doubling: bool) -> None:
    if doubling:
        values = [abs(float(int(value))) for value in values]
    edges = bins_of(np.array(values, np.float64), doubling=doubling)
    assert edges == sorted(set(edges))
    assert edges[0] <= min(values) and max(values) < edges[-1]
    assert len(edges) <= (45 if doubling else 26)


def test_recent_values_take_no_more_than_they_may() -> None:
    kept: Recent[bytes] = Recent(10, len)
    made: list[int] = []

    def make() -> bytes:
        made.append(number)
        return bytes(4)

    for number in (1, 2, 3, 1, 3):
        kept.get(number, make)
    assert made == [1, 2, 3, 1]


def test_a_corpus_that_is_not_built_has_an_empty_list(tmp_path: Path) -> None:
    write_small(tmp_path)
    write_raw(tmp_path, "books/one.jsonl", [])
    client = TestClient(standing_alone(tmp_path / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1")
    for page in ("documents", "facets"):
        answer = client.get(f"/corpus/{page}")
        assert answer.status_code == 200
        assert "0 documents of 0 were looked at" in answer.text


def test_ways_to_more_documents_have_names_of_their_own(client: TestClient) -> None:
    names = re.findall(r'<nav[^>]*aria-label="([^"]+)"', client.get("/corpus/documents?order=most").text)
    assert {"More documents", "More documents, below"} <= set(names)
    assert len(names) == len(set(names))


def test_a_fate_that_is_none_is_refused_with_those_that_are(client: TestClient) -> None:
    answer = client.get("/corpus/documents?fate=gone")
    assert answer.status_code == 400 and "fate=gone: valid are kept, dropped, " in answer.text
