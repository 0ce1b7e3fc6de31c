"""Origin and licence of each source, and its part of the training data."""

from collections import Counter

from corpus_assets.report.model import Dataset, Model
from corpus_assets.report.sections.blocks import MOST_ROWS, Block, Section, Table, largest


def sources(model: Model) -> Section:
    """Returns the table of sources with licences and origins."""
    chosen = train_dataset(model)
    tokens = {name: found.get("tokens") for name, found in ((chosen and chosen.by_source) or {}).items()}
    whole = sum(count or 0 for count in tokens.values())
    shown, others = largest(model.sources, lambda source: source.raw_bytes, MOST_ROWS)
    rows = []
    for source in shown:
        own = _own_dataset(model, source.dataset)
        ours = own.tokens if own else tokens.get(source.name)
        share = None if own or not whole or ours is None else ours / whole
        licence = source.licence or ("of each document" if source.licences else "not given")
        rows.append([source.name, licence, source.location, source.files, source.raw_bytes, ours, share])
    title = f"tokens ({chosen.name})" if chosen and tokens else "tokens"
    columns = [("source", "text"), ("licence", "long"), ("origin", "long"), ("files", "count"), ("raw files", "size")]
    table = Table(
        "Sources and files of datasets of their own, with licence and origin as corpus.yaml gives them",
        [*columns, (title, "count"), ("share of tokens", "share")],
        rows,
        left_out=len(others),
    )
    blocks: list[Block] = [table, *_licences(model)]
    return Section("sources", "Sources, licences and origins", blocks)


def _licences(model: Model) -> list[Block]:
    """Returns the documents that are kept by licence: as they state it, or as corpus.yaml does for their source."""
    documents: Counter[str] = Counter()
    text: dict[str, int | None] = {}
    for source in model.sources:
        if source.dataset is None:
            stated = source.licences or {source.licence or "not given": _kept(model, source.name)}
            for licence, numbers in stated.items():
                documents[licence] += numbers.get("documents", 0)
                known, size = text.get(licence, 0), numbers.get("text_bytes")
                text[licence] = None if known is None or size is None else known + size
    whole = documents.total()
    ordered = sorted(documents.items(), key=lambda one: (-one[1], one[0]))
    rows = [[licence, count, count / whole if whole else None, text[licence]] for licence, count in ordered[:MOST_ROWS]]
    columns = [("licence", "long"), ("documents", "count"), ("share of documents", "share"), ("text", "size")]
    title = "Documents kept by licence: their own where the metadata has one, else that of the source"
    return [Table(title, columns, rows, left_out=max(0, len(ordered) - MOST_ROWS))] if rows else []


def _kept(model: Model, source: str) -> dict[str, int]:
    """Returns how many documents of a source are kept; and their bytes, if none is used more often than once."""
    steps = {step.name: (step.by_source or {}).get(source, {}) for step in model.steps}
    once, used = steps.get("kept", {}), steps.get("with repeats", {})
    return used if used.get("documents") == once.get("documents") else once


def train_dataset(model: Model) -> Dataset | None:
    """Returns the first dataset of the train split, of those that tell sources apart if any does; None without one."""
    found = [one for one in model.datasets if one.input in ("decontaminated_train", "train")]
    counted = [one for one in found if any("tokens" in numbers for numbers in (one.by_source or {}).values())]
    return next(iter([*counted, *found]), None)


def _own_dataset(model: Model, name: str | None) -> Dataset | None:
    return next((dataset for dataset in model.datasets if dataset.name == name), None)
