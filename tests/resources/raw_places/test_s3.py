"""Raw files in object stores: a real one and a simulation."""

import importlib.util
import pickle
import random
from collections.abc import Iterator
from functools import partial
from typing import Any

import msgspec
import pytest

from resources.errors import BadFileError, StorageError
from resources.raw_places import remote
from resources.raw_places.interface import SourceFolder
from resources.shards.listing import Listing, list_shards
from resources.storage.s3.client import S3Settings, client, traffic
from tests.object_store import ENVIRONMENT, Server, moto, seaweedfs, weed

CONTENT = random.Random(4).randbytes(300_000)
FILES = {"raw/a.jsonl": CONTENT, "raw/deep/b c.jsonl": b"b", "raw/.hidden.jsonl": b"", "rawer/x.jsonl": b"x"}
PART = 32 << 10
SMALL = partial(msgspec.structs.replace, part_size=PART)
HERE = {"moto": importlib.util.find_spec("moto") is not None, "seaweedfs": weed() is not None}


@pytest.fixture(scope="module", params=["moto", "seaweedfs"])
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if not HERE[request.param]:
        pytest.skip(f"{request.param} is not installed (extra s3-server)")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        with {"moto": moto, "seaweedfs": seaweedfs}[request.param](tmp_path_factory.mktemp("server")) as found:
            yield found


@pytest.fixture
def server(running: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    monkeypatch.setattr(remote, "PAUSE", 0.001)
    for path, content in FILES.items():
        put(running, path, content)
    return running


def put(server: Server, path: str, content: bytes) -> None:
    client(server.settings).put_object(Bucket=server.bucket, Key=path, Body=content)


def listed(server: Server, place: str = "raw", format_: str = "auto", globs: tuple[str, ...] = ("**/*",)) -> Listing:
    folder = SourceFolder("s", f"s3://{server.bucket}/{place}", globs, format_, s3=SMALL(server.settings))
    return list_shards([folder], lambda *_: [(1, "deep/b c.jsonl"), (2, "../rawer/x.jsonl")][: 1 + ("bad" in place)])


def test_objects_have_the_names_of_a_folder(server: Server) -> None:
    listing = listed(server)
    assert [(shard.path, shard.bytes) for shard in listing.shards] == [
        ("a.jsonl", len(CONTENT)),
        ("deep/b c.jsonl", 1),
    ]
    assert listing.ignored == (("s/.hidden.jsonl", "hidden file"),)
    assert listing.shards[0].full_path == f"s3://{server.bucket}/raw/a.jsonl"
    assert [shard.path for shard in listed(server, globs=("deep/*",)).shards] == ["deep/b c.jsonl"]
    one, other = pickle.loads(pickle.dumps(listing.shards))
    assert (one.open().read(), other.open().read()) == (CONTENT, b"b")


def test_bytes_are_moved_once_and_only_those_that_are_read(server: Server) -> None:
    shard = listed(server).shards[0]
    before = traffic().received
    with shard.open() as file:
        file.read(10)
    assert traffic().received - before == PART
    before = traffic().received
    shard.digest()
    assert traffic().received - before == len(CONTENT)


def test_a_rewritten_object_is_read_in_no_version(server: Server) -> None:
    shard = listed(server).shards[0]
    with shard.open() as file:
        assert file.read(10) == CONTENT[:10]
        put(server, "raw/a.jsonl", bytes(reversed(CONTENT)))
        with pytest.raises(StorageError, match=r"s/a\.jsonl changed since it was listed; build again"):
            file.read()
    after = listed(server).shards[0]
    assert not after.is_as(shard.seen())
    put(server, "raw/a.jsonl", CONTENT)
    assert listed(server).shards[0].is_as(shard.seen())
    client(server.settings).delete_object(Bucket=server.bucket, Key="raw/a.jsonl")
    with pytest.raises(StorageError, match=r"s/a\.jsonl is not there any more; build again"):
        shard.open().read()


def test_a_list_of_texts_names_objects_below_its_source(server: Server) -> None:
    put(server, "raw/list.txt", b"deep/b c.jsonl\n")
    (shard,) = listed(server, format_="txt_list", globs=("list.txt",)).shards
    assert shard.bytes == 16
    assert shard.open_member("deep/b c.jsonl").read() == b"b"
    assert not shard.changed()
    put(server, "raw/deep/b c.jsonl", b"c")
    assert shard.changed()
    with pytest.raises(BadFileError, match="leaves the source's folder"):
        shard.open_member("../rawer/x.jsonl")
    with pytest.raises(BadFileError, match="names no file"):
        shard.open_member("none.txt")
    client(server.settings).delete_object(Bucket=server.bucket, Key="raw/list.txt")


def test_multipart_objects_and_more_than_a_page(server: Server) -> None:
    connection = client(server.settings)
    place = {"Bucket": server.bucket, "Key": "parts/a.jsonl"}
    upload = connection.create_multipart_upload(**place)["UploadId"]
    bodies = [bytes([n]) * (5 << 20) for n in range(2)]
    etags = [
        connection.upload_part(**place, UploadId=upload, PartNumber=n, Body=body)["ETag"]
        for n, body in enumerate(bodies, 1)
    ]
    parts = [{"ETag": etag, "PartNumber": n} for n, etag in enumerate(etags, 1)]
    connection.complete_multipart_upload(**place, UploadId=upload, MultipartUpload={"Parts": parts})
    for number in range(1005):
        put(server, f"parts/n/{number}.jsonl", b"")
    listing = listed(server, "parts")
    assert len(listing.shards) == 1006
    assert listing.shards[0].open().read() == b"".join(bodies)


def test_a_bucket_that_is_not_there_or_closed_is_an_error_without_secrets(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(
        StorageError, match=r"sources\.s\.location: 's3://nowhere/raw' cannot be listed: .*no such bucket"
    ):
        list_shards([SourceFolder("s", "s3://nowhere/raw", ("*",), "auto", s3=SMALL(server.settings))], lambda *_: [])
    dead = S3Settings(endpoint="http://127.0.0.1:9", addressing="path")
    monkeypatch.setattr("resources.storage.s3.client.ATTEMPTS", 1)
    with pytest.raises(StorageError, match="cannot be listed") as error:
        list_shards([SourceFolder("s", "s3://nowhere/raw", ("*",), "auto", s3=dead)], lambda *_: [])
    assert ENVIRONMENT["AWS_SECRET_ACCESS_KEY"] not in str(error.value)


def test_a_body_that_breaks_off_is_read_on(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    from botocore.response import StreamingBody

    shard, read, cuts = listed(server).shards[0], StreamingBody.read, iter(range(100))

    def breaks(body: Any, size: int | None = None) -> Any:
        from botocore.exceptions import ResponseStreamingError

        turn = next(cuts) % 3
        if turn == 1:
            raise ResponseStreamingError(error="reset")
        return read(body, size if turn == 2 else min(size or 0, 5000))

    monkeypatch.setattr(StreamingBody, "read", breaks)
    assert shard.open().read() == CONTENT
