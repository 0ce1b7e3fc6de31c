"""The store in a bucket: versions in keys, one version per stream, uploads, copies, the builder's lock, credentials."""

import errno
import io
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import msgspec
import numpy as np
import pytest
from botocore.exceptions import ClientError

from resources.errors import ConfigError, LeaseLostError, StorageError, StoreAccessError
from resources.ledger.ledger import Ledger, Record
from resources.storage.file_cache import FileCache
from resources.storage.holders import Process, this_process
from resources.storage.leases import Held
from resources.storage.ownership import Claimant, claim, require_owner
from resources.storage.s3 import client as s3_client
from resources.storage.s3 import objects as s3_objects
from resources.storage.s3 import old_uploads as s3_old_uploads
from resources.storage.s3 import ranges as s3_ranges
from resources.storage.s3 import upload as s3_upload
from resources.storage.s3.address import Address, parse_address
from resources.storage.s3.client import S3Settings, client, traffic, without_addresses
from resources.storage.s3.store import S3Storage
from resources.storage.s3.upload import MOST_PARTS, part_size
from resources.storage.small_objects.builders import Written, name_of
from tests.fault_proxy import faults
from tests.object_store import KEY, SECRET, Server
from tests.resources.storage.conftest import in_bucket
from tests.resources.storage.test_every_store import LARGE, put

_WRITER = """
import os, signal, sys
from resources.storage.s3 import upload as s3_upload
from resources.storage.s3.store import S3Storage
from resources.storage.s3.address import Address
from resources.storage.s3.client import S3Settings
from resources.storage.file_cache import FileCache
from pathlib import Path
endpoint, bucket, prefix, cache, what = sys.argv[1:]
copies = FileCache(Path(cache), 1 << 30)
storage = S3Storage(Address(bucket, prefix), S3Settings(endpoint=endpoint, addressing="path"), copies)
if what == "write":
    unpublished = storage.begin()
    unpublished.create("a/one").write(b"never named")
    unpublished.create("splits/two").write(b"never seen")
    unpublished.prepare()
elif what == "replace":
    unpublished = storage.begin()
    for name in ("bin", "idx"):
        unpublished.create(f"exports/one.{name}").write(b"new")
    send = s3_upload.send
    def stop(uploads):
        send(uploads)
        if uploads:
            print("ready", flush=True)
            signal.pause()
    s3_upload.send = stop
    unpublished.publish()
else:
    held = storage.exclusive()
    held.__enter__()
print("ready", flush=True)
signal.pause()
"""


