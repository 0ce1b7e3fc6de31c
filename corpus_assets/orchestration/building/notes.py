"""Notes at the end of a build: sentences for a person that are not failures."""

from collections import Counter
from collections.abc import Iterator

from corpus_assets.mix.left_out import left_out_notes
from corpus_assets.orchestration.shown.figures import plain
from corpus_assets.takedown.assets import LIST
from corpus_assets.takedown.named import list_notes
from resources.documents.looked_for import missing
from resources.planning.planner import Planner, Status
from resources.raw_places.files import glob_pattern, printable
from resources.stage.counts import DROPPED_ROWS, SHOWN_ROWS
from resources.stage.declaration import Partitioning, Stage
from resources.stage.hooks import Hooks, gives
from resources.stage.partition import Partition

MIXED = "mixed_pass1"


def build_notes(planner: Planner) -> list[str]:
    """Returns the notes on what the mix leaves out, on the raw files, of each stage, and on lists of documents."""
    stages = (note for stage in planner.graph for note in _stage_notes(planner, stage))
    return [*_left_out(planner), *planner.listing.notes(), *_glob_notes(planner), *stages, *_takedown_notes(planner)]


def _left_out(planner: Planner) -> Iterator[str]:
    """Yields notes on left-out documents of up-to-date shards only, since those of others may change."""
    if (stage := planner.graph.stages.get(MIXED)) is not None:
        fresh = {key for key, found in planner.decisions(stage).items() if found.status is Status.FRESH}
        yield from left_out_notes(one for one in _built(planner, stage) if one.key in fresh)


def dropped_examples(planner: Planner) -> list[str]:
    """Returns rows that were dropped, some for each reason of each stage, with a piece of their text; the most first.

    Rows that only went to another asset do not count.
    """
    found: dict[tuple[str, str], tuple[int, str]] = {}
    for stage in planner.graph:
        counts, rows = Counter[str](), dict[str, list[str]]()
        for record in planner.built(stage):
            counts.update(record.statistics.get("dropped", {}))
            for reason, shown in record.statistics.get(DROPPED_ROWS, {}).items():
                rows.setdefault(reason, []).extend(shown)
        for reason, shown in rows.items():
            if reason not in stage.moves:
                words = f"{plain(reason)} ({counts[reason]:,} in {stage.name})"
                # A takedown reads raw files too, so that the same rows are dropped twice: the later stage counts.
                found |= {(reason, row): (counts[reason], f"{words}: {row}") for row in shown[:SHOWN_ROWS]}
    return [words for _, words in sorted(found.values(), key=lambda one: -one[0])]


def _glob_notes(planner: Planner) -> Iterator[str]:
    """Yields the patterns without a file; if no pattern has one, the gate of the stage reports it."""
    settings = planner.settings
    folders = [(f"sources.{source['name']}", source) for source in settings.values["sources"]]
    folders += [(f"datasets.{files['name']}.input", files) for files in settings.inputs()]
    folders += [(f"benchmarks.{one['name']}", one) for one in settings.benchmarks()]
    for where, folder in folders:
        globs = folder["glob"]
        if isinstance(globs, str) or len(globs) == 1:
            continue
        paths = [shard.path for shard in planner.listing.shards if shard.source == folder["name"]]
        for glob in globs if paths else ():
            if not any(map(glob_pattern(glob).fullmatch, paths)):
                yield missing(f"{where}.glob {glob!r}", len(paths), "files", map(printable, paths), verb="matches")


def _stage_notes(planner: Planner, stage: Stage) -> Iterator[str]:
    if gives(stage.hooks, Hooks.notes):
        yield from stage.hooks.notes(_built(planner, stage), planner.settings.values)


def _built(planner: Planner, stage: Stage) -> list[Partition]:
    records, shards = planner.records(stage.name), planner.listing.by_key()
    built = [key for key in planner.partitions(stage) if key in records]
    return [Partition(planner.storage, records[key], shards.get(key or "")) for key in built]


def _takedown_notes(planner: Planner) -> Iterator[str]:
    """Yields the results of the lists in `remove`, once all raw files were compared with them.

    Before that, other files may still have a named document.
    """
    graph = planner.graph
    by_shard = [stage for stage in graph if stage.partitioning is Partitioning.SHARD]
    of_rows = [stage for stage in by_shard if LIST in (edge.asset for edge in stage.inputs)]
    of_keys = [graph[edge.asset] for stage in of_rows for edge in stage.inputs if edge.asset != LIST]
    if of_rows and all(map(planner.all_fresh, (graph[LIST], *of_keys, *of_rows))):
        (listed,) = _built(planner, graph[LIST])
        keys, rows = ([one for stage in stages for one in _built(planner, stage)] for stages in (of_keys, of_rows))
        yield from list_notes(listed, keys, rows, planner.settings.values)
