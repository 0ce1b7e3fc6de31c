"""The list of what was published, which lies beside it: whose files these are, and of what content each is made."""

import msgspec

from resources.errors import StorageError

NAME = ".published.json"
_VERSION = 1


class PublishedFile(msgspec.Struct, frozen=True):
    """A published file. sha256, blob: of its bytes, the latter as git names them. made_of: digest of what it is of."""

    path: str
    bytes: int
    sha256: str
    blob: str
    made_of: str


class Manifest(msgspec.Struct, frozen=True):
    """The published files of a corpus, ordered by path. what: `documents`, or the name of a dataset."""

    corpus: str
    what: str
    files: list[PublishedFile]
    version: int = _VERSION

    def by_path(self) -> dict[str, PublishedFile]:
        """Returns the files by their paths."""
        return {file.path: file for file in self.files}


def encode(manifest: Manifest) -> bytes:
    """Returns the manifest as JSON, a file a line or more; equal manifests give equal bytes."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"


def decode(content: bytes, where: str) -> Manifest:
    """Returns the manifest of a file; `StorageError` if it is none, or of a later version."""
    try:
        found = msgspec.json.decode(content, type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise StorageError(f"{where}: is no list of published files: {error}") from None
    if found.version != _VERSION:
        raise StorageError(f"{where}: has version {found.version}; valid: {_VERSION}, which this program writes")
    return found
