"""The raw side of the graph: the inventory of raw files, and the content version of each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec

from corpus_assets.raw.examples import ExampleRules, Limits, RawFile, Shape, read_examples
from corpus_assets.raw.kept import kept_rows, write_kept
from resources.examples import Example, encode_example, example_bytes
from resources.graph import Input, Partitioning, Stage, same
from resources.hashing import content_digest
from resources.plan import listing_inputs
from resources.sources import Listing
from resources.task import Task


def inventory(task: Task) -> dict[str, str]:
    """Write the table of raw files; the listing itself is its input."""
    with task.lines("inventory/shards.jsonl.gz") as table:
        for shard in task.shards:
            row = {"shard": shard.key, "source": shard.source, "file": shard.label, "bytes": shard.bytes}
            table.write(msgspec.json.encode(row | {"members": len(shard.members)}) + b"\n")
    sources = {shard.source for shard in task.shards}
    task.count(rows_out=len(task.shards), sources=len(sources), raw_bytes=sum(shard.bytes for shard in task.shards))
    return listing_inputs(Listing(task.shards, ()))


def raw_source(task: Task) -> dict[str, str]:
    """Record the content digest of one raw file. Nothing is copied: the file stays where it is.

    Its name is part of the content: the suffix chooses the reader, and derived ids are made from it.
    What can never be read (a dangling link, a pipe) has its fault as content; `source.on_bad_file` then decides
    whether normalizing it fails.
    """
    shard = task.shard
    digest = content_digest(b"problem", shard.problem.encode()) if shard.problem else shard.digest()
    name = shard.path_digest()
    task.segments |= {"file": digest, "name": name}
    task.count(bytes=shard.bytes, modified=shard.modified, file=shard.label, files=1 + len(shard.members))
    return {"file": digest, "name": name}


def examples(task: Task) -> None:
    """Read one file of a dataset's own, in whatever format, as examples of the shape that its mode takes."""
    shard = task.shard
    options = {key.rpartition(".")[2]: value for key, value in task.parameters.items()}
    on_bad_row, on_bad_file = options.pop("on_bad_row"), options.pop("on_bad_file")
    limits = Limits(line_bytes=options.pop("longest_row"))
    prompt = options["prompt_key"]
    options["prompt_key"] = prompt if isinstance(prompt, str) else tuple(prompt)
    options["messages_key"] = options["messages_key"] or "messages"
    rules = ExampleRules(source=shard.source, **options)
    rows = read_examples(RawFile(shard.path, shard.open, shard.open_member), rules, limits)
    write_kept(task, kept_rows(task, rows, on_bad_row), on_bad_file, partial(_write_examples, task))


def _write_examples(task: Task, rows: Iterator[Example]) -> None:
    text_bytes = 0
    with task.lines(f"examples/{task.shard.source}/{task.shard.name}.jsonl.gz") as out:
        for example in rows:
            out.write(encode_example(example))
            text_bytes += example_bytes(example)
    rows_out = task.files[0].rows
    dropped = sum(task.statistics.get("dropped", {}).values())
    task.count(rows_in=rows_out + dropped, rows_out=rows_out, text_bytes=text_bytes)


SHAPES: dict[str, Shape] = {"lm": "text", "lm_vsl": "text", "fim": "text", "dpo": "preference"}
_NO_CONTENT = {"location", "glob", "licence"}


def example_parameters(settings: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What the examples of a dataset depend on: keys, format, and the shape that its mode takes."""
    (dataset,) = (entry for entry in settings["datasets"] if entry["name"] == name)
    files = {key: value for key, value in dataset["input"].items() if key not in _NO_CONTENT}
    shape = SHAPES.get(dataset["mode"]) or ("pair" if files["messages_key"] is None else "conversation")
    return {f"datasets.{name}.input.{key}": value for key, value in {**files, "shape": shape}.items()}


def example_stages(datasets: Sequence[Mapping[str, Any]]) -> Iterator[Stage]:
    """For each dataset that reads files of its own: their content versions, and their examples."""
    (raw,) = (stage for stage in STAGES if stage.name == "raw_source")
    for name in (dataset["name"] for dataset in datasets if isinstance(dataset["input"], Mapping)):
        yield replace(raw, name=f"raw_examples/{name}", source=name)
        yield Stage(
            name=f"examples/{name}",
            group="raw",
            description=f"Examples of one file of dataset {name}: texts, pairs, conversations or preferences.",
            partitioning=Partitioning.SHARD,
            compute=examples,
            code_version="1",
            kind="documents",
            inputs=(same(f"raw_examples/{name}"),),
            extra_parameters=partial(example_parameters, name=name),
            source=name,
            columns={"id": "string", "source": "string", "prompt": "json", "completion": "string", "messages": "json"},
            tools=("jsonl",),
        )


STAGES = [
    Stage(
        name="inventory",
        group="raw",
        description="Table of all raw files of all sources; adds and removes the shard partitions.",
        partitioning=Partitioning.NONE,
        compute=inventory,
        code_version="1",
        kind="documents",
        observed=True,
        columns={"shard": "string", "source": "string", "file": "string", "bytes": "int", "members": "int"},
        tools=("jsonl",),
    ),
    Stage(
        name="raw_source",
        group="raw",
        description="Content version of one raw file: a digest of its bytes, taken again only when touched.",
        partitioning=Partitioning.SHARD,
        compute=raw_source,
        code_version="1",
        kind="records",
        inputs=(Input("inventory", tracked=False),),
        observed=True,
        tools=("file",),
    ),
]