def other_process(storage: S3Storage, what: str) -> "subprocess.Popen[str]":
    """Starts a process that writes, or holds the store, until it is killed."""
    given = [storage.settings.endpoint or "", *storage.address, str(storage.cache.folder), what]
    process = subprocess.Popen([sys.executable, "-c", _WRITER, *given], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


def end(process: "subprocess.Popen[str]") -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_other_content_lies_beside_the_old(bucket: S3Storage) -> None:
    old = put(bucket, **{"a/one": b"old", "a/two": b"same"})
    with bucket.open(old["a/one"]) as file:
        new = put(bucket, **{"a/one": b"new", "a/two": b"same"})
        assert file.read() == b"old"
    assert set(old.values()).isdisjoint(new.values())
    assert bucket.read(old["a/one"], 0, 9) == b"old"
    assert bucket.read(new["a/one"], 0, 9) == b"new"
    assert {path.rpartition("/")[0] for path in new.values()} == {new["a/one"].rpartition("/")[0]}
    assert put(bucket, **{"a/two": b"same", "a/one": b"old"}) == old


def test_names_for_trainers_are_plain_and_replaced_by_publishing(bucket: S3Storage) -> None:
    put(bucket, **{"tokens/x.h5": b"old", "a/one": b"old"})
    unpublished = bucket.begin()
    assert not unpublished.replaces
    unpublished.create("tokens/x.h5").write(b"new")
    assert unpublished.replaces
    unpublished.prepare()
    assert (unpublished.stored("tokens/x.h5"), unpublished.size("tokens/x.h5")) == ("tokens/x.h5", 3)
    assert bucket.read("tokens/x.h5", 0, 9) == b"old"
    unpublished.publish()
    assert bucket.read("tokens/x.h5", 0, 9) == b"new"


def test_a_killed_writer_leaves_nothing_that_a_record_or_trainer_reads(bucket: S3Storage) -> None:
    end(other_process(bucket, "write"))
    assert [path.rpartition("/")[2] for path in bucket.paths("")] == ["one"]
    assert list(bucket.paths("splits")) == []
    assert [path.name for path in bucket.cache.folder.iterdir()] == []


def test_files_with_plain_names_are_replaced_in_the_order_in_which_they_were_created(bucket: S3Storage) -> None:
    put(bucket, **{"exports/one.idx": b"old", "exports/one.bin": b"old"})
    end(other_process(bucket, "replace"))
    assert bucket.read("exports/one.bin", 0, 9) == b"new"
    assert bucket.read("exports/one.idx", 0, 9) == b"old"


def test_one_stream_never_mixes_two_versions(bucket: S3Storage) -> None:
    put(bucket, **{"splits/large": LARGE})
    with bucket.open("splits/large") as file:
        assert file.read(100) == LARGE[:100]
        put(bucket, **{"splits/large": LARGE[::-1]})
        with pytest.raises(StoreAccessError, match="was replaced while it was read") as found:
            file.read()
    assert found.value.errno == errno.ESTALE


def test_a_stream_goes_on_when_the_same_content_is_sent_anew_with_another_version(bucket: S3Storage) -> None:
    path = put(bucket, large=LARGE)["large"]
    before = bucket.stat(path)
    with bucket.sequential(path) as file:
        assert file.read(100) == LARGE[:100]
        put(replace(bucket, settings=msgspec.structs.replace(bucket.settings, part_size=5 << 20)), large=LARGE)
        assert before is not None and bucket.stat(path) != before
        assert file.read() == LARGE[100:]


class _Cut:
    """A body that breaks off after some bytes: by an error, or as if it had ended."""

    def __init__(self, body: Any, size: int, *, silently: bool) -> None:
        self._body, self._left, self._silently = body, size, silently

    def read(self, size: int) -> bytes:
        if not self._left and not self._silently:
            raise ConnectionResetError(errno.ECONNRESET, "reset")
        found: bytes = self._body.read(min(size, self._left))
        self._left -= len(found)
        return found

    def close(self) -> None:
        self._body.close()


@pytest.mark.parametrize("silently", [True, False])
def test_a_body_that_breaks_off_is_read_on(bucket: S3Storage, silently: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(bucket, **{"a/large": LARGE})["a/large"]
    body, cuts = s3_ranges._body, [0]

    def cut(reply: Any, size: int) -> bytes:
        cuts[0] += 1
        return body(_Cut(reply, 300_000, silently=silently) if cuts[0] % 2 else reply, size)

    monkeypatch.setattr(s3_ranges, "_body", cut)
    with bucket.open(path) as file:
        assert file.read() == LARGE
    assert cuts[0] > 4


def test_absent_objects_use_up_no_retries(bucket: S3Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    """botocore's own allowance of 500 would be gone after a hundred retries whose answer is no success."""
    monkeypatch.setattr("botocore.retries.standard.ExponentialBackoff.delay_amount", lambda *_: 0.0)
    with faults(bucket.settings.endpoint or "", ["503"], one_in=4) as proxy:
        settings = msgspec.structs.replace(bucket.settings, endpoint=proxy.endpoint)
        store = S3Storage(bucket.address, settings, bucket.cache)
        assert not any(store.stat(f"ledger/absent/{number}.json") for number in range(600))
        assert proxy.made["503"] > 120


def test_a_store_that_always_breaks_off_is_given_up(bucket: S3Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(bucket, **{"a/one": b"content"})["a/one"]
    monkeypatch.setattr(s3_ranges, "_body", lambda reply, size: b"")
    monkeypatch.setattr(s3_ranges, "_LONGEST_WAIT", 0.0)
    with pytest.raises(StoreAccessError, match=r"one: the store broke off at byte 0 of 7, 8 times"):
        bucket.open(path)


def requests_since(before: dict[str, int]) -> dict[str, int]:
    return {name: n - before.get(name, 0) for name, n in traffic().requests.items() if n != before.get(name, 0)}


def test_a_small_file_costs_one_request_and_a_large_one_goes_in_parts(bucket: S3Storage) -> None:
    before = traffic().requests
    path = put(bucket, **{"a/one": b"content"})["a/one"]
    with bucket.open(path) as file:
        file.read()
    bucket.forget_copy(path)
    bucket.read(path, 0, 3)
    assert requests_since(before) == {"PutObject": 1, "GetObject": 2}
    before = traffic().requests
    put(bucket, **{"a/large": LARGE})
    assert requests_since(before)["UploadPart"] == 3


def test_what_this_machine_wrote_is_read_without_a_request(bucket: S3Storage) -> None:
    stored = put(bucket, **{"a/one": b"content", "a/rows.npy": b"x" * 100_000, "splits/one": b"plain"})
    before = traffic().requests
    held = bucket.at_hand(stored["a/one"])
    assert held is not None
    with held:
        assert held.read() == b"content"
    assert bucket.read(stored["a/one"], 3, 3) == b"ten"
    assert Path(bucket.fetch(stored["a/rows.npy"])).read_bytes() == b"x" * 100_000
    assert requests_since(before) == {}
    assert bucket.at_hand(stored["splits/one"]) is None, "another writer may have replaced it"
    for path in ("a/one", "a/rows.npy"):
        bucket.forget_copy(stored[path])
        assert bucket.at_hand(stored[path]) is None
    assert bucket.read(stored["a/one"], 3, 3) == b"ten"
    assert requests_since(before) == {"GetObject": 1}


def test_what_is_opened_is_what_the_store_has_and_not_a_copy(bucket: S3Storage) -> None:
    stored = put(bucket, **{"a/rows.npy": b"x" * 100_000})["a/rows.npy"]
    bucket.write(stored, b"y" * 100_000)
    with bucket.open(stored) as file:
        assert file.read() == b"y" * 100_000


def test_files_that_would_fill_the_cache_are_not_kept(bucket: S3Storage, tmp_path: Path) -> None:
    small = S3Storage(bucket.address, bucket.settings, FileCache(tmp_path / "small", 8_000))
    stored = put(small, **{"a/small": b"x" * 900, "a/large": b"x" * 1_100})
    assert small.at_hand(stored["a/large"]) is None
    held = small.at_hand(stored["a/small"])
    assert held is not None
    held.close()


@pytest.mark.parametrize("size", [1, 1 << 30, (5 << 40) - 1])
def test_no_file_has_too_many_parts(size: int) -> None:
    assert -(-size // part_size(size, 8 << 20)) <= MOST_PARTS


def test_an_upload_that_fails_leaves_no_parts(bucket: S3Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = client(bucket.settings)
    monkeypatch.setattr(connection, "complete_multipart_upload", _refuse)
    unpublished = bucket.begin()
    unpublished.create("a/large").write(LARGE)
    with pytest.raises(ConnectionResetError):
        unpublished.prepare()
    unpublished.discard()
    listed = connection.list_multipart_uploads(Bucket=bucket.address.bucket, Prefix=bucket.address.key(""))
    assert listed.get("Uploads", []) == []
    assert list(bucket.entries("")) == []


def _refuse(**_: Any) -> None:
    raise ConnectionResetError(errno.ECONNRESET, "reset")


@pytest.mark.slow
def test_old_uploads_are_abandoned_and_others_are_not(
    real_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = in_bucket(real_server, tmp_path)  # The simulation says of every upload that it began years ago.
    connection = client(bucket.settings)
    path = "documents/books/@0123456789abcdef/one.jsonl.gz"
    begun = connection.create_multipart_upload(Bucket=bucket.address.bucket, Key=bucket.address.key(path))
    assert bucket.abandoned() == []
    assert bucket.remove_abandoned() == 0
    monkeypatch.setattr(s3_old_uploads, "_MAY_TAKE", timedelta(seconds=-60))
    assert bucket.abandoned() == [f"{bucket.address.key(path)} (upload {begun['UploadId']})"]
    assert bucket.remove_abandoned() == 1
    assert bucket.abandoned() == []


def test_uploads_of_other_programs_are_left_alone(simulation: Server, tmp_path: Path) -> None:
    bucket = S3Storage(Address(simulation.bucket, ""), simulation.settings, FileCache(tmp_path / "cache", 1 << 20))
    connection = client(bucket.settings)
    ours = ["documents/@0123456789abcdef/x.jsonl.gz", "tokens/x.h5"]
    theirs = ["backups/of-somebody-else.tar", "x/@short/y", "raw/tokens/z"]
    for key in (*ours, *theirs):
        connection.create_multipart_upload(Bucket=simulation.bucket, Key=key)
    assert sorted(name.partition(" ")[0] for name in bucket.abandoned()) == ours
    assert bucket.remove_abandoned() == 2
    left = connection.list_multipart_uploads(Bucket=simulation.bucket)["Uploads"]
    assert {item["Key"] for item in left} >= set(theirs)
    for item in left:
        connection.abort_multipart_upload(Bucket=simulation.bucket, Key=item["Key"], UploadId=item["UploadId"])


def refusing(status: int) -> Any:
    """A connection that refuses to list uploads with some status."""

    class Refusing:
        def list_multipart_uploads(self, **_: Any) -> Any:
            reply = {"Error": {"Code": "Refused"}, "ResponseMetadata": {"HTTPStatusCode": status}}
            raise ClientError(reply, "ListMultipartUploads")

    return Refusing()


@pytest.mark.parametrize("status", [404, 405, 501])
def test_a_store_that_lists_no_uploads_has_none(
    bucket: S3Storage, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3_old_uploads, "client", lambda settings: refusing(status))
    assert bucket.abandoned() == []
    assert bucket.remove_abandoned() == 0


def test_who_may_not_list_uploads_is_told_what_was_refused(bucket: S3Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s3_old_uploads, "client", lambda settings: refusing(403))
    with pytest.raises(StoreAccessError, match="listing uploads that nobody completed: the store refuses access"):
        bucket.remove_abandoned()


def test_the_age_of_an_upload_is_by_the_clock_of_the_store(bucket: S3Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = datetime(2030, 1, 1, tzinfo=UTC)  # The clock of this machine tells another year.

    class Store:
        def list_multipart_uploads(self, **_: Any) -> Any:
            said = [begun + timedelta(seconds=seconds) for seconds in (0, 3600)]
            keys = [bucket.address.key(f"tokens/{number}") for number in range(2)]
            uploads = [
                {"Key": key, "UploadId": "u", "Initiated": at.isoformat()} for key, at in zip(keys, said, strict=True)
            ]
            return {"Uploads": uploads, "ResponseMetadata": {"HTTPHeaders": {"date": "Wed, 02 Jan 2030 00:30:00 GMT"}}}

    monkeypatch.setattr(s3_old_uploads, "client", lambda settings: Store())
    assert bucket.abandoned() == [f"{bucket.address.key('tokens/0')} (upload u)"]


def test_a_copy_is_made_once_and_made_again_for_other_content(bucket: S3Storage) -> None:
    def saved(rows: int) -> bytes:
        content = io.BytesIO()
        np.save(content, np.arange(rows))
        return content.getvalue()

    put(bucket, **{"tokens/rows.npy": saved(300_000)})
    first = bucket.fetch("tokens/rows.npy")
    assert bucket.fetch("tokens/rows.npy") == first
    put(bucket, **{"tokens/rows.npy": saved(300_001)})
    mapped = np.load(bucket.fetch("tokens/rows.npy"), mmap_mode="r")
    assert len(mapped) == 300_001
    with bucket.open("tokens/rows.npy") as file:
        assert file.read() == saved(300_001)
    assert bucket.read("tokens/rows.npy", 0, 128) == saved(300_001)[:128]


def test_a_builder_keeps_others_out_and_a_dead_one_does_not(bucket: S3Storage) -> None:
    builder = other_process(bucket, "hold")
    try:
        said = rf"process {builder.pid} on .* is building on this store"
        with pytest.raises(StorageError, match=said), bucket.exclusive():
            pass
    finally:
        end(builder)
    with bucket.exclusive():
        assert [entry.path for entry in bucket.entries("")] == [name_of(this_process())]
    assert list(bucket.entries("")) == []


def test_a_builder_of_another_machine_is_thought_dead_after_its_time(bucket: S3Storage) -> None:
    other = Process(1, "elsewhere", "2030-01-01T00:00:00+00:00", "", "nonce")
    bucket.write(name_of(other), msgspec.json.encode(Written(other, alone=True, expiry=0.5)))
    with bucket.exclusive():
        assert bucket.stat(name_of(other)) is None


def test_two_machines_never_write_one_partition(bucket: S3Storage) -> None:
    builders = [Process(n, f"host{n}", "2030-01-01T00:00:00+00:00", "", f"nonce{n}") for n in range(2)]
    for builder in builders:
        bucket.write(name_of(builder), b"")
    found = bucket.lease("asset/one", builders[0])
    held = bucket.lease("asset/one", builders[1])
    assert not isinstance(found, Held) and isinstance(held, Held)
    assert held.who.startswith("process 0 on host0")
    assert dict(bucket.leases()) == {"asset/one": held.who}
    taken = bucket.lease("asset/one", builders[1], expired=held.token)
    assert not isinstance(taken, Held)
    found.release()
    taken.require()
    taken.release()
    assert list(bucket.leases()) == []


def test_a_record_is_replaced_only_while_it_is_the_one_that_was_seen(bucket: S3Storage) -> None:
    first = bucket.replace("ledger/a/one.json", b"1", None)
    assert first is not None
    assert bucket.replace("ledger/a/one.json", b"2", first.version) is not None
    for version in (None, first.version):
        with pytest.raises(LeaseLostError, match=r"ledger/a/one\.json: another builder"):
            bucket.replace("ledger/a/one.json", b"late", version)
    assert bucket.read("ledger/a/one.json", 0, 10) == b"2"


@pytest.mark.parametrize("large", [b"", LARGE])
@pytest.mark.parametrize("first", [True, False])
def test_a_late_writer_does_not_replace_files_with_plain_names(bucket: S3Storage, first: bool, large: bytes) -> None:
    if not first:
        put(bucket, **{"tokens/train/one.h5": b"before"})
    late, other = bucket.begin(), bucket.begin()
    for unpublished, content in ((late, b"late " + large), (other, b"other" + large)):
        unpublished.create("tokens/train/one.h5").write(content)
        unpublished.prepare()
    other.publish()
    with pytest.raises(LeaseLostError, match=r"tokens/train/one\.h5"):
        late.publish()
    late.discard()
    assert bucket.read("tokens/train/one.h5", 0, 5) == b"other"
    assert not client(bucket.settings).list_multipart_uploads(Bucket=bucket.address.bucket).get("Uploads")


def record_of(name: str) -> Record:
    return Record(
        asset="a", partition="x", recipe=name, digest="d", inputs={}, parameters={}, code_version="1", files=[]
    )


def test_a_late_writer_does_not_remove_the_record_of_another(bucket: S3Storage) -> None:
    ledger = Ledger(bucket)
    old = ledger.replace(record_of("old"), None)
    assert old is not None
    removed = ledger.remove("a", "x", old.version)
    assert removed is not None, "the store cannot refuse to remove, so something stands there"
    assert ledger.read("a", "x") is None and ledger.records("a") == {} and ledger.unreadable == {}
    assert Ledger(bucket).records("a") == {}
    assert ledger.replace(record_of("new"), removed) is not None
    with pytest.raises(LeaseLostError, match=r"ledger/a/x\.json: another builder"):
        ledger.remove("a", "x", old.version)
    assert ledger.records("a") == {"x": record_of("new")}


def test_a_late_writer_does_not_take_the_removal_of_another_for_its_own(bucket: S3Storage) -> None:
    ledger = Ledger(bucket)
    old = ledger.replace(record_of("old"), None)
    assert old is not None
    first = ledger.remove("a", "x", old.version)
    with pytest.raises(LeaseLostError, match=r"ledger/a/x\.json: another builder"):
        ledger.remove("a", "x", old.version)
    second = ledger.remove("a", "x", first)
    with pytest.raises(LeaseLostError, match=r"ledger/a/x\.json: another builder"):
        ledger.replace(record_of("late"), first)
    assert ledger.replace(record_of("new"), second) is not None
    assert ledger.records("a") == {"x": record_of("new")}


def test_a_damaged_record_that_is_removed_is_absent(bucket: S3Storage) -> None:
    ledger = Ledger(bucket)
    ledger.replace(record_of("old"), None)
    with bucket.shared(this_process()):
        ledger.forget_damaged("a", "x", this_process())
        assert ledger.read("a", "x") is None
        ledger.forget_damaged("a", "x", this_process())


class Twice:
    """A client whose writes are done twice, as they are tried again when the reply to the first is lost."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._connection, name)
        return partial(self._twice, call) if name in ("put_object", "complete_multipart_upload") else call

    @staticmethod
    def _twice(call: Any, **given: Any) -> Any:
        call(**given)
        return call(**given)


@pytest.mark.parametrize("size", [100, len(LARGE)])
def test_a_write_whose_reply_is_lost_is_known_as_our_own(
    bucket: S3Storage, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = os.urandom(size)
    put(bucket, **{"tokens/one.h5": b"before"})
    unpublished = bucket.begin()
    unpublished.create("tokens/one.h5").write(content)
    unpublished.prepare()
    monkeypatch.setattr(s3_upload, "client", lambda settings: Twice(client(settings)))
    unpublished.publish()
    with bucket.open("tokens/one.h5") as file:
        assert file.read() == content


@pytest.mark.parametrize("size", [10, 100_000, 3 << 20])
def test_a_record_whose_reply_is_lost_is_known_as_our_own(
    bucket: S3Storage, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3_objects, "client", lambda settings: Twice(client(settings)))
    first = bucket.replace("ledger/a/one.json", b"1" * size, None)
    assert first is not None
    second = bucket.replace("ledger/a/one.json", b"2" * size, first.version)
    assert second is not None and second.version == second_version(bucket)
    with pytest.raises(LeaseLostError, match="another builder"):
        bucket.replace("ledger/a/one.json", b"2" * (size - 1) + b"3", first.version)


def second_version(bucket: S3Storage) -> str:
    entry = bucket.stat("ledger/a/one.json")
    assert entry is not None
    return entry.version


def test_a_file_that_goes_while_it_is_copied_is_absent(bucket: S3Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(bucket, **{"a/one.npy": LARGE})["a/one.npy"]
    first = s3_ranges.get(bucket._object(path), 0, 1 << 20)
    bucket.delete(path)
    with pytest.raises(FileNotFoundError):
        bucket._opened(path, first)


def test_a_store_that_holds_conditions_is_known(bucket: S3Storage) -> None:
    assert bucket.holds_conditions
    assert list(bucket.entries("")) == []


def test_a_store_belongs_to_one_corpus(bucket: S3Storage, tmp_path: Path) -> None:
    claim(bucket, Claimant("mine", tmp_path / "corpus.yaml"))
    require_owner(bucket, Claimant("mine", Path("/elsewhere/corpus.yaml")))
    with pytest.raises(StorageError, match="belongs to corpus 'mine'"):
        require_owner(bucket, Claimant("other", tmp_path / "corpus.yaml"))


@pytest.fixture
def nowhere(environment: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Storage]:
    """A store whose server does not run."""
    monkeypatch.setattr("resources.storage.s3.client.ATTEMPTS", 1)
    settings = S3Settings(endpoint="http://127.0.0.1:9", addressing="path", concurrency=2)
    yield S3Storage(Address("bucket", "p"), settings, FileCache(tmp_path / "cache", 1 << 20))


@pytest.mark.parametrize("endpoint", ["http://a..b:80", "http://-host:9000"])
def test_an_endpoint_that_is_no_host(endpoint: str, environment: None) -> None:
    with pytest.raises(ConfigError, match=f"s3.endpoint: '{endpoint}' is no host"):
        client(S3Settings(endpoint=endpoint))


class _WebPage(BaseHTTPRequestHandler):
    """Answers everything with the same page, as a web console or a page to log in at."""

    status = 200

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(b"" if self.command == "HEAD" else b"<!doctype html><html><link rel=x></html>")

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_PUT(self) -> None:
        self.do_GET()

    def do_DELETE(self) -> None:
        self.do_GET()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.mark.parametrize(
    ("status", "why"),
    [(200, "the answer has no ETag"), (302, "every answer leads elsewhere"), (404, "the answer is 404")],
)
def test_what_is_no_object_store_is_an_error_that_asks_for_the_endpoint(
    status: int, why: str, environment: None, tmp_path: Path
) -> None:
    handler = type("_Handler", (_WebPage,), {"status": status})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        storage = in_bucket(Server(f"http://127.0.0.1:{server.server_port}"), tmp_path)
        uses: list[Callable[[], object]] = [lambda: list(storage.entries("")), lambda: storage.holds_conditions]
        for use in uses if status != 200 else [lambda: storage.open("a"), lambda: storage.stat("a")]:
            with pytest.raises(StoreAccessError, match=f"{why}; does s3.endpoint name an object store"):
                use()
        server.shutdown()


def test_faults_tell_no_credentials(bucket: S3Storage, nowhere: S3Storage) -> None:
    absent = S3Storage(Address("no-such-bucket", "p"), bucket.settings, bucket.cache)
    for storage in (nowhere, absent):
        for use in (S3Storage.open, S3Storage.stat, lambda one, path: one.write(path, b"")):
            if storage is absent and use is S3Storage.stat:
                continue  # A store says of no object that is absent why.
            with pytest.raises(StoreAccessError) as found:
                use(storage, "a")
            assert found.value.errno == errno.EIO
            said = f"{found.value} {found.value!r}"
            assert KEY not in said and SECRET not in said and "Signature" not in said
    assert KEY not in repr(bucket) and SECRET not in repr(bucket)


def test_a_token_that_no_header_can_hold_is_in_no_error(bucket: S3Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Secrets that come out of a file often end with a line end."""
    monkeypatch.setenv("AWS_SESSION_TOKEN", "not-to-be-shown\n")
    monkeypatch.setattr(s3_client, "_CLIENTS", {})
    with pytest.raises(StoreAccessError, match=r"HTTPClientError: the request cannot be sent \(ValueError\)") as found:
        bucket.stat("one")
    assert "not-to-be-shown" not in f"{found.value} {found.value!r}"


def test_a_token_is_in_no_log_whatever_else_is_logged(
    bucket: S3Storage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "not-to-be-shown")
    monkeypatch.setattr(s3_client, "_CLIENTS", {})
    logging.getLogger("botocore").setLevel(logging.NOTSET)
    with caplog.at_level(logging.DEBUG):
        bucket.write("one", b"content")
        assert bucket.stat("one") is not None
    assert "not-to-be-shown" not in caplog.text and SECRET not in caplog.text


_GIVES_CREDENTIALS = """#!/bin/sh
echo '{"Version": 1, "AccessKeyId": "%s", "SecretAccessKey": "%s", "SessionToken": "t", "Expiration": "%s"}'
"""


@pytest.mark.parametrize("then", ["gone", "#!/bin/sh\necho no\n"])
def test_an_object_is_not_absent_because_nobody_says_credentials(
    then: str, bucket: S3Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket.write("one", b"content")
    program, soon = tmp_path / "program", datetime.now(UTC) + timedelta(minutes=1)
    program.write_text(_GIVES_CREDENTIALS % (KEY, SECRET, soon.isoformat()))
    program.chmod(0o755)
    (tmp_path / "config").write_text(f"[profile mine]\ncredential_process = {program}\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    mine = replace(bucket, settings=msgspec.structs.replace(bucket.settings, profile="mine"))
    monkeypatch.setattr(s3_client, "_CLIENTS", {})
    assert mine.stat("one") is not None
    if then == "gone":
        program.unlink()
    else:
        program.write_text(then)
    for used in (mine, replace(mine, settings=msgspec.structs.replace(mine.settings, concurrency=3))):
        with pytest.raises(StoreAccessError, match="cannot be asked"):
            used.stat("one")


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("h:1/b/k?X-Amz-Credential=abc&X-Amz-Signature=def", "h:1/..."),
        ("h:1?abc=def", "h:1/..."),
        ("abc:def@h:1/b", "..."),
        ("abc:d/ef@h:1/b", "..."),
    ],
)
def test_addresses_in_messages_keep_host_and_port_at_most(address: str, kept: str) -> None:
    assert without_addresses(f'Could not connect to "http://{address}"') == f'Could not connect to "http://{kept}"'


@pytest.mark.parametrize(
    "url",
    [
        *("s3://", "s3://a", "s3://A-bucket", "s3://k:s@bucket/x", "corpus"),
        *("s3://bucket/a//b", "s3://bucket/../b", "s3://bucket/..", "s3://bucket/a/../", "s3://bucket/."),
    ],
)
def test_an_address_that_is_none_is_refused_without_being_shown(url: str) -> None:
    with pytest.raises(ValueError, match="valid: s3://bucket/prefix") as found:
        parse_address(url)
    assert "k:s" not in str(found.value)


@pytest.mark.parametrize(("url", "key"), [("s3://bucket", "x"), ("s3://bucket/", "x"), ("s3://bucket/a/b/", "a/b/x")])
def test_keys_lie_below_the_prefix(url: str, key: str) -> None:
    assert parse_address(url).key("x") == key


def test_a_forked_process_has_a_client_of_its_own(bucket: S3Storage) -> None:
    bucket.write("one", b"content")
    before = client(bucket.settings)
    child = os.fork()
    if not child:
        fine = client(bucket.settings) is not before and bucket.read("one", 0, 9) == b"content"
        os._exit(0 if fine else 1)
    limit = time.monotonic() + 60
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        assert time.monotonic() < limit, "the child hangs"
        time.sleep(0.01)
    assert os.waitstatus_to_exitcode(ended[1]) == 0


def test_boto_uploads_files_with_our_client(bucket: S3Storage, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    where = {"Bucket": bucket.address.bucket, "Key": bucket.address.key("one")}
    client(bucket.settings).upload_file(str(tmp_path / "file"), where["Bucket"], where["Key"])
    assert bucket.read("one", 0, 9) == b"content"


def test_what_renews_has_its_client_before_anything_is_due(bucket: S3Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    made: dict[S3Settings, Any] = {}
    monkeypatch.setattr(s3_client, "_CLIENTS", made)
    with bucket.shared(builder := this_process()):
        assert sorted(settings.patience is None for settings in made) == [False, True]
        made.clear()
        lease = bucket.lease("asset/one", builder)
        assert sorted(settings.patience is None for settings in made) == [False, True]
        assert not isinstance(lease, Held)
        lease.release()
