"""A pulled folder: what it holds, the folder beside it in which the next state grows, and how that takes its place."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from resources.errors import ConfigError, HeldError
from resources.outside.looking import files_below
from resources.raw_places.files import printable
from resources.system_errors import raise_machine_error

RECORD = ".pulled.json"


class PulledFrom(msgspec.Struct, frozen=True):
    """The record in a pulled folder. files: the hub's digest of each, by path."""

    address: str
    commit: str
    files: dict[str, str]


@dataclass(frozen=True)
class Stage:
    """The folder beside a pulled folder. files: what is complete. parts: what is being fetched."""

    files: Path
    parts: Path

    def keep_only(self, paths: set[str]) -> None:
        """Removes what an interrupted pull of another commit left, so that every path is free."""
        for file in sorted(self.files.rglob("*"), reverse=True):
            if file.is_dir() and not file.is_symlink():
                with suppress(OSError):
                    file.rmdir()
            elif file.relative_to(self.files).as_posix() not in paths:
                file.unlink()


def pulled_before(folder: Path) -> PulledFrom | None:
    """Returns the record of a folder; None if there is no folder, or nothing in it.

    `ConfigError` if it holds anything that no pull wrote. A pull that was killed while it put files in place is ended.
    """
    old = _beside(folder, "before")
    if not folder.exists():
        with suppress(FileNotFoundError):
            old.rename(folder)
    shutil.rmtree(old, ignore_errors=True)
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return None
    try:
        record = msgspec.json.decode((folder / RECORD).read_bytes(), type=PulledFrom)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise_machine_error(error, "reading", folder / RECORD)
        raise ConfigError(f"{folder}: valid is a folder that is absent, empty or of `corpus pull`") from None
    for file in files_below(folder):
        path = file.relative_to(folder).as_posix()
        if path != RECORD and path not in record.files:
            raise ConfigError(f"{folder}: holds {printable(path)!r}, which no pull wrote; pull into another folder")
    return record


@contextmanager
def staging(folder: Path) -> Iterator[Stage]:
    """Holds the staging folder alone, and removes it if all went well; `HeldError` while another process holds it."""
    top = _beside(folder, "pulling")
    stage = Stage(top / "files", top / "parts")
    for one in (stage.files, stage.parts):
        one.mkdir(parents=True, exist_ok=True)
    with (top / "lock").open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise HeldError(f"{folder}: another pull into it is running") from None
        yield stage
        shutil.rmtree(top)


def put_in_place(stage: Stage, folder: Path, record: PulledFrom) -> None:
    """Puts the complete files in the place of the folder, with the record of what they are."""
    with (stage.files / RECORD).open("wb") as target:
        target.write(msgspec.json.format(msgspec.json.encode(record), indent=1))
        target.flush()
        os.fsync(target.fileno())
    old = _beside(folder, "before")
    if folder.exists():
        folder.rename(old)
    stage.files.rename(folder)
    handle = os.open(folder.parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    shutil.rmtree(old, ignore_errors=True)


def _beside(folder: Path, kind: str) -> Path:
    return folder.with_name(f".{folder.name}.{kind}")
