"""The stages of `mix.units`, if it is not `source`."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from typing_extensions import override

from corpus_assets.mix.kept import LEAVE_OUT
from corpus_assets.mix.units.chunks import mixed_units
from corpus_assets.mix.units.copies import Copies
from corpus_assets.mix.units.dimensions import Dimension, assets_of
from corpus_assets.mix.units.documents import BORDERS, document_units, scores_path, unit_scores
from corpus_assets.mix.units.quantiles import quantiles
from resources.documents.looked_for import absent_names
from resources.formats.attributes import FLAGS
from resources.stage.declaration import Input, Partitioning, Stage, every, own_segment, same
from resources.stage.hooks import Hooks, Values
from resources.stage.partition import Partition
from resources.stage.task import Task

GROUP = "mix"
_VALUES = ("quantiles", "ranges")


def unit_borders(task: Task, dimensions: Sequence[Dimension]) -> None:
    """Writes the borders between the buckets of each score of which the units have quantiles."""
    shards = task.inputs("unit_scores")

    def borders(dimension: Dimension) -> list[float]:
        suffix = scores_path(dimension.name)
        return quantiles(lambda: (shard.array(suffix) for shard in shards), dimension.quantiles or 1)

    found = {one.name: borders(one) for one in dimensions}
    task.save_json("mixed/unit_borders.json", found, rows=len(found))
    task.count(rows_in=sum(shard.record.statistics["rows_out"] for shard in shards), rows_out=len(found))


@dataclass(frozen=True)
class UnitHooks(Hooks):
    """The hooks of the stages of units: what `mix.units` says is in their recipes."""

    dimensions: tuple[Dimension, ...]
    copies: Copies | None = None

    @override
    def derived_parameters(self, settings: Values) -> Values:
        found = {f"mix.units.{one.name}": _described(one) for one in self.dimensions}
        return found | ({} if self.copies is None else {"mix.copies": settings["mix"]["copies"]})


class DocumentUnitsHooks(UnitHooks):
    """The hooks of the stage that puts documents into units."""

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterable[str]:
        return absent_names(partitions, settings)


def unit_stages(dimensions: Sequence[Dimension], copies: Copies | None, leave_out: Sequence[str]) -> Iterator[Stage]:
    """Yields the stages that put documents into units; none without parts of units."""
    if not dimensions:
        return
    scored = tuple(one for one in dimensions if one.quantiles is not None)
    if scored:
        yield _scores_stage(scored, leave_out)
        yield Stage(
            name=BORDERS,
            group=GROUP,
            description="Scores between buckets that hold the same number of documents of the mix.",
            partitioning=Partitioning.NONE,
            compute=partial(unit_borders, dimensions=scored),
            code_version="1",
            io="records",
            inputs=(every("unit_scores", folded=True),),
            hooks=UnitHooks(scored),
            unit_in="documents",
            unit_out="scores",
            kinds=("json",),
        )
    yield _documents_stage(tuple(dimensions), copies, leave_out)
    yield Stage(
        name="mixed_units",
        group=GROUP,
        description="The unit of every document of a chunk.",
        partitioning=Partitioning.CHUNK,
        compute=mixed_units,
        code_version="1",
        io="arrays",
        inputs=(own_segment("document_units"),),
        unit_in="uses",
        unit_out="documents",
        columns={"hash": "uint64: of source and id", "unit": "uint16: number of its unit in the list of names"},
        kinds=("numpy",),
    )


def _scores_stage(scored: tuple[Dimension, ...], leave_out: Sequence[str]) -> Stage:
    return Stage(
        name="unit_scores",
        group=GROUP,
        description="The scores of a shard's documents that the mix takes, with counts, for the borders of buckets.",
        partitioning=Partitioning.SHARD,
        compute=partial(unit_scores, dimensions=scored),
        code_version="1",
        io="arrays",
        inputs=_inputs(scored, None, leave_out),
        parameters=(LEAVE_OUT,),
        hooks=UnitHooks(scored),
        unit_in="documents",
        unit_out="documents",
        columns={"score": "float64: a score", "count": "uint64: how many documents have it"},
        kinds=("numpy",),
    )


def _documents_stage(dimensions: tuple[Dimension, ...], copies: Copies | None, leave_out: Sequence[str]) -> Stage:
    has_borders = any(one.quantiles is not None for one in dimensions)
    return Stage(
        name="document_units",
        group=GROUP,
        description="The unit of every use of a shard's documents in the mix, scattered over the chunks.",
        partitioning=Partitioning.SHARD,
        compute=partial(document_units, dimensions=dimensions, copies=copies),
        code_version="1",
        io="records",
        inputs=(*_inputs(dimensions, copies, leave_out), *([same(BORDERS)] if has_borders else ())),
        parameters=("mix.chunks", "mix.seed", LEAVE_OUT, "source.epochs"),
        hooks=DocumentUnitsHooks(dimensions, copies),
        unit_in="documents",
        unit_out="uses",
        kinds=("jsonl", "zstandard"),
    )


def _inputs(dimensions: Sequence[Dimension], copies: Copies | None, leave_out: Sequence[str]) -> tuple[Input, ...]:
    """Returns the edges to documents, their flags, and the attributes that are read."""
    read = assets_of([*(one.subject for one in dimensions), *([copies.subject] if copies else [])])
    flags = (same(name, segment=FLAGS) for name in leave_out if name not in read)
    return (same("normalized_documents"), *flags, *map(same, read))


def _described(dimension: Dimension) -> dict[str, object]:
    """Returns what a part of the units is, for recipes."""
    values = {"by": dimension.subject.by, "of": dimension.subject.of}
    return {**values, **{key: getattr(dimension, key) for key in _VALUES if getattr(dimension, key) is not None}}
