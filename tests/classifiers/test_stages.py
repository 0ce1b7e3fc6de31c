"""Classifiers as assets: what they learn, what they are made of, and what is refused."""

import gzip
import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from corpus_assets.classifiers.model import Model, decoded
from corpus_assets.cli.questions.classifier import run
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.viewer.app import standing_alone
from resources.errors import ConfigError
from resources.formats.attributes import attribute_rows
from resources.stage.partition import Partition
from tests.attributes.endpoint_server import endpoint, said
from tests.build.small import Built, digests, drive, opened, prose, write_config

GOOD = "theorem proof lemma because therefore number define example"
SPAM = "click buy cheap now offer subscribe login cookie"
BASIC: dict[str, Any] = {
    "name": "edu",
    "positive": ["good"],
    "negative": ["spam"],
    "least": 20,
    "holdout": 0.2,
    "buckets": 4096,
}
KINDS = ["linear", "fasttext"]


def text(name: str, number: int) -> str:
    """A text with words of its class among others."""
    words = (GOOD if name == "good" else SPAM).split()
    said = prose(f"{name} {number}", 20).split()
    return " ".join([*said[:10], words[number % 8], *said[10:], words[(number // 8) % 8]])


def write(folder: Path, count: int = 80, **more: Any) -> None:
    for name in ("good", "spam"):
        for shard in range(2):
            numbers = range(shard, count, 2)
            rows = [{"id": f"{name}-{n}", "text": text(name, n), "metadata": {"grade": n % 5}} for n in numbers]
            write_rows(folder / "raw" / name / f"{shard}.jsonl", rows)
    write_corpus(folder, BASIC, **more)


def write_rows(file: Path, rows: list[dict[str, Any]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    file.write_bytes(gzip.compress(content) if file.suffix == ".gz" else content)


def write_corpus(folder: Path, *classifiers: Mapping[str, Any], **more: Any) -> None:
    sources = [{"name": name, "location": f"raw/{name}"} for name in ("good", "spam")]
    judged = [{"name": "quality", "taggers": [one["name"] for one in classifiers]}]
    write_config(folder, {"sources": sources, "classifiers": list(classifiers), "attributes": judged, **more})


def build(folder: Path) -> tuple[Corpus, Built]:
    corpus = opened(folder)
    return corpus, drive(corpus, corpus.graph.select(["+group:attributes"]))


def built(folder: Path) -> Corpus:
    corpus, done = build(folder)
    assert (done.failed, done.waiting) == ([], [])
    return corpus


def partition(corpus: Corpus, asset: str = "edu_classifier") -> Partition:
    record = corpus.ledger.read(asset, None)
    assert record is not None
    return Partition(corpus.storage, record)


def content(corpus: Corpus) -> bytes:
    return partition(corpus).content(".classifier")


def scores(corpus: Corpus, name: str = "edu") -> Iterator[tuple[str, float]]:
    for record in corpus.ledger.records("quality_attributes").values():
        for row in attribute_rows(Partition(corpus.storage, record).lines()):
            yield row.source, row.attributes[f"quality__{name}__score"][0][2]


def needs(kind: str) -> str:
    if kind == "fasttext":
        pytest.importorskip("fasttext", reason="it comes with the extra `fasttext`")
    return kind


@pytest.mark.parametrize("kind", KINDS)
def test_a_filter_is_learned_measured_and_used(tmp_path: Path, kind: str) -> None:
    write(tmp_path)
    rules = {"rules": {"quality.edu.score": {"min": 0.5}}}
    quick = {"epochs": 30, "learning_rate": 0.5} if needs(kind) == "fasttext" else {}
    write_corpus(tmp_path, {**BASIC, "kind": kind, **quick}, filter=rules)
    corpus, done = build(tmp_path)
    assert done.failed == []
    figures = partition(corpus).counters("figures")
    assert figures["examples"] == {
        "trained": {"positive": 48, "negative": 48},
        "calibrated": {"positive": 16, "negative": 16},
        "held_out": {"positive": 16, "negative": 16},
    }
    assert figures["figures"]["auc"] > 0.9
    found = list(scores(corpus))
    assert all(0 < score < 1 for _, score in found)
    right = [(score >= 0.5) == (source == "good") for source, score in found]
    assert sum(right) > 0.9 * len(right)
    drive(corpus, corpus.graph.select(["+filtered_documents"]))
    kept = [record.statistics["rows_out"] for record in corpus.ledger.records("filtered_documents").values()]
    assert sum(kept) == sum(score >= 0.5 for _, score in found)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_texts_give_the_same_classifier_wherever_they_are(tmp_path: Path, kind: str) -> None:
    write(tmp_path)
    given = {**BASIC, "kind": needs(kind)}
    write_corpus(tmp_path, given)
    first = content(built(tmp_path))
    for name in ("good", "spam"):
        rows = [json.loads(line) for n in (1, 0) for line in (tmp_path / f"raw/{name}/{n}.jsonl").open()]
        write_rows(tmp_path / f"raw/{name}/1.jsonl", rows[::-1])
        (tmp_path / f"raw/{name}/0.jsonl").unlink()
        write_rows(tmp_path / f"{name}.jsonl.gz", rows[::3])
    assert content(built(tmp_path)) == first
    write_corpus(tmp_path, {**given, "positive": ["good", "good.jsonl.gz"], "negative": ["spam.jsonl.gz", "spam"]})
    assert content(built(tmp_path)) == first
    write_corpus(tmp_path, {**given, "seed": 1})
    assert content(built(tmp_path)) != first


@pytest.mark.slow
def test_workers_give_the_same(tmp_path: Path) -> None:
    write(tmp_path)
    first = digests(built(tmp_path))
    for path in (tmp_path / "corpus" / "ledger").rglob("edu_*/**/*.json"):
        path.unlink()
    write_corpus(tmp_path, BASIC, engine={"workers": 2})
    assert digests(built(tmp_path)) == first


def test_what_a_change_computes_again(tmp_path: Path) -> None:
    write(tmp_path)
    corpus = built(tmp_path)
    assert drive(corpus, corpus.graph.select(["+group:attributes"])).recomputed == set()

    def computed() -> set[str]:
        return build(tmp_path)[1].assets()

    write_corpus(tmp_path, {**BASIC, "epochs": 6})
    assert computed() == {"edu_classifier", "quality_attributes"}
    write_corpus(tmp_path, {**BASIC, "epochs": 6, "characters": 9999})
    assert computed() >= {"edu_labelled", "edu_classifier"}
    rows = [{"id": "new", "text": text("good", 1)}]
    write_rows(tmp_path / "raw/good/2.jsonl", rows)
    assert "edu_classifier" in computed()


def test_a_key_chooses_examples(tmp_path: Path) -> None:
    write(tmp_path)
    graded = {"source": "good", "key": "grade", "min": 3}
    rows = [{"text": text("spam", n), "kind": "bad" if n % 2 else 0} for n in range(100, 160)]
    write_rows(tmp_path / "more.jsonl", rows)
    bad = {"file": "more.jsonl", "key": "kind", "values": ["bad"]}
    write_corpus(tmp_path, {**BASIC, "positive": [graded], "negative": [bad]})
    figures = partition(built(tmp_path)).counters("figures")["examples"]
    totals = {label: sum(part[label] for part in figures.values()) for label in ("positive", "negative")}
    assert totals == {"positive": 32, "negative": 30}


def test_texts_in_both_classes_are_left_out_and_counted(tmp_path: Path) -> None:
    write(tmp_path)
    write_rows(tmp_path / "both.jsonl", [{"text": text("spam", n)} for n in range(10)])
    write_corpus(tmp_path, {**BASIC, "positive": ["good", "both.jsonl"]})
    record = partition(built(tmp_path)).record
    assert record.statistics["dropped"] == {"in_both_classes": 20}
    assert record.counters["figures"]["examples"]["trained"] == {"positive": 48, "negative": 42}


def test_a_sample_is_as_large_as_asked_for(tmp_path: Path) -> None:
    write(tmp_path)
    write_corpus(tmp_path, {**BASIC, "examples": 30})
    examples = partition(built(tmp_path)).counters("figures")["examples"]
    assert sum(sum(part.values()) for part in examples.values()) == 60


def test_a_frozen_classifier_stays_as_it_is(tmp_path: Path) -> None:
    write(tmp_path)
    first = content(built(tmp_path))
    write_corpus(tmp_path, {**BASIC, "frozen": True, "epochs": 9})
    write_rows(tmp_path / "raw/good/2.jsonl", [{"id": f"n{n}", "text": text("spam", n)} for n in range(200, 230)])
    corpus, done = build(tmp_path)
    assert "edu_classifier" not in done.assets()
    assert done.of("quality_attributes") == {"good--2"}
    assert content(corpus) == first
    write_corpus(tmp_path, {**BASIC, "epochs": 9})
    assert content(built(tmp_path)) != first


def test_a_frozen_classifier_that_is_not_there_is_named(tmp_path: Path) -> None:
    write(tmp_path)
    write_corpus(tmp_path, {**BASIC, "frozen": True})
    corpus, done = build(tmp_path)
    assert any("edu is `frozen`, but there is no trained one in the store; build once" in one for one in done.failed)
    assert corpus.ledger.records("quality_attributes") == {}


@pytest.mark.parametrize("kind", KINDS)
def test_an_exported_classifier_gives_the_same_scores(tmp_path: Path, kind: str) -> None:
    write(tmp_path)
    write_corpus(tmp_path, {**BASIC, "kind": needs(kind)})
    corpus = built(tmp_path)
    first, expected = content(corpus), sorted(scores(corpus))
    (tmp_path / "edu.classifier").write_bytes(first)
    write_corpus(tmp_path, {"name": "other", "kind": kind, "model": "edu.classifier"})
    corpus = built(tmp_path)
    assert partition(corpus, "other_classifier").content(".classifier") == first
    assert sorted(scores(corpus, "other")) == expected
    assert isinstance(decoded("a", first), Model)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"garbage", "edu.classifier: is no classifier: it does not begin with 'corpus-assets classifier 1'"),
        (b"corpus-assets classifier 1\n{}\nabc", "edu.classifier: is damaged: its second line is no head"),
        (b"corpus-assets classifier 1\n", "edu.classifier: is damaged: its second line is no head"),
    ],
)
def test_a_file_that_is_no_classifier_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    write(tmp_path)
    (tmp_path / "edu.classifier").write_bytes(content)
    write_corpus(tmp_path, {"name": "edu", "model": "edu.classifier"})
    failed = build(tmp_path)[1].failed
    assert any(message in words for words in failed), failed


def test_a_damaged_classifier_is_named(tmp_path: Path) -> None:
    write(tmp_path)
    good = content(built(tmp_path))
    for bad in (good[:-1], good[:-3] + b"abc", good.replace(b'"slope":', b'"slope":-', 1)):
        (tmp_path / "edu.classifier").write_bytes(bad)
        write_corpus(tmp_path, {"name": "other", "model": "edu.classifier"})
        failed = build(tmp_path)[1].failed
        assert any("edu.classifier: is damaged: " in words for words in failed), failed


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"positive": ["few.jsonl"]}, "edu.positive has 10 different texts; valid: at least 20 (`least`)"),
        ({"positive": ["same.jsonl"]}, "edu.positive has 1 different texts; valid: at least 20 (`least`)"),
        ({"positive": ["spam"]}, "edu.positive has 0 different texts (80 more are in both classes); valid"),
        ({"positive": ["bad.jsonl"]}, "bad.jsonl row 1: is no JSON object"),
        ({"positive": ["untold.jsonl"]}, "untold.jsonl row 0: has no text at 'text'; it has: body"),
        ({"positive": [{"file": "few.jsonl", "key": "grad", "min": 1}]}, "has the key 'grad'; they have: text, grade"),
    ],
)
def test_examples_that_cannot_be_used_are_named(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    write(tmp_path)
    write_rows(tmp_path / "few.jsonl", [{"text": text("good", n), "grade": 1} for n in range(10)])
    write_rows(tmp_path / "same.jsonl", [{"text": "equal"}, {"text": " "}] * 50)
    write_rows(tmp_path / "untold.jsonl", [{"body": "x"}] * 50)
    (tmp_path / "bad.jsonl").write_text('{"text": "a"}\n[1]\n')
    before = digests(built(tmp_path))
    write_corpus(tmp_path, {**BASIC, **changes})
    corpus, done = build(tmp_path)
    assert any(message in words for words in done.failed), done.failed
    judged = {key: digest for key, digest in digests(corpus).items() if key[0] == "quality_attributes"}
    assert judged == {key: digest for key, digest in before.items() if key[0] == "quality_attributes"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"positive": ["god"]}, "classifiers.0.positive.0: no source named 'god'; valid: good, spam, or a path"),
        ({"negative": []}, "negative: missing; valid: both classes, or `model`"),
        ({"positive": ["no/such.jsonl"]}, "classifiers.0.positive.0.file: "),
        ({"model": "m.classifier"}, "model: an exported classifier takes no examples"),
        ({"least": 5}, "least"),
        ({"least": 100, "examples": 50}, "least: received 100, more than `examples` (50)"),
        ({"holdout": 0.7}, "holdout"),
        ({"kind": "svm"}, "kind"),
        ({"name": "c4_v2"}, "two taggers are named 'c4_v2'"),
        ({"positive": [{"source": "good", "min": 2}]}, "key: missing, but `min`, `max` or `values` is given"),
        ({"positive": [{"source": "good", "key": "grade"}]}, "needs `min` or `max`, or `values`"),
        ({"positive": [{"key": "grade", "min": 2}]}, "a source or a file, one of the two"),
    ],
)
def test_a_classifier_that_cannot_be_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    write(tmp_path)
    with pytest.raises(ConfigError) as found:
        write_corpus(tmp_path, {**BASIC, **changes})
        opened(tmp_path).planner().plan()
    assert message in str(found.value)


