"""What our taggers and the ranges of presets say of a text."""

from corpus_assets.attributes.registry import BUILT_IN
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
