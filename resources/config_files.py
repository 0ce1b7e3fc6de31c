"""Small files outside the store that the configuration names: tokenizers, chat templates."""

from pathlib import Path

from resources.errors import ConfigError
from resources.outside.agreed import agreed_content
from resources.raw_places.files import stamp


def read_outside(key: str, path: str, limit: int) -> bytes:
    """Returns the content of a file; `ConfigError` names the configuration key if it cannot be read or is too large.

    `MisreadError` if several readings give different bytes. key: the configuration key that names the file. limit: the
    most bytes that the file may have.
    """
    file = Path(path)
    try:
        if file.exists() and not file.is_file():
            raise ConfigError(f"{key}: {path!r} is not a regular file")
        content = agreed_content(f"{key}: {path!r}", (path, stamp(file.stat())), lambda: file.open("rb"), limit)
    except OSError as error:
        raise ConfigError(f"{key}: {path!r} cannot be read: {error.strerror}") from None
    if len(content) > limit:
        raise ConfigError(f"{key}: {file.name} has {file.stat().st_size} bytes; valid: at most {limit}")
    return content


def matching(key: str, pattern: str) -> dict[str, str]:
    """Returns the paths of the files that match an absolute path with `*` in its parts, by name, in order of name.

    `ConfigError` names the configuration key if no file matches: a missing list is not an empty list.
    """
    path = Path(pattern)
    anchor = Path(path.anchor)
    found = sorted(file for file in anchor.glob(str(path.relative_to(anchor))) if file.is_file())
    if not found:
        raise ConfigError(f"{key}: no file matches {pattern!r}")
    top = path.parent
    return {str(file.relative_to(top)) if file.is_relative_to(top) else str(file): str(file) for file in found}


def beside(path: str, name: str) -> str:
    """Returns the path of another file in the same folder."""
    return str(Path(path).with_name(name))


def held_in(folder: str, names: tuple[str, ...]) -> dict[str, str]:
    """Returns the paths of the named files that exist in a folder, by name."""
    return {name: str(file) for name in names if (file := Path(folder, name)).is_file()}


def is_file(path: str) -> bool:
    """Returns whether a path leads to a regular file."""
    return Path(path).is_file()
