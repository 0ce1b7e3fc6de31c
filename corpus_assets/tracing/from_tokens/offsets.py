"""The row and position of an id that is counted from the beginning of a file, in formats of trainers and in HDF5."""

from typing import Any

import numpy as np

from corpus_assets.config.datasets.exports import export_section
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.export.datasets import exported_datasets
from corpus_assets.export.format import Build, Place, places_of
from corpus_assets.tokenize.tokenizer import load_tokenizer_of
from corpus_assets.tracing.from_tokens.exports import built, documents_of
from resources.errors import ConfigError
from resources.formats.hdf5.reader import read_hdf5
from resources.stage.partition import Partition


def ids_by_file(made: Partition) -> dict[str, int]:
    """Returns how many ids each file of a partition in a trainer's format has, separators included."""
    found: dict[str, int] = {}
    for place in places_of(made):
        found[place.path] = found.get(place.path, 0) + place.ids
    return found


def length_of_rows(made: Partition, path: str) -> int:
    """Returns how many positions each row of an HDF5 file has."""
    with made.open(path) as raw, read_hdf5(raw, path) as rows:
        return int(rows.sequence_length)


def position_of(corpus: Corpus, name: str, file: tuple[Partition, str], offset: int) -> tuple[int, int]:
    """Returns the row with an id of a file of dataset `name`, which is in a trainer's format, and its place there.

    file: the partition that wrote it, and its path. offset: of the id, from 0. Raises `ConfigError` for one that the
    file does not have.
    """
    made, path = file
    left = offset
    for place in sorted((place for place in places_of(made) if place.path == path), key=lambda one: one.unit):
        if left < place.ids:
            return _in_place(corpus, name, place, left)
        left -= place.ids
    raise ConfigError(f"token {offset}: valid in {path}: 0 to {offset - left - 1}")


def _in_place(corpus: Corpus, name: str, place: Place, offset: int) -> tuple[int, int]:
    (dataset,) = (known for known in exported_datasets(corpus.settings.values["datasets"]) if known.name == name)
    step = place.step or (place.ids // place.units if dataset.format.locate is not None else 0)
    if step:
        return place.unit + offset // step, offset % step
    tokenizer = load_tokenizer_of(built(corpus, dataset.tokenizer, None), dataset.added_token)
    build: Build[Any] = Build.of(name, export_section(dataset.values), tokenizer)
    _, documents = documents_of(corpus, dataset, build, place.stream)
    begins = np.concatenate([[0], np.cumsum(documents.sizes)])[documents.unit_bounds]
    first = documents.unit_at(place.document, place.id)
    assert first is not None, f"{place.path} begins with no document of {place.stream}"
    wanted = int(begins[first]) + offset
    unit = int(np.searchsorted(begins, wanted, side="right")) - 1
    return place.unit + unit - first, wanted - int(begins[unit])
