"""Small files outside the store that the configuration names: tokenizers, chat templates."""

from pathlib import Path
from stat import S_ISREG

from resources.errors import ConfigError, require_of_the_file
from resources.outside.agreed import agreed_content
from resources.outside.looking import files_like, is_file
from resources.raw_places.files import stamp


def read_outside(key: str, path: str, limit: int) -> bytes:
    """Returns the content of a file; `ConfigError` names the configuration key if it cannot be read or is too large.

    `StorageError` if the machine cannot read it now, `MisreadError` if several readings give different bytes. key: the
    configuration key that names the file. limit: the most bytes that the file may have.
    """
    file = Path(path)
    try:
        info = file.stat()
        if not S_ISREG(info.st_mode):
            raise ConfigError(f"{key}: {path!r} is not a regular file")
        content = agreed_content(f"{key}: {path!r}", (path, stamp(info)), lambda: file.open("rb"), limit)
    except OSError as error:
        raise _of_the_file(key, path, error) from None
    if len(content) > limit:
        raise ConfigError(f"{key}: {file.name} has {info.st_size} bytes; valid: at most {limit}")
    return content


def _of_the_file(key: str, path: str, error: OSError) -> ConfigError:
    require_of_the_file(f"{key}: {path!r}", error)
    return ConfigError(f"{key}: {path!r} cannot be read: {error.strerror}")


def matching(key: str, pattern: str) -> dict[str, str]:
    """Returns the paths of the files that match an absolute path with `*` in its parts, by name, in order of name.

    `ConfigError` names the configuration key if no file matches, or if a folder of some cannot be listed: a missing
    list is not an empty list. `StorageError` if the machine cannot list it now.
    """
    path = Path(pattern)
    try:
        found = files_like(path)
    except OSError as error:
        raise _of_the_file(key, str(error.filename or pattern), error) from None
    if not found:
        raise ConfigError(f"{key}: no file matches {pattern!r}")
    top = path.parent
    return {str(file.relative_to(top)) if file.is_relative_to(top) else str(file): str(file) for file in found}


def beside(path: str, name: str) -> str:
    """Returns the path of another file in the same folder."""
    return str(Path(path).with_name(name))


def held_in(folder: str, names: tuple[str, ...]) -> dict[str, str]:
    """Returns the paths of the named files that exist in a folder, by name; `OSError` if nobody can say."""
    return {name: str(file) for name in names if is_file(file := Path(folder, name))}
