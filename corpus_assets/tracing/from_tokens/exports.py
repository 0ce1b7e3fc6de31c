"""Finds the document of a token in a file of a trainer's format, by the place of its units in the token stream."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets import dataset_names as names
from corpus_assets.config.datasets.export_options import Export
from corpus_assets.config.datasets.exports import export_section
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.opened import Opened
from corpus_assets.export.datasets import ExportedDataset, exported_datasets
from corpus_assets.export.documents import Documents
from corpus_assets.export.format import Build, places_of
from corpus_assets.export.registry import format_of
from corpus_assets.export.token_stream import DATA, DOCUMENTS, IDS, LENGTHS, NAMES, NOWHERE
from corpus_assets.export.weights.stored import stored_mix
from corpus_assets.tokenize.tokenizer import load_tokenizer_of
from corpus_assets.tracing.origins import Origin, order_of, origin, shard_of
from resources.errors import ConfigError, NotBuiltError
from resources.formats.token_streams import ORIGINS, STREAMS
from resources.stage.partition import Partition

AROUND = 48
"""Ids on each side of a token that are shown as text."""


@dataclass(frozen=True)
class Traced:
    """The document of a token, and the text around it.

    ids: of the document, without separators.
    position: of the token among them; None for a separator.
    before, token, after: as text.
    neighbours: the documents before and after it, of those that the dataset has of that partition.
    """

    origin: Origin
    copy: int
    ids: int
    position: int | None
    before: str
    token: str
    after: str
    neighbours: tuple[Origin | None, Origin | None]


def is_exported(corpus: Corpus, dataset: str) -> bool:
    """Returns whether a dataset is in a trainer's format."""
    return any(known.name == dataset for known in exported_datasets(corpus.settings.values["datasets"]))


def trace_export(corpus: Corpus, name: str, file: str, row: int, position: int) -> Traced:
    """Returns the document of id `position` of unit `row` in a file of dataset `name`, which is built.

    file: its path, or how it ends. Raises `ConfigError` for a file, row or position that there is not.
    """
    (dataset,) = (known for known in exported_datasets(corpus.settings.values["datasets"]) if known.name == name)
    made, path = _partition(corpus, dataset, file)
    tokenizer = load_tokenizer_of(built(corpus, dataset.tokenizer, None), dataset.added_token)
    section = export_section(dataset.values)
    build = Build.of(name, section, tokenizer)
    stream, documents, id_, size = located(corpus, dataset, build, (made, path, row, position))
    ends = np.cumsum(documents.sizes)
    if not 0 <= position < size:
        raise ConfigError(f"position {position}: valid in row {row} of {path}: 0 to {size - 1}")
    found = int(np.searchsorted(ends, id_ + position, side="right"))
    inside = id_ + position - int(ends[found] - documents.sizes[found]) - int(documents.heads[found])
    real = 0 <= inside < documents.lengths[found]
    number = int(documents.numbers[found])
    place = int(documents.starts[found]) + min(max(inside, 0), int(documents.lengths[found]))
    table = StreamTable(corpus, stream)
    of, first, place = table.traced_back(number, place - table.start(number))
    ids, decode = of.ids(first), tokenizer.decode
    if of is not table:  # There the separators of texts are ids.
        real = 0 <= place < len(ids)
        place = min(max(place, 0), len(ids))
    return Traced(
        origin=table.origin(number),
        copy=table.copy(number),
        ids=len(ids),
        position=place if real else None,
        before=decode(ids[max(0, place - AROUND) : place]),
        token=decode(ids[place : place + 1]) if real else "",
        after=decode(ids[place + real : place + AROUND]),
        neighbours=_neighbours(table, documents.numbers, found),
    )


def _neighbours(table: "StreamTable", numbers: NDArray[np.int64], found: int) -> tuple[Origin | None, Origin | None]:
    """Returns the nearest documents on both sides that are others: a long one may be several pieces.

    numbers: which document of the stream each is, in the order of the file.
    """
    others = np.flatnonzero(numbers != numbers[found])
    place = int(np.searchsorted(others, found))
    before, after = others[:place][-1:], others[place:][:1]
    return _named(table, numbers[before]), _named(table, numbers[after])


def _named(table: "StreamTable", numbers: NDArray[np.int64]) -> Origin | None:
    """Returns which document that is; None if there is none."""
    return Origin(*table.named(int(numbers[0]))) if len(numbers) else None


def built(opened: Opened, asset: str, key: str | None) -> Partition:
    """Returns a partition; `NotBuiltError` if it is not built."""
    made = opened.partition(asset, key)
    if made is None:
        raise NotBuiltError(asset, key, f"{asset}{f'/{key}' if key else ''} is not built; run `corpus build`")
    return made


