"""Long texts: in fewer bytes for each code point, and with tables that grow; the results are those of any text."""

import random

import pytest

from corpus_assets.attributes import characters
from corpus_assets.attributes.characters import code_points
from corpus_assets.attributes.registry import BUILT_IN
from resources.documents.tagger import Spans, Text
from resources.formats.documents import Document
from tests.attributes import oracles

PROSE = (
    "Menu {\n\n- John <a.b@example.org> or 212-555-0199 at 10.0.0.1 !!!\n!!!\naaaa fuck javascript the the the…\n" * 3
)
WIDTHS = {"latin": PROSE.replace("…", "é"), "bmp": PROSE + "слово", "astral": PROSE + "🙂"}
TAGGERS = [name for name, tagger in BUILT_IN.items() if not tagger.wheels and not tagger.files and not tagger.reads]


def tagged(name: str, text: str) -> Spans:
    return BUILT_IN[name].tag(Text(Document("a", text, "s")))


def test_a_long_text_takes_as_few_bytes_as_its_code_points_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(characters, "LONG", 1)
    assert [code_points(text).itemsize for text in WIDTHS.values()] == [1, 2, 4]
    assert all(code_points(text).tolist() == [*map(ord, text)] for text in WIDTHS.values())


@pytest.mark.slow  # Every kernel is compiled for two more types.
@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("name", TAGGERS)
def test_a_tagger_gives_of_a_long_text_what_it_gives_of_any(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = {width: tagged(name, text) for width, text in WIDTHS.items()}
    monkeypatch.setattr(characters, "LONG", 1)
    assert {width: tagged(name, text) for width, text in WIDTHS.items()} == usual


@pytest.mark.slow
def test_ngrams_of_more_words_than_are_looked_up_at_once() -> None:
    words = random.Random(3).choices([f"w{number}" for number in range(1500)], k=650_000)
    text = " ".join([*words, "between", *words])
    found = {kind: score for kind, [(_, _, score)] in tagged("gopher_v2", text).items()}
    assert found == oracles.gopher_v2(text)
