"""The place that `corpus init` was given: what it is called in corpus.yaml, and which files lie there."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from corpus_assets.config.section import expanded
from resources.errors import ConfigError, StorageError, is_of_the_file
from resources.outside.looking import is_file, is_folder
from resources.raw_places import RawPlace, SourceFolder, place_of
from resources.raw_places.addresses import check_location, scheme_of
from resources.raw_places.data_suffixes import data_suffix
from resources.raw_places.files import FoundFile, printable, walk
from resources.shards.left_out import hidden_folder, is_hidden
from resources.storage.s3.client import S3Settings

KEY: Final = "corpus init"
MOST_FILES: Final = 1_000_000
ALL: Final = "**/*"


@dataclass
class Left:
    """What is left out of a listing. files: paths with the reason. hidden: files in hidden folders, and hidden ones.

    unlisted: folders that cannot be listed. more: there are more files than are listed.
    """

    files: list[tuple[str, str]] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    unlisted: list[tuple[str, str]] = field(default_factory=list)
    more: bool = False


@dataclass(frozen=True)
class Place:
    """A place of raw files. given: as it was asked for. location: as corpus.yaml calls it. glob: all, or one file.

    access: the section `s3`, which says how an object store is reached. asked_by: what asks, for errors.
    """

    given: str
    location: str
    glob: str = ALL
    access: Mapping[str, Any] = field(default_factory=dict)
    asked_by: str = KEY

    @property
    def is_local(self) -> bool:
        """Returns whether files lie on this machine, or on a mount."""
        return not scheme_of(self.location)

    @property
    def is_list(self) -> bool:
        """Returns whether files are on web servers, so that a location has no folders below it."""
        return scheme_of(self.location) in ("http", "https")

    @property
    def name(self) -> str:
        """Returns the last name of the location, from which a source gets its own."""
        path = urlsplit(self.location).path if self.is_list else self.location
        last = path.rstrip("/").rpartition("/")[2] if not self.is_local else Path(path).resolve().name
        return last[: len(last) - len(data_suffix(last) or "")].split("@")[0]

    def opened(self) -> RawPlace:
        """Returns the place, to read files in it."""
        return place_of(self._folder())

    def _folder(self) -> SourceFolder:
        return SourceFolder("init", self.location, (self.glob,), "auto", self.asked_by, s3=S3Settings(**self.access))

    def files(self, left: Left) -> Iterator[FoundFile]:
        """Yields the files that are no hidden ones; `left` gets what is left out.

        `ConfigError` if the place is not there, `StorageError` if it does not answer.
        """
        listed = self._local(left) if self.is_local and self.glob == ALL else self._elsewhere(left)
        for number, file in enumerate(listed):
            if number == MOST_FILES:
                left.more = True
                return
            yield file

    def _elsewhere(self, left: Left) -> Iterator[FoundFile]:
        for file in self.opened().files(self._folder(), left.files):
            if hidden_folder(file.path) or is_hidden(file.path):
                left.hidden.append(file.path)
            else:
                yield file

    def _local(self, left: Left) -> Iterator[FoundFile]:
        """Yields files folder by folder, so that one that may not be listed does not hide the others."""
        folders = [""]
        while folders:
            folder = folders.pop()
            start, path = f"{folder}/" if folder else "", Path(self.location, folder)
            beside: list[tuple[str, str]] = []
            try:
                with os.scandir(path) as entries:
                    below = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
                found = sorted(walk(path, "init", ("*",), beside, follow_links=False), key=lambda one: one.path)
            except OSError as error:
                why = error.strerror or type(error).__name__
                if not folder or not is_of_the_file(error):
                    named = f"{self.given}/{folder}" if folder else self.given
                    raise StorageError(f"{self.asked_by}: {printable(named)!r} cannot be listed: {why}") from None
                left.unlisted.append((folder, why))
                continue
            left.files += [(start + name.partition("/")[2], why) for name, why in beside]
            left.hidden += [f"{start}{name}/" for name in below if hidden_folder(f"{name}/")]
            folders += [start + name for name in reversed(below) if not hidden_folder(f"{name}/")]
            for one in found:
                if is_hidden(one.path):
                    left.hidden.append(start + one.path)
                else:
                    yield FoundFile(start + one.path, one.bytes, one.modified, one.problem)


def place_named(given: str, access: Mapping[str, Any] | None = None, asked_by: str = KEY) -> Place:
    """Returns the place that a person named: a folder, one file in it, or an address. Nothing is read.

    access: the section `s3` of corpus.yaml. `hf://org/name` is `hf://datasets/org/name`. `ConfigError` for what cannot
    be a place, or is not there; it begins with `asked_by`.
    """
    scheme = scheme_of(given)
    if access and scheme != "s3":
        raise ConfigError(f"--access: goes with s3://bucket/prefix, received {printable(given)!r}")
    if not scheme:
        return _local_place(given, asked_by)
    named = given
    if scheme == "hf" and not given.startswith("hf://datasets/"):
        named = f"hf://datasets/{given.partition('://')[2]}"
    named = named if scheme in ("http", "https") else named.rstrip("/")
    try:
        check_location(named)
    except ValueError as error:
        raise ConfigError(f"{asked_by}: received {_shown(given)}; valid: {error}") from None
    folder, _, last = named.rpartition("/")
    if scheme in ("s3", "hf") and data_suffix(last) is not None:
        return Place(given, folder, last, access or {}, asked_by)
    return Place(given, named, ALL, access or {}, asked_by)


def _shown(given: str) -> str:
    """Returns an address without what may be a credential."""
    return repr(given.partition("?")[0]) if "@" not in urlsplit(given).netloc else "an address with a user name"


def _local_place(given: str, asked_by: str) -> Place:
    path = Path(given)
    try:
        if given != expanded(given) and not (is_file(path) or is_folder(path)):
            path = Path(expanded(given))
        if is_file(path):
            return Place(given, str(path.parent), path.name, asked_by=asked_by)
        there = is_folder(path)
    except OSError as error:
        raise StorageError(f"{asked_by}: {printable(given)!r} cannot be looked at: {error.strerror}") from None
    if not there:
        what = "is not a folder" if os.path.lexists(path) else "is not there"
        raise ConfigError(
            f"{asked_by}: {printable(given)!r} {what}; valid: a folder or file of this machine, s3://bucket/prefix, "
            "hf://datasets/org/name, https://host/list.txt"
        )
    return Place(given, str(path), asked_by=asked_by)
