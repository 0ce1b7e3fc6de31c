"""SQL sees what the store holds, may scan a table twice, and reaches nothing else."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from corpus_assets.cli.main import app
from corpus_assets.filter.assets import READ
from corpus_assets.sql import asking, tables
from corpus_assets.sql.asking import asked
from corpus_assets.sql.tables import COUNT, Table, tables_of
from corpus_assets.tracing.look import Look
from resources.errors import ConfigError, DamagedFileError, StoreAccessError
from tests.build.small import live_records, opened

pytest.importorskip("duckdb", reason="no duckdb: extra `sql`")


@pytest.fixture(scope="module")
def look(built_once: Path) -> Look:
    return Look(opened(built_once))


def rows(look: Look, query: str) -> list[tuple[Any, ...]]:
    with asked(tables_of(look), query) as result:
        found: list[tuple[Any, ...]] = result.fetchall()
        return found


def documents(look: Look) -> Iterator[tuple[str, str | None, str]]:
    for made in look.partitions(READ):
        for one in made.documents():
            yield one.source, made.key, one.text


def test_documents_are_those_of_the_store(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BATCH_ROWS", 3)
    assert rows(look, "select source, shard, text from documents") == list(documents(look))
    counted = dict(rows(look, "select source, count(*) from documents group by source"))
    assert counted == Counter(source for source, _, _ in documents(look))
    ((longest,),) = rows(look, "select max(characters) from documents")
    assert longest == max(len(text) for *_, text in documents(look))


def test_a_table_may_be_scanned_twice(look: Look) -> None:
    ((pairs,),) = rows(look, "select count(*) from documents a join documents b using (shard, row)")
    assert pairs == len(list(documents(look)))


def test_records_are_those_of_the_ledger(look: Look, built_once: Path) -> None:
    known = {key: record.digest for key, record in live_records(opened(built_once)).items()}
    found = {(asset, key): digest for asset, key, digest in rows(look, "select asset, partition, digest from records")}
    assert {key: digest for key, digest in found.items() if key[0] != "report"} == known


def test_attributes_join_with_documents_and_fates(look: Look) -> None:
    of_short = "a.asset = 'short_documents' and a.score > 0"
    joined = f"select id from documents d join attributes a using (shard, row, id) where {of_short} order by id"
    short = rows(look, joined)
    assert short == rows(look, "select id from documents where fate = 'short' order by id") != []
    counted = "select cast(sum(rows) as bigint) from dropped where asset = 'mixed_pass1' and reason = 'short'"
    dropped = rows(look, counted)
    assert dropped == [(len(short),)]


@pytest.mark.parametrize(
    "query",
    [
        "select * from read_csv('{file}')",
        "select * from read_text('{file}')",
        "select * from '{file}'",
        "select * from glob('{file}')",
        "copy (select 1) to '{file}'",
        "attach '{file}' as other",
        "create table mine as select 1",
        "delete from documents",
        "install httpfs",
        "set memory_limit = '9GB'",
        "pragma version",
        "select 1; select 2",
        "select * from query('copy (select 1) to ''{file}''')",
        "select * from look",
        "select",
        "",
    ],
)
def test_nothing_else_is_reached(look: Look, tmp_path: Path, query: str) -> None:
    file = tmp_path / "table.csv"
    file.write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(ConfigError):
        rows(look, query.format(file=file))
    assert file.read_text(encoding="utf-8") == "a\n1\n"


def test_a_query_that_needs_more_memory_says_so(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(asking._LOCKED, "memory_limit", "20MB")
    with pytest.raises(ConfigError, match="emory"):
        rows(look, "select a.range, count(*) from range(30000000) a group by 1 order by 2, 1")


def test_the_command_prints_rows_and_says_if_there_are_more(built_once: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(built_once)
    query = "select id, characters from documents order by id"
    done = CliRunner().invoke(app, ["sql", query, "--limit", "2", "--json"])
    held = json.loads(done.output)
    assert held["more"] is True
    assert len(held["rows"]) == 2 and held["rows"][0]["id"] == "books-/three-0"
    assert "the first 2 rows" in CliRunner().invoke(app, ["sql", query, "--limit", "2"]).output
    assert "documents: source string" in CliRunner().invoke(app, ["sql"]).output
    assert json.loads(CliRunner().invoke(app, ["sql", "--json"]).output)["tables"]["documents"]["row"] == "int64"


def test_without_duckdb_the_extra_is_named(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
    with pytest.raises(ConfigError, match=r"pip install 'corpus-assets\[sql\]'"):
        rows(look, "select 1")


@pytest.mark.parametrize(
    "fault",
    [
        OSError(5, "Input/output error", "documents/a.jsonl.gz"),
        DamagedFileError("normalized_documents", "books--one", "documents/a.jsonl.gz", "is cut"),
        StoreAccessError("the store answers SlowDown"),
        KeyboardInterrupt(),
    ],
)
@pytest.mark.parametrize("query", ["select sum(a) from t", "select a from t"])
def test_an_error_of_reading_is_no_fault_of_the_query(fault: BaseException, query: str) -> None:
    def failing() -> Iterator[Any]:
        yield from ((number,) for number in range(50_000))
        raise fault

    table = Table({"a": COUNT}, failing)
    with pytest.raises(type(fault)) as found, asked({"t": table}, query) as result:
        result.fetchall()
    assert found.value is fault
    with pytest.raises(ConfigError, match="tables: t"), asked({"t": table}, "select b from t"):
        pass
    with asked({"t": table}, "select a from t limit 3") as result:
        assert result.fetchall() == [(0,), (1,), (2,)]
