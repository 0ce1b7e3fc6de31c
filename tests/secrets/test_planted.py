"""The search for planted secrets finds each of them in every form in which it could be written."""

import base64
import gzip
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest
import zstandard

from tests.secrets.planted import SECRETS, found_below, found_in, planted_environment


@pytest.mark.parametrize(("place", "secret"), SECRETS.items())
def test_every_form_is_found(place: str, secret: str) -> None:
    assert found_in(f"one {secret} two") == [place]
    assert found_in(quote(f"a/{secret}?", safe="")) == [place]
    for lead in ("", "u", "us", "user:"):
        assert found_in(base64.b64encode(f"{lead}{secret}{lead}".encode())) == [place]
    assert found_in("nothing") == []


def test_every_kind_of_file_is_searched(tmp_path: Path) -> None:
    secret = SECRETS["hub token"].encode()
    (tmp_path / "a.gz").write_bytes(gzip.compress(secret))
    (tmp_path / "b.zst").write_bytes(zstandard.compress(secret))
    (tmp_path / "c.txt").write_bytes(b"nothing")
    with closing(sqlite3.connect(tmp_path / "d.db")) as base, base:
        base.execute("CREATE TABLE t (v BLOB)")
        base.execute("INSERT INTO t VALUES (?)", (zlib.compress(secret),))
    (tmp_path / SECRETS["aws key"]).touch()
    found = {Path(name).name: places for name, places in found_below(tmp_path).items()}
    assert found == {
        "a.gz": ["hub token"],
        "b.zst": ["hub token"],
        "d.db": ["hub token"],
        SECRETS["aws key"]: ["aws key"],
    }


def test_the_environment_holds_secrets() -> None:
    assert found_in(str(planted_environment())) == [
        *("aws key", "aws secret", "aws session", "hub token", "endpoint key", "proxy password", "other variable"),
    ]
