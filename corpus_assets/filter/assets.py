"""The stage of the filter: present if any set of row rules is configured."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

from corpus_assets.filter.filtered_documents import attributes_of, filtered_documents
from corpus_assets.filter.losses import filter_notes, filtered_losses
from corpus_assets.normalize.compiled import of_lengths
from resources.errors import ConfigError
from resources.formats.documents import DOCUMENT_COLUMNS
from resources.row_rule import RuleSet
from resources.stage.declaration import Partitioning, Stage, Values, reading_instead, same

READ, FILTERED = "normalized_documents", "filtered_documents"


def filter_stages(sets: Sequence[RuleSet]) -> list[Stage]:
    """Returns the stage that applies sets of row rules in their order; none if there are no sets."""
    return [_stage(tuple(sets))] if sets else []


def after_filter(stages: Iterable[Stage], filters: Sequence[Stage]) -> Iterator[Stage]:
    """Yields stages as they read if there is a filter: filtered documents in the stead of normalized ones."""
    yield from (reading_instead(stage, READ, FILTERED) for stage in stages) if filters else stages


def own_after_filter(own: Sequence[Stage], filters: Sequence[Stage], beside: Sequence[Stage] = ()) -> Iterator[Stage]:
    """Yields stages of the user's own: those that the filter reads come before it, all others after it.

    A stage that reads both kinds of documents by their names goes on reading both. beside: built-in stages that read
    documents as they are before the filter, and what they read besides.
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
    """Raises `ConfigError` if the mix asks an attribute of documents as they were before the filter."""
    known = {stage.name: stage for stage in stages}
    if FILTERED not in known:
        return
    before = _read_by([known[FILTERED]], known)
    for name in leave_out:
        if name in before or READ in {edge.asset for edge in known[name].inputs}:
            raise ConfigError(
                f"mix.leave_out: {name!r} describes the documents before the filter; "
                "use a rule of `filter` in its stead, or let the filter not read it"
            )


def with_rules(stage: Stage, sets: Sequence[RuleSet]) -> Stage:
    """Returns a stage with all that sets of rules declare, besides what is its own."""
    edges = (*stage.inputs, *map(same, attributes_of(sets)), *(edge for chosen in sets for edge in chosen.inputs))
    parameters = (*stage.parameters, *(name for chosen in sets for name in chosen.parameters))
    derived = _given((stage.derived_parameters, *(chosen.derived_parameters for chosen in sets)))
    return replace(
        stage,
        inputs=tuple(dict.fromkeys(edges)),
        parameters=tuple(dict.fromkeys(parameters)),
        derived_parameters=partial(_merged, functions=derived),
        local_files=partial(_merged, functions=_given(chosen.local_files for chosen in sets)),
        check_before=partial(_check_all, functions=_given(chosen.check_before for chosen in sets)),
        reasons=tuple(name for chosen in sets for name in chosen.drops),
        kernels=partial(_kernels, functions=_given((stage.kernels, *(chosen.kernels for chosen in sets)))),
    )


def _stage(sets: tuple[RuleSet, ...]) -> Stage:
    stage = Stage(
        name=FILTERED,
        group="filter",
        unit_in="documents",
        unit_out="documents",
        description="Documents that no row rule drops, as row rules leave them: "
        f"{', '.join(chosen.name for chosen in sets)}.",
        partitioning=Partitioning.SHARD,
        compute=partial(filtered_documents, sets=sets),
        code_version="1",
        io="documents",
        inputs=(same(READ),),
        kernels=of_lengths,
        gate_all=filtered_losses,
        notes=filter_notes,
        columns=DOCUMENT_COLUMNS,
        kinds=("jsonl", "dolma"),
    )
    return with_rules(stage, sets)


def _given(functions: Iterable[Callable[[Values], Any] | None]) -> tuple[Callable[[Values], Any], ...]:
    return tuple(function for function in functions if function is not None)


def _merged(settings: Values, functions: Sequence[Callable[[Values], Mapping[str, Any]]]) -> dict[str, Any]:
    return dict(chain.from_iterable(function(settings).items() for function in functions))


def _check_all(settings: Values, functions: Sequence[Callable[[Values], None]]) -> None:
    for function in functions:
        function(settings)


def _kernels(settings: Values, functions: Sequence[Callable[[Values], Sequence[str]]]) -> tuple[str, ...]:
    return tuple(chain.from_iterable(function(settings) for function in functions))
