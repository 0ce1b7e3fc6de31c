"""Finds the document of a row of a dataset of texts."""

from corpus_assets import dataset_names as names
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.export.texts.datasets import TextDataset, text_dataset
from corpus_assets.tracing.origins import Origin, origin, shard_of
from corpus_assets.tracing.tables import line_at
from corpus_assets.tracing.texts.numbers import number_of
from resources.errors import ConfigError, NotBuiltError
from resources.formats.examples import decode_example, example_texts
from resources.stage.partition import Partition

AROUND = 200
"""Characters on each side of a position that are shown."""


def origin_of_row(corpus: Corpus, name: str, file: str, row: int, position: int) -> tuple[tuple[str, str, str], Origin]:
    """Returns the text around a character of a row of dataset `name`, and the document or example of the row.

    file: its path, or how it ends. position: of the character in the texts of the row, joined by line feeds. Raises
    `ConfigError` for a file, row or position that there is not.
    """
    dataset = text_dataset(corpus.settings.values["datasets"], name)
    made, path = _partition(corpus, dataset, file)
    rows = made.file(path).rows or 0
    if not 0 <= row < rows:
        raise ConfigError(f"row {row}: valid in {path}: 0 to {rows - 1}")
    given = corpus.partition(dataset.rows_from, made.key)
    if given is None:
        raise NotBuiltError(
            dataset.rows_from, made.key, f"{dataset.rows_from}/{made.key} is not built; run `corpus build`"
        )
    number = number_of(dataset, made, given, row)
    example = decode_example(line_at(given, number))
    text = "\n".join(example_texts(example))
    if not 0 <= position < max(1, len(text)):
        raise ConfigError(f"position {position}: valid in row {row} of {path}: 0 to {max(1, len(text)) - 1}")
    around = text[max(0, position - AROUND) : position], text[position : position + 1], text[position + 1 :][:AROUND]
    if dataset.shard_set:
        return around, origin(corpus, example.source, example.id, made.key, number)
    order = int(given.array_rows(".rows.npy", number, number + 1)["order"][0])
    return around, origin(corpus, example.source, example.id, shard_of(corpus, made.key or "", order))


def _partition(corpus: Corpus, dataset: TextDataset, file: str) -> tuple[Partition, str]:
    """Returns the partition that wrote a file, and the file's path in the store."""
    paths = []
    for record in corpus.records(names.texts(dataset.name)).values():
        for path in (stored.path for stored in record.files):
            paths.append(path)
            if file == path or path.endswith(f"/{file}") or file.endswith(f"/{path}"):
                return corpus.handle(record), path
    shown = ", ".join(path.rpartition("/")[2] for path in paths[:5]) or "none; run `corpus build`"
    raise ConfigError(f"{dataset.name} has no file {file!r}; it has {shown}{' ...' if paths[5:] else ''}")
