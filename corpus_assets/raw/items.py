"""Stages that read the user's evaluation files: the content version of each, and the items in it."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from typing_extensions import override

from corpus_assets import dataset_names
from corpus_assets.config.datasets.files import Files
from corpus_assets.raw.assets import with_content_versions
from corpus_assets.raw.bad_rows import dropped_notes, good_rows, write_good_rows
from corpus_assets.raw.examples import ExampleRules, Limits, RawFile, read_examples
from corpus_assets.raw.format_options import format_options, format_parameters
from corpus_assets.raw.losses import benchmark_losses, listed_benchmark_losses
from corpus_assets.raw.reasons import item_reasons
from corpus_assets.raw.rows.seen import of_benchmark
from resources.formats.examples import Example, encode_example, example_bytes
from resources.shards.listing import Listing
from resources.stage.declaration import Partitioning, Stage
from resources.stage.hooks import Hooks, Records, Values
from resources.stage.partition import Partition
from resources.stage.task import Task

GROUP = "contamination"
_NO_CONTENT = {
    *("csv", "largest_window", "name", "location", "s3", "glob"),
    *("max_bad_rows", "may_be_empty", "follow_links", "hidden"),
}


@dataclass(frozen=True)
class ItemRules(ExampleRules):
    """How a row of an evaluation file becomes an item: one text from one or several keys, without absent ones."""

    text_keys: tuple[str, ...] = ()

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Returns the keys of a row that make up an item."""
        return self.text_keys

    @property
    @override
    def columns(self) -> Collection[str]:
        return {*self.text_keys, self.id_key}

    @property
    @override
    def required(self) -> list[tuple[str, ...]]:
        return [self.text_keys]


def items(task: Task) -> None:
    """Reads one evaluation file, in any format, and writes its items: id and text."""
    shard = task.shard
    options = {key.rpartition(".")[2]: value for key, value in task.parameters.items()}
    given = options["text_key"]
    rules = ItemRules(
        shard.source,
        options["format"],
        options["id_key"],
        options["ids"],
        options=format_options(task.parameters, f"benchmarks.{shard.source}"),
        seen=of_benchmark(shard.source, options),
        shape="text",
        files=Files.model_construct(None, location=""),
        text_keys=(given,) if isinstance(given, str) else tuple(given),
    )
    limits = Limits(line_bytes=options["longest_row"])
    rows = read_examples(RawFile(shard.path, task.raw.open, task.raw.open_member), rules, limits)
    good = good_rows(task, rows, options["on_bad_row"])
    write_good_rows(task, good, options["on_bad_file"], partial(_write_items, task, rules))


def _write_items(task: Task, rules: ItemRules, rows: Iterator[Example]) -> None:
    text_bytes = 0
    with task.lines(f"benchmarks/{task.shard.source}/{task.shard.name}.jsonl") as out:
        for row in rows:
            out.write(encode_example(Example(row.id, row.source, row.text)))
            text_bytes += example_bytes(row)
    written = out.written.rows
    task.count(rows_in=written + sum(task.dropped().values()), rows_out=written, text_bytes=text_bytes)
    task.count(**rules.seen.numbers())


@dataclass(frozen=True)
class ItemsHooks(Hooks):
    """The hooks of the items of a benchmark."""

    benchmark: str

    @override
    def derived_parameters(self, settings: Values) -> Values:
        """Returns their parameters: keys, format, and the given options of CSV."""
        (entry,) = (entry for entry in settings["benchmarks"] if entry["name"] == self.benchmark)
        place = f"benchmarks.{self.benchmark}"
        given = {f"{place}.{key}": value for key, value in entry.items() if key not in _NO_CONTENT}
        return given | format_parameters(entry, place)

    @override
    def reasons(self, settings: Values) -> Sequence[str]:
        return item_reasons(settings, self.benchmark)

    @override
    def gate_all(self, records: Records, settings: Values, listing: Listing) -> Sequence[str]:
        return benchmark_losses(records, settings, listing, self.benchmark)

    @override
    def gate_listing(self, settings: Values, listing: Listing) -> Sequence[str]:
        return listed_benchmark_losses(settings, listing, self.benchmark)

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterable[str]:
        return dropped_notes(partitions, settings, what="benchmark")


def item_stages(benchmarks: Sequence[Mapping[str, Any]]) -> Iterator[Stage]:
    """Yields two stages for each benchmark: the content versions of its files, and their items."""
    for name in (entry["name"] for entry in benchmarks):
        items_of_files = Stage(
            name=dataset_names.items(name),
            group=GROUP,
            unit_in="raw rows",
            unit_out="items",
            description=f"Items of one file of benchmark {name}, which must not be in the corpus.",
            partitioning=Partitioning.SHARD,
            compute=items,
            code_version="1",
            io="documents",
            hooks=ItemsHooks(name),
            shard_set=name,
            columns={
                "id": "string: as given, or made from file and row",
                "source": "string: the benchmark",
                "text": "string: what is looked for in documents",
            },
            kinds=("jsonl",),
        )
        yield from with_content_versions(items_of_files, f"benchmark {name}")
