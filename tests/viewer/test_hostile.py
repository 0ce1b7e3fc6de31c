"""Documents that would like to be markup, to turn the text around them, or to be too large for a page."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from corpus_assets.viewer.app import standing_alone
from corpus_assets.viewer.documents.page import TEXT, pieces
from corpus_assets.viewer.site import seen, short
from tests.data.building import build, open_corpus, write_rows

NASTY = {
    "script": "<script>alert(1)</script><img src=x onerror=alert(2)>\"'`{{1009*1013}}{% raw %}&lt;",
    "bidi": "user\u202e\u2066// admin\u2069\u200b\ufeff end",
    "nul": "a\u0000b\u001b[31mred\u0007\u0085",
    "line": "x" * 300_000,
    "many": "\n" * 50_000,
    "entity": "</div></main><meta http-equiv=refresh content=0;url=//evil.example>",
}
ALLOWED_TAGS = frozenset(
    re.findall(
        r"\w+",
        """
    a article body button caption code dd del details div dl dt footer form h1 h2 h3 head header html input ins label li
    link main mark meta nav option p pre script section select small span strong summary table tbody td tfoot th thead
    title tr ul""",
    )
)


class Tags(HTMLParser):
    """Every tag and attribute of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("hostile")
    rows = [
        {"id": f"{name}{text[:60]}", "text": text, "metadata": {text[:80]: text, "deep": [[text[:50]]]}}
        for name, text in NASTY.items()
    ]
    write_rows(folder / "raw" / "odd name'&<b>.jsonl", rows)
    values = {"sources": [{"name": "web", "location": "raw", "metadata_key": "metadata"}], "datasets": []}
    build(open_corpus(folder, values), ["normalized_documents", "short_documents"])
    yield TestClient(standing_alone(folder / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1")


def addresses(client: TestClient) -> list[str]:
    from tests.viewer.test_pages import links

    found = links(client.get("/corpus/assets/normalized_documents").text)
    (partition,) = [link for link in found if link.startswith("/corpus/assets/normalized_documents/")]
    rows = [link for link in links(client.get(partition).text) if link.startswith("/corpus/documents/")]
    assert len(rows) == len(NASTY)
    return ["/corpus/", "/corpus/assets/normalized_documents", partition, *rows]


def test_no_text_becomes_markup(hostile: TestClient) -> None:
    for address in addresses(hostile):
        answer = hostile.get(address)
        assert answer.status_code == 200
        tags = Tags()
        tags.feed(answer.text)
        assert tags.tags <= ALLOWED_TAGS, address
        assert not {name for name in tags.attributes if name.startswith("on")}
        assert answer.text.count("<script") == 1
        assert "1022117" not in answer.text
        for hidden in "\u202e\u2066\u200b\ufeff\x00\x1b\x07\x85":
            assert hidden not in answer.text


def test_a_long_text_comes_in_pages_that_hold_all_of_it(hostile: TestClient) -> None:
    (address,) = [one for one in addresses(hostile) if "/documents/" in one and "row=3" in one]
    found, place = 0, 0
    while place < 300_000:
        answer = hostile.get(f"{address}&from={place}")
        assert len(answer.content) < 200_000
        found += max(map(len, answer.text.split('aria-label="Text">')[1].split("</div>")[0].split()), default=0)
        place += TEXT
    assert found == 300_000


@given(st.text(st.characters()))
def test_nothing_unseen_is_left_in_a_text(text: str) -> None:
    shown = seen(text)
    shown.encode()
    assert not {"\u202e", "\x00", "\u200b", "\ufeff"} & set(shown)
    assert len(short(text)) <= 6 * 242


@given(st.text(max_size=50), st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60), st.floats(0, 1)), max_size=8))
def test_marks_cover_the_spans_and_pieces_make_the_text(text: str, spans: list[tuple[int, int, float]]) -> None:
    found = list(pieces(text, 0, spans))
    assert "".join(piece for piece, _ in found) == seen(text)
    marked = {place for first, last, _ in spans for place in range(first, last) if place < len(text)}
    places, at = set(), 0
    for place, character in enumerate(text):
        places |= {place} if character else set()
    assert sum(len(piece) for piece, score in found if score is not None) == sum(len(seen(text[p])) for p in marked)
    assert at == 0 and len(places) == len(text)
