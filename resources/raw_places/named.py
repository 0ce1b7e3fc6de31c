"""Small remote files that one value of the configuration names: one file, or those that match a pattern."""

import posixpath
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

from resources.errors import ConfigError
from resources.outside.agreed import agreed_content
from resources.outside.hidden import shown_address
from resources.raw_places import RawPlace, SourceFolder, place_of
from resources.raw_places.addresses import parted, scheme_of
from resources.raw_places.files import FoundFile, printable
from resources.storage.s3.client import S3Settings


@dataclass(frozen=True)
class NamedFile:
    """One version of a remote file. Equal objects have equal content, if their place has versions."""

    key: str
    place: RawPlace
    found: FoundFile

    def read(self, limit: int) -> bytes:
        """Returns the content, in the version that was found; `ConfigError` if it has more bytes than `limit`.

        `MisreadError` if several readings give different bytes.
        """
        where = f"{self.key}: {self.place.address(self.found)}"
        if self.found.bytes > limit:
            raise ConfigError(f"{where} has {self.found.bytes} bytes; valid: at most {limit}")
        content = agreed_content(where, self, partial(self.place.open, self.found, where), limit)
        if len(content) > limit:
            raise ConfigError(f"{where} has more bytes than the {limit} that are valid")
        return content


def named_files(key: str, location: str, s3: S3Settings) -> dict[str, NamedFile]:
    """Returns the files that an address names, by name, in order of name; nothing is read yet.

    `ConfigError` names the configuration key if there is none: a missing file is not an empty one. `StorageError` if
    the place does not answer. s3: how an object store is reached.
    """
    scheme = scheme_of(location)
    if scheme in ("http", "https"):
        from resources.raw_places.web import WebFiles, looked_up

        place: RawPlace = WebFiles(location)
        found = [looked_up(key, posixpath.basename(urlsplit(location).path), location)]
    else:
        folder, below = parted(location)
        section = key.removesuffix(".location")
        source = SourceFolder(section, folder, (below,), "txt", section, s3=s3)
        place = place_of(source)
        found = place.files(source, [])
    if not found:
        raise ConfigError(f"{key}: no file matches {shown_address(location)}")
    for file in found:
        if file.problem:
            raise ConfigError(f"{key}: {shown_address(location)} {file.problem}")
    return {printable(file.path): NamedFile(key, place, file) for file in sorted(found, key=lambda file: file.path)}
