"""The files of datasets for searches: their ids or words, and the encoding of texts to such ids."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets import dataset_names
from corpus_assets.config.datasets.exports import is_export
from corpus_assets.config.datasets.modes import DatasetSection, dataset_section
from corpus_assets.config.datasets.options import Cleaning, Texts
from corpus_assets.config.datasets.text_exports import is_text
from corpus_assets.config.datasets.token_files import reads_tokens
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.opened import Opened
from corpus_assets.export.datasets import ExportedDataset, stream_owners, streamed_datasets
from corpus_assets.export.encoding import encoded
from corpus_assets.export.format import Build, places_of
from corpus_assets.export.texts.datasets import TextDataset
from corpus_assets.export.token_stream import DATA
from corpus_assets.takedown.passages import PASSAGE, Ids
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.datasets import Dataset
from corpus_assets.tokenize.encode.cleaning import clean
from corpus_assets.tokenize.encode.texts import encode_texts
from corpus_assets.tokenize.rows.view import is_described, side_names
from corpus_assets.tokenize.tokenizer import load_tokenizer_of
from corpus_assets.tokenize.tokenizers.ids_alone import IDS
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from corpus_assets.tracing.texts.files import words_of_rows, words_of_texts
from resources.errors import CorpusError, StorageError
from resources.formats.hdf5.reader import HDF5, read_hdf5
from resources.ledger.ledger import FileRecord, Record, partition_name
from resources.stage.partition import Partition

_FOLDERS = ("tokens/", "sequences/", "token_streams/", "exports/")
_BLOCK = 1 << 20

Encode = Callable[[Iterable[str]], Iterator[Ids]]
Read = Callable[["TokenFile"], Iterator[tuple[int, Ids]]]


class _Texted(NamedTuple):
    text: str


class TokenFile(NamedTuple):
    """A stored file of a dataset, and the record that names it."""

    record: Record
    file: FileRecord

    @property
    def partition(self) -> str:
        """The partition as messages name it."""
        return partition_name(self.record.asset, self.record.partition)


class OtherTokenizerError(Exception):
    """The ids of a file are those of another tokenizer than that in the store."""


@dataclass(frozen=True)
class Group:
    """Files whose ids are encoded in the same way.

    made_of: the assets with the documents, each with whether it holds examples instead; none of ids that were given.
    encode: yields the ids of each text that has any, as the files hold them; None if their tokenizer is not in the
        store.
    read: yields rows of ids (n, L) of a file, with the number of the first one.
    is_one_row: a file is one row of ids; `read` gives pieces (1, n) of it, with the number of the first id.
    """

    files: Sequence[TokenFile]
    made_of: Sequence[tuple[str, bool]]
    encode: Encode | None
    read: Read
    is_one_row: bool = False


def is_token_file(file: FileRecord) -> bool:
    """Returns whether a file may hold ids: it lies in a folder of datasets."""
    return file.path.startswith(_FOLDERS)


def groups_of(corpus: Corpus, files: Sequence[TokenFile]) -> Iterator[Group]:
    """Yields the files of all datasets that the configuration has."""
    datasets = corpus.settings.values["datasets"]
    for values in datasets:
        if is_text(values):
            yield from _group_of_texts(corpus, TextDataset(values["name"], dict(values)), files)
        elif not is_export(values):
            name = values["name"]
            yield from groups_of_rows(corpus, Dataset(name, values), _made_by(files, _assets_of_rows(name)))
    for exported in streamed_datasets(datasets):
        if is_export(exported.values):
            yield from _group_of_export(corpus, exported, _made_by(files, [dataset_names.tokens(exported.name)]))
    for owner in stream_owners(datasets):
        yield from _group_of_stream(corpus, owner, _made_by(files, [owner.streams[0]]))


def _assets_of_rows(name: str) -> list[str]:
    return [dataset_names.tokens(name), dataset_names.sequences(name)]


def _made_by(files: Iterable[TokenFile], assets: Sequence[str]) -> list[TokenFile]:
    return [one for one in files if one.record.asset in assets]


def _tokenizer(opened: Opened, asset: str, separator: str | None = None) -> Tokenizer | None:
    """Returns the tokenizer that an asset holds; None if it is gone, or is not what its record says."""
    stored = opened.partition(asset, None)
    try:
        return None if stored is None else load_tokenizer_of(stored, separator)
    except StorageError:  # A store that does not answer says nothing of the tokenizer.
        raise
    except (FileNotFoundError, CorpusError):
        return None


def groups_of_rows(corpus: Corpus, dataset: Dataset, files: Iterable[TokenFile]) -> Iterator[Group]:
    """Yields the HDF5 files of a dataset, those together that were made with the same options."""
    alike: dict[str, list[TokenFile]] = {}
    for one in files:
        if one.file.path.endswith(HDF5.suffix):
            alike.setdefault(repr(sorted(one.record.parameters.items())), []).append(one)
    for group in alike.values():
        options = {key.rpartition(".")[2]: value for key, value in group[0].record.parameters.items()}
        tokenizer = _tokenizer(corpus, dataset.tokenizer, options.get("separator"))
        section = dataset_section(options)
        encode = (
            None
            if tokenizer is None or tokenizer.kind == IDS
            else partial(_as_rows, tokenizer=tokenizer, section=section)
        )
        read = partial(_rows, corpus=corpus, digest=tokenizer.digest if tokenizer else "")
        made_of = [] if reads_tokens(dataset.values) else [(dataset.rows_from, dataset.shard_set is not None)]
        yield Group(group, made_of, encode, read)


def _as_rows(texts: Iterable[str], *, tokenizer: Tokenizer, section: DatasetSection) -> Iterator[Ids]:
    if isinstance(section, Texts):
        for batch in encode_texts(texts, tokenizer, section, Statistics()):
            yield from batch
    else:
        for text in texts:
            yield tokenizer.encode_plain([clean(text, section)]).ids


def _rows(one: TokenFile, *, corpus: Corpus, digest: str) -> Iterator[tuple[int, Ids]]:
    """Yields the inputs of rows. Raises `OtherTokenizerError` if they are those of another tokenizer."""
    with corpus.storage.open(one.file.path) as raw, read_hdf5(raw, one.file.path) as rows:
        if rows.attributes.get("tokenizer") != digest or not is_described(rows.features):
            raise OtherTokenizerError
        channels = [rows.features.index(f"{side}input_ids") for side in side_names(rows.features)]
        first = 0
        for block in rows.blocks():
            for channel in channels:
                yield first, block[:, channel]
            first += len(block)


def _group_of_export(corpus: Corpus, dataset: ExportedDataset, files: Sequence[TokenFile]) -> Iterator[Group]:
    """Yields the files of a dataset in a trainer's format."""
    tokenizer = _tokenizer(corpus, dataset.tokenizer, dataset.added_token)
    held = {place.path for one in files for place in places_of(corpus.handle(one.record))}
    chosen = [one for one in files if one.file.path in held]
    build = None if tokenizer is None else Build.of(dataset.name, dataset.section, tokenizer)
    read = partial(_exported_ids, corpus=corpus, dataset=dataset, build=build)
    if chosen:
        yield from _groups_by_part(corpus, dataset, tokenizer, chosen, read)


