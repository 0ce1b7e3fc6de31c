"""What our taggers and the ranges of presets say of a text."""

from collections.abc import Mapping
from typing import Any

from corpus_assets.attributes.registry import BUILT_IN
from corpus_assets.attributes.splitters.choice import WordChoice
from corpus_assets.config.selection.fineweb2.section import TAGGERS, ranges_of
from corpus_assets.config.selection.presets import PRESETS
from corpus_assets.filter.rules.ranges import within
from corpus_assets.filter.spans import replaced
from resources.documents.row_rule import Replacement, Row
from resources.documents.tagger import Text
from resources.formats.documents import Document


def judged(name: str, text: str) -> tuple[str | None, str]:
    """Returns the type that drops a text, None if it stays, and the text as the preset leaves it."""
    preset, document = PRESETS[name], Document("a", text, "s")
    found = {key: list(spans) for key, spans in BUILT_IN[preset.tagger].tag(Text(document)).items() if spans}
    row = Row(0, b"", found, document)
    for kind, limits in preset.rules.items():
        if within(kind, min=limits.get("min"), max=limits.get("max"))(row):
            return kind, text
    spans = ((start, end, new) for kind, new in preset.replaced.items() for start, end, _ in found.get(kind, ()))
    return None, replaced(text, [Replacement(*span) for span in spans])


def judged_in(label: str, limits: Mapping[str, Any], text: str) -> str | None:
    """Returns `TAGGER.TYPE` that drops a text in the preset `fineweb2` of a language, None if it stays."""
    one, words = Text(Document("a", text, "s")), WordChoice(label, {label: limits["stopwords"]})
    found = {
        f"e.{name}.{kind}": spans for name in TAGGERS for kind, spans in BUILT_IN[name].tag(one, words=words).items()
    }
    row = Row(0, b"", {key: list(spans) for key, spans in found.items() if spans}, one.document)
    for key, allowed in ranges_of(limits, "e").items():
        if within(key, min=allowed.get("min"), max=allowed.get("max"))(row):
            return key.removeprefix("e.")
    return None
