"""Stages of exact substrings: passages of each shard, what ranges know of them, windows, and the attribute."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from typing_extensions import override

from corpus_assets import dataset_names as names
from corpus_assets.attributes.dedupers.unmatched import unmatched
from corpus_assets.attributes.substrings import compiled
from corpus_assets.attributes.substrings.by_range import RANGES
from corpus_assets.attributes.substrings.marks import marks
from corpus_assets.attributes.substrings.passages import passages
from corpus_assets.attributes.substrings.repeated import PASSAGES, WINDOWS, repeated
from corpus_assets.attributes.substrings.windows import windows
from corpus_assets.config.selection.kinds.substrings import Substrings
from resources.formats.row_tables import NAMES, TEXTS
from resources.stage.declaration import Partitioning, Stage, own_segment, same
from resources.stage.hooks import Hooks, Values
from resources.stage.partition import Partition

_ANSWERS = {
    "number": "uint32: of its content in the shard",
    "first": "uint32: first window that no copy in the shard makes a repetition",
    "asked": "uint32: number of these windows",
    "is_first": "bool: whether it is the first copy in the shard",
}
_SAYS = {"says": "uint8 or uint32: bits, whether it is repeated, shares its k-gram, is boilerplate; documents"}


def substring_stages(rules: Iterable[Substrings]) -> Iterator[Stage]:
    """Yields the five stages of each entry of `dedupers` with `kind: substrings`."""
    for rule in rules:
        yield _passages(rule)
        yield _repeated_passages(rule)
        yield _windows(rule)
        yield _repeated_windows(rule)
        yield _marks(rule)


def _passages(rule: Substrings) -> Stage:
    return Stage(
        name=f"{rule.name}_passages",
        group=names.repetitions(rule.name),
        unit_in="documents",
        unit_out="passages",
        description=f"Texts cut into passages: neighbouring windows of {rule.min_length} around one k-gram.",
        partitioning=Partitioning.SHARD,
        compute=partial(passages, rule=rule),
        code_version="1",
        io="arrays",
        inputs=(same("normalized_documents", segment=TEXTS),),
        parameters=(RANGES,),
        hooks=PassagesHooks(rule, ("min_length", "keep", "boilerplate", "sources", "glob"), compiled.of_passages),
        columns={"hash": "uint64[3]: of the k-gram, and of all of the passage", **_ANSWERS},
        kinds=("numba",),
    )


def _repeated_passages(rule: Substrings) -> Stage:
    return Stage(
        name=f"{rule.name}_repeated_passages",
        group=names.repetitions(rule.name),
        unit_in="passages",
        unit_out="passages",
        description="Which passages of one range of hashes other shards have too, and which differ but share a k-gram.",
        partitioning=Partitioning.RANGE,
        compute=partial(repeated, rule=rule, kind=PASSAGES),
        code_version="1",
        io="arrays",
        inputs=(own_segment(f"{rule.name}_passages", folded=True),),
        parameters=(RANGES,),
        hooks=OrderedHooks(rule, ("keep", "boilerplate"), _no_kernels),
        columns=_SAYS,
        kinds=("numpy",),
    )


def _windows(rule: Substrings) -> Stage:
    return Stage(
        name=f"{rule.name}_windows",
        group=names.repetitions(rule.name),
        unit_in="passages",
        unit_out="windows",
        description=f"Windows of {rule.min_length} of passages that differ but share a k-gram, and a hash of each.",
        partitioning=Partitioning.SHARD,
        compute=partial(windows, rule=rule),
        code_version="1",
        io="arrays",
        inputs=(
            same("normalized_documents", segment=TEXTS),
            same(f"{rule.name}_passages"),
            own_segment(f"{rule.name}_repeated_passages", folded=True),
        ),
        parameters=(RANGES,),
        hooks=SubstringsHooks(rule, ("min_length", "keep", "boilerplate"), compiled.of_windows),
        columns={"hash": "uint64[2]: of a window", **_ANSWERS},
        kinds=("numba",),
    )


def _repeated_windows(rule: Substrings) -> Stage:
    return Stage(
        name=f"{rule.name}_repeated_windows",
        group=names.repetitions(rule.name),
        unit_in="windows",
        unit_out="windows",
        description="Which windows of one range of hashes other shards have too.",
        partitioning=Partitioning.RANGE,
        compute=partial(repeated, rule=rule, kind=WINDOWS),
        code_version="1",
        io="arrays",
        inputs=(own_segment(f"{rule.name}_windows", folded=True),),
        parameters=(RANGES,),
        hooks=OrderedHooks(rule, ("keep", "boilerplate"), _no_kernels),
        columns=_SAYS,
        kinds=("numpy",),
    )


def _marks(rule: Substrings) -> Stage:
    kept = "all but the first copy in corpus order" if rule.keep == "first" else "all copies"
    return Stage(
        name=f"{rule.name}_attributes",
        group=names.repetitions(rule.name),
        unit_in="documents",
        unit_out="documents",
        description=f"Repeated substrings of {rule.min_length} or more: {kept}.",
        partitioning=Partitioning.SHARD,
        compute=partial(marks, rule=rule),
        code_version="1",
        io="documents",
        inputs=(
            same("normalized_documents", segment=NAMES),
            same(f"{rule.name}_passages"),
            own_segment(f"{rule.name}_repeated_passages", folded=True),
            same(f"{rule.name}_windows"),
            own_segment(f"{rule.name}_repeated_windows", folded=True),
        ),
        hooks=SubstringsHooks(
            rule,
            ("min_length", "keep", "boilerplate", "borders", "flag_share", "sources", "glob"),
            compiled.of_marks,
        ),
        columns={
            "id": "string: of the document in the same row",
            "attributes": "json: spans that are repeated, [start, end, 1] in code points",
            "source": "string: of the document",
        },
        kinds=("jsonl", "dolma"),
    )


def _no_kernels(_: Substrings) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True)
class SubstringsHooks(Hooks):
    """The hooks of a stage of an entry. keys: those that its content depends on."""

    rule: Substrings
    keys: tuple[str, ...]
    compiles: Callable[[Substrings], tuple[str, ...]]

    @override
    def derived_parameters(self, settings: Values) -> Values:
        values = {key: getattr(self.rule, key) for key in self.keys}
        if values.get("sources"):
            values["sources"] = sorted(values["sources"])
        return {f"dedupers.{self.rule.name}.{key}": value for key, value in values.items()}

    @override
    def kernels(self, settings: Values) -> Sequence[str]:
        return self.compiles(self.rule)


class OrderedHooks(SubstringsHooks):
    """The hooks of a stage of ranges: the order of sources decides which copy is the first."""

    @override
    def derived_parameters(self, settings: Values) -> Values:
        order = {"order of sources": [source["name"] for source in settings["sources"]]}
        return {**super().derived_parameters(settings), **order}


class PassagesHooks(SubstringsHooks):
    """The hooks of passages: patterns that no file matches are noticed."""

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterator[str]:
        """Yields sentences on patterns of an entry that no file matches."""
        yield from unmatched(self.rule, partitions)
