"""Stages that read raw files: their inventory, the content version of each, and the examples of datasets."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import msgspec
from typing_extensions import override

from corpus_assets import dataset_names
from corpus_assets.config.datasets.exports import keeps_empty
from corpus_assets.config.datasets.text_exports import mode_read
from corpus_assets.config.datasets.token_files import reads_tokens
from corpus_assets.raw.bad_rows import Gaps, dropped_notes, good_rows, write_good_rows
from corpus_assets.raw.examples import (
    IN_CHUNKS,
    KEEPS_EMPTY,
    NOT_IN_JSON_LINES,
    ExampleRules,
    Limits,
    RawFile,
    has_messages,
    read_examples,
    rules_of,
)
from corpus_assets.raw.format_options import format_options, format_parameters
from corpus_assets.raw.losses import MANY_ROLES, PREFERENCE_ROLES, ROLES, dataset_losses, listed_dataset_losses
from corpus_assets.raw.reasons import example_reasons
from corpus_assets.raw.roles import absent_roles
from corpus_assets.raw.rows.faults import BadRow
from corpus_assets.raw.rows.identities import Identities
from corpus_assets.raw.sampling import Chosen, sampled
from corpus_assets.raw.takedown import without_named
from resources.documents.row_counts import dense
from resources.formats.examples import DROPPED, Example, encode_example, example_bytes, example_roles, preference_roles
from resources.hashing import content_digest
from resources.planning.planner import listing_inputs
from resources.shards.listing import Listing, Shard
from resources.shards.reading import RawReading
from resources.stage.declaration import Input, Partitioning, Stage, same
from resources.stage.hooks import Hooks, Records, Values
from resources.stage.partition import Partition
from resources.stage.task import Task


def inventory(task: Task) -> dict[str, str]:
    """Writes the table of raw files; returns the listing as its inputs."""
    with task.lines("inventory/shards.jsonl") as table:
        for shard in task.shards:
            row = {"shard": shard.key, "source": shard.source, "file": shard.label, "bytes": shard.bytes}
            table.write(msgspec.json.encode(row | {"members": len(shard.members)}) + b"\n")
    sources = {shard.source for shard in task.shards}
    task.count(rows_out=len(task.shards), sources=len(sources), raw_bytes=sum(shard.bytes for shard in task.shards))
    return listing_inputs(Listing(task.shards, ()))


def raw_source(task: Task) -> dict[str, str]:
    """Records the content digest of one raw file, and copies nothing.

    The file's name is content too: its suffix chooses the reader, and derived ids are made from it. For a file that can
    never be read (a dangling link, a pipe) the problem is digested as its content; `source.on_bad_file` then decides
    whether normalizing it fails.
    """
    shard = task.shard
    if shard.problem:
        digest, seen = content_digest(b"problem", shard.problem.encode()), shard.seen()
    else:
        digest, seen = shard.digest_as_seen()
    name = shard.path_digest()
    task.segments |= {"file": digest, "name": name}
    task.seen |= seen
    task.count(bytes=shard.bytes, file=shard.label, files=1 + len(shard.members))
    return {"file": digest, "name": name}


def examples(task: Task) -> None:
    """Reads one file of a dataset's own, in any format, and writes examples of the shape that its mode takes."""
    gaps = Gaps()
    good = without_named(task, examples_of(task, gaps), dataset_names.takedown(task.shard.source), gaps)
    write_good_rows(task, good, _options(task)["on_bad_file"], partial(_write_examples, task))
    gaps.save(task, f"examples/{task.shard.source}/{task.shard.name}")


def _options(task: Task) -> dict[str, Any]:
    return _options_in(task.parameters, task.shard.source)


def _options_in(parameters: Mapping[str, Any], dataset: str) -> dict[str, Any]:
    prefix = f"datasets.{dataset}.input."
    return {key.removeprefix(prefix): value for key, value in parameters.items()}


