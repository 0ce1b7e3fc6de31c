"""Times and stored sizes, and everything needed to repeat the build."""

import msgspec

from corpus_assets import numbers
from corpus_assets.report.model import Model
from corpus_assets.report.sections.blocks import MOST_ROWS, Block, Lines, Note, Section, Table, largest
from corpus_assets.report.timings import Timing, Timings


def making(times: Timings) -> Section:
    """Returns throughput per stage and the slowest partitions."""
    shown, others = largest(times.assets, lambda one: one.seconds, MOST_ROWS)
    rows = [
        [one.asset, one.partitions, one.seconds, one.cpu_seconds, one.compile_seconds or None, _rate(one), one.stored]
        for one in shown
    ]
    columns = [("asset", "text"), ("partitions", "count"), ("time of workers", "duration"), ("CPU", "duration")]
    columns += [("of it compiling", "duration"), ("text per second of a worker", "text"), ("stored", "size")]
    foot = [
        "all",
        sum(one.partitions for one in times.assets),
        sum(one.seconds for one in times.assets),
        sum(one.cpu_seconds for one in times.assets),
        None,
        None,
        sum(one.stored for one in times.assets),
    ]
    slowest = [[one.name, one.seconds, one.text_bytes] for one in times.slowest if one.seconds]
    blocks: list[Block] = [
        Note("From the commit records: each partition counts with the time it took when it was last made."),
        Table("Work and size of each asset", columns, rows, foot, left_out=len(others)),
        Table("The slowest partitions", [("partition", "text"), ("time", "duration"), ("text", "size")], slowest),
    ]
    return Section("time", "Time and size", blocks)


def _rate(one: Timing) -> dict[str, object] | None:
    return None if one.rate is None else {"text": f"{numbers.size(one.rate)}/s", "href": "", "value": one.rate}


def repeat(model: Model, times: Timings) -> Section:
    """Returns configuration, versions and digests."""
    begin, end = times.made
    made = [f"Partitions were made from {begin} to {end}."] if begin else []
    made += [f"{program}: {', '.join(found)}" for program, found in times.versions.items()]
    rows = [[name, stage.code_version, stage.partitions, stage.digest] for name, stage in model.stages.items()]
    columns = [("asset", "text"), ("code version", "text"), ("partitions", "count"), ("digest of the content", "long")]
    written = msgspec.json.format(msgspec.json.encode(model.configuration, order="sorted"), indent=2).decode()
    note = (
        "The same raw files, configuration and code versions give the same digests. The numbers of this page that "
        "follow from content are in it as JSON (element #numbers), and beside it as report.json."
    )
    blocks: list[Block] = [
        Note(note),
        *map(Note, made),
        Lines("The configuration, with all defaults", written.splitlines()),
        Table("Assets, versions of their algorithms and digests", columns, rows),
    ]
    return Section("repeat", "What makes it repeatable", blocks)
