"""Tokens per source, split and dataset; the requested and reached mixture; packing and truncation."""

from msgspec import UNSET

from corpus_assets.config.datasets.text_exports import TEXT
from corpus_assets.html import charts
from corpus_assets.report.duplicates import power_of_two
from corpus_assets.report.model import Dataset, Model
from corpus_assets.report.sections.blocks import (
    MOST_COLUMNS,
    MOST_ROWS,
    Block,
    Charts,
    Heading,
    Note,
    Section,
    Table,
    folded,
    largest,
)
from corpus_assets.report.sections.flow import NOT_COUNTED, words
from corpus_assets.report.sections.sources import train_dataset

NOT_USED = "not_in_this_epoch"
_BARS = 24


def tokens(model: Model) -> Section:
    """Returns all about tokens."""
    section = Section("tokens", "Tokens by source, split and dataset")
    if not model.datasets:
        section.blocks.append(Note("No datasets are configured."))
        return section
    chosen = train_dataset(model)
    if chosen and (counts := _tokens(chosen)):
        chart = charts.bars(f"Tokens of dataset {chosen.name} by source", folded(counts, _BARS))
        section.blocks.append(Charts([chart]))
    section.blocks += [_datasets(model), _by_source(model)]
    if not all(dataset.by_source for dataset in model.datasets):
        section.blocks.append(Note(f"–: {NOT_COUNTED}."))
    section.blocks += [*_splits(model), *_mixtures(model)]
    return section


def _tokens(dataset: Dataset) -> dict[str, float]:
    return {source: numbers["tokens"] for source, numbers in (dataset.by_source or {}).items() if "tokens" in numbers}


def _datasets(model: Model) -> Block:
    rows = [
        [
            one.name,
            one.format,
            one.input,
            one.sequence_length,
            one.documents,
            one.rows,
            None if one.format == TEXT else one.tokens,
            one.loss_tokens,
            one.loss_tokens / one.slots if one.loss_tokens is not None and one.slots else None,
        ]
        for one in model.datasets
    ]
    columns = [("dataset", "text"), ("format", "text"), ("made of", "text"), ("sequence length", "count")]
    columns += [("documents", "count"), ("rows", "count"), ("tokens", "count"), ("in the loss", "count")]
    return Table("Datasets", [*columns, ("loss share", "share")], rows)


def _by_source(model: Model) -> Block:
    counts = [_tokens(dataset) for dataset in model.datasets]
    shown_datasets, more = model.datasets[:MOST_COLUMNS], model.datasets[MOST_COLUMNS:]
    names = list(dict.fromkeys(source for found in counts for source in found))
    shown, others = largest(names, lambda name: max(found.get(name, 0) for found in counts), MOST_ROWS)
    rows = [[name, *(found.get(name, 0) if found else None for found in counts[:MOST_COLUMNS])] for name in shown]
    if others:
        rest = [sum(found.get(name, 0) for name in others) if found else None for found in counts[:MOST_COLUMNS]]
        rows.append([f"{len(others):,} other sources", *rest])
    title = (
        "Tokens of the texts by source and dataset, cut and discarded ones included; in HDF5 with the end of each text"
    )
    title += f"; {len(more)} more datasets are not shown" if more else ""
    return Table(title, [("source", "text"), *((one.name, "count") for one in shown_datasets)], rows)


def _splits(model: Model) -> list[Block]:
    if not model.splits:
        return []
    names = list(dict.fromkeys(source for split in model.splits for source in split.by_source or {}))
    of_split = [split.by_source for split in model.splits]
    shown, others = largest(
        names, lambda name: max((found or {}).get(name, {}).get("documents", 0) for found in of_split), MOST_ROWS
    )

    def counted(chosen: list[str]) -> list[int | None]:
        return [
            None if found is None else sum(found.get(name, {}).get("documents", 0) for name in chosen)
            for found in of_split
        ]

    rows = [[name, *counted([name])] for name in shown]
    rows += [[f"{len(others):,} other sources", *counted(others)]] if others else []
    columns = [("source", "text"), *((words(split.name), "count") for split in model.splits)]
    foot = ["all", *(split.documents for split in model.splits)]
    return [Table("Documents of each split, by source, repeats included", columns, rows, foot)]


def _mixtures(model: Model) -> list[Block]:
    """Returns the requested and reached mixture: by epochs of sources, and by weights of datasets."""
    blocks: list[Block] = [Heading("The mixture asked for and reached")]
    asked = [source for source in model.sources if source.epochs is not None]
    used = {step.name: step.by_source or {} for step in model.steps}
    unused = next((loss.by_source or {} for step in model.steps for loss in step.losses if loss.reason == NOT_USED), {})
    rows = []
    shown, others = largest(asked, lambda source: source.raw_bytes, MOST_ROWS)
    for source in shown:
        once, times = (used.get(name, {}).get(source.name, {}).get("documents", 0) for name in ("kept", "with repeats"))
        once += unused.get(source.name, 0)
        rows.append([source.name, source.epochs, once, times, round(times / once, 3) if once else None])
    if rows:
        columns = [("source", "text"), ("epochs asked for", "number"), ("documents kept", "count")]
        columns += [("uses", "count"), ("uses per document", "number")]
        blocks.append(
            Table("Epochs of each source in the train and holdout splits", columns, rows, left_out=len(others))
        )
    for dataset in model.datasets:
        if dataset.mixture:
            blocks.append(_mixture(dataset, _mixed_by(model, dataset)))
    return blocks if len(blocks) > 1 else []


