"""The asset `<dataset>_tokens`: from documents or examples in the store to an HDF5 file in the store."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, repeat
from typing import Any, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.tokenize.data_params import data_params, encode_data_params
from corpus_assets.tokenize.encode.backends import FIRST_CHARACTERS, Backend, BackendDiffers, accelerate
from corpus_assets.tokenize.modes.registry import IdentifiedText, Mode, example_blocks, mode_of, text_blocks
from corpus_assets.tokenize.rows.recount import ArrayStatistics
from corpus_assets.tokenize.statistics import COUNTERS, H5_DATASET_STATS, Statistics, merge
from corpus_assets.tokenize.tokenizer import load_tokenizer_of
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.config_files import is_template, read_outside
from resources.errors import ConfigError
from resources.formats.examples import DROPPED, Example, decode_example, example_texts
from resources.formats.hdf5 import write_hdf5
from resources.stage.partition import Partition
from resources.stage.task import Task

FIRST_TEXTS = 64
VSL_CHANNELS = 5
MAX_TEMPLATE_BYTES = 1 << 20
MUCH = 0.1  # share of discarded documents that is worth a word
BACKEND, TEMPLATE = "backend", "chat_template"
"""The run option that names the library that encodes, and the local file with a chat template."""

Block = NDArray[np.int32]


class _Text(msgspec.Struct):
    """What of a stored document is tokenized, and what it is known by."""

    id: str
    source: str
    text: str


_TEXT = msgspec.json.Decoder(_Text)


def template_source(given: str, key: str) -> bytes:
    """Returns a chat template as UTF-8: text that is one, else the content of the file of that name."""
    if is_template(given):
        return given.encode()
    content = read_outside(key, given, MAX_TEMPLATE_BYTES)
    try:
        content.decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{key}: {given!r} is not UTF-8: {error}") from None
    return content


@dataclass(frozen=True)
class DatasetBuild:
    """What all partitions of a dataset share: its parameters under our names, its mode, and its tokenizer."""

    name: str
    options: Mapping[str, Any]
    mode: Mode
    tokenizer: Tokenizer
    template: str | None

    @classmethod
    def of(cls, task: Task, name: str, tokenizer: str) -> "DatasetBuild":
        """From the parameters of a task; `tokenizer` is the asset that holds the tokenizer."""
        options = {key.rpartition(".")[2]: value for key, value in task.parameters.items()}
        return cls(
            name=name,
            options=options,
            mode=mode_of(options),
            tokenizer=load_tokenizer_of(task.input(tokenizer), options.get("separator")),
            template=task.local_files[TEMPLATE].decode() if TEMPLATE in task.local_files else None,
        )

    @property
    def length(self) -> int:
        """L, positions per row."""
        return int(self.options["sequence_length"])

    def attributes(self, given: str) -> dict[str, str | int]:
        """What every file says of itself. given: digest of what it was made from."""
        tokenizer = self.tokenizer
        return {
            "mode": self.mode.name,
            "dataset": self.name,
            "input": str(self.options["input"]),
            "tokenizer": tokenizer.digest,
            "vocab_size": tokenizer.vocab_size,
            "eos_id": -1 if tokenizer.eos_id is None else tokenizer.eos_id,
            "pad_id": tokenizer.pad_id,
            "seed": int(self.options.get("seed", 0)),
            "sequence_length": self.length,
            "packed": int(self.options.get("pack", len(self.mode.features) == VSL_CHANNELS)),
            "inverted_mask": int(self.options.get("inverted_mask", False)),
            "input_digest": given,
        }

    def recount(self) -> ArrayStatistics:
        """A counter of what the rows say by themselves."""
        tokenizer = self.tokenizer
        return ArrayStatistics(
            self.mode.arrays,
            eos_id=tokenizer.eos_id,
            pad_id=tokenizer.pad_id,
            sizes=tokenizer.text_sizes(),
            inverted_mask=self.options.get("inverted_mask", False),
        )


Write = Callable[[Iterator[Block]], object]


def tokens(task: Task, build: DatasetBuild, source: str) -> None:
    """Tokenize one partition of `source` into a file of rows in input order."""
    given = task.input(source)
    path = f"tokens/{build.name}/{task.key}.h5"
    make_rows(task, build, given, lambda blocks: write_rows(task, build, path, blocks, given.record.digest))


def make_rows(task: Task, build: DatasetBuild, given: Partition, write: Write) -> None:
    """Make the rows with the fastest tokenizer that is proved right; once more with the reference if it was not."""
    fast = accelerate(build.tokenizer, cast(Backend, task.run_options[BACKEND]), _first_texts(build, given))
    fell_back = None
    try:
        statistics = _attempt(task, build, given, fast, write)
    except BackendDiffers as difference:
        fell_back = str(difference)
        task.restart()
        statistics = _attempt(task, build, given, build.tokenizer, write)
    report = {**fast.report(), **({"backend": "tokenizers", "fell_back": fell_back} if fell_back else {})}
    _count(task, statistics)
    task.count(**{f"tokenizer_{name}": value for name, value in report.items() if value is not None})


def _attempt(task: Task, build: DatasetBuild, given: Partition, tokenizer: Tokenizer, write: Write) -> Statistics:
    statistics = Statistics()

    def on_fault(example: Example, fault: str) -> None:
        task.drop(fault.partition(":")[0], 0, f"{example.source}/{example.id}: {fault}")

    if build.mode.takes_texts:
        blocks = text_blocks(build.options, _documents(given), tokenizer, statistics)
    else:
        examples = map(decode_example, given.lines())
        blocks = example_blocks(
            build.options, examples, tokenizer, statistics, template=build.template, on_fault=on_fault
        )
    write(blocks)
    return statistics


def _documents(given: Partition) -> Iterator[IdentifiedText]:
    """Identities and texts. A document that is used twice is two: `copy` is in the table beside the documents."""
    tables = [file.path for file in given.record.files if file.path.endswith(".rows.npy")]
    copies = given.array(tables[0])["copy"] if tables else repeat(0)
    for line, copy in zip(given.lines(), copies, strict=bool(tables)):
        document = _TEXT.decode(line)
        yield f"{document.source}/{document.id}/{copy}", document.text


def _first_texts(build: DatasetBuild, given: Partition) -> list[str]:
    """How the first texts of a partition begin, for the test of a faster tokenizer."""
    if build.mode.takes_texts:
        found = (_TEXT.decode(line).text for line in given.lines())
    else:
        found = (text for line in given.lines() for text in example_texts(decode_example(line)))
    return [text[:FIRST_CHARACTERS] for text in islice(found, FIRST_TEXTS)]


def write_rows(task: Task, build: DatasetBuild, path: str, blocks: Iterable[Block], given: str) -> int:
    """Write a file, and count what its rows say by themselves."""
    arrays = build.recount()
    written = write_hdf5(
        task.create(path),
        arrays.watch(blocks),
        build.attributes(given),
        features=build.mode.features,
        sequence_length=build.length,
        recipe=task.recipe,
    )
    task.add_file(path, written.content_digest, written.rows)
    stats = arrays.h5_dataset_stats()
    task.save_counters(H5_DATASET_STATS, stats)
    return written.rows


def _count(task: Task, statistics: Statistics) -> None:
    """Numbers of a partition. The dataset's statistics are sums of these, so they are content like the rows."""
    for reason, count in statistics.discarded_documents.items():
        task.drop(reason, count)
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