def test_scores_of_an_endpoint_teach_a_classifier(tmp_path: Path) -> None:
    write(tmp_path)
    tagger = "endpoint_score_v1"

    def judged(number: int, question: dict[str, Any]) -> tuple[int, Any]:
        return 200, said(f"Score: {4 if set(GOOD.split()) & set(json.dumps(question).split()) else 1}")

    with endpoint(judged) as served:
        asked = {"url": served.url, "model": "m", "answers": "kept", "prompt": "Rate {text} ."}
        judge = {"name": "judge", "taggers": [tagger], "options": {tagger: {"endpoint": asked}}}
        streams = [{"name": "scored", "max_size": "1 GB", "attributes": ["judge"]}]
        write_corpus(tmp_path, BASIC, attributes=[judge], streams=streams)
        corpus = opened(tmp_path)
        assert drive(corpus, corpus.graph.select(["+scored_stream"])).failed == []
    (file,) = (tmp_path / "corpus/streams/scored").glob("scored-*.jsonl.gz")
    shutil.copy(file, tmp_path / "scored.jsonl.gz")
    key = {"file": "scored.jsonl.gz", "key": f"attributes.judge__{tagger}__score"}
    write_corpus(tmp_path, {**BASIC, "positive": [{**key, "min": 3}], "negative": [{**key, "max": 2}]})
    corpus = built(tmp_path)
    counts = partition(corpus).counters("figures")["examples"]
    assert counts["held_out"] == {"positive": 16, "negative": 16}
    assert {source for source, score in scores(corpus) if score > 0.8} == {"good"}