def _groups_by_part(
    corpus: Corpus, dataset: ExportedDataset, tokenizer: Tokenizer | None, files: Sequence[TokenFile], read: Read
) -> Iterator[Group]:
    """Yields files once for each way in which texts become ids in them."""
    parts = _parts(corpus, dataset)
    made_of = [found for one in parts for found in _made_of(one)]
    for part in {_way(part): part for part in parts}.values():
        yield Group(files, made_of, _of_documents(part, tokenizer), read, True)


def _way(part: ExportedDataset) -> str:
    return repr((part.cleaning, part.name if part.masked else None))


def _parts(corpus: Corpus, dataset: ExportedDataset) -> list[ExportedDataset]:
    """Returns the datasets whose documents a dataset holds: those that it is made of, else itself."""
    made_of = dataset.mixed or tuple(part.stream for part in dataset.parts)
    known = {one.streams[0]: one for one in stream_owners(corpus.settings.values["datasets"])} if made_of else {}
    return [known[stream] for stream in made_of] or [dataset]


def _made_of(dataset: ExportedDataset) -> list[tuple[str, bool]]:
    return [] if reads_tokens(dataset.values) else [(dataset.rows_from, dataset.shard_set is not None)]


def _group_of_stream(corpus: Corpus, dataset: ExportedDataset, files: Sequence[TokenFile]) -> Iterator[Group]:
    """Yields the files of a token stream with ids."""
    tokenizer = _tokenizer(corpus, dataset.tokenizer, dataset.added_token)
    if chosen := [one for one in files if one.file.path.endswith(DATA)]:
        yield from _groups_by_part(corpus, dataset, tokenizer, chosen, partial(_stream_ids, corpus=corpus))


def _group_of_texts(corpus: Corpus, dataset: TextDataset, files: Sequence[TokenFile]) -> Iterator[Group]:
    """Yields the files of a dataset of texts, in which words stand for ids."""
    chosen = _made_by(files, [dataset_names.texts(dataset.name)])
    if chosen:
        made_of = [(dataset.rows_from, dataset.shard_set is not None)]
        yield Group(chosen, made_of, words_of_texts, lambda one: words_of_rows(corpus.storage, dataset, one.file))


def _of_documents(dataset: ExportedDataset, tokenizer: Tokenizer | None) -> Encode | None:
    if tokenizer is None or tokenizer.kind == IDS:
        return None
    if dataset.masked:
        return partial(_as_rows, tokenizer=tokenizer, section=dataset_section(dataset.values))
    return partial(_as_documents, tokenizer=tokenizer, cleaning=dataset.cleaner)


def _as_documents(texts: Iterable[str], *, tokenizer: Tokenizer, cleaning: Cleaning) -> Iterator[Ids]:
    for batch in encoded(map(_Texted, texts), tokenizer, cleaning):
        yield from batch.ids


def _exported_ids(
    one: TokenFile, *, corpus: Corpus, dataset: ExportedDataset, build: Build[Any] | None
) -> Iterator[tuple[int, Ids]]:
    assert build is not None, "a file without its tokenizer is not read"
    with corpus.storage.open(one.file.path) as file:
        yield from _as_one_row(dataset.format.read(file, build))


def _stream_ids(one: TokenFile, *, corpus: Corpus) -> Iterator[tuple[int, Ids]]:
    ids = Partition(corpus.storage, one.record, compared=False).array(DATA)
    yield from _as_one_row(ids[start : start + _BLOCK] for start in range(0, len(ids), _BLOCK))


def _as_one_row(blocks: Iterable[NDArray[Any]]) -> Iterator[tuple[int, Ids]]:
    """Yields blocks of ids as rows, each with the end of the one before, so that no passage lies between them."""
    held, first = np.empty(0, np.int32), 0
    for block in blocks:
        row = np.concatenate([held, block.astype(np.int32)])
        yield first, row[None]
        held = row[max(0, len(row) - PASSAGE + 1) :]
        first += len(row) - len(held)
