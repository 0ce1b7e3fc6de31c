"""The page of a report: one self-contained file."""

from functools import partial

from markupsafe import Markup
from msgspec import UNSET

from corpus_assets.html.pages import SCRIPT, STYLE, inline, render
from corpus_assets.report.audit.result import Result
from corpus_assets.report.model import Model
from corpus_assets.report.sections.duplicates import duplicates
from corpus_assets.report.sections.flow import flow
from corpus_assets.report.sections.holdout import holdout
from corpus_assets.report.sections.learned import classifiers, language_models
from corpus_assets.report.sections.making import making, repeat
from corpus_assets.report.sections.measures import measures
from corpus_assets.report.sections.origins import origins
from corpus_assets.report.sections.semantic import semantic
from corpus_assets.report.sections.sources import sources
from corpus_assets.report.sections.substrings import substrings
from corpus_assets.report.sections.summary import summary
from corpus_assets.report.sections.tokens import lengths, packing, tokens
from corpus_assets.report.timings import Timings

_UNSEEN = [*(code for code in range(32) if code not in b"\n\t"), 127, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
"""Control characters, and those that turn the direction of what follows: a page shows that they are there."""

_SHOWN_INSTEAD = dict.fromkeys(_UNSEEN, "�")


def page(model: Model, content: bytes, times: Timings, audit: Result | None = None) -> str:
    """Returns the page. content: the model as JSON, which the page holds too. audit: of removed documents."""
    counted = () if model.origins is UNSET else (origins,)
    learned = (
        *(() if model.classifiers is UNSET else (classifiers,)),
        *(() if model.language_models is UNSET else (language_models,)),
    )
    cut = () if model.substrings is UNSET else (substrings,)
    alike = () if model.semantic is UNSET else (semantic,)
    repeated = (partial(duplicates, audit=audit), *cut, *alike)
    parts = (summary, flow, tokens, sources, *counted, lengths, *repeated, holdout, measures, *learned, packing)
    sections = [*(part(model) for part in parts), making(times), repeat(model, times)]
    shown = render(
        "corpus_assets.report",
        "index.html",
        static="",
        style=inline(STYLE),
        script=inline(SCRIPT),
        name=model.name,
        sections=sections,
        made=times.made[1],
        numbers=embedded(content),
    )
    return shown.translate(_SHOWN_INSTEAD)


def embedded(content: bytes) -> Markup:
    """Returns JSON for a `<script>` element: no `<` in it, so nothing in it can end the element or begin a comment."""
    return Markup(content.decode().translate({ord("<"): "\\u003c", **{code: f"\\u{code:04x}" for code in _UNSEEN}}))
