"""The numbers of a store after each build, in a compact form, for comparisons with earlier states.

Commit records hold the present alone. A build that changed something adds a file to `history/`; no record names these
files, no stage reads them, and nothing depends on them.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime

import msgspec

from corpus_assets.diff.numbers import FILE_BYTES, Numbers, same_content
from resources.errors import ConfigError, CorpusError
from resources.storage.interface import Storage

FOLDER = "history"
KEPT = 50
_TIME = "%Y-%m-%dT%H-%M-%S"
_SHOWN = "%Y-%m-%d %H:%M:%S"
_SUFFIX = ".json"
_ASKED = ("%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", _SHOWN)


class Entry(msgspec.Struct):
    """The numbers of a store after a build. path: of the file. time: of the build, in UTC."""

    path: str
    time: datetime

    @property
    def shown(self) -> str:
        """The time for a person."""
        return f"{self.time.strftime(_SHOWN)} UTC"


def keep(storage: Storage, numbers: Numbers, now: datetime | None = None) -> None:
    """Adds the numbers after a build, and removes the oldest of more than `KEPT` entries.

    This is only information: failing to write it fails no build.
    """
    time = (now or datetime.now(UTC)).strftime(_TIME)
    with suppress(OSError, CorpusError):
        storage.write(f"{FOLDER}/{time}{_SUFFIX}", msgspec.json.encode(numbers))
        for entry in entries(storage)[:-KEPT]:
            storage.delete(entry.path)


def entries(storage: Storage) -> list[Entry]:
    """Returns the builds whose numbers are kept, the oldest first."""
    return sorted(_entries(storage), key=lambda entry: entry.time)


def _entries(storage: Storage) -> Iterator[Entry]:
    for path in storage.paths(FOLDER):
        name = path.removeprefix(f"{FOLDER}/").removesuffix(_SUFFIX)
        with suppress(ValueError):  # not one of ours
            yield Entry(path, datetime.strptime(name, _TIME).replace(tzinfo=UTC))


def read(storage: Storage, entry: Entry) -> Numbers | None:
    """Returns the numbers of an entry; None if it is damaged, gone, or of a version that had others."""
    stat = storage.stat(entry.path)
    if stat is None or stat.bytes > FILE_BYTES:
        return None
    try:
        with storage.open(entry.path) as file:
            return msgspec.json.decode(file.read(), type=Numbers)
    except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def before(storage: Storage, present: Numbers) -> tuple[Entry, Numbers] | None:
    """Returns the last kept build with other content than the present one; None if there is none."""
    for entry in reversed(entries(storage)):
        numbers = read(storage, entry)
        if numbers is not None and not same_content(numbers, present):
            return entry, numbers
    return None


def since(storage: Storage, asked: str) -> tuple[Entry, Numbers]:
    """Returns the state of a store at a time: after the last build before it.

    asked: a day (its end), or a day and a time, in UTC. Raises `ConfigError` if that is no time, or nothing as old is
    kept.
    """
    time = _asked(asked)
    known = entries(storage)
    for entry in reversed(known):
        numbers = read(storage, entry) if entry.time <= time else None
        if numbers is not None:
            return entry, numbers
    oldest = f"; the oldest is of {known[0].shown}" if known else ""
    raise ConfigError(f"--since {asked}: no build up to then is kept{oldest}")


def _asked(text: str) -> datetime:
    for form in _ASKED:
        with suppress(ValueError):
            found = datetime.strptime(text, form).replace(tzinfo=UTC)
            whole_day = form == _ASKED[0]
            return found.replace(hour=23, minute=59, second=59) if whole_day else found
    raise ConfigError(f"--since {text!r}: no time; valid in UTC: 2026-01-31, or 2026-01-31T18:00")
