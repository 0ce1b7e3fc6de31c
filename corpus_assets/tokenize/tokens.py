"""The asset `<dataset>_tokens`: from documents or examples in the store to an HDF5 file in the store."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.modes import DatasetSection, dataset_section
from corpus_assets.tokenize.counts.by_source import of_one_source
from corpus_assets.tokenize.counts.discarded import of_example
from corpus_assets.tokenize.counts.lengths import save_lengths
from corpus_assets.tokenize.counts.statistics import COUNTERS, H5_DATASET_STATS, Statistics
from corpus_assets.tokenize.encode.attempts import with_fastest
from corpus_assets.tokenize.encode.backends import FIRST_CHARACTERS
from corpus_assets.tokenize.given_ids import holds_ids, ids_of
from corpus_assets.tokenize.modes.chat.chat import OWN_TEXTS, SILENT
from corpus_assets.tokenize.modes.mode import IdentifiedText, Tools
from corpus_assets.tokenize.modes.registry import AnyMode, mode_of
from corpus_assets.tokenize.notes import second_end
from corpus_assets.tokenize.rows.recount import ArrayStatistics
from corpus_assets.tokenize.tokenizer import load_tokenizer_of, with_control
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.documents.row_counts import counted_by_power
from resources.formats.examples import Example, decode_example, example_texts
from resources.formats.hdf5.chunks import StoredBlock
from resources.formats.hdf5.writer import write_hdf5
from resources.stage.partition import Partition
from resources.stage.task import Task

FIRST_TEXTS = 64
_MOST_KEYS = 100
TEMPLATE = "chat_template"
"""The local file with a chat template."""

Block = NDArray[np.int32]


class _Text(msgspec.Struct):
    """The part of a stored document that is tokenized, and its identity."""

    id: str
    source: str
    text: str
    part: int = 0
    skipped: int = 0


_TEXT = msgspec.json.Decoder(_Text)


@dataclass(frozen=True)
class DatasetOptions:
    """The parameters of a dataset, plain and as a section, and its mode."""

    name: str
    options: Mapping[str, Any]
    section: DatasetSection
    mode: AnyMode

    @classmethod
    def given(cls, task: Task, name: str) -> "DatasetOptions":
        """Returns those of a task."""
        options = {key.rpartition(".")[2]: value for key, value in task.parameters.items()}
        section = dataset_section(options)
        return cls(name, options, section, mode_of(section))


@dataclass(frozen=True)
class DatasetBuild(DatasetOptions):
    """The things that all partitions of a dataset share: parameters, mode, tokenizer and chat template."""

    tokenizer: Tokenizer
    template: str | None

    @classmethod
    def of(cls, task: Task, name: str, tokenizer: str, *, encodes: bool = True) -> "DatasetBuild":
        """Returns the build of a task; `tokenizer` is the asset that holds the tokenizer.

        encodes: it makes rows of texts, so the markers of turns have to be control tokens.
        """
        given = DatasetOptions.given(task, name)
        template = task.local_files[TEMPLATE].decode() if TEMPLATE in task.local_files else None
        loaded = load_tokenizer_of(task.input(tokenizer), given.options.get("separator"))
        if encodes:
            loaded = with_control(loaded, given.mode.control(given.section, loaded, template))
        return cls(given.name, given.options, given.section, given.mode, loaded, template)

    @property
    def length(self) -> int:
        """L, positions per row."""
        return self.section.sequence_length

    def attributes(self, given: str) -> dict[str, str | int]:
        """Returns the attributes of every file. given: digest of what it was made from."""
        tokenizer = self.tokenizer
        return {
            "mode": self.mode.cerebras_name,
            "dataset": self.name,
            "input": str(self.options["input"]),
            "tokenizer": tokenizer.digest,
            "vocab_size": tokenizer.vocab_size,
            "eos_id": -1 if tokenizer.eos_id is None else tokenizer.eos_id,
            "pad_id": tokenizer.pad_id,
            "seed": int(self.options.get("seed", 0)),
            "sequence_length": self.length,
            "packed": int(self.options.get("pack", self.mode.layout.packed)),
            "inverted_mask": int(self.options.get("inverted_mask", False)),
            "input_digest": given,
        }

    def recount(self) -> ArrayStatistics:
        """Returns a counter of what the rows say by themselves."""
        tokenizer = self.tokenizer
        return ArrayStatistics(
            self.mode.layout,
            eos_id=tokenizer.eos_id,
            pad_id=tokenizer.pad_id,
            sizes=tokenizer.text_sizes(),
            inverted_mask=self.options.get("inverted_mask", False),
        )


Write = Callable[[Iterator[Iterator[Block]]], object]
"""Takes the blocks of each partition that is read, to be used up one after another."""


def tokens(task: Task, build: DatasetBuild, source: str) -> None:
    """Tokenize one partition of `source` into a file of rows in input order."""
    given = task.input(source)
    stem = f"tokens/{build.name}/{task.key}"

    def write(files: Iterator[Iterator[Block]]) -> None:
        write_rows(task, build, f"{stem}.h5", next(files), given.record.digest)

    make_rows(task, build, [given], write, stem)


def tokens_over_files(task: Task, build: DatasetBuild, source: str) -> None:
    """Tokenizes all partitions of `source` as one stream, into a file for each with the rows that end in it.

    The names of the files are not those of the files without `pack_over_files`: after a change of that option the old
    ones are orphans, and deleting them must not touch the new ones.
    """
    given = files_in_order(task.inputs(source))

    def write(files: Iterator[Iterator[Block]]) -> None:
        arrays = build.recount()
        for partition, blocks in zip(given, files, strict=True):
            path = f"tokens/{build.name}/packed-{partition.key}.h5"
            _write_file(task, build, path, arrays.watch(blocks), partition.record.digest)
        task.save_counters(H5_DATASET_STATS, arrays.h5_dataset_stats())

    make_rows(task, build, given, write, f"tokens/{build.name}/packed-over-files")


def files_in_order(files: Sequence[Partition]) -> list[Partition]:
    """Returns the partitions of files in the order of the files' paths, as Cerebras takes them."""
    return sorted(files, key=lambda file: (file.shard.path if file.shard else "", file.key or ""))