def examples_of(task: Task, gaps: Gaps | None = None) -> Iterator[Example]:
    """Yields the examples of the task's raw file; counts the bad rows. gaps: notes which rows these are."""
    chosen = Chosen.of(task.parameters, f"datasets.{task.shard.source}.input")
    rules, counts = _rules(task.shard, task.parameters), Counter[str]()
    rows = sampled(_rows(task.shard, task.parameters, rules, task.raw, counts), task, chosen, example_bytes)
    yield from good_rows(task, rows, _options(task)["on_bad_row"], gaps)
    task.count(**rules.seen.numbers(), **counts)


def all_rows(
    shard: Shard, parameters: Mapping[str, Any], opened: RawReading | None = None
) -> Iterator[Example | BadRow]:
    """Yields for each row of a dataset's own file an example, or the reason why there is none.

    opened: notices faulty readings.
    """
    return _rows(shard, parameters, _rules(shard, parameters), opened)


def _rules(shard: Shard, parameters: Mapping[str, Any]) -> ExampleRules:
    options = _options_in(parameters, shard.source)
    how = format_options(parameters, f"datasets.{shard.source}.input")
    return rules_of(options["mode"], shard.source, options, how)


def _rows(
    shard: Shard,
    parameters: Mapping[str, Any],
    rules: ExampleRules,
    opened: RawReading | None = None,
    counts: Counter[str] | None = None,
) -> Iterator[Example | BadRow]:
    bytes_of = opened or shard
    limits = Limits(line_bytes=_options_in(parameters, shard.source)["longest_row"])
    file = RawFile(shard.path, bytes_of.open, bytes_of.open_member, Counter() if counts is None else counts)
    return iter(read_examples(file, rules, limits))


def _write_examples(task: Task, rows: Iterator[Example]) -> None:
    text_bytes, ids = 0, Identities()
    powers, roles, of_preferences = Counter[int](), Counter[str](), Counter[str]()
    with task.lines(f"examples/{task.shard.source}/{task.shard.name}.jsonl") as out:
        for example in rows:
            out.write(encode_example(example))
            ids.add(example.id)
            size = example_bytes(example)
            text_bytes += size
            powers[size.bit_length()] += 1
            if len(roles) < MANY_ROLES:
                roles.update(example_roles(example))
            if example.chosen is not None and len(of_preferences) < MANY_ROLES:
                of_preferences.update(preference_roles(example))
    rows_out, dropped = out.written.rows, task.dropped()
    task.save_counters(DROPPED, dropped)
    task.count(rows_in=rows_out + sum(dropped.values()), rows_out=rows_out, text_bytes=text_bytes)
    task.count(lengths=dense(powers), **{ROLES: dict(sorted(roles.items()))})
    ids.count(task)
    if of_preferences:
        task.count(**{PREFERENCE_ROLES: dict(sorted(of_preferences.items()))})


_NO_CONTENT = {
    "csv",
    "extractor",
    "html",
    "largest_window",
    "metadata_keys",
    "text_separator",
    "sample",
    "location",
    "s3",
    "glob",
    "licence",
    "licence_key",
    "max_bad_rows",
    "may_be_empty",
    "follow_links",
    "hidden",
}


@dataclass(frozen=True)
class ReadingHooks(Hooks):
    """The hooks of a stage that reads a dataset's own files."""

    dataset: str

    @override
    def derived_parameters(self, settings: Values) -> Values:
        """Returns the parameters of its examples: keys, format, and the mode, which sets their shape."""
        dataset, place = self._entry(settings), f"datasets.{self.dataset}.input"
        files = {key: value for key, value in dataset["input"].items() if key not in _NO_CONTENT}
        if files["numbers"] == "as_written":
            del files["numbers"]  # Left out by default, so that records from before there was a choice stay fresh.
        if dataset.get("packing_text"):
            files[IN_CHUNKS] = True
        if keeps_empty(dataset):
            files[KEEPS_EMPTY] = True
        elif dataset.get("keep_empty"):
            files[KEEPS_EMPTY] = NOT_IN_JSON_LINES
        mode = mode_read(dataset)
        if has_messages(mode, files) and files.get("numbers") != "python":
            files["parts"] = "joined"  # Before, a content of parts was no text.
        own = {f"{place}.{key}": value for key, value in {**files, "mode": mode}.items()}
        return own | format_parameters(dataset["input"], prefix=place)

    @override
    def reasons(self, settings: Values) -> Sequence[str]:
        return example_reasons(settings, self.dataset)

    def _entry(self, settings: Values) -> Values:
        (entry,) = (entry for entry in settings["datasets"] if entry["name"] == self.dataset)
        return dict(entry)


