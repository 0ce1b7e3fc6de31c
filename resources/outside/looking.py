"""What lies at a path of this machine, looked at so that an error of the machine is raised and is no answer.

`Path.resolve`, `glob`, `rglob` and `os.walk` pass over what they cannot look at, and from Python 3.14 on `exists`,
`is_file` and `is_dir` say that it is not there.
"""

import errno
import os
import re
import stat
from fnmatch import translate
from pathlib import Path
from typing import NoReturn

from resources.errors import is_of_the_file

_ABSENT = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}


def is_there(path: str | Path) -> bool:
    """Returns whether a path leads to anything; `OSError` if nobody can say."""
    return _mode(path) != 0


def is_file(path: str | Path) -> bool:
    """Returns whether a path leads to a regular file; `OSError` if nobody can say."""
    return stat.S_ISREG(_mode(path))


def is_folder(path: str | Path) -> bool:
    """Returns whether a path leads to a folder; `OSError` if nobody can say."""
    return stat.S_ISDIR(_mode(path))


def _mode(path: str | Path) -> int:
    """Returns the mode of what a path leads to; 0 if there is nothing."""
    try:
        return Path(path).stat().st_mode
    except OSError as error:
        if error.errno in _ABSENT:
            return 0
        raise


def real_path(path: str | Path) -> Path:
    """Returns a path without links, as far as they can be followed; `OSError` if the machine cannot follow them now."""
    try:
        return Path(os.path.realpath(path, strict=True))
    except OSError as error:
        if not is_of_the_file(error):
            raise
        return Path(os.path.realpath(path))


def files_below(folder: Path) -> list[Path]:
    """Returns all files below a folder, sorted; links to folders are not followed.

    `OSError` if one of the folders cannot be listed.
    """
    found = ((top, names) for top, _, names in os.walk(folder, onerror=_refuse))
    return sorted(Path(top, name) for top, names in found for name in names)


def files_like(pattern: Path) -> list[Path]:
    """Returns the files that match an absolute path with `*`, `?`, `[...]` in its names, or `**` as a name, sorted.

    `OSError` if a folder in which one may lie cannot be listed.
    """
    found = [Path(pattern.anchor)]
    for name in pattern.parts[1:]:
        found = [path for folder in found for path in _named(folder, name)]
    return sorted({path for path in found if is_file(path)})


def _named(folder: Path, name: str) -> list[Path]:
    """Returns what may have a name in a folder, which may be none."""
    if not set(name) & set("*?["):
        return [folder / name]
    if not is_folder(folder):
        return []
    if name == "**":
        return [Path(top) for top, _, _ in os.walk(folder, onerror=_refuse)]
    fits = re.compile(translate(name)).fullmatch
    return [one for one in folder.iterdir() if fits(one.name)]


def _refuse(error: OSError) -> NoReturn:
    raise error