def test_the_command_shows_figures_and_exports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path)
    config, file = tmp_path / "corpus.yaml", tmp_path / "edu.classifier"
    with pytest.raises(ConfigError, match="edu_classifier is not built; run: corpus build --select "):
        run(config, "edu", None, force=False, as_json=False)
    corpus = built(tmp_path)
    run(config, "edu", file, force=False, as_json=False)
    shown = capsys.readouterr().out
    assert "edu (linear): trained 48 positive, 48 negative" in shown
    assert "held out: precision " in shown
    assert file.read_bytes() == content(corpus)
    with pytest.raises(ConfigError, match="exists; --force replaces it"):
        run(config, "edu", file, force=False, as_json=False)
    with pytest.raises(ConfigError, match=r"no classifier named 'ed'.*corpus.yaml has: edu"):
        run(config, "ed", None, force=False, as_json=False)
    capsys.readouterr()
    run(config, "edu", None, force=False, as_json=True)
    assert json.loads(capsys.readouterr().out)["examples"]["trained"] == {"positive": 48, "negative": 48}


def test_report_and_viewer_show_the_figures(tmp_path: Path) -> None:
    write(tmp_path)
    corpus = opened(tmp_path)
    assert drive(corpus, list(corpus.graph)).failed == []
    page = Partition(corpus.storage, corpus.ledger.records("report")[None]).content("index.html").decode()
    figures = partition(corpus).counters("figures")["figures"]
    assert "Learned filters" in page
    assert f"{figures['auc']:.3f}" in page
    client = TestClient(standing_alone(tmp_path / "corpus.yaml", "127.0.0.1"), base_url="http://127.0.0.1")
    shown = client.get("/corpus/assets/edu_classifier").text
    assert "precision" in shown
    assert str(figures["auc"]) in shown
    hooks = corpus.graph["edu_classifier"].hooks
    (note,) = hooks.notes([partition(corpus)], corpus.settings.values)
    assert note.startswith("classifier edu: on 32 held-out examples precision ")


def test_a_sample_of_the_rows_needs_fewer_examples(tmp_path: Path) -> None:
    write(tmp_path)
    write_corpus(tmp_path, BASIC, sample={"share": 0.1})
    examples = partition(built(tmp_path)).counters("figures")["examples"]
    assert 6 <= sum(sum(part.values()) for part in examples.values()) < 40
