"""One partition of a token dataset: from documents or examples in the store to an HDF5 file in the store."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, repeat
from typing import Any, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.tokenize.data_params import data_params, encode_data_params
from corpus_assets.tokenize.encode.backends import FIRST_CHARACTERS, Backend, BackendDiffers, accelerate
from corpus_assets.tokenize.modes.registry import Document, Mode, example_blocks, mode_of, text_blocks
from corpus_assets.tokenize.rows.hdf5 import write_hdf5
from corpus_assets.tokenize.rows.recount import ArrayStatistics
from corpus_assets.tokenize.statistics import Statistics, merge
from corpus_assets.tokenize.tokenizer_asset import load_part
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.errors import ConfigError
from resources.examples import Example, decode_example, example_texts
from resources.hashing import content_digest
from resources.outside import is_template, read_outside
from resources.task import Part, Task

FIRST_TEXTS = 64
VSL_CHANNELS = 5
MAX_TEMPLATE_BYTES = 1 << 20
BACKEND, TEMPLATE = "backend", "chat_template"
Block = NDArray[np.int32]


class _Text(msgspec.Struct):
    """What of a stored document is tokenized, and what it is known by."""

    id: str
    source: str
    text: str


_TEXT = msgspec.json.Decoder(_Text)


def template_source(given: str, key: str = TEMPLATE) -> str:
    """A chat template: text that is one, else the content of the file of that name."""
    if is_template(given):
        return given
    try:
        return read_outside(key, given, MAX_TEMPLATE_BYTES).decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{key}: {given!r} is not UTF-8: {error}") from None


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
            tokenizer=load_part(task.input(tokenizer), options.get("separator")),
            template=template_source(task.places[TEMPLATE]) if TEMPLATE in task.places else None,
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
    part = task.input(source)
    path = f"{task.stage.name}/{task.partition}.h5"
    make_rows(task, build, part, lambda blocks: write_rows(task, build, path, blocks, part.record.digest))


def make_rows(task: Task, build: DatasetBuild, part: Part, write: Write) -> None:
    """Make the rows with the fastest tokenizer that is proved right; once more with the reference if it was not."""
    fast = accelerate(build.tokenizer, cast(Backend, task.places[BACKEND]), _first_texts(build, part))
    fell_back = None
    try:
        statistics = _attempt(task, build, part, fast, write)
    except BackendDiffers as difference:
        fell_back = str(difference)
        task.restart()
        statistics = _attempt(task, build, part, build.tokenizer, write)
    report = {**fast.report(), **({"backend": "tokenizers", "fell_back": fell_back} if fell_back else {})}
    _count(task, statistics)
    task.count(**{f"tokenizer_{name}": value for name, value in report.items() if value is not None})


def _attempt(task: Task, build: DatasetBuild, part: Part, tokenizer: Tokenizer, write: Write) -> Statistics:
    statistics = Statistics()

    def on_fault(example: Example, fault: str) -> None:
        task.drop(fault.partition(":")[0], 0, f"{example.source}/{example.id}: {fault}")

    if build.mode.takes_texts:
        blocks = text_blocks(build.options, _documents(part), tokenizer, statistics)
    else:
        examples = map(decode_example, part.lines())
        blocks = example_blocks(
            build.options, examples, tokenizer, statistics, template=build.template, on_fault=on_fault
        )
    write(blocks)
    return statistics


def _documents(part: Part) -> Iterator[Document]:
    """Identities and texts. A document that is used twice is two: `copy` is in the table beside the documents."""
    tables = [file.path for file in part.record.files if file.path.endswith(".rows.npy")]
    copies = part.array(tables[0])["copy"] if tables else repeat(0)
    for line, copy in zip(part.lines(), copies, strict=bool(tables)):
        document = _TEXT.decode(line)
        yield f"{document.source}/{document.id}/{copy}", document.text


def _first_texts(build: DatasetBuild, part: Part) -> list[str]:
    """How the first texts of a partition begin, for the test of a faster tokenizer."""
    if build.mode.takes_texts:
        found = (_TEXT.decode(line).text for line in part.lines())
    else:
        found = (text for line in part.lines() for text in example_texts(decode_example(line)))
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
    task.count(h5_dataset_stats=stats)
    task.segments["h5_dataset_stats"] = _digest_of(stats)
    return written.rows


def _count(task: Task, statistics: Statistics) -> None:
    """Numbers of a partition. The dataset's statistics are sums of these, so they are content like the rows."""
    counters = statistics.as_dict()
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
        counters=counters,
    )
    task.segments["counters"] = _digest_of(counters)


def _digest_of(value: Any) -> str:
    return content_digest(msgspec.json.encode(value, order="deterministic"))


def params(task: Task, build: DatasetBuild, counted: str, written: str, read: str | None) -> None:
    """Write a dataset's `data_params.json`: parameters, and the statistics of all its partitions summed.

    counted: asset whose partitions hold the counters; written: asset whose partitions are the files (the same unless
    the dataset is shuffled). read: asset whose partitions say what was dropped while the dataset's own files were read.
    """
    total = merge(Statistics.from_dict(part.record.statistics["counters"]) for part in task.inputs(counted))
    arrays = Counter[str]()
    for part in task.inputs(written):
        arrays.update(part.record.statistics["h5_dataset_stats"])
    value = data_params(
        build.mode.name,
        build.mode.features,
        build.options,
        statistics=total,
        arrays=arrays,
        tokenizer=build.tokenizer,
    )
    skipped = Counter[str]()
    for part in task.inputs(read) if read else ():
        skipped.update(part.record.statistics.get("dropped", {}))
    value["post-process"]["skipped_rows"] = dict(sorted(skipped.items()))
    task.save_bytes(f"tokens/{build.name}/data_params.json", encode_data_params(value))
    task.count(rows_out=total.n_examples, tokens=total.non_pad_tokens, documents=total.processed_files)
    task.count(discarded=dict(total.discarded_documents))