def params(task: Task, build: DatasetBuild, counted: str, written: str, read: str | None) -> None:
    """Write a dataset's `data_params.json`: parameters, and the statistics of all its partitions summed.

    counted: asset whose partitions hold the counters; written: asset whose partitions are the files (the same unless
    the dataset is shuffled). read: asset whose partitions say what was dropped while the dataset's own files were read.
    """
    total = merge(Statistics.from_dict(made.counters(COUNTERS)) for made in task.inputs(counted))
    arrays = Counter[str]()
    for tokens_of_file in task.inputs(written):
        arrays.update(tokens_of_file.counters(H5_DATASET_STATS))
    value = data_params(
        build.mode.name,
        build.mode.features,
        build.options,
        statistics=total,
        arrays=arrays,
        tokenizer=build.tokenizer,
    )
    skipped = Counter[str]()
    for examples in task.inputs(read) if read else ():
        skipped.update(examples.counters(DROPPED))
    value["post-process"]["skipped_rows"] = dict(sorted(skipped.items()))
    task.save_bytes(f"tokens/{build.name}/data_params.json", encode_data_params(value))
    task.count(rows_out=total.n_examples, tokens=total.non_pad_tokens, documents=total.processed_files)
    task.count(discarded=dict(total.discarded_documents))


def discarded_notes(partitions: Sequence[Partition], _: Mapping[str, Any], dataset: str) -> Iterator[str]:
    """Yields a sentence if nothing was made of a dataset, or much was discarded, with the reasons."""
    for partition in partitions:
        numbers = partition.record.statistics
        found, rows, seen = Counter(numbers.get("discarded", {})), numbers["rows_out"], numbers["documents"]
        if not rows or found.total() > MUCH * seen:
            why = ", ".join(f"{reason} {count:,}" for reason, count in sorted(found.items())) or "nothing to read"
            yield f"dataset {dataset}: {rows:,} rows; {found.total():,} of {seen:,} documents discarded ({why})"
