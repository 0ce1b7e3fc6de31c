# ruff: noqa: ARG002 (the default methods use no argument)
"""What a build asks of a stage, besides its partitions, in the driver process. Workers do not get the hooks."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from resources.ledger.ledger import Record
from resources.shards.listing import Listing
from resources.stage.partition import Partition

Values = Mapping[str, Any]
"""The plain values of `corpus.yaml`, by section."""

Records = Mapping[str | None, Record]
"""The commit records of an asset by partition key."""


class Hooks:
    """What a build asks of a stage, by default nothing. A stage that has something to say overrides these methods.

    `settings` are the plain values of the whole `corpus.yaml`. A public method that no build calls is refused with
    `TypeError`: it is a hook with a wrong name.

        class Shouting(Hooks):
            def gate(self, counters, settings):
                return ["nearly all documents shout"] if counters["shouting"]["share"] > 0.9 else []

        Stage(name="shouting", ..., hooks=Shouting())
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        known = [name for name in vars(Hooks) if not name.startswith("_")]
        for name, value in vars(cls).items():
            if callable(value) and not name.startswith("_") and name not in known:
                raise TypeError(f"{cls.__name__}: received {name!r}, which no build calls; valid: {', '.join(known)}")

    def derived_parameters(self, settings: Values) -> Values:
        """Returns further parameters, made from the configuration, such as digests of files that it names.

        `ConfigError` if such a file is missing.
        """
        return {}

    def source_parameters(self, source: Values) -> Values:
        """Returns further parameters of the shards of one source, made from its section of corpus.yaml."""
        return {}

    def local_files(self, settings: Values) -> Mapping[str, bytes]:
        """Reads small files that the configuration names; workers get their contents, not their paths."""
        return {}

    def run_options(self, settings: Values) -> Values:
        """Returns options of `compute` that do not change the content."""
        return {}

    def reasons(self, settings: Values) -> Sequence[str]:
        """Returns the reasons for which rows may be dropped, besides those of `Stage.reasons`."""
        return ()

    def check_before(self, settings: Values) -> None:
        """Raises `ConfigError` for faults that would otherwise show only when the stage runs; called before a build."""

    def kernels(self, settings: Values) -> Sequence[str]:
        """Returns the compiled functions that `compute` calls, by module and name; a build compiles them ahead.

        What is not named compiles when it is called.
        """
        return ()

    def foretells(self, settings: Values) -> Iterable[str]:
        """Returns sentences for the plan while something is to be computed."""
        return ()

    def compares(self, content: Callable[[str], str | None], settings: Values) -> Iterable[str]:
        """Returns sentences for the plan about content that is other than what something was made for.

        content: returns a digest of all content that an asset has now; None if none of it is built.
        """
        return ()

    def gate(self, counters: Values, settings: Values) -> Sequence[str]:
        """Returns the reasons not to use a partition, given its counters; while there are any, its readers wait."""
        return ()

    def gate_all(self, records: Records, settings: Values, listing: Listing) -> Sequence[str]:
        """Returns the reasons not to use the asset that no single partition shows.

        records: all of the asset by key, including those of partitions that are gone.
        listing: of the raw files.
        """
        return ()

    def gate_listing(self, settings: Values, listing: Listing) -> Sequence[str]:
        """Returns the reasons not to use the asset that the listing of raw files shows before anything is built."""
        return ()

    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterable[str]:
        """Returns sentences for the end of a build, given the partitions that are built."""
        return ()


NO_HOOKS = Hooks()


def gives(hooks: Hooks, hook: Callable[..., Any]) -> bool:
    """Returns whether hooks override a method: `gives(stage.hooks, Hooks.gate)`."""
    return getattr(type(hooks), hook.__name__) is not hook
