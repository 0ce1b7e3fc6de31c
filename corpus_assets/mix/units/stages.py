"""The stages of `mix.units`, if it is not `source`."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from typing_extensions import override

from corpus_assets.mix.kept import LEAVE_OUT
from corpus_assets.mix.units.chunks import mixed_units
from corpus_assets.mix.units.dimensions import Dimension, Scored, assets_of
from corpus_assets.mix.units.documents import document_units, mix_scores, scores_path
from corpus_assets.mix.units.uses import BORDERS, Uses, uses_parameters
from corpus_assets.mix.units.values import Subject
from resources.documents.looked_for import absent_names
from resources.documents.quantiles import quantiles
from resources.formats.attributes import FLAGS
from resources.stage.declaration import Input, Partitioning, Stage, every, own_segment, same
from resources.stage.hooks import Hooks, Values
from resources.stage.partition import Partition
from resources.stage.task import Task

GROUP = "mix"
_VALUES = ("quantiles", "ranges")


def mix_borders(task: Task, scored: Sequence[Scored]) -> None:
    """Writes the borders of each score: of buckets with quantiles, and of an order."""
    shards = task.inputs("mix_scores")

    def borders(one: Scored) -> list[float]:
        suffix = scores_path(one.name)
        return quantiles(lambda: (shard.array(suffix) for shard in shards), one.shares)

    found = {one.name: borders(one) for one in scored}
    task.save_json("mixed/borders.json", found, rows=len(found))
    task.count(rows_in=sum(shard.record.statistics["rows_out"] for shard in shards), rows_out=len(found))


@dataclass(frozen=True)
class ScoresHooks(Hooks):
    """The hooks of the stages of scores and borders."""

    scored: tuple[Scored, ...]

    @override
    def derived_parameters(self, settings: Values) -> Values:
        return {f"borders of {one.name}": _borders(one) for one in self.scored}


@dataclass(frozen=True)
class DocumentUnitsHooks(Hooks):
    """The hooks of the stage that puts documents into units: what `mix` says is in its recipes."""

    dimensions: tuple[Dimension, ...]
    uses: Uses

    @override
    def derived_parameters(self, settings: Values) -> Values:
        found = {f"mix.units.{one.name}": _described(one) for one in self.dimensions}
        return {**found, **uses_parameters(self.uses, settings)}

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterable[str]:
        return absent_names(partitions, settings)


def unit_stages(dimensions: Sequence[Dimension], uses: Uses, leave_out: Sequence[str]) -> Iterator[Stage]:
    """Yields the stages that find borders of scores and put documents into units; none if nothing asks for them."""
    wanted = [*(one.scored for one in dimensions), uses.order.scored if uses.order else None]
    scored = tuple(one for one in wanted if one is not None)
    if scored:
        yield _scores_stage(scored, leave_out)
        yield Stage(
            name=BORDERS,
            group=GROUP,
            description="Scores up to which wanted shares of the documents of the mix lie, exactly.",
            partitioning=Partitioning.NONE,
            compute=partial(mix_borders, scored=scored),
            code_version="1",
            io="records",
            inputs=(every("mix_scores", folded=True),),
            hooks=ScoresHooks(scored),
            unit_in="documents",
            unit_out="scores",
            kinds=("json",),
        )
    if not dimensions:
        return
    yield _documents_stage(tuple(dimensions), uses, leave_out, has_borders=bool(scored))
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


def _scores_stage(scored: tuple[Scored, ...], leave_out: Sequence[str]) -> Stage:
    return Stage(
        name="mix_scores",
        group=GROUP,
        description="The scores of a shard's documents that the mix takes, with counts, for the borders of buckets.",
        partitioning=Partitioning.SHARD,
        compute=partial(mix_scores, scored=scored),
        code_version="1",
        io="arrays",
        inputs=read_by([one.subject for one in scored], leave_out),
        parameters=(LEAVE_OUT,),
        hooks=ScoresHooks(scored),
        unit_in="documents",
        unit_out="documents",
        columns={"score": "float64: a score", "count": "uint64: how many documents have it"},
        kinds=("numpy",),
    )


def _documents_stage(
    dimensions: tuple[Dimension, ...], uses: Uses, leave_out: Sequence[str], *, has_borders: bool
) -> Stage:
    subjects = [*(one.subject for one in dimensions), *uses.subjects.values()]
    return Stage(
        name="document_units",
        group=GROUP,
        description="The unit of every use of a shard's documents in the mix, scattered over the chunks.",
        partitioning=Partitioning.SHARD,
        compute=partial(document_units, dimensions=dimensions, uses=uses),
        code_version="1",
        io="records",
        inputs=(*read_by(subjects, leave_out), *([same(BORDERS)] if has_borders else ())),
        parameters=("mix.chunks", "mix.seed", LEAVE_OUT, "source.epochs"),
        hooks=DocumentUnitsHooks(dimensions, uses),
        unit_in="documents",
        unit_out="uses",
        kinds=("jsonl", "zstandard"),
    )


def read_by(subjects: Sequence[Subject], leave_out: Sequence[str]) -> tuple[Input, ...]:
    """Returns the edges to documents, their flags, and the attributes that are read."""
    read = assets_of(subjects)
    flags = (same(name, segment=FLAGS) for name in leave_out if name not in read)
    return (same("normalized_documents"), *flags, *map(same, read))


def _borders(scored: Scored) -> dict[str, object]:
    """Returns what a score with borders is, for recipes."""
    shares = [str(share) for share in scored.shares]
    return {"by": scored.subject.by, "of": scored.subject.of, "shares": shares}


def _described(dimension: Dimension) -> dict[str, object]:
    """Returns what a part of the units is, for recipes."""
    values = {"by": dimension.subject.by, "of": dimension.subject.of}
    return {**values, **{key: getattr(dimension, key) for key in _VALUES if getattr(dimension, key) is not None}}
