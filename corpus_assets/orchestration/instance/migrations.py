"""The scripts by which Dagster's databases follow its versions, read once per process.

Dagster makes databases with the tables of its own version, and stamps them with the newest script. For each stamp, and
each look at one, it executes all scripts of that database again: a dozen times in a first build.
"""

from typing import Any, cast

from alembic.config import Config
from alembic.script import ScriptDirectory

_read_from = ScriptDirectory.from_config
_KNOWN: dict[tuple[str | None, str | None], ScriptDirectory] = {}


def _once(config: Config) -> ScriptDirectory:
    key = (config.config_file_name, config.get_main_option("script_location"))
    if key not in _KNOWN:
        _KNOWN[key] = _read_from(config)
    return _KNOWN[key]


def read_scripts_once() -> None:
    """Makes alembic keep the scripts that a configuration names; a second call changes nothing."""
    cast(Any, ScriptDirectory).from_config = _once
