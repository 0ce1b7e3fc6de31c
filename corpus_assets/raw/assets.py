"""The raw side of the graph: the inventory of raw files, and the content version of each."""

import msgspec

from resources.graph import Input, Partitioning, Stage
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
