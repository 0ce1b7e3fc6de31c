"""Taggers that ask an endpoint: what they ask, when they ask again, what they keep, and what they refuse."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.corpus.corpus import Corpus
from resources.endpoint.answers import FILE, Answers, answer_key
from resources.errors import ConfigError, StorageError
from tests.attributes.endpoint_server import Reply, Served, endpoint, length, said
from tests.attributes.test_stage import built, documents, rows
from tests.build.small import digests, drive, opened, write_config, write_small

SCORE, EMBEDDING = "endpoint_score_v1", "endpoint_embedding_v1"
KEY = "judge__endpoint_score_v1__score"


def entry(served: Served, tagger: str = SCORE, *, size: int = 4, **changes: Any) -> dict[str, Any]:
    asked: dict[str, Any] = {"url": served.url, "model": "m", "answers": "kept", "wait": 0, "retries": 2, **changes}
    if tagger == SCORE:
        asked = {"prompt": "Rate this. TEXT:{text}", **asked}
    return {"name": "judge", "taggers": [tagger], "options": {tagger: {"endpoint": asked, "batch_size": size}}}


def good(number: int, question: dict[str, Any]) -> Reply:
    return 200, said(length(question))


def failures(folder: Path, given: dict[str, Any]) -> list[str]:
    write_config(folder, {"attributes": [given]})
    corpus = opened(folder)
    return drive(corpus, corpus.graph.select(["+group:attributes"])).failed


def test_each_different_text_is_asked_once_and_never_again(tmp_path: Path) -> None:
    write_small(tmp_path)
    with endpoint(good) as served:
        corpus, _ = built(tmp_path, entry(served))
        texts = [document.text for document in documents(corpus)]
        assert sorted(served.prompts) == sorted({f"Rate this. TEXT:{text}" for text in texts})
        scores = [row.attributes[KEY] for row in rows(corpus, "judge_attributes")]
        assert scores == [[(0, len(text), float(len(text) % 6))] for text in texts]
        first = digests(corpus)
        for path in (tmp_path / "corpus" / "ledger" / "judge_attributes").rglob("*.json"):
            path.unlink()
        before = len(served.asked)
        corpus, made = built(tmp_path, entry(served, size=1, concurrency=9, timeout=3))
        assert "judge_attributes" in made
        assert (len(served.asked), digests(corpus)) == (before, first)
        built(tmp_path, entry(served, prompt="Another. TEXT:{text}"))
        assert len(served.asked) == 2 * before


def test_what_an_answer_depends_on_is_in_the_recipe_and_how_it_is_asked_is_not(tmp_path: Path) -> None:
    write_small(tmp_path)
    with endpoint(good) as served:
        built(tmp_path, entry(served))
        for same in ({"concurrency": 1}, {"url": "http://localhost:1/v1"}, {"requests_per_second": 5.0}):
            write_config(tmp_path, {"attributes": [entry(served, **same)]})
            assert [d for d in opened(tmp_path).planner().plan().decisions if d.asset == "judge_attributes"] != []
            assert {d.status for d in opened(tmp_path).planner().plan().of("judge_attributes")} == {"fresh"}
        for other in ({"model": "n"}, {"characters": 10}, {"most": 9.0}, {"parameters": {"max_tokens": 2}}):
            write_config(tmp_path, {"attributes": [entry(served, **other)]})
            assert {d.status for d in opened(tmp_path).planner().plan().of("judge_attributes")} == {"stale"}


def test_answers_that_are_there_survive_a_failure(tmp_path: Path) -> None:
    write_small(tmp_path)
    with endpoint(lambda number, question: (200, said("1")) if number < 10 else (400, {"error": "no"})) as served:
        assert failures(tmp_path, entry(served, size=1)) != []
    with endpoint(good) as served:
        corpus, _ = built(tmp_path, entry(served))
        assert len(served.asked) == len({document.text for document in documents(corpus)}) - 10


def test_busy_servers_are_asked_again_within_the_limit_on_requests(tmp_path: Path) -> None:
    write_small(tmp_path)
    refused = set()

    def busy(number: int, question: dict[str, Any]) -> Reply:
        text = json.dumps(question)
        if text not in refused:
            refused.add(text)
            return (429, b"slow down") if number % 2 else (503, b"")
        return good(number, question)

    with endpoint(busy) as served:
        corpus, _ = built(tmp_path, entry(served, concurrency=2, requests_per_second=2000.0))
        assert len(served.asked) == 2 * len({document.text for document in documents(corpus)})
        assert served.most <= 2


BAD: list[tuple[Callable[[int, dict[str, Any]], Reply], dict[str, Any], str]] = [
    (lambda n, q: (500, b"over"), {}, "status 500: 'over' (3 tries)"),
    (lambda n, q: (401, b"who are you"), {}, "status 401: 'who are you'"),
    (lambda n, q: (302, b""), {}, "status 302"),
    (lambda n, q: (200, None), {"timeout": 0.05}, "no whole answer within 0.05 s (3 tries)"),
    (lambda n, q: (200, b"<html>"), {}, "its answer is no JSON: '<html>' (3 tries)"),
    (lambda n, q: (200, {"choices": []}), {}, "its answer has no text at choices[0].message.content"),
    (lambda n, q: (200, said(None)), {}, "its answer has no text at choices[0].message.content"),
    (lambda n, q: (200, said("good")), {}, "its answer has no score: 'good'"),
    (lambda n, q: (200, said("Score: 7")), {"most": 5.0}, "its answer has score 7; valid: None to 5.0"),
]


@pytest.mark.parametrize(("reply", "changes", "message"), BAD, ids=[message[:30] for *_, message in BAD])
def test_bad_answers_are_named_with_the_endpoint(
    tmp_path: Path, reply: Callable[[int, dict[str, Any]], Reply], changes: dict[str, Any], message: str
) -> None:
    write_small(tmp_path)
    with endpoint(reply) as served:
        failed = failures(tmp_path, entry(served, **changes))
        assert failed
        assert all(f"{served.url} (model 'm'): {message}" in words for words in failed), failed


def test_no_server_is_named(tmp_path: Path) -> None:
    write_small(tmp_path)
    with endpoint(good) as served:
        pass
    assert all(f"{served.url} (model 'm'): no answer: Conn" in words for words in failures(tmp_path, entry(served)))


def test_questions_without_answer_are_counted_if_that_is_asked_for(tmp_path: Path) -> None:
    write_small(tmp_path)
    reply = BAD[7][0]
    with endpoint(lambda n, q: reply(n, q) if "Too short." in json.dumps(q) else good(n, q)) as served:
        corpus, _ = built(tmp_path, entry(served, failures="count"))
        found = rows(corpus, "judge_attributes")
        assert [row.attributes for row in found if KEY not in row.attributes] == [{}]
        counted = [r.statistics.get("unanswered") for r in corpus.ledger.records("judge_attributes").values()]
        assert [one for one in counted if one] == [{SCORE: {"no score": 1}}]
        notes = corpus.graph["judge_attributes"].hooks.notes(partitions_of(corpus), corpus.settings.values)
        assert list(notes) == [f"attributes of judge: {SCORE} has no score for 1 documents: no score 1"]
    with endpoint(lambda n, q: (403, b"")) as served:
        assert failures(tmp_path, entry(served, failures="count", model="other")) != []


def partitions_of(corpus: Corpus) -> list[Any]:
    from resources.stage.partition import Partition

    shards = {shard.key: shard for shard in corpus.planner().listing.shards}
    records = corpus.ledger.records("judge_attributes")
    return [Partition(corpus.storage, record, shards[str(key)]) for key, record in records.items()]


def test_the_key_is_sent_and_never_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_small(tmp_path)
    monkeypatch.setenv("JUDGE_KEY", "sk-secret-1")
    with endpoint(good) as served:
        built(tmp_path, entry(served, key_variable="JUDGE_KEY"))
        assert {key for *_, key in served.asked} == {"Bearer sk-secret-1"}
    with endpoint(lambda n, q: (400, b"bad key sk-secret-1 given")) as served:
        failed = failures(tmp_path, entry(served, key_variable="JUDGE_KEY", model="n"))
        assert failed
        assert all("bad key *** given" in words for words in failed)
    held = [path for path in tmp_path.rglob("*") if path.is_file() and b"sk-secret-1" in path.read_bytes()]
    assert held == []
    monkeypatch.delenv("JUDGE_KEY")
    corpus = opened(tmp_path)
    place = f"attributes.0.options.{SCORE}.endpoint.key_variable"
    with pytest.raises(ConfigError, match=f"{place}: the environment variable JUDGE_KEY is not set"):
        corpus.graph["judge_attributes"].hooks.check_before(corpus.settings.values)


def vectors(number: int, question: dict[str, Any]) -> Reply:
    found = [{"index": n, "embedding": [len(text), 0.5, -1e-7]} for n, text in enumerate(question["input"])]
    return 200, {"data": found[::-1]}


def test_embeddings_are_asked_for_together(tmp_path: Path) -> None:
    write_small(tmp_path)
    with endpoint(vectors) as served:
        corpus, _ = built(tmp_path, entry(served, EMBEDDING, size=8, texts_per_request=3))
        sizes = [len(question["input"]) for _, question, _ in served.asked]
        texts = documents(corpus)
        assert (sum(sizes), max(sizes)) == (len({document.text for document in texts}), 3)
        for row, document in zip(rows(corpus, "judge_attributes"), texts, strict=True):
            size = len(document.text)
            numbers = {"e0": float(size), "e1": 0.5, "e2": 0.0}
            assert row.attributes == {f"judge__{EMBEDDING}__{k}": [(0, size, v)] for k, v in numbers.items()}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "its answer has 0 rows at data; valid: "),
        ([{"index": 0, "embedding": [1.0]}] * 9, "its answer has 9 rows at data; valid: "),
        ("x", "at data; valid: "),
        ([{"index": 1, "embedding": [1.0]}], "not one `embedding` of finite numbers"),
        ([{"index": 0, "embedding": [1.0, "a"]}], "not one `embedding` of finite numbers"),
        ([{"index": 0, "embedding": [float("nan")]}], "not one `embedding` of finite numbers"),
    ],
)
def test_embeddings_of_another_count_or_shape_are_refused(tmp_path: Path, data: Any, message: str) -> None:
    write_small(tmp_path)
    with endpoint(lambda n, q: (200, {"data": data})) as served:
        failed = failures(tmp_path, entry(served, EMBEDDING, texts_per_request=1))
        assert failed
        assert all(served.url in words and message in words for words in failed), failed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"url": "ftp://a/v1"}, "the address of an API"),
        ({"url": "http://user:pw@a/v1"}, "without user, key and query"),
        ({"url": "http://a/v1?key=1"}, "without user, key and query"),
        ({"prompt": "Rate this."}, "a text with {text} where the document goes"),
        ({"prompt": None}, "endpoint.prompt: missing, but endpoint_score_v1 needs it"),
        ({"score": "("}, "a regular expression"),
        ({"score": "(a)(b)"}, "a regular expression with one group, or none"),
        ({"concurrency": 0}, "endpoint.concurrency"),
        ({"key": "sk-1"}, "unknown key"),
    ],
)
def test_an_endpoint_that_cannot_be_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    write_small(tmp_path)
    with pytest.raises(ConfigError) as found:
        write_config(tmp_path, {"attributes": [entry(Served("http://localhost:1/v1"), **change)]})
        opened(tmp_path)
    assert message in str(found.value)


def test_a_tagger_without_endpoint_is_refused(tmp_path: Path) -> None:
    write_small(tmp_path)
    write_config(tmp_path, {"attributes": [{"name": "judge", "taggers": [SCORE]}]})
    with pytest.raises(
        ConfigError, match=r"endpoint_score_v1\.endpoint: missing, but endpoint_score_v1 needs it: the a"
    ):
        opened(tmp_path)
    wrong = {"name": "q", "taggers": ["c4_v2"], "options": {"c4_v2": {"batch_size": 2}}}
    write_config(tmp_path, {"attributes": [wrong]})
    with pytest.raises(ConfigError, match=r"c4_v2 has no such option .only taggers in batches have it.; valid: none"):
        opened(tmp_path)


def test_a_damaged_answer_is_asked_again_and_a_damaged_file_is_named(tmp_path: Path) -> None:
    keys = [answer_key("m", "p", text) for text in "ab"]
    assert answer_key("m", "pa") != answer_key("m", "p", "a")
    answers = Answers(tmp_path)
    for key in keys:
        answers.keep(key, "5")
    assert Answers(tmp_path).known(keys) == dict.fromkeys(keys, "5")
    with sqlite3.connect(tmp_path / FILE) as held:
        held.execute("UPDATE answers SET answer = '6' WHERE key = ?", (keys[0],))
    assert Answers(tmp_path).known(keys) == {keys[1]: "5"}
    other = tmp_path / "other"
    other.mkdir()
    (other / FILE).write_bytes(b"garbage" * 1000)
    with pytest.raises(StorageError, match=r"answers\.sqlite: answers cannot be kept here: "):
        Answers(other)
