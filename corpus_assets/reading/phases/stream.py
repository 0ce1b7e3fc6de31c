"""Batches of a training plan: windows of sources by the weights of phases, that can continue from any step."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
import numpy as np
from numpy.typing import DTypeLike

from corpus_assets.reading.batches import Batches, Part, parts_of
from corpus_assets.reading.errors import ReadingError
from corpus_assets.reading.phases.plan import Phase, Planned, planned
from corpus_assets.reading.phases.schedule import Schedule
from corpus_assets.reading.separated import Separators
from corpus_assets.reading.token_stream import TokenStream
from corpus_assets.reading.window_dataset import WindowDataset
from corpus_assets.reading.window_stream import require_same

STATE_VERSION = 1
_Count = Annotated[int, msgspec.Meta(ge=0)]


class _State(msgspec.Struct):
    version: int
    samples: _Count
    used: dict[str, _Count]
    phases: list[Planned]
    of: dict[str, int | str | None]
    sources: dict[str, str]


class PhasedStream(Batches):
    """The batches of one rank of a run with phases. Like `WindowStream` an iterable dataset of torch.

    Each source has windows of its own, in the order of `seed`, epoch after epoch. The weights of a phase say which
    source the next window is of: the one that lacks most of its share. So nothing but the plan decides, and a source
    goes on in a phase where those before left it. After the last phase the batches end; windows too few for a batch are
    `unused`.

    The state is how many windows all ranks have had, and the phases. A run goes on with other ranks, workers and batch
    sizes, and with other later phases. A state is refused if the plan contradicts what the run has had.
    """

    def __init__(
        self,
        stream: TokenStream,
        length: int,
        phases: Sequence[Phase],
        batch_size: int,
        *,
        rank: int = 0,
        ranks: int = 1,
        separators: Separators | None = None,
        shared: bool = True,
        seed: int | None = 0,
        dtype: DTypeLike = np.int64,
    ) -> None:
        self.phases = planned(phases, length)
        self._schedule = Schedule(self.phases)
        super().__init__(batch_size, rank, ranks, len(self._schedule))
        self.windows = {
            source: WindowDataset(
                stream, length, source=source, separators=separators, shared=shared, seed=seed, dtype=dtype
            )
            for source in self._schedule.sources
        }
        for source, windows in self.windows.items():
            if not len(windows):
                raise ReadingError(f"source {source!r} has no window of {windows.width} ids; leave it out of the plan")

    def epochs(self) -> dict[str, float]:
        """Returns how often the windows of each source are used in the whole plan."""
        counts = self._schedule.counts(len(self._schedule))
        return {source: counts[source] / len(windows) for source, windows in self.windows.items()}

    def state_dict(self) -> dict[str, Any]:
        """Returns where the run stands: `samples` that all ranks have had, `used` of each source, and the phases."""
        return {
            "version": STATE_VERSION,
            "samples": self._had(),
            "used": self._schedule.counts(self._done),
            "phases": [msgspec.to_builtins(phase) for phase in self.phases],
            "of": self._identity(),
            "sources": self._layouts(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a state; `ReadingError` if it is of other windows, or if the run has had another plan."""
        try:
            given = msgspec.convert(state, _State)
        except msgspec.ValidationError as error:
            raise ReadingError(f"no state of a stream of phases: {error}") from None
        if given.version != STATE_VERSION:
            raise ReadingError(f"state of version {given.version}; valid: {STATE_VERSION}")
        require_same(given.of, self._identity())
        layouts = self._layouts()
        require_same(given.sources, {source: layouts[source] for source in given.sources if source in layouts})
        self._require_plan(given)
        self._continue_from(given.samples)

    def _identity(self) -> dict[str, Any]:
        windows = next(iter(self.windows.values()))
        said = {key: value for key, value in windows.identity().items() if key != "source"}
        return {**said, "layout": windows.stream.layout_digest()}

    def _layouts(self) -> dict[str, str]:
        return {source: one.stream.layout_digest(source) for source, one in self.windows.items()}

    def _require_plan(self, given: _State) -> None:
        """Raises `ReadingError` if a phase that the run has begun is another in this plan."""
        begin = 0
        for number, was in enumerate(given.phases):
            had = min(given.samples - begin, was.windows)
            if had <= 0:
                break
            now = self.phases[number] if number < len(self.phases) else None
            ended = given.samples > begin + was.windows
            if now is None or now.parts != was.parts:
                planned_now = now.parts if now else "no such phase"
                raise ReadingError(
                    f"the run has had {had:,} windows of phase {number} with parts {was.parts}; the plan has "
                    f"{planned_now}; valid: the same weights, and other ones in a phase after it"
                )
            if now.windows != was.windows if ended else now.windows < had:
                valid = f"{was.windows:,}" if ended else f"{had:,} or more"
                raise ReadingError(
                    f"phase {number} has {now.windows:,} windows; valid: {valid}, as the run has had them"
                )
            begin += was.windows
        if given.samples > len(self._schedule):
            raise ReadingError(f"the run has had {given.samples:,} windows; the plan has {len(self._schedule):,}")
        if given.samples > (planned_then := sum(phase.windows for phase in given.phases)):
            raise ReadingError(f"the run has had {given.samples:,} windows; the phases of its state {planned_then:,}")
        counts = self._schedule.counts(given.samples)
        require_same({**dict.fromkeys(counts, 0), **given.used}, counts)

    def _parts(self, first: int, rank: int) -> list[Part]:
        sources, uses = (all_of[rank :: self.ranks] for all_of in self._schedule.windows(first, self.batch_size))
        rows = np.arange(len(sources))
        found: list[Part] = []
        for number, source in enumerate(self._schedule.sources):
            if (chosen := sources == number).any():
                found += parts_of(self.windows[source], uses[chosen], rows[chosen])
        return found
