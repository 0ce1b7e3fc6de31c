"""The preset `dclm` decides, and removes pieces, as DCLM's heuristics did."""

import json

from corpus_assets.attributes.registry import BUILT_IN
from corpus_assets.attributes.taggers.presets.dclm.pieces import Part, page_of
from corpus_assets.config.selection.presets import PRESETS
from resources.documents.tagger import Text
from resources.formats.documents import Document
from tests.attributes.presets.judged import judged
from tests.attributes.presets.pages import KEPT, pages


def test_decisions_and_texts_are_those_of_dclm() -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    for text, (dropped, *left) in zip(pages(), kept, strict=True):
        assert judged("dclm", text) == (dropped, left[0] if left else text)
    assert {"words", "words_without_letter", "repeated_lines", "characters_left", "removed_words", None} <= {
        dropped for dropped, *_ in kept
    }
    assert set(PRESETS["dclm"].rules) | {"removed"} == set(BUILT_IN["dclm_page"].types)


def test_a_part_knows_where_its_pieces_were() -> None:
    part = Part("abcdef", ((0, 2), (5, 9)))
    assert part.cut(1, 4) == Part("bcd", ((1, 2), (5, 7)))
    assert part.joined([(0, 1), (5, 6)]) == Part("af", ((0, 1), (8, 9)))
    text = "To a.com and x\n\n\n\nb 1.2.3.4 c"
    page = page_of(text)
    assert page.string == "To and x\n\nb c"
    assert "".join(text[start:end] for start, end in page.places) == page.string


def test_web_addresses_go_from_a_text_that_begins_with_a_domain() -> None:
    assert page_of("Zz a.com b").string == "Zz a.com b"
    assert page_of("IN a.com b").string == "IN b"


def test_scores_of_a_text_without_words() -> None:
    for text in ("", " \n", "。", "\n\n\n\n"):
        found = BUILT_IN["dclm_page"].tag(Text(Document("a", text, "s")))
        assert found["words"][0][2] == 0
        assert judged("dclm", text)[0] == "words"
