"""Raw files on web servers: listed and read where they lie, in one version or not at all."""

import base64
import errno
import gzip
import io
import os
import random
import socket
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from resources.errors import BadFileError, ConfigError, StorageError
from resources.raw_places import connection, ranged, remote, web
from resources.raw_places.interface import SourceFolder
from resources.shards.listing import Listing, Shard, list_shards
from tests.web_server import BREAKS, Site, serving

CONTENT = random.Random(3).randbytes(300_000)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranged, "PART", 32 << 10)
    monkeypatch.setattr(ranged, "BLOCK", 4 << 10)
    monkeypatch.setattr(remote, "PAUSE", 0.001)
    monkeypatch.setattr(connection, "BACKOFF", 0.001)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    (tmp_path / "data/deep").mkdir(parents=True)
    (tmp_path / "data/deep/a.jsonl").write_bytes(CONTENT)
    (tmp_path / "data/b.jsonl").write_bytes(b"b")
    (tmp_path / "data/list.txt").write_text("# all of them\n\ndeep/a.jsonl\nb.jsonl\n")
    with serving(tmp_path) as found:
        yield found


def listed(url: str, globs: tuple[str, ...] = ("**/*",), format_: str = "auto") -> Listing:
    return list_shards([SourceFolder("s", url, globs, format_)], lambda *_: [])


def shard_of(site: Site, path: str = "data/deep/a.jsonl") -> Shard:
    (shard,) = listed(f"{site.url}/{path}").shards
    return shard


class Proxy(BaseHTTPRequestHandler):
    """Answers every request, and keeps who asked."""

    asked: ClassVar[list[str | None]] = []

    def do_GET(self) -> None:
        self.asked.append(self.headers.get("Proxy-Authorization"))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        return


def test_a_proxy_is_told_the_user_of_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    with HTTPServer(("127.0.0.1", 0), Proxy) as server:
        Thread(target=server.serve_forever).start()
        try:
            for name in ("no_proxy", "NO_PROXY"):
                monkeypatch.delenv(name, raising=False)
            monkeypatch.setenv("http_proxy", f"http://user:p%40ss@127.0.0.1:{server.server_port}")
            connection.get("http://example.test/a.jsonl", "a.jsonl").close()
        finally:
            server.shutdown()
    assert Proxy.asked == ["Basic " + base64.b64encode(b"user:p@ss").decode()]


def test_a_list_names_files_as_a_folder_would(site: Site) -> None:
    shards = listed(f"{site.url}/data/list.txt").shards
    assert [(shard.key, shard.path, shard.bytes) for shard in shards] == [
        ("s--b", "b.jsonl", 1),
        ("s--deep--a", "deep/a.jsonl", len(CONTENT)),
    ]
    assert shards[1].full_path == f"{site.url}/data/deep/a.jsonl"
    assert shards[1].open().read() == CONTENT
    assert [shard.path for shard in listed(f"{site.url}/data/list.txt", ("deep/*",)).shards] == ["deep/a.jsonl"]


def test_files_elsewhere_are_named_by_host_and_path(site: Site, tmp_path: Path) -> None:
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists/all.urls.gz").write_bytes(
        gzip.compress(f"{site.url}/data/b.jsonl\n/data/deep/a.jsonl\n".encode())
    )
    host = site.url.removeprefix("http://")
    paths = [shard.path for shard in listed(f"{site.url}/lists/all.urls.gz").shards]
    assert sorted(paths) == [f"{host}/data/b.jsonl", f"{host}/data/deep/a.jsonl"]


def test_a_list_is_looked_up_in_slices_over_connections_that_are_kept(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "_IN_HAND", 40)
    names = [f"{number:03d}.jsonl" for number in range(100)]
    for name in names:
        (tmp_path / "data" / name).write_text(name)
    (tmp_path / "data/list.txt").write_text("\r\n".join(names))
    assert [shard.path for shard in listed(f"{site.url}/data/list.txt").shards] == names
    assert sum(site.asked.values()) == 101
    assert site.connections <= 17


