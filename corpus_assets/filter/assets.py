"""The stage of the filter: present if any set of row rules is configured."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from typing_extensions import override

from corpus_assets.filter.filtered_documents import attributes_of, filtered_documents
from corpus_assets.filter.losses import filter_notes, filtered_losses
from corpus_assets.normalize.compiled import of_lengths
from resources.documents.row_rule import RuleSet
from resources.errors import ConfigError
from resources.formats.documents import DOCUMENT_COLUMNS
from resources.shards.listing import Listing
from resources.stage.declaration import Partitioning, Stage, reading_instead, same
from resources.stage.hooks import NO_HOOKS, Hooks, Records, Values
from resources.stage.partition import Partition

READ, FILTERED = "normalized_documents", "filtered_documents"


def filter_stages(sets: Sequence[RuleSet]) -> list[Stage]:
    """Returns the stage that applies sets of row rules in their order; none if there are no sets."""
    return [_stage(tuple(sets))] if sets else []


def after_filter(stages: Iterable[Stage], filters: Sequence[Stage]) -> Iterator[Stage]:
    """Yields stages that read filtered documents instead of normalized ones."""
    yield from (reading_instead(stage, READ, FILTERED) for stage in stages) if filters else stages


def own_after_filter(own: Sequence[Stage], filters: Sequence[Stage], beside: Sequence[Stage] = ()) -> Iterator[Stage]:
    """Yields the user's own stages: those that the filter reads before it, all others after it.

    A stage that names both kinds of documents reads both. beside: built-in stages that read unfiltered documents, and
    their other inputs.
    """
    before = _read_by([*filters, *beside], {stage.name: stage for stage in own})
    for stage in own:
        reads = {edge.asset for edge in stage.inputs}
        yield stage if stage.name in before or FILTERED in reads else next(after_filter([stage], filters))


def _read_by(filters: Sequence[Stage], known: Mapping[str, Stage]) -> set[str]:
    """Returns the names of all known stages that a filter reads, directly or not."""
    found: set[str] = set()
    frontier: list[Stage] = list(filters)
    while frontier:
        new = {edge.asset for edge in frontier.pop().inputs} & known.keys() - found
        found |= new
        frontier += [known[name] for name in new]
    return found


def require_after_filter(leave_out: Sequence[str], stages: Iterable[Stage]) -> None:
    """Raises `ConfigError` if the mix uses an attribute of unfiltered documents."""
    known = {stage.name: stage for stage in stages}
    if FILTERED not in known:
        return
    before = _read_by([known[FILTERED]], known)
    for name in leave_out:
        if name in before or READ in {edge.asset for edge in known[name].inputs}:
            raise ConfigError(
                f"mix.leave_out: {name!r} describes the documents before the filter; "
                "use a rule of `filter` instead, or take it out of what the filter reads"
            )


@dataclass(frozen=True)
class RuledHooks(Hooks):
    """The hooks of a stage with row rules: those of each set of rules together."""

    of_rules: tuple[Hooks, ...]

    @override
    def derived_parameters(self, settings: Values) -> Values:
        return dict(chain.from_iterable(hooks.derived_parameters(settings).items() for hooks in self.of_rules))

    @override
    def local_files(self, settings: Values) -> Mapping[str, bytes]:
        return dict(chain.from_iterable(hooks.local_files(settings).items() for hooks in self.of_rules))

    @override
    def check_before(self, settings: Values) -> None:
        for hooks in self.of_rules:
            hooks.check_before(settings)

    @override
    def kernels(self, settings: Values) -> Sequence[str]:
        return list(chain.from_iterable(hooks.kernels(settings) for hooks in self.of_rules))


class FilterHooks(RuledHooks):
    """The hooks of the filter."""

    @override
    def kernels(self, settings: Values) -> Sequence[str]:
        return [*of_lengths(settings), *super().kernels(settings)]

    @override
    def gate_all(self, records: Records, settings: Values, listing: Listing) -> Sequence[str]:
        return filtered_losses(records, settings, listing)

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterable[str]:
        return filter_notes(partitions, settings)


def hooks_of(sets: Iterable[RuleSet]) -> tuple[Hooks, ...]:
    """Returns the hooks of each set of rules."""
    return tuple(chosen.hooks for chosen in sets)


def without_hooks(sets: Iterable[RuleSet]) -> tuple[RuleSet, ...]:
    """Returns sets of rules without hooks, for workers."""
    return tuple(replace(chosen, hooks=NO_HOOKS) for chosen in sets)


def with_rules(stage: Stage, sets: Sequence[RuleSet]) -> Stage:
    """Returns a stage with the inputs and parameters of sets of rules added; its hooks stay."""
    edges = (*stage.inputs, *map(same, attributes_of(sets)), *(edge for chosen in sets for edge in chosen.inputs))
    parameters = (*stage.parameters, *(name for chosen in sets for name in chosen.parameters))
    return replace(
        stage,
        inputs=tuple(dict.fromkeys(edges)),
        parameters=tuple(dict.fromkeys(parameters)),
        reasons=tuple(name for chosen in sets for name in chosen.drops),
    )


def _stage(sets: tuple[RuleSet, ...]) -> Stage:
    stage = Stage(
        name=FILTERED,
        group="filter",
        unit_in="documents",
        unit_out="documents",
        description=f"Documents that row rules keep, with their changes: {', '.join(chosen.name for chosen in sets)}.",
        partitioning=Partitioning.SHARD,
        compute=partial(filtered_documents, sets=without_hooks(sets)),
        code_version="1",
        io="documents",
        inputs=(same(READ),),
        hooks=FilterHooks(hooks_of(sets)),
        columns=DOCUMENT_COLUMNS,
        kinds=("jsonl", "dolma"),
    )
    return with_rules(stage, sets)
