"""The dagster.yaml of a DAGSTER_HOME, with a section for Postgres while `$CORPUS_POSTGRES_URL` is set."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from corpus_assets.orchestration.home.folder import FOLDER
from corpus_assets.orchestration.home.postgres import VARIABLE, database_url
from resources.errors import ConfigError

NAME = "dagster.yaml"
DEFAULTS = {
    "telemetry": {"enabled": False},
    "nux": {"enabled": False},
    "concurrency": {"runs": {"max_concurrent_runs": 1}},
}
STORAGE = {"storage": {"postgres": {"postgres_url": {"env": VARIABLE}}}}
"""Names the variable, not the address: no password is written to disk."""

_STORES = ("storage", "run_storage", "event_log_storage", "schedule_storage")
_SECTION = (
    f"\n# `corpus` adds this section while {VARIABLE} is set, and removes it when it is not.\n{yaml.safe_dump(STORAGE)}"
)


def write_settings(home: Path, folder: Path) -> None:
    """Writes the dagster.yaml of a DAGSTER_HOME, if it changes. folder: that of corpus.yaml.

    While the variable is set, a section at its end keeps runs and events in the database, unless the file says itself
    where they are. Nothing else in it changes. `ConfigError` for a file that cannot be read, or takes no section.
    """
    file = home / NAME
    there = _text(file) if file.exists() else None
    text = _without_section(_source(there, home, folder))
    settings = _settings(text, file)
    if database_url() and not any(key in settings for key in _STORES):
        text = _with_section(text, settings, file)
    if text != there:
        _write(file, text)


def require_settings(home: Path, folder: Path) -> None:
    """Raises `ConfigError` if the dagster.yaml that a DAGSTER_HOME is to have cannot be read, or names no variable."""
    file = home / NAME
    text = _without_section(_source(_text(file) if file.exists() else None, home, folder))
    _require_variables(_settings(text, file), file)


def _source(there: str | None, home: Path, folder: Path) -> str:
    beside = folder / NAME
    if beside.is_file() and (there is None or home == (folder / FOLDER).absolute()):
        return _text(beside)
    return yaml.safe_dump(DEFAULTS) if there is None else there


def _without_section(text: str) -> str:
    return text.replace(_SECTION, "")


def _with_section(text: str, settings: dict[str, Any], file: Path) -> str:
    longer = text + _SECTION
    try:
        fits = yaml.safe_load(longer) == settings | STORAGE
    except yaml.YAMLError:
        fits = False
    if not fits:
        raise ConfigError(
            f"{file}: ${VARIABLE} is set, and no section `storage` can be added to the end of this file; valid is one "
            "document with its keys on lines of their own, without braces around all of them"
        )
    return longer


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode()
    except UnicodeDecodeError:
        raise ConfigError(f"{file}: not UTF-8, which a file of settings has to be") from None


def _settings(text: str, file: Path) -> dict[str, Any]:
    try:
        found = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        # Without the line itself, which may hold a password.
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        what = getattr(error, "problem", None) or type(error).__name__
        raise ConfigError(f"{file}: not YAML that can be used: {what}{where}") from None
    if not isinstance(found, dict):
        raise ConfigError(f"{file}: received {type(found).__name__}; valid is a mapping of Dagster's settings")
    return found


def _write(file: Path, text: str) -> None:
    """Replaces the file atomically: it may be a user's own, and the disk may be full."""
    target = file.resolve()
    new = target.with_name(f".{target.name}.new")
    new.touch()
    if target.exists():
        shutil.copymode(target, new)
    new.write_bytes(text.encode())
    new.replace(target)


def require_variables(file: Path) -> None:
    """Raises `ConfigError` if a dagster.yaml names a variable of the environment that is not set."""
    _require_variables(_settings(_text(file), file), file)


def _require_variables(settings: dict[str, Any], file: Path) -> None:
    for key, variable in _variables(settings):
        if variable not in os.environ:
            raise ConfigError(
                f"{file}: {key}: the environment variable {variable} is not set; set it, or change this entry"
            )


def _variables(settings: dict[str, Any], place: str = "") -> Iterator[tuple[str, str]]:
    """Yields the entries that name a variable, `key: {env: NAME}`, each with its path of keys."""
    for key, value in settings.items():
        path = f"{place}{key}"
        if isinstance(value, dict):
            variable = value.get("env")
            if isinstance(variable, str) and len(value) == 1:
                yield path, variable
            yield from _variables(value, f"{path}.")
