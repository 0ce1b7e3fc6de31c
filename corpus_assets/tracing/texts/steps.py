"""The steps of datasets of texts: in which of their rows a document is, or why in none."""

from collections.abc import Sequence

from corpus_assets import dataset_names as names
from corpus_assets.export.texts.datasets import TextDataset, text_datasets
from corpus_assets.export.texts.refused import RefusedError
from corpus_assets.tracing.kept_rows import not_built
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.step import Step
from corpus_assets.tracing.texts.numbers import row_of


def texts_of(look: Look, rows_from: str) -> list[TextDataset]:
    """Returns the datasets of texts that are made of a split, or of the examples of files of their own."""
    found = text_datasets(look.corpus.settings.values["datasets"])
    return [dataset for dataset in found if rows_from in (dataset.rows_from, dataset.values["input"])]


def written(look: Look, dataset: TextDataset, key: str, numbers: Sequence[int], copy: int | None = None) -> Step:
    """Returns the step of a dataset. numbers: of the uses of a document in the partition that its rows are made of."""
    asset = names.texts(dataset.name)
    made, given = look.partition(asset, key), look.partition(dataset.rows_from, key)
    if made is None or given is None:
        return not_built(look, asset, key, copy)
    stale = look.state(asset, key)
    rows = [row_of(dataset, made, given, number) for number in numbers]
    held = [row for row in rows if not isinstance(row, RefusedError)]
    if refused := next((row for row in rows if isinstance(row, RefusedError)), None):
        return Step(asset, key, "dropped", str(refused), refused.reason, copy=copy, stale=stale)
    path = made.record.files[0].path
    shown = ", ".join(f"{row:,}" for row in held[:3]) + (" ..." if len(held) > 3 else "")
    words = f"in row{'s' if len(held) > 1 else ''} {shown} of {path}"
    details = {
        "rows": [{"file": path, "first": row, "last": row} for row in held],
        "row_count": len(held),
        "unit": "row",
        "format": dataset.section.format,
    }
    return Step(asset, key, "here", words, None, held[0], path, copy, stale, details)
