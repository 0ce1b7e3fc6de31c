"""The proxy of the tests makes the faults that it is asked for, and lets everything else through unchanged."""

import random

import pytest

from resources.errors import StorageError
from resources.storage.s3.client import S3Settings, client, translated
from resources.storage.s3.listing import ENTRIES
from tests.fault_proxy import EVERY_FAULT, Kind, faults
from tests.object_store import Server

CONTENT = random.Random(3).randbytes(300_000)


@pytest.fixture
def server(simulation: Server) -> Server:
    return simulation


def settings(endpoint: str) -> S3Settings:
    return S3Settings(endpoint=endpoint, addressing="path")


def test_without_faults_everything_passes_unchanged(server: Server) -> None:
    """Signed requests, bodies that wait for the server's word, ranges, listings, absent objects."""
    with faults(server.endpoint, ()) as proxy:
        through, place = client(settings(proxy.endpoint)), {"Bucket": server.bucket, "Key": "a b/ü+1"}
        through.put_object(**place, Body=CONTENT)
        assert client(server.settings).get_object(**place)["Body"].read() == CONTENT
        assert through.get_object(**place, Range="bytes=5-99")["Body"].read() == CONTENT[5:100]
        assert through.head_object(**place)["ContentLength"] == len(CONTENT)
        listed = through.list_objects_v2(Bucket=server.bucket, Prefix="a b/")[ENTRIES]
        assert [one[0] for one in listed] == [place["Key"]]
        with pytest.raises(FileNotFoundError), translated("absent"):
            through.get_object(Bucket=server.bucket, Key="absent")
        through.delete_object(**place)
        assert proxy.requests >= 6
        assert not proxy.made


@pytest.mark.parametrize("kind", ["500", "503", "cut"])
def test_each_request_meets_a_fault_until_the_client_gives_up(
    server: Server, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botocore.retries.standard.ExponentialBackoff.delay_amount", lambda *_: 0.0)
    with faults(server.endpoint, [kind], one_in=1) as proxy:
        with pytest.raises(StorageError), translated("the object"):
            client(settings(proxy.endpoint)).put_object(Bucket=server.bucket, Key="never", Body=CONTENT)
        assert proxy.made[kind] == proxy.requests > 1


def test_a_truncated_body_has_a_right_status_and_half_of_the_bytes(server: Server) -> None:
    client(server.settings).put_object(Bucket=server.bucket, Key="whole", Body=CONTENT)
    with faults(server.endpoint, ["truncated"], one_in=1) as proxy:
        reply = client(settings(proxy.endpoint)).get_object(Bucket=server.bucket, Key="whole", Range="bytes=0-999999")
        assert reply["ResponseMetadata"]["HTTPStatusCode"] == 206
        assert reply["Body"].read() == CONTENT[: len(CONTENT) // 2]
        assert proxy.made == {"truncated": 1}


def test_a_cut_body_ends_the_connection(server: Server) -> None:
    client(server.settings).put_object(Bucket=server.bucket, Key="whole", Body=CONTENT)
    with faults(server.endpoint, ["cut"], one_in=1, seed=1) as proxy:
        found = []
        with pytest.raises(StorageError), translated("the object"):
            body = client(settings(proxy.endpoint)).get_object(Bucket=server.bucket, Key="whole")["Body"]
            while block := body.read(1000):
                found.append(block)
        assert b"".join(found) == CONTENT[: len(b"".join(found))]
        assert proxy.made["cut"] == proxy.requests


def test_the_same_requests_meet_the_same_faults(server: Server) -> None:
    """One call in five, whatever the order."""
    keys = [f"draw/{number}" for number in range(60)]
    seen = []
    for order in (keys, sorted(keys, reverse=True)):
        with faults(server.endpoint, EVERY_FAULT) as proxy:
            for key in order:
                with translated(key):
                    client(settings(proxy.endpoint)).put_object(Bucket=server.bucket, Key=key, Body=b"x")
            seen.append((proxy.made, proxy.requests))
    assert seen[0] == seen[1]
    assert 0 < sum(seen[0][0].values()) < 60
