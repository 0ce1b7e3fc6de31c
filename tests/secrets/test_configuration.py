"""A secret that somebody wrote into corpus.yaml by mistake is in no message about it."""

import json
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.config.reading.loading import parse_config
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.shown.config_text import config_text, shown_text
from resources.errors import CorpusError

SECRET = "Pl4nted-s3cret"
SOURCE = {"name": "a", "location": "raw"}
MODEL = {"url": "http://host/v1", "model": "m", "prompt": "{text}"}


def source(**keys: Any) -> dict[str, Any]:
    return {"sources": [{**SOURCE, **keys}]}


def with_section(name: str, value: Any) -> dict[str, Any]:
    return {"sources": [SOURCE], name: value}


def asked(**keys: Any) -> dict[str, Any]:
    options = {"endpoint_score_v1": {"endpoint": {**MODEL, **keys}}}
    return with_section("attributes", [{"name": "x", "taggers": ["endpoint_score_v1"], "options": options}])


LOCATIONS = (
    f"https://u:{SECRET}@host/list.txt",
    f"https://{SECRET}@host/list.txt",
    f"https://host/list.txt?sig={SECRET}",
    f"https://u:{SECRET}/x@host/list.txt",
    f"https://u:{SECRET}\u2100@host/list.txt",
    f"https://u:p@[{SECRET}/list.txt",
    f"s3://AKIA:{SECRET}@bucket/raw",
    f"s3://bucket/raw?X-Amz-Signature={SECRET}",
    f"hf://datasets/org/name?token={SECRET}",
    f"hf://u:{SECRET}@datasets/org/name",
    f"ftp://u:{SECRET}@host/raw",
    f"u:{SECRET}@host/raw",
    "$PLANTED_LOCATION",
)
VALUES: dict[str, dict[str, Any]] = {
    **{f"location {number}": source(location=location) for number, location in enumerate(LOCATIONS)},
    "token of a source": source(token=SECRET),
    "headers of a source": source(headers={"Authorization": f"Bearer {SECRET}"}),
    "secret_key of a source": source(location="s3://bucket/raw", s3={"secret_key": SECRET}),
    "root with a key": with_section("storage", {"root": f"s3://k:{SECRET}@bucket/x"}),
    "root of a web server": with_section("storage", {"root": f"https://k:{SECRET}@host/x"}),
    "root with a query": with_section("storage", {"root": f"s3://bucket/x?key={SECRET}"}),
    "root that is a mapping": with_section("storage", {"root": {"url": f"s3://k:{SECRET}@bucket/x"}}),
    "endpoint of the store": with_section("storage", {"root": "s3://b/x", "s3": {"endpoint": f"https://k:{SECRET}@h"}}),
    "endpoint that is a list": with_section(
        "storage", {"root": "s3://b/x", "s3": {"endpoint": [f"http://k:{SECRET}@h"]}}
    ),
    "secret_access_key": with_section("storage", {"root": "s3://b/x", "s3": {"secret_access_key": SECRET}}),
    "password of the store": with_section("storage", {"root": "x", "password": SECRET}),
    "webhook": with_section("notices", [{"webhook": f"https://hooks/{SECRET}"}]),
    "webhook in a list": with_section("notices", [{"webhook": [f"https://hooks/{SECRET}"]}]),
    "webhook as a mapping": with_section("notices", [{"webhook": {"url": f"https://hooks/{SECRET}"}}]),
    "webhook under another name": with_section("notices", [{"url": f"https://hooks/{SECRET}"}]),
    "notices that are no list": with_section("notices", {"webhook": f"https://hooks/{SECRET}"}),
    "notices that are an address": with_section("notices", f"https://hooks/{SECRET}"),
    "a notice that is an address": with_section("notices", [f"https://hooks/{SECRET}"]),
    "endpoint with a user": asked(url=f"https://u:{SECRET}@host/v1"),
    "endpoint with a query": asked(url=f"https://host/v1?key={SECRET}"),
    "api_key of an endpoint": asked(api_key=SECRET),
    "headers of an endpoint": asked(headers={"Authorization": SECRET}),
    "key in place of its variable": asked(key_variable=f"sk-{SECRET}"),
    "engine": with_section("engine", {"kind": "ray", "address": f"ray://u:{SECRET}@host"}),
    "benchmark": with_section("benchmarks", [{"name": "b", "location": f"https://u:{SECRET}@host/x.jsonl"}]),
    "dataset": with_section("datasets", [{"name": "d", "input": f"https://u:{SECRET}@host/x"}]),
    "tokenizer": with_section("tokenizer", {"kind": "tokenizer_json", "path": f"https://u:{SECRET}@host/t.json"}),
    "hf_token": with_section("hf_token", SECRET),
    "environment": with_section("env", {"AWS_SECRET_ACCESS_KEY": SECRET}),
}
TEXTS = {
    "a file of keys": f"HF_TOKEN={SECRET}\n",
    "a list of keys": f"- {SECRET}\n",
    "an open quote": f'notices:\n  - webhook: "https://hooks/{SECRET}\nsources: [',
    "a colon too many": f"sources:\n- name: a\n  location: https://u:{SECRET}@host: x: y\n",
    "a key given twice": f"hf_token: {SECRET}\nhf_token: {SECRET}\n",
    "a tag": f"password: !!python/object/apply:os.system ['{SECRET}']\n",
    "an alias": f"webhook: *{SECRET}\n",
    "a tab": f"notices:\n  - webhook: https://hooks/{SECRET}\n  \tx: 1\n",
    "an open list": f"notices: [{{webhook: 'https://hooks/{SECRET}'}}\n",
    "an at sign": f"notices: [webhook: @{SECRET}]\n",
}
FILES = {**{name: json.dumps(values) for name, values in VALUES.items()}, **TEXTS}


@pytest.mark.parametrize("name", FILES)
def test_what_is_wrong_is_said_without_the_secret(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED_LOCATION", f"https://u:{SECRET}@host/raw")
    file = tmp_path / "corpus.yaml"
    file.write_text(FILES[name])
    assert SECRET in FILES[name] or "$PLANTED_LOCATION" in FILES[name]
    with pytest.raises(CorpusError) as error:
        planner = Corpus.open(file).planner()
        planner.check_before(planner.graph)
        planner.plan()
    assert SECRET not in f"{error.value} {error.value!r}"
    assert len(str(error.value).replace(str(file), "")) > 20


def test_a_line_without_anything_secret_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "corpus.yaml"
    file.write_text("sources: *books\n")
    with pytest.raises(CorpusError, match=r"sources: .books"):
        Corpus.open(file)


def test_options_that_are_secrets_are_on_no_page() -> None:
    values = {
        "sources": [SOURCE],
        "storage": {"options": {"api_key": SECRET, "inner": {"password": SECRET, "size": 3}}},
        "notices": [{"webhook": "env:HOOK"}],
    }
    shown = shown_text(parse_config(values))
    assert SECRET not in shown
    assert "size: 3" in shown and "webhook: env:HOOK" in shown.replace('"', "")
    assert SECRET in config_text(parse_config(values))  # What `corpus config` prints can be used as it is.