def test_a_list_of_too_many_lines_is_refused_before_it_is_divided(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "LIST_LINES", 2)
    (tmp_path / "data/list.txt").write_text("b.jsonl\n#\n#\n" + "x" * 9000)
    with pytest.raises(ConfigError, match="the list has 3 lines; valid: at most 2"):
        listed(f"{site.url}/data/list.txt")
    (tmp_path / "data/list.txt").write_bytes(b"\xef\xbb\xbf#\nb.jsonl\n")
    assert [shard.path for shard in listed(f"{site.url}/data/list.txt").shards] == ["b.jsonl"]


def test_a_query_is_asked_with_and_shown_nowhere(site: Site, tmp_path: Path) -> None:
    (tmp_path / "data/list.txt").write_text("b.jsonl?token=secret\ngone.jsonl?token=secret\n")
    good, gone = listed(f"{site.url}/data/list.txt").shards
    assert good.open().read() == b"b"
    assert "token=secret" in site.queries
    assert "secret" not in f"{good!r} {good.seen()} {good.full_path} {gone!r} {gone.problem}"
    site.fault = lambda path, number: 403
    with pytest.raises(StorageError, match=r"s/b\.jsonl: 127\.0\.0\.1 answers 403") as error:
        good.open()
    assert "secret" not in str(error.value)


def test_a_query_is_in_no_log_of_the_library(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    site.redirects = {"moved.jsonl": f"{site.url}/data/b.jsonl?signature=secret"}
    connection.get(f"{site.url}/moved.jsonl?token=secret", "moved.jsonl").close()
    with pytest.raises(StorageError, match=r"a\.jsonl: 127\.0\.0\.1 cannot be read now: nobody listens there"):
        connection.get("http://127.0.0.1:9/a.jsonl?token=secret", "a.jsonl")
    assert "Retrying" in caplog.text and "secret" not in caplog.text


def test_urls_that_differ_by_their_queries_are_different_files(site: Site, tmp_path: Path) -> None:
    (tmp_path / "data/list.txt").write_text("b.jsonl?part=1\nb.jsonl?part=2\n")
    assert len({shard.key for shard in listed(f"{site.url}/data/list.txt").shards}) == 2
    (tmp_path / "data/list.txt").write_text("b.jsonl\nb.jsonl\n")
    with pytest.raises(ConfigError, match=r"names 'b\.jsonl' 2 times"):
        listed(f"{site.url}/data/list.txt")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("ftp://host/a.jsonl", "line 1: valid is the URL of a file"),
        ("http://user:secret@host/a.jsonl", "without user name"),
        ("folder/", "line 1: valid is the URL of a file"),
        ("http://[/a.jsonl", "line 1: valid is the URL of a file"),
        ("x" * 9000, "line 1: 9,000 bytes"),
    ],
)
def test_a_line_that_is_no_url_is_an_error(site: Site, tmp_path: Path, line: str, why: str) -> None:
    (tmp_path / "data/list.txt").write_text(line)
    with pytest.raises(ConfigError, match=why) as error:
        listed(f"{site.url}/data/list.txt")
    assert "secret" not in str(error.value)


def test_a_list_that_is_none_is_an_error(site: Site, tmp_path: Path) -> None:
    (tmp_path / "data/bad.list").write_bytes(b"\xff\xfe")
    (tmp_path / "data/bad.list.gz").write_bytes(b"no gzip")
    for name, why in {"bad.list": "not UTF-8", "bad.list.gz": "no sound gzip", "none.list": "answers 404"}.items():
        with pytest.raises(ConfigError, match=why):
            listed(f"{site.url}/data/{name}")
    with pytest.raises(ConfigError, match="does not say what it is"):
        listed(f"{site.url}/data/unknown")
    with pytest.raises(ConfigError, match="txt_list"):
        listed(f"{site.url}/data/list.txt", format_="txt_list")


def test_a_file_that_is_not_there_is_its_own_problem_and_a_server_that_fails_is_all_of_them(site: Site) -> None:
    (shard,) = listed(f"{site.url}/data/none.jsonl").shards
    with pytest.raises(BadFileError, match=r"s/none\.jsonl: cannot be read: the server answers 404"):
        shard.open()
    for status in (401, 403, 500, 503):
        site.fault = lambda path, number, status=status: status if path.endswith("b.jsonl") else None  # type: ignore[misc]
        with pytest.raises(StorageError, match=rf"s/b\.jsonl: 127\.0\.0\.1 answers {status}"):
            listed(f"{site.url}/data/list.txt")


