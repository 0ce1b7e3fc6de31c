"""Why a DAGSTER_HOME cannot be used, and what to do; found before a build computes, without loading Dagster."""

import errno
import os
import sqlite3
from contextlib import suppress
from pathlib import Path

from corpus_assets.orchestration.home.dagster_yaml import NAME, require_settings
from corpus_assets.orchestration.home.folder import HOME_VARIABLE, dagster_home
from resources.errors import ConfigError, StorageError, is_of_the_file

LOCK = ".lock"
_HEAD = b"SQLite format 3\0"
_ELSEWHERE = "set DAGSTER_HOME to another folder"
_FULL = {errno.ENOSPC, errno.EDQUOT}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}
_NO_FOLDER = {errno.EEXIST, errno.ENOTDIR}
_OF_SQLITE = {
    "disk is full": f"make room, or {_ELSEWHERE}",
    "readonly database": f"make it writable for this user, or {_ELSEWHERE}",
    "unable to open database": f"make it writable for this user, or {_ELSEWHERE}",
    "is locked": f"another process holds it for long; end that, or {_ELSEWHERE}",
}


def require_home(folder: Path) -> None:
    """Makes the DAGSTER_HOME of a corpus if it is not there. folder: that of corpus.yaml.

    `ConfigError` for a variable that names no absolute path, and for a dagster.yaml that cannot be read; `StorageError`
    for a place where nothing can be written.
    """
    require_readable(folder)
    home = dagster_home(folder)
    try:
        home.mkdir(parents=True, exist_ok=True)
        with (home / LOCK).open("a"):
            pass
    except OSError as error:
        raise home_fault(home, error) from None


def require_absolute() -> None:
    """Raises `ConfigError` for a variable that names no absolute path."""
    named = os.environ.get(HOME_VARIABLE, "")
    if named and not Path(named).is_absolute():
        valid = Path(named).expanduser() if named.startswith("~/") else Path(named).absolute()
        raise ConfigError(
            f"DAGSTER_HOME: received {named!r}, which Dagster refuses; valid is an absolute path, such as {valid}"
        )


def require_readable(folder: Path) -> None:
    """Raises `ConfigError` for a variable that names no absolute path, and for a dagster.yaml that cannot be read."""
    require_absolute()
    home = dagster_home(folder)
    try:
        require_settings(home, folder)
    except OSError as error:
        raise home_fault(home, error) from None


def home_fault(home: Path, cause: OSError | sqlite3.Error) -> StorageError:
    """Returns the fault of a DAGSTER_HOME as one sentence, with what to do."""
    why = getattr(cause, "strerror", None) or str(cause)
    where = getattr(cause, "filename", None)
    at = f": {where}" if where and Path(str(where)) != home else ""
    advice = _advice(home, cause)
    of_the_place = not isinstance(cause, OSError) or is_of_the_file(cause) or cause.errno in _FULL | _FORBIDDEN
    if at and of_the_place and not Path(str(where)).is_relative_to(home) and not home.is_relative_to(str(where)):
        advice = f"correct {home / NAME}, which names that place"
    return StorageError(f"{home}: Dagster cannot keep its runs there ({why}{at}); {advice}")


def _advice(home: Path, cause: OSError | sqlite3.Error) -> str:
    number = cause.errno if isinstance(cause, OSError) else None
    if number in _FULL:
        return f"make room, or {_ELSEWHERE}"
    if number in _FORBIDDEN:
        return f"make it writable for this user, or {_ELSEWHERE}"
    if number in _NO_FOLDER:
        file = next((one for one in (home, *home.parents) if os.path.lexists(one) and not one.is_dir()), home)
        return f"{file} is no folder; remove it, or {_ELSEWHERE}"
    if isinstance(cause, IsADirectoryError):
        return f"remove the folder {cause.filename}, where a file has to be"
    if isinstance(cause, sqlite3.DatabaseError):
        known = next((advice for part, advice in _OF_SQLITE.items() if part in str(cause)), None)
        return known or f"{_damaged(home)} is damaged; move it away: the next build reports everything to Dagster again"
    return _ELSEWHERE


def _damaged(home: Path) -> str:
    """Returns the first database without a valid beginning; else all of them, since no error names the file."""
    for file in sorted(home.rglob("*.db")):
        with suppress(OSError), file.open("rb") as opened:
            if opened.read(len(_HEAD)) not in (b"", _HEAD):
                return str(file)
    return f"a database in {home}"
