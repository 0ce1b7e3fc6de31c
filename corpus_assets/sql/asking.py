"""Runs one SELECT in a DuckDB that sees the tables of a corpus, and no file and no network."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from corpus_assets.sql.tables import Table
from resources.errors import ConfigError

MEMORY = "1GB"
_LOCKED = {
    "enable_external_access": "false",
    "python_enable_replacements": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "temp_directory": "",
    "memory_limit": MEMORY,
    "lock_configuration": "true",
}
MISSING = "DuckDB is not installed; pip install 'corpus-assets[sql]'"


@contextmanager
def asked(tables: Mapping[str, Table], query: str) -> Iterator[Any]:
    """Yields the result of a query, whose rows are fetched from it as they are computed.

    Raises `ConfigError` without DuckDB, for anything but one SELECT, and for what DuckDB says of it; errors of reading
    the tables as they are. Nothing can be written: the database is in memory, and access to files, network and settings
    is locked.
    """
    duckdb = _duckdb()
    connection = duckdb.connect(":memory:", config=_LOCKED)
    try:
        _require_one_select(duckdb, query)
        for name, table in tables.items():
            table.raised.clear()
            connection.register(name, table)
        yield connection.execute(query)
    except duckdb.Error as error:
        if raised := [one for table in tables.values() for one in table.raised]:
            raise raised[0] from None
        raise ConfigError(f"{error}\ntables: {', '.join(tables)}") from None
    finally:
        connection.close()


def _duckdb() -> Any:
    try:
        import duckdb
    except ModuleNotFoundError:
        raise ConfigError(MISSING) from None
    return duckdb


def _require_one_select(duckdb: Any, query: str) -> None:
    found = [str(one.type).rpartition(".")[2] for one in duckdb.extract_statements(query)]
    if found not in (["SELECT"], ["EXPLAIN"]):
        raise ConfigError(f"received {', '.join(found) or 'nothing'}; valid: one SELECT, since nothing can be written")