def test_a_busy_server_is_asked_again(site: Site) -> None:
    site.fault = lambda path, number: 503 if number % 2 else None
    assert shard_of(site).open().read() == CONTENT


@pytest.mark.parametrize(
    ("asked_for", "waited"), [("7", 7), ("86400", connection.LONGEST_ASKED_FOR), ("soon", 0), ("", 0)]
)
def test_a_busy_server_says_when_to_ask_again(
    site: Site, monkeypatch: pytest.MonkeyPatch, asked_for: str, waited: float
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("urllib3.util.retry.time.sleep", waits.append)
    shard = shard_of(site)
    asked = site.asked["data/deep/a.jsonl"]
    site.fault, site.retry_after = (lambda path, number: 429 if number < asked + 3 else None), asked_for
    assert shard.open().read() == CONTENT
    assert [wait for wait in waits if wait >= 1] == [waited] * 2 * bool(waited)


@pytest.mark.parametrize("options", [{}, {"ranges": False}, {"ranges": False, "lengths": False}])
def test_a_connection_that_breaks_off_is_read_on(site: Site, options: dict[str, bool]) -> None:
    shard = shard_of(site)
    for name, value in options.items():
        setattr(site, name, value)
    site.fault = lambda path, number: BREAKS + 20_000 * number if number % 3 else None
    with shard.open() as file:
        assert file.read() == CONTENT
    site.fault = lambda path, number: BREAKS + 7
    with pytest.raises(StorageError, match=r"s/a\.jsonl: cannot be read now: broke off at byte \d+ again and again"):
        shard.open().read()


@pytest.mark.parametrize("options", [{}, {"ranges": False}, {"ranges": False, "lengths": False}, {"lengths": False}])
def test_reads_here_and_there_are_those_of_a_local_file(site: Site, options: dict[str, bool]) -> None:
    for name, value in options.items():
        setattr(site, name, value)
    chance = random.Random(5)
    with shard_of(site).open() as file, io.BytesIO(CONTENT) as local:
        for _ in range(60):
            place = chance.randrange(len(CONTENT) + 10), chance.choice([0, 0, 2])
            offset = place[0] - (len(CONTENT) if place[1] else 0)
            if place[1] and place[0] > len(CONTENT):
                continue
            assert file.seek(offset, place[1]) == local.seek(offset, place[1])
            size = chance.choice([0, 1, 512, 40_000, 100_000, -1])
            assert file.read(size) == local.read(size)
            assert file.tell() == local.tell()


@pytest.mark.parametrize("ranges", [True, False])
def test_parquet_is_read_where_it_lies(site: Site, tmp_path: Path, ranges: bool) -> None:
    rows = {"text": [f"text {n} " * 50 for n in range(2000)], "unread": [os.urandom(400) for _ in range(2000)]}
    pq.write_table(pa.table(rows), tmp_path / "data/t.parquet", row_group_size=500)
    site.ranges = ranges
    shard = shard_of(site, "data/t.parquet")
    with shard.open() as file:
        assert pq.read_table(file, columns=["text"])["text"].to_pylist() == rows["text"]
    if ranges:
        assert site.sent["data/t.parquet"] < shard.bytes / 2


def test_an_archive_with_its_directory_at_the_end_is_read(site: Site, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "data/z.jsonl", "w") as archive:
        archive.writestr("one", CONTENT)
    with zipfile.ZipFile(shard_of(site, "data/z.jsonl").open()) as archive:
        assert archive.read("one") == CONTENT


@pytest.mark.parametrize("options", [{}, {"etags": False, "dates": True}, {"ranges": False}])
def test_a_file_that_changed_is_read_in_no_version(site: Site, tmp_path: Path, options: dict[str, bool]) -> None:
    for name, value in options.items():
        setattr(site, name, value)
    file = tmp_path / "data/deep/a.jsonl"
    before = shard_of(site)
    file.write_bytes(bytes(reversed(CONTENT)))
    os.utime(file, (5, 5))
    with pytest.raises(StorageError, match=r"s/a\.jsonl changed since it was listed; build again"):
        before.open()
    after = shard_of(site)
    assert not after.is_as(before.seen())
    assert after.is_as(shard_of(site).seen())


def test_one_reading_never_mixes_two_versions(site: Site, tmp_path: Path) -> None:
    with shard_of(site).open() as file:
        assert file.read(10) == CONTENT[:10]
        (tmp_path / "data/deep/a.jsonl").write_bytes(bytes(reversed(CONTENT)))
        with pytest.raises(StorageError, match="changed since it was listed"):
            file.read()


def test_a_server_without_versions_is_read_for_every_plan(site: Site) -> None:
    site.etags = False
    assert shard_of(site).open().read() == CONTENT
    assert not shard_of(site).is_as(shard_of(site).seen())


def test_a_file_without_bytes_and_one_of_unknown_length(site: Site, tmp_path: Path) -> None:
    (tmp_path / "data/deep/a.jsonl").write_bytes(b"")
    assert shard_of(site).open().read() == b""
    site.ranges = site.lengths = False
    (tmp_path / "data/deep/a.jsonl").write_bytes(CONTENT)
    with shard_of(site).open() as file:
        assert file.seek(0, io.SEEK_END) == len(CONTENT)
        file.seek(0)
        assert file.read() == CONTENT


def test_a_file_that_a_server_packs_on_its_way_is_not_read_and_one_that_is_stored_so_is(
    site: Site, tmp_path: Path
) -> None:
    (tmp_path / "data/c.jsonl.gz").write_bytes(gzip.compress(CONTENT))
    shard = shard_of(site)
    site.coding = "gzip"
    with gzip.open(shard_of(site, "data/c.jsonl.gz").open()) as file:
        assert file.read() == CONTENT
    for ask in (shard.open, lambda: listed(f"{site.url}/data/deep/a.jsonl")):
        with pytest.raises(StorageError, match=r"s/a\.jsonl: 127\.0\.0\.1 sends it packed with gzip"):
            ask()
    site.coding = "UTF-8"  # What some servers say of any text.
    assert shard.open().read() == CONTENT


def test_redirects_are_followed_to_web_servers_and_not_for_ever(site: Site) -> None:
    site.redirects = {"one.jsonl": "/data/b.jsonl", "loop.jsonl": "/loop.jsonl", "out.jsonl": "file:///etc/hostname"}
    assert shard_of(site, "one.jsonl").open().read() == b"b"
    with pytest.raises(StorageError, match="too many redirects"):
        listed(f"{site.url}/loop.jsonl")
    with pytest.raises(StorageError, match="not http or https"):
        listed(f"{site.url}/out.jsonl")


@pytest.mark.parametrize("url", ["http://nobody.invalid/a.jsonl", "http://127.0.0.1:9/a.jsonl"])
def test_a_host_that_is_not_there_is_an_error(url: str) -> None:
    with pytest.raises(StorageError, match=r"s/a\.jsonl: \S+ cannot be read now: "):
        listed(url)


def test_nothing_more_is_asked_for_than_is_read_ahead(site: Site) -> None:
    with shard_of(site).open() as file:
        file.read(10)
    assert site.sent["data/deep/a.jsonl"] == 1 + ranged.PART


def test_paths_that_would_leave_a_folder_have_other_names(site: Site, tmp_path: Path) -> None:
    (tmp_path / "data/list.txt").write_text(
        "%2e%2e/%2e%2e/x.jsonl\na%2Fb.jsonl\n//" + site.url[7:] + "/data//b.jsonl\n"
    )
    shards: Any = listed(f"{site.url}/data/list.txt").shards
    assert all(part not in ("", ".", "..") for shard in shards for part in shard.name.split("/"))
    assert len({shard.key for shard in shards}) == 3


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("socket", OSError(errno.EMFILE, "Too many open files")),
        ("getaddrinfo", socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")),
    ],
)
def test_a_fault_of_the_machine_is_not_called_one_of_the_host(
    monkeypatch: pytest.MonkeyPatch, call: str, error: OSError
) -> None:
    monkeypatch.setattr(connection, "BACKOFF", 0.0001)
    monkeypatch.setattr(socket, call, Mock(side_effect=error))
    with pytest.raises(StorageError, match=rf"^a\.jsonl: 127\.0\.0\.1 cannot be read now: {error.strerror}$"):
        connection.get("http://127.0.0.1:9/a.jsonl", "a.jsonl")
