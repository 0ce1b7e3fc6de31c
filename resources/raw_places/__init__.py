"""Places of raw files; this module opens the one that a location names."""

from resources.raw_places.addresses import scheme_of
from resources.raw_places.interface import RawPlace, SourceFolder
from resources.raw_places.local import LocalFolder

__all__ = ["LocalFolder", "RawPlace", "SourceFolder", "place_of"]


def place_of(folder: SourceFolder) -> RawPlace:
    """Returns the place of a source's raw files; nothing is asked for yet.

    Most corpora lie on this machine, and need none of the libraries that the others load.
    """
    scheme = scheme_of(folder.location)
    if scheme == "s3":
        from resources.raw_places.s3 import S3Folder

        return S3Folder(folder.location, folder.s3)
    if scheme == "hf":
        from resources.raw_places.hub import HubFolder

        return HubFolder(folder.location)
    if scheme in ("http", "https"):
        from resources.raw_places.web import WebFiles

        return WebFiles(folder.location)
    return LocalFolder(folder.location)
