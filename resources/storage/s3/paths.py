"""Paths of files in an object store: which ones hold a version of their content, and where."""

import re

from resources.errors import StorageError

PLAIN_NAMES = ("tokens/", "exports/", "streams/", "splits/", "report/", "card/")
"""Folders that trainers and people read by name, so that a bucket can be given to them as it is."""

VERSION_DIGITS = 16
_FOLDER = re.compile(rf"@[0-9a-f]{{{VERSION_DIGITS}}}/(?=[^/]+$)")


def has_plain_name(path: str) -> bool:
    """Returns whether a file has the name that it has in a local store."""
    return path.startswith(PLAIN_NAMES)


def has_version(path: str) -> bool:
    """Returns whether the path of a stored file holds a version, so that its content never changes."""
    return _FOLDER.search(path) is not None


def may_be_ours(path: str) -> bool:
    """Returns whether a path could come from `versioned`; other programs may write to the bucket too."""
    return has_plain_name(path) or has_version(path)


def versioned(path: str, version: str) -> str:
    """Returns where a file of some version is stored: `folder/@version/name`, or as it is for a plain name.

    version: a digest over all files of its partition. Files of one folder stay together.
    """
    if has_plain_name(path):
        return path
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}@{version[:VERSION_DIGITS]}/{name}"


def unversioned(path: str) -> str:
    """Returns the path of a file without the folder of its version, if it has one."""
    return _FOLDER.sub("", path)


def require_relative(path: str) -> None:
    """Raises `StorageError` for a path that would leave the store."""
    if path.startswith("/") or ".." in path.split("/"):
        raise StorageError(f"{path!r}: a stored path is relative and has no '..'")