def _partition(opened: Opened, dataset: ExportedDataset, file: str) -> tuple[Partition, str]:
    """Returns the partition that wrote a file, and the file's path in the store."""
    asset = names.tokens(dataset.name)
    paths, found = [], []
    for record in opened.records(asset).values():
        partition = opened.handle(record)
        own = list(dict.fromkeys(place.path for place in places_of(partition)))
        paths += own
        found += [
            (partition, path) for path in own if file == path or path.endswith(f"/{file}") or file.endswith(f"/{path}")
        ]
    if len(found) == 1:
        return found[0]
    if found:
        several = ", ".join(sorted(path for _, path in found)[:3])
        raise ConfigError(f"{dataset.name} has {len(found)} files {file!r}, such as {several}; give more of the path")
    shown = ", ".join(path.rpartition("/")[2] for path in paths[:5]) or "none; run `corpus build`"
    raise ConfigError(f"{dataset.name} has no file {file!r} with rows; it has {shown}{' ...' if paths[5:] else ''}")


def located(
    opened: Opened, dataset: ExportedDataset, build: Build[Export], wanted: tuple[Partition, str, int, int]
) -> tuple[Partition, Documents, int, int]:
    """Returns the partition of the stream that an id is from, its documents, where the unit begins, and its ids."""
    made, path, row, position = wanted
    known = format_of(build.section)
    if known.locate is not None:
        key, id_ = known.locate(made, path, row, position)
        return *documents_of(opened, dataset, build, key), id_ - position, position + 1
    places = [place for place in places_of(made) if place.path == path]
    for place in places:
        if place.unit <= row < place.unit + place.units:
            stream, documents = documents_of(opened, dataset, build, place.stream)
            if place.step:
                start = (row - place.unit) * place.step
                return stream, documents, place.id + start, min(place.step, place.ids - start)
            begins = np.concatenate([[0], np.cumsum(documents.sizes)])[documents.unit_bounds]
            first = documents.unit_at(place.document, place.id)
            assert first is not None, f"{path} begins with no document of {stream.name}"
            number = first + row - place.unit
            return stream, documents, int(begins[number]), int(begins[number + 1] - begins[number])
    raise ConfigError(f"row {row}: valid in {path}: 0 to {max(place.unit + place.units for place in places) - 1}")


def documents_of(
    opened: Opened, dataset: ExportedDataset, build: Build[Export], key: str
) -> tuple[Partition, Documents]:
    """Returns a partition of the stream, by its name in `Place`, and its documents as units hold them."""
    mix = stored_mix(built(opened, names.mixture(dataset.name), None)) if dataset.values["weights"] else None
    asset, _, chunk = key.rpartition("/")
    stream = built(opened, asset or dataset.streams[0], chunk)
    return stream, dataset.units(stream, build, mix)


class StreamTable:
    """The table of the documents in a partition of a stream."""

    def __init__(self, corpus: Corpus, stream: Partition) -> None:
        self._corpus = corpus
        self._stream = stream
        self._rows = stream.array(DOCUMENTS)
        self._origins = stream.array(ORIGINS) if stream.has(ORIGINS) else None
        self._ids = stream.array(IDS)
        self._names = stream.json(NAMES)

    def named(self, number: int) -> tuple[str, str]:
        """Returns source and id of a document."""
        row = self._rows[number]
        start = int(self._rows["id_end"][number - 1]) if number else 0
        identifier = self._ids[start : int(row["id_end"])].tobytes().decode("utf-8", "surrogatepass")
        return self._names["sources"][row["source"]], identifier

    def start(self, number: int) -> int:
        """Returns where in the ids of the stream a document begins."""
        return int(self._stream.array(LENGTHS)[:number].sum(dtype=np.int64))

    def ids(self, number: int) -> NDArray[Any]:
        """Returns the ids of a document."""
        start = self.start(number)
        found: NDArray[Any] = self._stream.array(DATA)[start : start + int(self._stream.array(LENGTHS)[number])]
        return found

    def traced_back(self, number: int, place: int) -> "tuple[StreamTable, int, int]":
        """Returns the stream that a document was read from, its number there, and which of its ids one of them is.

        place: of the id in the document. Below 0 or beyond the end: it is a separator.
        """
        if self._origins is None:
            return self, number, place
        row = self._origins[number]
        asset, key, separators = self._stream.json(STREAMS)[int(row["stream"])]
        of = StreamTable(self._corpus, built(self._corpus, asset, key))
        return of, int(row["document"]), place + int(row["begin"]) - separators

    def origin(self, number: int) -> Origin:
        """Returns where a document comes from."""
        if self._origins is not None:
            of, first, _ = self.traced_back(number, 0)
            return of.origin(first)
        source, identifier = self.named(number)
        row, key = self._rows[number], self._stream.key or ""
        if row["row"] != NOWHERE:
            return origin(self._corpus, source, identifier, key, int(row["row"]))
        shard = shard_of(self._corpus, key, order_of(self._corpus, source, identifier, int(row["copy"])))
        return origin(self._corpus, source, identifier, shard)

    def copy(self, number: int) -> int:
        """Returns which use of the document it is, from 0."""
        return int(self._rows["copy"][number])
