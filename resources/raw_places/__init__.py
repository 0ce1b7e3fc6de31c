"""Places of raw files; this module opens the one that a location names."""

from resources.raw_places.addresses import scheme_of
from resources.raw_places.hub import HubFolder
from resources.raw_places.interface import RawPlace, SourceFolder
from resources.raw_places.local import LocalFolder
from resources.raw_places.s3 import S3Folder
from resources.raw_places.web import WebFiles

__all__ = ["LocalFolder", "RawPlace", "SourceFolder", "place_of"]


def place_of(folder: SourceFolder) -> RawPlace:
    """Returns the place of a source's raw files; nothing is asked for yet."""
    scheme = scheme_of(folder.location)
    if scheme == "s3":
        return S3Folder(folder.location, folder.s3)
    if scheme == "hf":
        return HubFolder(folder.location)
    return WebFiles(folder.location) if scheme in ("http", "https") else LocalFolder(folder.location)
