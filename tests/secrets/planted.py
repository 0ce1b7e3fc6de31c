"""A secret of its own for every place that can hold one, and a search for all of them in whatever is written."""

import base64
import gzip
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

import zstandard

PLACES = (
    "aws key",
    "aws secret",
    "aws session",
    "hub token",
    "endpoint key",
    "hook path",
    "hook query",
    "database password",
    "proxy password",
    "query of a list",
    "query of a redirect",
    "other variable",
)
SECRETS = {place: f"pl4nted{number:02}x{place.replace(' ', 'q')}x9f3e" for number, place in enumerate(PLACES)}
_SQLITE, _GZIP, _ZSTD = b"SQLite format 3\0", b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_MOST = 1 << 26
_SHORTEST_BLOB = 8


def planted_environment() -> dict[str, str]:
    """Returns environment variables with secrets, for a machine on which nothing but loopback is reached."""
    proxy = f"http://user:{SECRETS['proxy password']}@127.0.0.1:9"
    return {
        "AWS_ACCESS_KEY_ID": SECRETS["aws key"],
        "AWS_SECRET_ACCESS_KEY": SECRETS["aws secret"],
        "AWS_SESSION_TOKEN": SECRETS["aws session"],
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "HF_TOKEN": SECRETS["hub token"],
        "JUDGE_KEY": SECRETS["endpoint key"],
        "OPENAI_API_KEY": SECRETS["other variable"],
        "HTTP_PROXY": proxy,
        "HTTPS_PROXY": proxy,
        "ALL_PROXY": proxy,
        "NO_PROXY": "127.0.0.1,localhost",
    }


def hook_address(url: str) -> str:
    """Returns the address of a webhook with secrets in its path and query."""
    return f"{url}/services/{SECRETS['hook path']}?key={SECRETS['hook query']}"


def database_address(port: int) -> str:
    """Returns the address of a database that is not there."""
    return f"postgresql://dagster:{SECRETS['database password']}@127.0.0.1:{port}/runs"


def found_in(content: bytes | str) -> list[str]:
    """Returns the places whose secret a content holds: as it is, quoted for a URL, or in base64 at any offset."""
    raw = content.encode(errors="surrogateescape") if isinstance(content, str) else content
    return [place for place, secret in SECRETS.items() if any(form in raw for form in _forms(secret))]


def found_below(folder: Path, *, but: Iterable[Path] = ()) -> dict[str, list[str]]:
    """Returns every file below a folder, unpacked too, that holds secrets, with their places; names of files count."""
    left_out = set(but)
    files = [file for file in folder.rglob("*") if file.is_file() and file not in left_out]
    found = {str(file): found_in(str(file)) + _found_in_file(file) for file in files}
    return {name: places for name, places in found.items() if places}


def _forms(secret: str) -> Iterator[bytes]:
    yield from {secret.encode(), quote(secret, safe="").encode()}
    for lead in range(3):
        whole = base64.b64encode(b"\0" * lead + secret.encode())
        yield whole[4:-4]  # Without the characters that the neighbours of the secret change.


def _found_in_file(file: Path) -> list[str]:
    content = file.read_bytes()
    places = [place for part in (content, *_unpacked(content)) for place in found_in(part)]
    if content.startswith(_SQLITE):
        places += [place for value in _values(file) for place in found_in(value)]
    return sorted(set(places))


def _unpacked(content: bytes) -> Iterator[bytes]:
    with suppress(OSError, EOFError, zlib.error):
        if content.startswith(_GZIP):
            yield gzip.decompress(content)
    with suppress(zstandard.ZstdError):
        if content.startswith(_ZSTD):
            yield zstandard.ZstdDecompressor().stream_reader(content, read_across_frames=True).read(_MOST)
    with suppress(zlib.error):
        yield zlib.decompress(content)


def _values(file: Path) -> Iterator[bytes]:
    """Yields every value of a database, and unpacked what Dagster packs: snapshots of jobs."""
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as base:
        for (table,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in base.execute(f'SELECT * FROM "{table}"'):
                for value in row:
                    raw = value if isinstance(value, bytes) else str(value).encode()
                    yield raw
                    if len(raw) >= _SHORTEST_BLOB:
                        yield from _unpacked(raw)
