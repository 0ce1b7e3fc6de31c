"""Files that are no longer part of the corpus, in folders that trainers read as a whole.

The files of a partition that is gone, or that no record names, stay there until `corpus clean`, and a trainer would
read them together with the present ones.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from corpus_assets.numbers import amount
from resources.planning.planner import Planner

READ_WHOLE = ("tokens/", "exports/", "streams/", "splits/")
MOST_FOLDERS = 10


def left_beside(planner: Planner) -> dict[str, list[str]]:
    """Returns the files that lie beside those of partitions and are no part of any, by folder: `tokens/NAME`.

    It is a folder in which an asset that there is now has files. Files that no record names count only while all
    records can be read: one that cannot may name them.
    """
    named, gone, folders = set[str](), set[str](), set[str]()
    for asset in planner.ledger.assets():
        stage = planner.graph.stages.get(asset)
        present = {*planner.partitions(stage)} if stage else set[str | None]()
        for key, record in planner.records(asset).items():
            paths = {file.path for file in record.files if file.path.startswith(READ_WHOLE)}
            (named if key in present else gone).update(paths)
            folders |= {_folder(path) for path in paths if stage}
    left = {path for path in gone - named if _folder(path) in folders}
    if not planner.ledger.unreadable:
        left |= {path for path in _listed(planner, folders) if path not in named}
    return _still_there(planner, left)


def left_beside_note(planner: Planner) -> Iterator[str]:
    """Yields a note that names the folders with such files, if there are any, and one on files of a stopped build."""
    if not (found := left_beside(planner)):
        return
    stopped = _of_stopped_builds(planner, found)
    if old := _without(found, stopped):
        yield (
            "files that are no part of the corpus any more lie beside those that are, until `corpus clean`; whoever "
            f"reads a whole folder, as trainers do, reads both: {_shown(old)}"
        )
    if stopped:
        yield (
            "files that no commit record names lie beside those of the corpus, where partitions are missing; the next "
            f"build replaces what a stopped one left, and `corpus clean` removes the rest: {_shown(stopped)}"
        )


def _of_stopped_builds(planner: Planner, found: dict[str, list[str]]) -> dict[str, list[str]]:
    """Returns the files that no record names, in folders of assets of which a partition has none."""
    named, folders = set[str](), set[str]()
    for asset in planner.ledger.assets():
        stage, records = planner.graph.stages.get(asset), planner.records(asset)
        paths = [file.path for record in records.values() for file in record.files]
        named.update(paths)
        if stage and any(key not in records for key in planner.partitions(stage)):
            folders |= {_folder(path) for path in paths}
    return _without({folder: files for folder, files in found.items() if folder in folders}, {"": named})


def _without(found: Mapping[str, Sequence[str]], others: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """Returns the files by folder that are none of the others, and no folder without any."""
    out = {path for paths in others.values() for path in paths}
    left = {folder: [path for path in files if path not in out] for folder, files in found.items()}
    return {folder: files for folder, files in left.items() if files}


def _shown(found: dict[str, list[str]]) -> str:
    shown = [_words(folder, files) for folder, files in list(found.items())[:MOST_FOLDERS]]
    more = f", and {len(found) - len(shown):,} more folders" if len(found) > len(shown) else ""
    return f"{', '.join(shown)}{more}"


def _words(folder: str, files: Sequence[str]) -> str:
    first = files[0].removeprefix(f"{folder}/")
    return f"{folder} ({amount(len(files), 'files')}: {first}{', ...' if len(files) > 1 else ''})"


def _folder(path: str) -> str:
    """Returns the folder that is given to a reader: the first two names of a path, or the first alone."""
    return "/".join(path.split("/")[:-1][:2])


def _listed(planner: Planner, folders: set[str]) -> Iterator[str]:
    """Yields the files that were there when the folders were looked at, without those that are hidden."""
    for path in planner.stored_below({folder.partition("/")[0] for folder in folders}):
        if _folder(path) in folders and "/." not in path:
            yield path


def _still_there(planner: Planner, paths: set[str]) -> dict[str, list[str]]:
    """Returns the files, by folder, that a new listing has too: those of replaced records were removed since."""
    by_folder = defaultdict[str, set[str]](set)
    for path in paths:
        by_folder[_folder(path)].add(path)
    found = {folder: sorted(left.intersection(planner.storage.paths(folder))) for folder, left in by_folder.items()}
    return {folder: found[folder] for folder in sorted(found) if found[folder]}
