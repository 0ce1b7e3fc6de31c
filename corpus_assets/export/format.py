"""A format: one object that describes its files, and writes those of one partition."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Generic, Literal, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.export_options import Export
from corpus_assets.export.documents import Documents, Parts
from corpus_assets.export.token_stream import id_type
from corpus_assets.tokenize.named_tokens import token_id
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.errors import ConfigError
from resources.stage.partition import Partition
from resources.stage.task import Task

ROOT = "exports"
PLACES, TOTALS = "places", "totals"
"""Counters of a partition: the origins of each file's units (`Place`), and numbers written and dropped."""

LEARNED = "learned"
"""Which of the totals counts the ids that are learned; only masked documents have it."""

SectionT = TypeVar("SectionT", bound=Export)


@dataclass(frozen=True)
class Build(Generic[SectionT]):
    """The things that all partitions of an export share.

    before, after: id of the separator that stands there; None if none does. around: the ids of texts that stand before
    and after each document instead, where the format has them.
    """

    name: str
    section: SectionT
    tokenizer: Tokenizer
    before: int | None
    after: int | None
    around: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    streams: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, section: SectionT, tokenizer: Tokenizer) -> "Build[SectionT]":
        """Returns the build of a dataset; `ConfigError` for a separator that the tokenizer lacks."""
        if (texts := section.separator_texts) is not None:
            around = (_text_ids(texts[0], tokenizer), _text_ids(texts[1], tokenizer))
            return cls(name, section, tokenizer, None, None, around)
        separator = separator_id(name, section, tokenizer)
        if section.first_token is not None and separator is not None:
            first = token_id(tokenizer, f"datasets.{name}.bos_token", section.first_token)
            return cls(name, section, tokenizer, None, None, ((first,), (separator,)))
        before, after = (separator if section.separator == side else None for side in ("before", "after"))
        return cls(name, section, tokenizer, before, after)

    @property
    def separators(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Returns the ids before and after each document."""
        before, after = ((id_,) if id_ is not None else () for id_ in (self.before, self.after))
        return self.around or (before, after)

    @property
    def id_type(self) -> np.dtype[np.unsignedinteger[Any]]:
        """Returns the smallest unsigned type that holds every id."""
        return id_type(self.tokenizer.vocab_size)

    def path(self, name: str) -> str:
        """Returns where a file of the dataset is in the store."""
        return f"{ROOT}/{self.name}/{name}"


def _text_ids(text: str | None, tokenizer: Tokenizer) -> tuple[int, ...]:
    """Returns the ids of a text around documents, with control tokens in it matched."""
    return () if text is None else tuple(tokenizer.encode_trusted(text, bos=False).tolist())


def separator_id(name: str, section: Export, tokenizer: Tokenizer) -> int | None:
    """Returns the id of the separator of documents; None if there is none."""
    if section.separator == "none":
        return None
    if section.separator_token is not None:
        return token_id(tokenizer, f"datasets.{name}.separator_token", section.separator_token)
    begins = section.separator == "before" and tokenizer.bos_id is not None
    found = tokenizer.bos_id if begins else tokenizer.eos_id
    if found is None:
        raise ConfigError(
            f"datasets.{name}.separator: end-of-text is no token of the vocabulary ({tokenizer.vocab_size} entries); "
            "valid: a `separator_token` that is, or `separator: none`"
        )
    return found


class Place(msgspec.Struct, frozen=True):
    """The origin of consecutive units of a file in one partition of the stream.

    path: of the file.
    unit: number of the first of them in it; units: how many.
    stream: key of the stream's partition.
    document: number in the stream of the document in which the first one begins; id: where in the ids of the documents
        that are written of the partition, separators included.
    ids: how many ids they hold.
    step: ids from the beginning of one unit to that of the next; 0 where units are documents.
    """

    path: str
    unit: int
    units: int
    stream: str
    document: int
    id: int
    ids: int
    step: int = 0


@dataclass
class Files:
    """The files of one partition while they are written: the origins of their units, and numbers of dropped ids.

    by_source: documents, bytes of text and ids of each source that the partition was made of.
    """

    places: list[Place] = field(default_factory=list)
    totals: dict[str, int] = field(default_factory=dict)
    dropped: dict[str, dict[str, int]] = field(default_factory=dict)
    by_source: dict[str, dict[str, int]] = field(default_factory=dict)

    def add(self, path: str, documents: Documents, *, unit: int = 0, id_: int = 0) -> None:
        """Notes that a file holds whole documents, from the unit of that number on.

        id_: where they begin in the ids of all documents that are written of the partition.
        """
        first = int(documents.numbers[0]) if len(documents) else 0
        self.places.append(Place(path, unit, len(documents), documents.key, first, id_, documents.ids))

    def count(self, **numbers: int) -> None:
        """Adds to the totals of the partition."""
        for name, number in numbers.items():
            self.totals[name] = self.totals.get(name, 0) + int(number)

    def count_sources(self, documents: Documents) -> None:
        """Adds documents, bytes of their texts and ids, separators left out, to the numbers of their sources."""
        for source, numbers in documents.by_source().items():
            found = self.by_source.setdefault(source, dict.fromkeys(numbers, 0))
            for name, number in numbers.items():
                found[name] += number

    def drop(self, reason: str, *, documents: int = 0, ids: int = 0) -> None:
        """Counts ids that are in no file."""
        if documents or ids:
            found = self.dropped.setdefault(reason, {"documents": 0, "ids": 0})
            found["documents"] += int(documents)
            found["ids"] += int(ids)

    @property
    def units(self) -> int:
        """Returns the units of all files."""
        return sum(place.units for place in self.places)


Write = Callable[[Task, Build[Any], Parts, Files], None]
Read = Callable[[BinaryIO, Build[Any]], Iterator[NDArray[Any]]]
Finish = Callable[[Task, Build[Any], Sequence[Partition]], None]


@dataclass(frozen=True)
class Format(Generic[SectionT]):
    """How files for some trainers are written.

    section: the options it takes.
    words: beginning of the descriptions of its files.
    unit: what one row of a file is, for the manifest and for people, unless that is an option.
    write: writes the files of the documents of one partition of the stream, or, `together`, of all of them, one after
        another; it says what the files hold.
    read: yields the ids of an open file's units, one after another, in blocks; checks compare them with the stream.
    cut: returns documents as its units hold them, such as in pieces; whole by default.
    finish: writes what is about the files of all partitions, such as an index; it runs last.
    empty: documents without an id are written too.
    together: all files are one partition, because they are one stream of ids; or whether they are, by the options.
    parameters: keys of corpus.yaml besides its options that its files depend on, if they are made from a split.
    spread: there is a partition per chunk of the corpus; each writes a share of the files, for which it is given the
        documents of all partitions of the stream. The first counts these.
    kernels: the compiled functions that it calls.
    locate: returns where an id of a file is from: the name of the stream's partition, and the id there as in `Place`.
        It is given the partition, the file's path, and the numbers of the unit and of the id in it; only for formats
        whose units lie in another order.
    lines_of: the other way round, returns the units of a file that hold ids of a partition of the stream. It is given
        the partition, the file's path, the name of the stream's partition, and where there its ids begin and end.
    targets: yields which ids of a file are learned (1, else 0), in blocks; it is given the partition and the file's
        path. None for plain texts.
    notes: yields what people should know, given the totals of all partitions.
    refuses: yields why it cannot hold a dataset, given the options and the size of the vocabulary.
    """

    section: type[SectionT]
    words: str
    unit: Literal["document", "window", "row"]
    write: Write
    read: Read
    cut: Callable[[Documents, SectionT], Documents] = lambda documents, _section: documents
    finish: Finish | None = None
    empty: bool = False
    together: bool | Callable[[SectionT], bool] = False
    spread: bool = False
    parameters: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ("corpus_assets.export.kernels.separate.separate",)
    locate: Callable[[Partition, str, int, int], tuple[str, int]] | None = None
    lines_of: Callable[[Partition, str, str, int, int], NDArray[np.int64]] | None = None
    targets: Callable[[Partition, str, Build[Any]], Iterator[NDArray[Any]]] | None = None
    notes: Callable[[Mapping[str, Any]], Iterator[str]] = lambda _totals: iter(())
    refuses: Callable[[SectionT, int], Iterator[str]] = lambda _section, _vocabulary: iter(())

    def is_together(self, section: SectionT) -> bool:
        """Returns whether all files of a dataset are one partition."""
        return self.together if isinstance(self.together, bool) else self.together(section)

    def unit_of(self, section: SectionT) -> str:
        """Returns what one row of a file is: the option `unit`, where the format leaves the choice."""
        return str(getattr(section, "unit", self.unit))


def places_of(partition: Partition) -> list[Place]:
    """Returns where the units of the files of a partition come from."""
    return msgspec.convert(partition.counters(PLACES)["files"], list[Place])


def ids_in_files(totals: Mapping[str, Any], dropped: Mapping[str, Mapping[str, int]]) -> int:
    """Returns the number of ids in files: the given ones without those in no unit."""
    return int(totals.get("ids", 0)) - sum(lost["ids"] for lost in dropped.values())


def totals_of(partitions: Sequence[Partition]) -> Mapping[str, Any]:
    """Returns the totals of all partitions, with what was dropped by reason under `dropped`."""
    total = Files()
    for partition in partitions:
        found = partition.counters(TOTALS)
        for reason, lost in found["dropped"].items():
            total.drop(reason, **lost)
        total.count(**{name: number for name, number in found.items() if name != "dropped"})
    return {**total.totals, "dropped": total.dropped}
