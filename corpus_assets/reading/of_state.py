"""The batches of a run by its state alone, which says how windows are made and ordered, and where the run stands."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from corpus_assets.reading.errors import ReadingError
from corpus_assets.reading.phases.plan import Phase, Planned
from corpus_assets.reading.phases.stream import PhasedStream
from corpus_assets.reading.separated import Separators
from corpus_assets.reading.token_stream import TokenStream
from corpus_assets.reading.window_dataset import WindowDataset
from corpus_assets.reading.window_stream import WindowStream


class _Of(msgspec.Struct):
    width: Annotated[int, msgspec.Meta(ge=2)]
    step: int
    seed: int | None
    before: int | None
    after: int | None


class _State(msgspec.Struct):
    of: _Of
    phases: list[Planned] | None = None


def batches_of_state(
    stream: TokenStream, state: Mapping[str, Any], batch_size: int, *, rank: int = 0, ranks: int = 1
) -> WindowStream | PhasedStream:
    """Returns the batches of the run that saved a state, from there on; of one with phases, with the plan it had then.

    Raises `ReadingError` for what is no state, and for one of another stream.
    """
    try:
        given = msgspec.convert(state, _State)
    except msgspec.ValidationError as error:
        raise ReadingError(f"no state of a WindowStream or PhasedStream: {error}") from None
    of, length = given.of, given.of.width - 1
    shared, separators = of.step == length, Separators(of.before, of.after)
    batches: WindowStream | PhasedStream
    if given.phases is None:
        windows = WindowDataset(stream, length, separators=separators, shared=shared, seed=of.seed)
        batches = WindowStream(windows, batch_size, rank=rank, ranks=ranks)
    else:
        phases = [Phase(phase.windows * length, phase.parts) for phase in given.phases]
        batches = PhasedStream(
            stream,
            length,
            phases,
            batch_size,
            rank=rank,
            ranks=ranks,
            separators=separators,
            shared=shared,
            seed=of.seed,
        )
    batches.load_state_dict(state)
    return batches
