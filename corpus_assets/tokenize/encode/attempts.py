"""Makes a partition with the fastest tokenizer library, and again with the reference if that library was wrong."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, cast

from corpus_assets.tokenize.encode.backends import FIRST_CHARACTERS, BackendDiffers, LibraryName, accelerate
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.raw_places.files import printable
from resources.stage.partition import Partition
from resources.stage.task import Task

BACKEND = "backend"
"""The run option that names the library that encodes."""

_SLOWER = "tokenizer_fell_back"
"""Number of a partition: why it was made with the reference."""

T = TypeVar("T")


def worth_proving(chosen: LibraryName, first: Sequence[str], *, whole: bool) -> LibraryName:
    """Returns the library to try: the reference, if the proof of another would encode all texts with it anyway.

    whole: the first texts are all that there are.
    """
    small = whole and sum(map(len, first)) < FIRST_CHARACTERS
    return "tokenizers" if chosen == "auto" and small else chosen


def with_fastest(
    task: Task,
    tokenizer: Tokenizer,
    first: Sequence[str],
    attempt: Callable[[Tokenizer], T],
    *,
    whole: bool = False,
) -> tuple[T, dict[str, Any]]:
    """Returns the result of `attempt` with the fastest proved tokenizer, and numbers for people.

    first: the beginnings of the first texts, for the proof. If the library turns out to differ later, the task starts
    again with the reference.
    whole: see `worth_proving`.
    """
    chosen = cast(LibraryName, task.run_options[BACKEND])
    fast = accelerate(tokenizer, worth_proving(chosen, first, whole=whole), first)
    fell_back = None
    try:
        made = attempt(cast(Tokenizer, fast))
    except BackendDiffers as difference:
        fell_back = str(difference)
        task.restart()
        made = attempt(tokenizer)
    report = {**fast.report(), **({"backend": "tokenizers", "fell_back": fell_back} if fell_back else {})}
    return made, {f"tokenizer_{name}": value for name, value in report.items() if value is not None}


def slower_notes(partitions: Sequence[Partition], what: str) -> Iterator[str]:
    """Yields a sentence on the partitions for which a fast library was found to differ from the reference.

    what: the dataset or stage in words, as the sentence begins.
    """
    every = [partition.record.statistics for partition in partitions]
    found = [str(one[_SLOWER]) for one in every if one.get(_SLOWER)]
    if found:
        yield (
            f"{what}: {len(found):,} of {len(every):,} partitions were encoded with the reference, which is slower and "
            f"gives the right ids, since a fast library differed from it ({printable(found[0])})"
        )