def _mixed_by(model: Model, dataset: Dataset) -> str:
    """Returns what the weights of a dataset are of."""
    by_unit = model.configuration["mix"]["units"] != "source"
    return "unit" if by_unit and not dataset.mixture.keys() <= {source.name for source in model.sources} else "source"


def _mixture(dataset: Dataset, what: str) -> Block:
    whole = sum(used.reached for used in dataset.mixture.values()) or 1
    shown, others = largest(dataset.mixture.items(), lambda one: one[1].reached, MOST_ROWS)
    rows = [
        [source, used.available, used.asked, used.target, used.reached, used.reached / whole, used.epochs]
        for source, used in shown
    ]
    columns = [(what, "text"), ("tokens there are", "count"), ("share asked for", "share"), ("asked for", "count")]
    columns += [("reached", "count"), ("share reached", "share"), ("epochs", "number")]
    if any(used.documents is not UNSET for _, used in shown):
        counts = [(None, None, None) if used.documents is UNSET else used.documents for _, used in shown]
        rows = [[*row, *of_documents] for row, of_documents in zip(rows, counts, strict=True)]
        columns += [(name, "count") for name in ("documents there are", "documents asked for", "documents used")]
    return Table(f"Weights of dataset {dataset.name}", columns, rows, left_out=len(others))


def packing(model: Model) -> Section:
    """Returns how full rows are, what was truncated, and the results of other packing methods."""
    section = Section("packing", "Packing and truncation")
    rows = [
        [
            one.name,
            one.rows,
            one.slots,
            one.non_pad_tokens / one.slots if one.slots and one.non_pad_tokens is not None else None,
            one.slots - one.non_pad_tokens if one.slots and one.non_pad_tokens is not None else None,
            one.sequences_per_row,
            sum(one.discarded.values()),
            sum(one.dropped_tokens.values()),
            ", ".join(f"{words(reason)} {count:,}" for reason, count in one.dropped_tokens.items()),
        ]
        for one in model.datasets
        if one.slots
    ]
    if rows:
        columns = [("dataset", "text"), ("rows", "count"), ("token positions", "count"), ("full", "share")]
        columns += [("padding", "count"), ("sequences per row", "number")]
        columns += [("documents left out", "count"), ("tokens left out", "count"), ("why", "long")]
        section.blocks.append(Table("How full the rows are, and what did not fit", columns, rows))
    for dataset in model.datasets:
        if dataset.packing:
            section.blocks.append(_packing(dataset))
    if not section.blocks:
        section.blocks.append(Note("No dataset has rows of a fixed length that we fill."))
    return section


def _packing(dataset: Dataset) -> Block:
    keys = list(dict.fromkeys(key for way in dataset.packing for key in way if key != "method"))
    kinds = {"fill": "share", "depth": "number", "left_out": "long", "sequences_per_row": "number"}
    rows = [[words(str(way.get("method"))), *(way.get(key) for key in keys)] for way in dataset.packing]
    columns = [("method", "text"), *((words(key), kinds.get(key, "count")) for key in keys)]
    return Table(f"What each way to pack would give for the documents of dataset {dataset.name}", columns, rows)


def lengths(model: Model) -> Section:
    """Returns how long documents are, in bytes and in tokens."""
    section = Section("lengths", "Lengths of documents")
    drawn = [
        charts.columns(f"{words(asset).capitalize()}: bytes of text per document", _classes(counts))
        for asset, counts in model.lengths.items()
        if sum(counts)
    ]
    drawn += [
        charts.columns(f"Dataset {dataset.name}: tokens per document", _classes(dataset.lengths))
        for dataset in model.datasets[:MOST_COLUMNS]
        if dataset.lengths and sum(dataset.lengths)
    ]
    section.blocks.append(Charts(drawn) if drawn else Note(f"Lengths: {NOT_COUNTED}."))
    return section


def _classes(counts: list[int]) -> dict[str, float]:
    """Returns counts by size class, from the first to the last that is not empty."""
    used = [place for place, count in enumerate(counts) if count]
    return {_short(place): counts[place] for place in range(min(used), max(used) + 1)}


def _short(place: int) -> str:
    """Returns the least length of a class: `512`, `8k` for 8,192."""
    least = power_of_two(place).partition("-")[0]
    value = int(least)
    for unit in ("", "k", "M", "G"):
        if value < 1024 or unit == "G":
            return f"{value}{unit}"
        value //= 1024
    return least
