"""The presets decide as the filters of datatrove: by what these once said, and by the filters themselves."""

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.peers.datatrove_filters import decision, filters
from corpus_assets.attributes.registry import BUILT_IN
from corpus_assets.config.selection.presets import PRESETS
from resources.documents.tagger import Text
from resources.formats.documents import Document
from tests.attributes.presets.judged import judged
from tests.attributes.presets.texts import ODD, texts
from tests.attributes.presets.write import KEPT

pytest.importorskip("spacy", reason="the extra words is not installed")
PIECES = [
    "the ",
    "to be ",
    "a.b ",
    "[1] ",
    "...",
    "…",
    "#",
    "\n",
    "\n\n",
    "\r\n",
    "- ",
    "• ",
    ".",
    "! ",
    "{",
    "don't ",
    "\u2028",
]
MADE = st.lists(st.sampled_from([*PIECES, "lorem ipsum ", "javascript ", "x" * 1001, *ODD.split(" ")]), max_size=60)


@pytest.mark.parametrize("name", [name for name in PRESETS if name != "dclm"])
def test_decisions_are_those_that_datatrove_gave(name: str) -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))[name]
    for text, (dropped, *left) in zip(texts(), kept, strict=True):
        assert judged(name, text) == (dropped, left[0] if left else text)


def test_every_rule_drops_one_of_the_texts_or_is_known_not_to() -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    for name, preset in ((name, preset) for name, preset in PRESETS.items() if name in kept):
        assert {dropped for dropped, *_ in kept[name] if dropped} <= preset.rules.keys()
        assert set(preset.rules) <= set(BUILT_IN[preset.tagger].types)


@pytest.fixture(scope="module")
def originals() -> dict[str, Any]:
    pytest.importorskip("datatrove", reason="datatrove is not installed")
    return filters()


@settings(max_examples=150, deadline=None)
@given(pieces=MADE, times=st.integers(1, 4))
def test_decisions_are_those_of_datatrove(originals: dict[str, Any], pieces: list[str], times: int) -> None:
    text = "".join(pieces) * times
    for name, original in originals.items():
        try:
            expected = decision(name, original, text)
        except ZeroDivisionError:  # A text without words, of which the original says nothing.
            continue
        ours = judged(name, text)
        assert ours[0] == expected[0]
        assert expected[0] or ours[1] == expected[1]


def test_measures_of_what_c4_leaves_are_those_of_that_text() -> None:
    for rule in ("c4", "c4_any_ending", "dclm"):
        for text in texts():
            dropped, left = judged(rule, text)
            for name in ("gopher_quality", "gopher_repetition", "fineweb_quality"):
                after = BUILT_IN[f"{name}_after_{rule}"].tag(Text(Document("a", text, "s")))
                alone = BUILT_IN[name].tag(Text(Document("a", left, "s")))
                if dropped is None:
                    scores = {key: spans[0][2] for key, spans in after.items()}
                    assert scores == {key: spans[0][2] for key, spans in alone.items()}
                    assert all(spans[0][:2] == (0, len(text)) for spans in after.values())


def test_scores_are_not_rounded() -> None:
    text = "the dog is #1 " * 3
    (((_, _, score),)) = BUILT_IN["gopher_quality"].tag(Text(Document("a", text, "s")))["hashes_per_word"]
    assert score == 3 / 15


def test_words_kept_for_a_piece_are_those_of_the_whole_text() -> None:
    import spacy

    from corpus_assets.attributes.splitters.spacy_rules import SpacyRules

    whole, rules = spacy.blank("en"), SpacyRules("en")
    chance = random.Random(0)
    for _ in range(200):
        text = " ".join(chance.choices([*ODD.split(), "U.S.A.,", "(see", "http://a.b/c).", "it's", "\u00a0\n"], k=30))
        assert rules.words(text) == [word.text for word in whole(text) if word.text.strip()]
