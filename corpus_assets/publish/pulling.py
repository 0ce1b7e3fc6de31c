"""Pulls a dataset of the hub into a folder: every file is compared with its digest, and all appear together."""

import hashlib
import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from corpus_assets.publish import manifest as lists
from corpus_assets.publish.hub_faults import named
from corpus_assets.publish.pulled_folder import RECORD, PulledFrom, Stage, pulled_before, put_in_place, staging
from resources.errors import StorageError
from resources.hashing import content_digest
from resources.raw_places.addresses import HubAddress
from resources.raw_places.files import FoundFile, printable
from resources.raw_places.hub import HubFolder, all_files

_LFS, _GIT = "hub/sha256:", "hub/git:"
_BLOCK = 1 << 20


@dataclass
class Pulled:
    """The result. files: of the dataset. fetched, bytes: those that came over the network now."""

    commit: str
    files: int = 0
    fetched: int = 0
    bytes: int = 0


def pull(
    place: HubAddress,
    folder: Path,
    *,
    begins: Callable[[int], None] = lambda _: None,
    on_bytes: Callable[[int], None] = lambda _: None,
) -> Pulled:
    """Makes a folder hold all files of a dataset at a revision; a pull that was interrupted goes on where it was.

    The folder is absent, empty, or of an earlier pull, whose equal files are kept. Until the end it stays as it was:
    new files lie in a folder beside it. begins: called with the bytes of all files, on_bytes with those that are there.
    `ConfigError` for any other folder; `StorageError` if a file differs from its digest.
    """
    folder = folder.absolute()
    before = pulled_before(folder)
    found = {file.path: file for file in all_files(place)}
    if not found:
        raise StorageError(f"{named(place)}: has no files")
    for path in found:
        _require_safe(place, path)
    (commit,) = {file.commit for file in found.values()}
    record = PulledFrom(named(place), commit, {path: file.modified for path, file in found.items()})
    begins(sum(file.bytes for file in found.values()))
    with staging(folder) as stage:
        stage.keep_only(set(found))
        pulling = _Pulling(place, folder, stage, Pulled(commit, len(found)), on_bytes)
        for file in found.values():
            pulling.obtain(file)
        _require_as_listed(place, stage.files, found)
        if before != record or pulling.differs:
            put_in_place(stage, folder, record)
    return pulling.result


class _Pulling:
    """Puts one file after the other into the staging folder. differs: whether the pulled folder lacked one of them."""

    def __init__(
        self, place: HubAddress, folder: Path, stage: Stage, result: Pulled, on_bytes: Callable[[int], None]
    ) -> None:
        self.result = result
        self.differs = False
        self._place, self._folder, self._stage, self._on_bytes = place, folder, stage, on_bytes
        self._hub = HubFolder(f"hf://datasets/{place.repository}@{result.commit}")

    def obtain(self, file: FoundFile) -> None:
        """Takes a file from the folder as it is, from an interrupted pull, or from the hub."""
        target, here = self._stage.files / file.path, self._folder / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        is_here = _is_sound(here, file)
        self.differs |= not is_here
        if _is_sound(target, file):
            self._on_bytes(file.bytes)
            return
        target.unlink(missing_ok=True)
        if is_here:
            _link(here, target)
            self._on_bytes(file.bytes)
            return
        part = self._stage.parts / content_digest(file.modified.encode())
        self._fetch(file, part)
        if not _is_sound(part, file):
            part.unlink()
            where = f"{named(self._place)}/{file.path}"
            raise StorageError(f"{where}: what came differs from the hub's digest {file.modified}; pull again")
        part.rename(target)
        self.result.fetched += 1

    def _fetch(self, file: FoundFile, part: Path) -> None:
        """Fetches the bytes of a file that an earlier try did not fetch."""
        with part.open("ab") as target:
            done = target.tell()
            if done > file.bytes:
                target.truncate(0)
                done = 0
            self._on_bytes(done)
            if done < file.bytes:
                with closing(self._hub.open(file, f"{named(self._place)}/{file.path}")) as stream:
                    stream.seek(done)
                    while block := stream.read(_BLOCK):
                        target.write(block)
                        self.result.bytes += len(block)
                        self._on_bytes(len(block))
            target.flush()
            os.fsync(target.fileno())


def _is_sound(path: Path, file: FoundFile) -> bool:
    """Returns whether a path holds the bytes that the hub has a digest of."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size != file.bytes:
        return False
    of_git = hashlib.sha1(b"blob %d\0" % file.bytes, usedforsecurity=False)
    digest: Any = hashlib.sha256() if file.modified.startswith(_LFS) else of_git
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return bool(digest.hexdigest() == file.modified.removeprefix(_LFS).removeprefix(_GIT))


def _link(source: Path, target: Path) -> None:
    """Gives a file a second name; copies it where the file system has none."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _require_safe(place: HubAddress, path: str) -> None:
    """Raises `StorageError` for a path that could leave the folder, or take the place of the record."""
    plain = PurePosixPath(path)
    if plain.is_absolute() or ".." in plain.parts or plain.as_posix() != path or "\0" in path or path == RECORD:
        raise StorageError(f"{named(place)}: a file is named {printable(path)!r}, which cannot lie in a pulled folder")


def _require_as_listed(place: HubAddress, folder: Path, found: Mapping[str, FoundFile]) -> None:
    """Raises `StorageError` if files differ from the list that `corpus publish` wrote, if there is one."""
    if lists.NAME not in found:
        return
    for file in lists.decode((folder / lists.NAME).read_bytes(), f"{named(place)}/{lists.NAME}").files:
        there = found.get(file.path)
        if there is None or there.bytes != file.bytes or there.modified not in (_LFS + file.sha256, _GIT + file.blob):
            what = "is gone since it was published" if there is None else "is not as it was published"
            raise StorageError(f"{named(place)}/{file.path}: {what}; valid is @COMMIT with one of `corpus publish`")