def make_rows(task: Task, build: DatasetBuild, given: Sequence[Partition], write: Write, stem: str) -> None:
    """Make the rows with the fastest tokenizer that is proved right; once more with the reference if it was not.

    stem: path of the table of the documents' lengths, without its suffix.
    """

    def attempt(tokenizer: Tokenizer) -> Statistics:
        tools = tools_of(task, build, tokenizer)
        write(blocks_of(build, given, tools))
        return tools.statistics

    report: Mapping[str, Any] = {}
    if given and all(map(holds_ids, given)):
        statistics = attempt(build.tokenizer)
    else:
        first = first_texts(build, given)
        statistics, report = with_fastest(task, build.tokenizer, first, attempt, whole=len(first) < FIRST_TEXTS)
        task.count(**second_end(build.tokenizer, build.section))
    _count(task, statistics)
    task.count(by_source=_by_source(build, statistics))
    if build.mode.measures_documents and statistics.processed_files:
        save_lengths(task, stem, statistics.document_lengths)
    task.count(**report)


def tools_of(task: Task, build: DatasetBuild, tokenizer: Tokenizer) -> Tools:
    """Returns what rows are made with, and new statistics. The task hears of examples that cannot be used."""

    def on_fault(example: Example, fault: str) -> None:
        reason = fault.partition(":")[0]
        task.drop(reason, 0, f"{example.source}/{example.id}: {fault}", shown=of_example(example, fault))

    return Tools(tokenizer, Statistics(), build.template, on_fault)


def blocks_of(build: DatasetBuild, given: Sequence[Partition], tools: Tools) -> Iterator[Iterator[Block]]:
    """Yields the blocks of rows of each partition, to be used up one after another."""
    if build.mode.rows_of_ids is not None and given and all(map(holds_ids, given)):
        return build.mode.rows_of_ids(build.section, (ids_of(one, tools.statistics) for one in given), tools)
    items = [_documents(one) if build.mode.takes_texts else map(decode_example, one.lines()) for one in given]
    if build.mode.rows_over_files is not None:
        return build.mode.rows_over_files(build.section, items, tools)
    return (build.mode.rows(build.section, one, tools) for one in items)


