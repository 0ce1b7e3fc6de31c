"""The flow of documents from raw rows to training documents by source, and every loss with its reason."""

from collections import Counter
from collections.abc import Mapping

from markupsafe import Markup

from corpus_assets import numbers
from corpus_assets.html import charts
from corpus_assets.report.model import Model, Step
from corpus_assets.report.sections.blocks import (
    MOST_COLUMNS,
    MOST_ROWS,
    Block,
    Charts,
    Heading,
    Lines,
    Note,
    Section,
    Table,
    folded,
    largest,
)

_REASONS = 7
_BARS = 24
NOT_COUNTED = "not counted by the version that made it"
WORDS = {
    "raw rows": "Raw rows",
    "read": "Read",
    "filtered": "After the filter",
    "kept": "Kept, each once",
    "with repeats": "Used, with repeats",
    "without holdout": "Without holdout",
    "train": "Train",
}


def flow(model: Model) -> Section:
    """Returns the waterfall of documents and bytes."""
    section = Section("documents", "Where documents went")
    if not model.steps:
        section.blocks.append(Note("There are no sources, so nothing was read, compared or split."))
        return section
    section.blocks += [Charts([_left(model), _becomes(model)]), _steps(model, "documents"), _steps(model, "text_bytes")]
    section.blocks += _losses(model)
    return section


def _left(model: Model) -> Markup:
    return charts.bars("Documents left after each step", {WORDS[step.name]: step.documents for step in model.steps})


def _becomes(model: Model) -> Markup:
    """Returns the share of each source's raw rows that are kept, or lost for the most frequent reasons, in percent."""
    raw = _documents(model.steps[0])
    kept = next((step for step in reversed(model.steps) if step.name in ("kept", "filtered", "read")), model.steps[-1])
    lost: dict[str, Counter[str]] = {}
    for step in model.steps[: model.steps.index(kept) + 1]:
        for loss in step.losses:
            lost.setdefault(words(loss.reason), Counter()).update(loss.by_source or {})
    commonest = list(folded({reason: counts.total() for reason, counts in lost.items()}, _REASONS))
    shown, _ = largest(raw, lambda source: raw[source], _BARS)
    series = {"kept": [_documents(kept).get(source, 0) for source in shown]}
    for reason in commonest:
        if reason in lost:
            series[reason] = [lost[reason][source] for source in shown]
    if others := [counts for reason, counts in lost.items() if reason not in commonest]:
        series["for other reasons"] = [sum(counts[source] for counts in others) for source in shown]
    percent = {
        name: [100 * count / max(raw[source], 1) for count, source in zip(counts, shown, strict=True)]
        for name, counts in series.items()
    }
    return charts.stacked_bars("What became of each source's raw rows", shown, percent, _percent)


def _percent(value: float | None) -> str:
    return numbers.share(None if value is None else value / 100)


def _documents(step: Step) -> dict[str, int]:
    return {source: found["documents"] for source, found in (step.by_source or {}).items()}


def _steps(model: Model, what: str) -> Block:
    """Returns a table of sources by steps. what: `documents` or `text_bytes`."""
    steps = [step for step in model.steps if what == "documents" or step.text_bytes is not None]
    of_source = [
        {source: found.get(what, 0) for source, found in step.by_source.items()} if step.by_source is not None else None
        for step in steps
    ]
    names = list(dict.fromkeys(source for found in of_source for source in (found or {})))
    first = next((found for found in of_source if found is not None), {})
    shown, others = largest(names, lambda name: first.get(name, 0), MOST_ROWS)
    rows = [[name, *(None if found is None else found.get(name, 0) for found in of_source)] for name in shown]
    if others:
        rest = [None if found is None else sum(found.get(name, 0) for name in others) for found in of_source]
        rows.append([f"{len(others):,} other sources", *rest])
    totals = [step.documents if what == "documents" else step.text_bytes for step in steps]
    kind = "count" if what == "documents" else "size"
    title = (
        "Documents after each step, by source" if what == "documents" else "Bytes of text after each step, by source"
    )
    columns = [("source", "text"), *((WORDS[step.name].lower(), kind) for step in steps)]
    return Table(_with_gaps(title, of_source), columns, rows, ["all", *totals])


def _with_gaps(title: str, found: list[dict[str, int] | None]) -> str:
    return f"{title} (–: {NOT_COUNTED})" if any(one is None for one in found) else title


def _losses(model: Model) -> list[Block]:
    """Returns every loss with its reason: in all, and by source."""
    blocks: list[Block] = [Heading("What was left out, and why")]
    lost = [(step, loss) for step in model.steps for loss in step.losses]
    if not lost:
        return [*blocks, Note("Nothing was left out.")]
    totals = Counter[str]()
    for _, loss in lost:
        totals.update(loss.by_source or {})
    sources, others = largest(totals, lambda name: totals[name], MOST_COLUMNS)
    before = _before(model)
    shown, rest = largest(lost, lambda one: one[1].documents, MOST_ROWS)
    rows = []
    for step, loss in shown:
        known = loss.by_source
        by_source = [None if known is None else known.get(name, 0) for name in sources]
        more = [None if known is None else sum(known.get(name, 0) for name in others)] if others else []
        share = loss.documents / before[step.name] if before[step.name] else None
        rows.append([words(loss.reason), WORDS[step.name].lower(), loss.documents, share, *by_source, *more])
    columns = [("reason", "text"), ("step", "text"), ("documents", "count"), ("of the step", "share")]
    columns += [(name, "count") for name in sources] + ([(f"{len(others)} others", "count")] if others else [])
    blocks.append(Table("Documents left out by reason and source", columns, rows, left_out=len(rest)))
    for step in model.steps:
        if step.examples:
            blocks.append(Lines(f"Some of what was left out: {WORDS[step.name].lower()}", step.examples))
    return blocks


def _before(model: Model) -> Mapping[str, int]:
    """Returns how many documents come into each step."""
    return {
        step.name: model.steps[place - 1].documents if place else step.documents
        for place, step in enumerate(model.steps)
    }


def words(reason: str) -> str:
    """Returns a reason as a person reads it; the name of a rule as it is, since it stands in corpus.yaml."""
    return reason if "." in reason else reason.replace("_", " ")
