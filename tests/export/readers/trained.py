"""What tests of trainers ask of a run: that its loss falls, and what it learns of the golden pack."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from types import MappingProxyType
from typing import Any

from tests.build.small import opened
from tests.export.exported import encoded, stream_of, tokenizer_of
from tests.export.masked.rules import Pairs
from tests.export.masked.written import GOLDEN, write
from tests.export.readers.environments import run
from tests.export.test_mds import cut

LEARNED: Pairs = Counter({((11, 12), 13): 1, ((21, 22), 23): 1})
"""What is to be learned of the golden pack: a context, and the id that follows it."""


def falls(losses: Sequence[float]) -> bool:
    """Whether the loss of a run of ten steps or more falls by a tenth at least."""
    assert len(losses) >= 10
    return mean(losses[-3:]) < 0.9 * mean(losses[:3])


def windows_of(folder: Path, length: int) -> list[list[int]]:
    """The windows of the corpus of a page."""
    corpus = opened(folder)
    streams = stream_of(corpus, tokenizer_of(corpus).eos_id)
    return [window for ids in streams.values() for window in cut(ids, length)]


def documents_of(folder: Path) -> list[list[int]]:
    """The documents of the corpus of a page, with end-of-text."""
    corpus = opened(folder)
    tail = [id_ for id_ in (tokenizer_of(corpus).eos_id,) if id_ is not None]
    return [[*ids, *tail] for documents in encoded(corpus).values() for ids in documents]


def rows_of(batches: Iterable[dict[str, Any]], key: str = "input_ids") -> list[list[int]]:
    """The rows of all batches, in order of their ids: trainers shuffle."""
    return sorted(row for batch in batches for row in batch[key])


def split(batches: Iterable[dict[str, Any]]) -> list[list[int]]:
    """The documents of all batches, which begin where positions do; in order of their ids."""
    found: list[list[int]] = []
    for batch in batches:
        for ids, positions in zip(batch["input_ids"], batch["position_ids"], strict=True):
            for id_, position in zip(ids, positions, strict=True):
                if position == 0:
                    found.append([])
                assert position == len(found[-1])
                found[-1].append(id_)
    return sorted(found)


def batch_rows(batches: Iterable[dict[str, Any]]) -> Iterator[dict[str, list[int]]]:
    """The rows of all batches, with all that the model was given of each."""
    for batch in batches:
        yield from (dict(zip(batch, row, strict=True)) for row in zip(*batch.values(), strict=True))


def pairs_of(found: Iterable[tuple[Sequence[int], int]]) -> Pairs:
    """Contexts and what was predicted, as lists in JSON."""
    return Counter((tuple(context), target) for context, target in found)


def golden(
    name: str,
    module: str,
    given: Mapping[str, Any],
    folder: Path,
    dataset: str,
    variables: Mapping[str, str] = MappingProxyType({}),
    **options: Any,
) -> Pairs:
    """What a trainer learns of the golden pack, written as `dataset` with these options; read off its gradients."""
    made = write(folder / "corpus", GOLDEN, **options)
    if options["format"] != "parquet":  # Others need their index.
        made.finish()
    (made.folder.parent / dataset).symlink_to(made.folder, target_is_directory=True)
    return pairs_of(run(name, module, {**given, "vocabulary": 32, "pairs": True}, folder, **variables)["pairs"])
