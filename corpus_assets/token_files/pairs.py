"""Formats with two files whose names differ in their ends: one holds ids, the other says what they are."""

from collections.abc import Callable, Iterator, Sequence

from resources.raw_places.files import FoundFile
from resources.raw_places.interface import Group


def group_pairs(
    files: Sequence[FoundFile], _: Callable[[FoundFile], bytes], *, said: str, ids: str, needed: bool = True
) -> Iterator[Group]:
    """Yields the pairs of files. said, ids: how the two names end. needed: both; else `ids` may be alone.

    A file whose other half is missing is a group all the same, so that it is no data lost silently.
    """
    known = {file.path: file for file in files}
    for path, file in sorted(known.items()):
        if path.endswith(ids):
            stem = path.removesuffix(ids)
            if needed or stem + said in known:
                yield Group(file, stem, (_last(stem) + said,))
            else:
                yield Group(file, stem)
        elif needed and path.endswith(said) and path.removesuffix(said) + ids not in known:
            stem = path.removesuffix(said)
            yield Group(file, stem, (_last(stem) + ids,))


def _last(path: str) -> str:
    return path.rpartition("/")[2]