def _documents(given: Partition) -> Iterator[IdentifiedText]:
    """Yields identities and texts. A document used twice is two: `copy` is in the table beside the documents."""
    tables = [file.path for file in given.record.files if file.path.endswith(".rows.npy")]
    copies = given.array(tables[0])["copy"] if tables else repeat(0)
    for document, copy in zip(map(_TEXT.decode, given.lines()), copies, strict=bool(tables)):
        identity = f"{document.source}/{document.id}/{copy}"
        yield IdentifiedText(identity, document.text, document.part, document.skipped, document.source)


def first_texts(build: DatasetBuild, given: Sequence[Partition]) -> list[str]:
    """Returns how the first texts of the partitions begin, to test a faster tokenizer on them."""
    lines = chain.from_iterable(one.lines() for one in given)
    if build.mode.takes_texts:
        found = (_TEXT.decode(line).text for line in lines)
    else:
        found = (text for line in lines for text in example_texts(decode_example(line)))
    return [text[:FIRST_CHARACTERS] for text in islice(found, FIRST_TEXTS)]


def write_rows(task: Task, build: DatasetBuild, path: str, blocks: Iterable[Block | StoredBlock], given: str) -> int:
    """Writes a file, and counts what its rows say by themselves. Returns the rows."""
    arrays = build.recount()
    rows = _write_file(task, build, path, arrays.watch(blocks), given)
    task.save_counters(H5_DATASET_STATS, arrays.h5_dataset_stats())
    return rows


def _write_file(task: Task, build: DatasetBuild, path: str, blocks: Iterable[Block | StoredBlock], given: str) -> int:
    """Writes a file of rows, but none for no rows, and returns their number.

    Cerebras' map-style reader maps all files as one, and HDF5 2.0 then reads no row if one of them is empty.
    """
    filled = (block for block in blocks if len(block))
    first = next(filled, None)
    if first is None:
        return 0
    written = write_hdf5(
        task.create(path),
        chain([first], filled),
        build.attributes(given),
        features=build.mode.layout.features,
        sequence_length=build.length,
        recipe=task.recipe,
    )
    task.add_file(path, written.content_digest, written.rows)
    return written.rows


def _count(task: Task, statistics: Statistics) -> None:
    """Numbers of a partition. The dataset's statistics are sums of these, so they are content like the rows."""
    count_discarded(task, statistics)
    task.count(
        rows_in=statistics.processed_files,
        rows_out=statistics.n_examples,
        tokens=statistics.non_pad_tokens,
        fill=statistics.fill,
        sequences_per_row=statistics.sequences_per_row,
        tokens_dropped=statistics.dropped_tokens.total(),
        documents_truncated=statistics.truncated_documents.total(),
        text_bytes=statistics.raw_bytes_count,
    )
    task.save_counters(COUNTERS, statistics.as_dict())
    if statistics.document_lengths:
        task.count(token_lengths=counted_by_power(statistics.document_lengths))


def count_discarded(task: Task, statistics: Statistics) -> None:
    """Counts what gives no row, by reason, the keys that nothing reads, and answers that are learned apart."""
    for reason, count in statistics.discarded_documents.items():
        task.drop(reason, count)
        for words in statistics.shown[reason]:
            task.drop(reason, 0, shown=words)
    if statistics.unread_keys:
        task.count(unread_keys=dict(statistics.unread_keys.most_common(_MOST_KEYS)))
    task.count(**{kind: count for kind in (OWN_TEXTS, SILENT) if (count := statistics.kinds[kind])})


def _by_source(build: DatasetBuild, statistics: Statistics) -> dict[str, dict[str, int]]:
    """Returns what was made of the documents of each source. Examples are all of one source: the dataset."""
    if build.mode.takes_texts:
        return statistics.sources.totals()
    return of_one_source(
        build.name,
        documents=statistics.processed_files,
        text_bytes=statistics.raw_bytes_count,
        tokens=statistics.document_tokens,
        loss_tokens=statistics.loss_valid_tokens,
    )
