"""Dagster's runs and events in Postgres: with `$CORPUS_POSTGRES_URL` set, instead of in SQLite files."""

import os
from importlib.util import find_spec

from resources.errors import ConfigError

VARIABLE = "CORPUS_POSTGRES_URL"
DRIVER = "postgresql+psycopg2://"
_SECONDS = 10
_PLAIN = ("postgresql://", "postgres://")


def database_url() -> str | None:
    """Returns the address of the database, with its driver; None if none is set.

    SQLAlchemy takes an address without a driver for one of psycopg 3, which Dagster does not use; so the driver is
    written into the variable, which Dagster's processes read. `ConfigError` for another kind of address, and without
    dagster-postgres. The address may hold a password, so no message does.
    """
    url = os.environ.get(VARIABLE, "")
    if not url:
        return None
    for plain in _PLAIN:
        if url.startswith(plain):
            url = os.environ[VARIABLE] = DRIVER + url.removeprefix(plain)
    if not url.startswith(DRIVER):
        kind = url.partition(":")[0] if ":" in url else "something without a scheme"
        raise ConfigError(f"${VARIABLE}: received {kind!r}; valid is {DRIVER}USER:PASSWORD@HOST:5432/DATABASE")
    if not _is_readable(url):
        raise ConfigError(
            f"${VARIABLE}: not an address; valid is {DRIVER}USER:PASSWORD@HOST:5432/DATABASE, with "
            "what is no letter or digit in user and password as %XX (%40 for @)"
        )
    if find_spec("dagster_postgres") is None:
        raise ConfigError(f"${VARIABLE} is set, and dagster-postgres is missing: pip install 'corpus-assets[postgres]'")
    return url


def _is_readable(url: str) -> bool:
    """Returns whether the parts of an address are told apart; part of a password would count as the host else."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        return "@" not in (make_url(url).host or "")
    except (ArgumentError, ValueError):
        return False


def fault() -> str:
    """Connects to the database; returns in words why that fails; empty if it works, or if none is set."""
    from sqlalchemy import create_engine
    from sqlalchemy.exc import DBAPIError

    try:
        url = database_url()
        if url is not None:
            engine = create_engine(url, connect_args={"connect_timeout": _SECONDS})
            engine.connect().close()
            engine.dispose()
    except ConfigError as error:
        return str(error)
    except DBAPIError as error:
        return unreachable(error.orig or error) or f"${VARIABLE}: {type(error).__name__}"
    return ""


def unreachable(error: BaseException) -> str:
    """Returns in words that the database cannot be used; empty for an error that is not of the database."""
    if not type(error).__module__.startswith("psycopg2"):
        return ""
    reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
    return f"the database of ${VARIABLE} cannot be used: {reason}"
