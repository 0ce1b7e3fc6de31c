"""Which documents windows and steps hold: the ids of the named pieces, put together, are those that were read."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.reading import Piece, ReadingError, Separators, TokenStream, WindowDataset, WindowStream
from corpus_assets.reading import partition as partitions_of_streams
from tests.reading.written import numbered, write_stream

SEPARATORS = st.builds(Separators, st.sampled_from([None, 7]), st.sampled_from([None, 9]))


def ids_of(windows: WindowDataset, pieces: Sequence[Piece]) -> list[int]:
    """The ids that pieces name, read document by document."""
    found: list[int] = []
    for piece in pieces:
        before, after = ([] if id_ is None else [id_] for id_ in windows.separators)
        own = windows.stream[piece.document].tolist()
        first = len(before) + piece.first
        assert (piece.begin, piece.ids) == (len(found), len(own))
        assert piece.origin == windows.stream.origin(piece.document)
        found += [*before, *own, *after][first : first + piece.end - piece.begin]
        assert piece.end == len(found)
    return found


@given(
    lengths=st.lists(st.lists(st.integers(0, 9), max_size=20), min_size=1, max_size=4),
    length=st.integers(1, 12),
    shared=st.booleans(),
    separators=SEPARATORS,
    seed=st.none() | st.integers(0, 2**64 - 1),
    ranks_each=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    done=st.integers(0, 20),
)
def test_the_pieces_of_a_step_are_its_ids(
    lengths: list[list[int]],
    length: int,
    shared: bool,
    separators: Separators,
    seed: int | None,
    ranks_each: tuple[int, int],
    done: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partitions_of_streams, "BLOCK_DOCUMENTS", 3)
        stream = TokenStream(write_stream(tmp_path_factory.mktemp("stream"), *numbered(*lengths)))
    windows = WindowDataset(stream, length, separators=separators, shared=shared, seed=seed)
    if not len(windows):
        return
    assert [ids_of(windows, windows.documents(n)) for n in range(len(windows))] == [ids.tolist() for ids in windows]
    ranks, each = ranks_each
    batches = [WindowStream(windows, ranks * each, rank=rank, ranks=ranks) for rank in range(ranks)]
    state = batches[0].state_dict()
    epoch, samples = divmod(done, len(windows))
    for rank, one in enumerate(batches):
        one.load_state_dict({**state, "epoch": epoch, "samples": samples})
        for step, batch in enumerate(islice(one, 6)):
            assert [ids_of(windows, pieces) for pieces in one.documents(step)] == batch.tolist()
            assert batches[0].documents(step, rank=rank) == one.documents(step)


def test_pieces_over_many_blocks_and_partitions(tmp_path: Path) -> None:
    stream = TokenStream(write_stream(tmp_path, *numbered([1] * 9000, [], [0] * 9000, [2, 0, 3])))
    windows = WindowDataset(stream, 18_004, separators=Separators(after=9), seed=None)
    pieces = windows.documents(0)
    assert ids_of(windows, pieces) == windows[0].tolist()
    assert [piece.document for piece in pieces] == [*range(9000), 18_000, 18_002]
    assert pieces[-1][:5] == (18_003, 18_005, 18_002, 0, 3)


def test_steps_are_counted_from_the_state(tmp_path: Path) -> None:
    windows = WindowDataset(TokenStream(write_stream(tmp_path, *numbered([50]))), 4, separators=Separators())
    begun = WindowStream(windows, 2)
    batches = list(islice(begun, 3))
    later = WindowStream(windows, 3, epochs=1)
    later.load_state_dict(begun.state_dict())
    assert [ids_of(windows, one) for one in later.documents(0)] == next(iter(later)).tolist()
    assert [ids_of(windows, one) for one in later.documents(-2)] == [*batches[0].tolist(), batches[1][0].tolist()]
    for step, valid in ((2, "-2 to 1"), (-3, "-2 to 1")):
        with pytest.raises(ReadingError, match=f"step is {step}; valid: {valid}"):
            later.documents(step)
    with pytest.raises(ReadingError, match="step is -1; valid: 0 or more"):
        begun.documents(-1)
    with pytest.raises(ReadingError, match="rank is 1 of 1; valid: 0 to 0"):
        begun.documents(0, rank=1)
    with pytest.raises(IndexError, match="window 12 of 12"):
        windows.documents(12)


def test_a_stream_without_its_corpus_names_no_raw_row(tmp_path: Path) -> None:
    stream = TokenStream(write_stream(tmp_path, [[1, 2, 3]]))
    (piece,) = WindowDataset(stream, 2, separators=Separators()).documents(0)
    assert (piece.origin.id, piece.raw) == ("0-0é", None)
    assert stream.raw_rows([0]) == [None]
