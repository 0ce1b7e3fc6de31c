"""Small files outside the store that the configuration names: tokenizers, chat templates."""

from pathlib import Path

from resources.errors import ConfigError


def read_outside(key: str, path: str, limit: int) -> bytes:
    """Content of a file; `ConfigError` names the configuration key when it cannot be read or is over `limit` bytes."""
    file = Path(path)
    try:
        if file.exists() and not file.is_file():
            raise ConfigError(f"{key}: {path!r} is no regular file")
        with file.open("rb") as stream:
            content = stream.read(limit + 1)
    except OSError as error:
        raise ConfigError(f"{key}: {path!r} cannot be read: {error.strerror}") from None
    if len(content) > limit:
        raise ConfigError(f"{key}: {file.name} has {file.stat().st_size} bytes; valid: at most {limit}")
    return content


def beside(path: str, name: str) -> str:
    """Path of a file in the same folder."""
    return str(Path(path).with_name(name))


def held_in(folder: str, names: tuple[str, ...]) -> dict[str, str]:
    """Those of the named files that a folder has, with their paths."""
    return {name: str(file) for name in names if (file := Path(folder, name)).is_file()}


def is_template(value: str) -> bool:
    """Whether a value is the text of a jinja template rather than the path of one."""
    return "{{" in value or "{%" in value


def is_file(path: str) -> bool:
    """Whether there is a regular file."""
    return Path(path).is_file()
