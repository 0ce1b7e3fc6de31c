"""The most important numbers."""

from corpus_assets import numbers
from corpus_assets.config.datasets.text_exports import TEXT
from corpus_assets.report.model import Model
from corpus_assets.report.sections.blocks import Block, Note, Section, Tiles
from corpus_assets.report.sections.sources import train_dataset


def summary(model: Model) -> Section:
    """Returns the tiles on top of the page."""
    tiles = [*_documents(model), *_tokens(model)]
    if found := model.duplicates:
        took_part = sum(loss["documents"] for loss in found.sources.values())
        note = f"{numbers.share(found.removed / took_part)} of {took_part:,} compared" if took_part else ""
        tiles.append(("Near-duplicates left out", numbers.count(found.removed), note))
    tiles += [
        (f"{name.capitalize()} documents", numbers.count(split.documents), numbers.size(split.text_bytes))
        for name, split in ((split.name, split) for split in model.splits)
        if name == "holdout"
    ]
    blocks: list[Block] = [Tiles(tiles)]
    if not model.steps:
        blocks.append(Note("This corpus has no sources: all its datasets read files of their own."))
    return Section("summary", "In short", blocks)


def _documents(model: Model) -> list[tuple[str, str, str]]:
    ours = [source for source in model.sources if source.dataset is None]
    counted = ours or model.sources
    files, stored = sum(one.files for one in counted), sum(one.raw_bytes for one in counted)
    listed = sum(one.listed for one in counted)
    held = numbers.size(stored) + (f", with {listed:,} files that lists name" if listed else "")
    tiles = [("Sources", numbers.count(len(ours)), f"{files:,} raw files, {held}")]
    tiles = tiles if ours else [("Raw files", numbers.count(files), held)]
    if model.steps:
        raw, last = model.steps[0], model.steps[-1]
        kept = next((step for step in model.steps if step.name == "kept"), last)
        tiles.append(("Documents in raw files", numbers.count(raw.documents), ""))
        note = f"{numbers.share(kept.documents / raw.documents)} of all" if raw.documents else ""
        tiles.append(("Documents kept", numbers.count(kept.documents), note))
        if last.text_bytes is not None:
            tiles.append(("Text to train on", numbers.size(last.text_bytes), f"{last.documents:,} rows, with repeats"))
    return tiles


def _tokens(model: Model) -> list[tuple[str, str, str]]:
    of_ids = [dataset for dataset in model.datasets if dataset.format != TEXT]
    if not of_ids:
        return []
    first = train_dataset(model) or max(of_ids, key=lambda dataset: dataset.tokens)
    more = f", one of {len(model.datasets)}" if len(model.datasets) > 1 else ""
    return [("Tokens", numbers.count(first.tokens), f"dataset {first.name}{more}")]