class ExamplesHooks(ReadingHooks):
    """The hooks of the examples of a dataset."""

    @override
    def gate_all(self, records: Records, settings: Values, listing: Listing) -> Sequence[str]:
        return dataset_losses(records, settings, listing, self.dataset)

    @override
    def gate_listing(self, settings: Values, listing: Listing) -> Sequence[str]:
        return listed_dataset_losses(settings, listing, self.dataset)

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterator[str]:
        """Yields sentences on the dropped rows of a dataset's files, and on names in its section that no row has."""
        yield from dropped_notes(partitions, settings, what="dataset")
        yield from absent_roles(self._entry(settings), partitions)


def with_content_versions(reads: Stage, owner: str) -> Iterator[Stage]:
    """Yields the stage with the content versions of an owner's files, and then the stage that reads them.

    owner: in words, such as `dataset NAME`.
    """
    (raw,) = (stage for stage in STAGES if stage.partitioning is Partitioning.SHARD)
    name = dataset_names.raw_source(reads.shard_set or "")
    yield replace(
        raw,
        name=name,
        group=reads.group,
        description=f"Content version of one raw file of {owner}: a digest of its bytes.",
        shard_set=reads.shard_set,
    )
    yield replace(reads, inputs=(same(name), *reads.inputs))


def example_stages(datasets: Sequence[Mapping[str, Any]]) -> Iterator[Stage]:
    """Yields two stages for each dataset with texts in its own files: their content versions, and their examples."""
    own = (dataset for dataset in datasets if isinstance(dataset["input"], Mapping) and not reads_tokens(dataset))
    for name in (dataset["name"] for dataset in own):
        examples_of_files = Stage(
            name=dataset_names.examples(name),
            group=dataset_names.group(name),
            unit_in="raw rows",
            unit_out="examples",
            description=f"Examples of one file of dataset {name}: texts, pairs, conversations or preferences.",
            partitioning=Partitioning.SHARD,
            compute=examples,
            code_version="1",
            io="documents",
            hooks=ExamplesHooks(name),
            shard_set=name,
            columns={
                "id": "string: as given, or made from file and row",
                "source": "string: the dataset",
                "prompt": "json: what comes before the answer, if it is a pair",
                "completion": "string: the answer, if it is a pair",
                "messages": "json: the conversation, if it is one",
            },
            kinds=("jsonl",),
        )
        yield from with_content_versions(examples_of_files, f"dataset {name}")


STAGES = [
    Stage(
        name="inventory",
        group="sources",
        unit_in="raw files",
        unit_out="raw files",
        description="All raw files, which are the shard partitions; this page also shows the configuration of "
        "the corpus.",
        partitioning=Partitioning.NONE,
        compute=inventory,
        code_version="1",
        io="documents",
        looks_outside=True,
        columns={
            "shard": "string: the partition",
            "source": "string: the source or dataset",
            "file": "string: path below the location of the source",
            "bytes": "int: size of the file",
            "members": "int: files that it lists",
        },
        kinds=("jsonl",),
    ),
    Stage(
        name="raw_source",
        group="sources",
        unit_in="raw files",
        unit_out="raw files",
        description="Content version of one raw file: a digest of its bytes, taken again only if it was rewritten.",
        partitioning=Partitioning.SHARD,
        compute=raw_source,
        code_version="1",
        io="records",
        inputs=(Input("inventory", tracked=False),),
        looks_outside=True,
        kinds=("file",),
    ),
]
