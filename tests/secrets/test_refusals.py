"""Whatever a server answers, even if it repeats all that it was told, no message and no log says a secret."""

import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from corpus_assets.config.notices import Notice
from corpus_assets.orchestration.building.telling.delivery import deliver
from corpus_assets.publish.hub_faults import faults_in_words
from corpus_assets.tokenize.tokenizers.hub import download
from resources import hub_client
from resources.endpoint.client import Address, Client
from resources.errors import ConfigError, CorpusError
from resources.hub_client import hub_api
from resources.raw_places import connection, place_of, remote
from resources.raw_places.addresses import hub_address
from resources.raw_places.interface import SourceFolder
from resources.raw_places.web import looked_up
from resources.storage import open_storage
from resources.storage.s3.client import S3Settings
from tests.secrets.mirror import Mirror, mirroring
from tests.secrets.planted import SECRETS, found_in, hook_address, planted_environment

STATUSES = (0, 200, 302, 400, 401, 403, 404, 429, 503)


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    from huggingface_hub import constants

    for name, value in planted_environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(remote, "PAUSE", 0.001)
    monkeypatch.setattr(connection, "BACKOFF", 0.0)
    monkeypatch.setattr(hub_client, "PAUSES", ())
    with mirroring() as found:
        monkeypatch.setattr(constants, "ENDPOINT", found.url)
        monkeypatch.setenv("HOOK", hook_address(found.url))
        yield found


def listing(location: str, mirror: Mirror, _: Path) -> object:
    settings = S3Settings(endpoint=mirror.url, addressing="path", patience=5)
    folder = SourceFolder("a", location.replace("URL", mirror.url), ("**/*",), "auto", s3=settings)
    return place_of(folder).files(folder, [])


def line_of_a_list(mirror: Mirror, folder: Path) -> object:
    return looked_up("a/one.jsonl", "one.jsonl", f"{mirror.url}/one.jsonl?sig={SECRETS['query of a list']}")


def object_store(mirror: Mirror, folder: Path) -> object:
    s3 = {"endpoint": mirror.url, "addressing": "path", "patience": 5}
    section = {"kind": "s3", "root": "s3://bucket/x", "s3": s3, "cache": {"folder": "c", "limit": 1}, "lease": 60}
    store = open_storage(section, folder)
    return store.read("ledger/a.json", 0, 10)


def endpoint(mirror: Mirror, folder: Path) -> object:
    address = Address(f"{mirror.url}/v1", "m", key_variable="JUDGE_KEY", retries=1, wait=0)
    return Client(address, folder).ask("/chat/completions", {"text": "x"})


def webhook(mirror: Mirror, folder: Path) -> object:
    return deliver(Notice(webhook="env:HOOK"), b"{}", folder)


def writing_to_the_hub(mirror: Mirror, _: Path) -> object:
    with faults_in_words(hub_address("hf://datasets/org/name")):
        return hub_api().whoami()


ASKED: dict[str, Callable[[Mirror, Path], object]] = {
    "list of URLs": partial(listing, "URL/list.txt"),
    "line of a list": line_of_a_list,
    "raw files of an object store": partial(listing, "s3://bucket/raw"),
    "raw files of the hub": partial(listing, "hf://datasets/org/name"),
    "object store": object_store,
    "endpoint": endpoint,
    "webhook": webhook,
    "tokenizer of the hub": lambda *_: download("org/name", "main"),
    "writing to the hub": writing_to_the_hub,
}


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("place", ASKED)
def test_a_server_that_repeats_what_it_was_told(
    place: str, status: int, mirror: Mirror, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)  # The default of Python.
    mirror.status = status
    try:
        said = str(ASKED[place](mirror, tmp_path))
    except CorpusError as error:
        said = f"{error} {error!r} {error.__cause__ or ''}"
    except FileNotFoundError as error:
        said = str(error)
    assert mirror.told
    assert found_in(said) == []
    assert found_in(caplog.text) == []


def test_the_secrets_were_told_where_they_belong(mirror: Mirror, tmp_path: Path) -> None:
    """Without this the test above would pass if nothing asked with credentials."""
    for ask in ASKED.values():
        with suppress(CorpusError, FileNotFoundError):
            ask(mirror, tmp_path)
    told = {place for request in mirror.told for place in found_in(request)}
    assert told == {"aws key", "aws session", "hub token", "endpoint key", "hook path", "hook query", "query of a list"}


@pytest.mark.parametrize("place", ["list of URLs", "line of a list", "raw files of an object store", "object store"])
def test_a_proxy_that_cannot_be_reached(
    place: str, mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "")
    with pytest.raises(CorpusError) as error:
        ASKED[place](mirror, tmp_path)
    assert found_in(f"{error.value} {error.value!r}") == [] and not mirror.told


@pytest.mark.parametrize("key", ["two\nlines", "\u20ac", "tab\there"])
def test_a_key_that_no_request_can_carry_is_refused_unseen(
    key: str, mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_KEY", SECRETS["endpoint key"] + key)
    with pytest.raises(ConfigError, match="JUDGE_KEY holds no key") as error:
        endpoint(mirror, tmp_path)
    assert found_in(str(error.value)) == []
