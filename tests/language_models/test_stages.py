"""Language models as assets: trained on a source, used by a tagger, and buckets of their perplexity."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
import sentencepiece

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.verification.verify import verify
from resources.errors import ConfigError
from resources.formats.attributes import attribute_rows
from resources.stage.partition import Partition
from tests.build.small import Built, contents, digests, drive, opened, statuses, write_config

ENGLISH = {"name": "english", "sources": ["wiki"], "order": 3}
NOUNS = ["river", "house", "north", "town", "bridge", "field"]
WORDS = ["the", "a", "of", "in", "and", "is", "was", "old", "small", "runs", *NOUNS]
LM = "lm_attributes"
GIBBERISH = ["qx", "zzv", "wpl", "krr", "gth"]


def sentence(chance: random.Random, words: list[str]) -> str:
    return " ".join(chance.choice(words) for _ in range(chance.randint(4, 12)))


def write(folder: Path, **more: Any) -> None:
    """Raw files of two sources: `wiki`, and `web` of which documents are more and more unlike it."""
    chance = random.Random(1)
    for source, count in (("wiki", 60), ("web", 100)):
        for shard in range(2):
            rows = []
            for number in range(shard, count, 2):
                odd = 0 if source == "wiki" else number * len(WORDS) // 100
                words = WORDS[: len(WORDS) - odd] + GIBBERISH * (odd // 4)
                text = "\n".join(sentence(chance, words) for _ in range(6))
                language = "eng" if number % 4 else "deu"
                rows.append({"id": f"{source}-{number}", "text": text, "metadata": {"language": language}})
            file = folder / "raw" / source / f"{shard}.jsonl"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    configure(folder, **more)


def configure(folder: Path, **more: Any) -> None:
    sources = [{"name": "wiki", "location": "raw/wiki", "epochs": 0}, {"name": "web", "location": "raw/web"}]
    given = {
        "sources": sources,
        "language_models": [ENGLISH],
        "attributes": [{"name": "lm", "taggers": ["english"]}, {"name": "ccnet", "score": "lm.english.perplexity"}],
    }
    write_config(folder, {**given, **more})


def build(folder: Path, *selected: str) -> tuple[Corpus, Built]:
    corpus = opened(folder)
    return corpus, drive(corpus, corpus.graph.select(list(selected) or ["+group:attributes"]))


def built(folder: Path, *selected: str) -> Corpus:
    corpus, done = build(folder, *selected)
    assert (done.failed, done.waiting) == ([], [])
    return corpus


def of(corpus: Corpus, asset: str) -> dict[str, Any]:
    """The attributes of all documents by id."""
    records = corpus.ledger.records(asset).values()
    rows = (row for record in records for row in attribute_rows(Partition(corpus.storage, record).lines()))
    return {row.id: row.attributes for row in rows}


def model(corpus: Corpus) -> Partition:
    record = corpus.ledger.read("english_language_model", None)
    assert record is not None
    return Partition(corpus.storage, record)


def arpa(corpus: Corpus) -> bytes:
    return model(corpus).content(".arpa")


def note(corpus: Corpus) -> str:
    """What a build says of the model."""
    (said,) = corpus.graph["english_language_model"].hooks.notes([model(corpus)], corpus.settings.values)
    return said


def train_pieces(folder: Path) -> None:
    lines = [json.loads(line)["text"] for line in (folder / "raw/wiki/0.jsonl").open()]
    (folder / "lines.txt").write_text("\n".join(lines))
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "lines.txt"), model_prefix=str(folder / "sp"), vocab_size=30, minloglevel=2
    )


@pytest.fixture(autouse=True)
def _needs_kenlm() -> None:
    pytest.importorskip("kenlm", reason="the extra kenlm is not installed")


def test_texts_unlike_the_source_have_a_higher_perplexity(tmp_path: Path) -> None:
    write(tmp_path)
    corpus = built(tmp_path)
    scores = {id_: found["lm__english__perplexity"][0][2] for id_, found in of(corpus, "lm_attributes").items()}
    like = [scores[f"web-{number}"] for number in range(20)]
    unlike = [scores[f"web-{number}"] for number in range(80, 100)]
    assert max(like) < min(unlike)
    assert verify(corpus, deep=True).bad == []
    said, statistics = note(corpus), model(corpus).record.statistics
    assert said.startswith(f"language model english: {len(WORDS)} words and {statistics['rows_out']:,} n-grams, ")
    usual = ", ".join(map(str, statistics["lengths_with_usual_discounts"]))
    assert said.endswith(f"; counts are too few for discounts of their own (lengths: {usual})")


def test_documents_are_in_head_middle_and_tail(tmp_path: Path) -> None:
    """30 and 60 percent of all documents, as in CCNet, by exact borders; the filter and the mix know the buckets."""
    write(tmp_path, filter={"rules": {"ccnet.bucket.tail": {"of": "count", "max": 0}}})
    corpus = built(tmp_path, "+filtered_documents")
    scores = {id_: found["lm__english__perplexity"][0][2] for id_, found in of(corpus, "lm_attributes").items()}
    ordered = sorted(scores.values())
    low, high = ordered[48 - 1], ordered[96 - 1]  # 30 and 60 percent of 160 documents.
    found = of(corpus, "ccnet_attributes")
    shards = [record.statistics for record in corpus.ledger.records("ccnet_attributes").values()]
    heads = sum(score <= low for score in scores.values())
    assert sum(numbers["documents_by_bucket"].get("head", 0) for numbers in shards) == heads
    assert {key for numbers in shards for key in numbers["histograms"]} == {
        f"ccnet__bucket__{bucket}" for bucket in ("head", "middle", "tail")
    }
    for id_, score in scores.items():
        bucket = "head" if score <= low else "middle" if score <= high else "tail"
        ((key, spans),) = found[id_].items()
        assert (key, spans[0][2]) == (f"ccnet__bucket__{bucket}", score)
    kept = sum(record.statistics["rows_out"] for record in corpus.ledger.records("filtered_documents").values())
    assert kept == sum(score <= high for score in scores.values())
    ccnet = {"name": "ccnet", "score": "lm.english.perplexity", "percentiles": [60, 80]}
    entries = [{"name": "lm", "taggers": ["english"]}, ccnet]
    configure(tmp_path, attributes=entries, **{"mix.units": [{"by": "ccnet.bucket"}]})
    corpus = built(tmp_path, "+document_units")
    units = [record.statistics["by_unit"] for record in corpus.ledger.records("document_units").values()]
    assert {name for one in units for name in one} == {"head", "middle", "tail"}


def test_each_label_has_borders_of_its_own(tmp_path: Path) -> None:
    module = """
from resources import Tagger

def language(text):
    return {text.metadata["language"]: text.whole(1.0)}

TAGGERS = [Tagger("language_v1", language, "1", "the language")]
"""
    write(tmp_path)
    (tmp_path / "labels.py").write_text(module)
    entries = [
        {"name": "lm", "taggers": ["english", "language_v1"]},
        {
            "name": "half",
            "score": "lm.english.perplexity",
            "by": "lm.language_v1",
            "buckets": ["low", "high"],
            "percentiles": [50],
        },
    ]
    configure(tmp_path, attributes=entries, taggers=["labels"])
    corpus = built(tmp_path)
    counts: dict[tuple[str, str], int] = {}
    buckets = of(corpus, "half_attributes")
    for id_, found in of(corpus, "lm_attributes").items():
        language = "eng" if "lm__language_v1__eng" in found else "deu"
        (key,) = buckets[id_]
        place = language, key.rpartition("__")[2]
        counts[place] = counts.get(place, 0) + 1
    assert counts == {("deu", "low"): 20, ("deu", "high"): 20, ("eng", "low"): 60, ("eng", "high"): 60}


def test_pieces_of_a_tokenizer_are_its_words(tmp_path: Path) -> None:
    write(tmp_path)
    train_pieces(tmp_path)
    configure(tmp_path, language_models=[{**ENGLISH, "tokenizer": "sp.model"}])
    corpus = built(tmp_path)
    assert "\t▁".encode() in arpa(corpus)
    scores = {id_: found["lm__english__perplexity"][0][2] for id_, found in of(corpus, "lm_attributes").items()}
    assert max(scores[f"web-{n}"] for n in range(20)) < min(scores[f"web-{n}"] for n in range(80, 100))


def test_a_trained_model_is_a_file_for_the_taggers_of_files(tmp_path: Path) -> None:
    """Their tokenizer and borders are in the recipe too."""
    write(tmp_path)
    (tmp_path / "en.arpa").write_bytes(arpa(built(tmp_path)))
    train_pieces(tmp_path)
    (tmp_path / "en.borders").write_text("20 40")
    options = {"model": "en.arpa", "tokenizer": "sp.model", "borders": "en.borders"}
    taggers = [{"name": "lm", "taggers": ["perplexity"], "options": {"perplexity": {"model": "en.arpa"}}}]
    taggers += [{"name": "cc", "taggers": ["ccnet_bucket"], "options": {"ccnet_bucket": options}}]
    scores = {id_: found["lm__english__perplexity"][0][2] for id_, found in of(opened(tmp_path), LM).items()}
    configure(tmp_path, attributes=taggers)
    corpus = built(tmp_path)
    assert {id_: found["lm__perplexity__perplexity"][0][2] for id_, found in of(corpus, LM).items()} == scores
    assert all(len(found) == 1 for found in of(corpus, "cc_attributes").values())
    (tmp_path / "en.borders").write_text("20 41")
    plan = statuses(opened(tmp_path).planner().plan())
    assert "attributes.cc.borders.ccnet_bucket" in plan["cc_attributes", "web--0"][1]


def test_a_pruned_model_is_smaller_and_made_of_the_same_ngrams(tmp_path: Path) -> None:
    write(tmp_path)
    whole = arpa(built(tmp_path))
    configure(tmp_path, language_models=[{**ENGLISH, "prune": [0, 1]}])
    plan = statuses(opened(tmp_path).planner().plan())
    assert ("english_ngrams", "wiki--0") not in plan
    assert "language_models.english.prune [0, 0, 0] -> [0, 1, 1]" in plan["english_language_model", None][1]
    corpus = built(tmp_path)
    left = arpa(corpus).splitlines()
    assert len(left) < len(whole.splitlines())
    assert {line.split(b"\t")[1] for line in left if b"\t" in line} < {
        line.split(b"\t")[1] for line in whole.splitlines() if b"\t" in line
    }
    assert f"({len(whole.splitlines()) - len(left):,} rarer ones left out)" in note(corpus)
    configure(tmp_path, language_models=[{**ENGLISH, "prune": [0, 1, 1]}])
    assert build(tmp_path)[1].assets() == set()
    configure(tmp_path, language_models=[{**ENGLISH, "prune": [0, 0, 10**9]}])
    assert b"ngram 3=0\n" in arpa(built(tmp_path))


def test_any_number_of_workers_gives_the_same(tmp_path: Path) -> None:
    found = []
    for workers in (1, 2):
        folder = tmp_path / str(workers)
        folder.mkdir()
        write(folder, engine={"workers": workers})
        found.append(contents(built(folder)))
    assert found[0] == found[1]
    assert any(path.endswith(".arpa") for path in found[0])


def test_what_a_change_computes_again(tmp_path: Path) -> None:
    write(tmp_path)
    first = arpa(built(tmp_path))
    file = tmp_path / "raw/web/0.jsonl"
    file.write_text(file.read_text() + json.dumps({"id": "new", "text": "the old house"}) + "\n")
    assert "english_language_model" not in build(tmp_path)[1].assets()
    file = tmp_path / "raw/wiki/0.jsonl"
    file.write_text(file.read_text() + json.dumps({"id": "new", "text": "the old castle"}) + "\n")
    plan = statuses(opened(tmp_path).planner().plan())
    assert "wiki--0" in str(plan["english_ngrams", "wiki--0"])
    corpus = built(tmp_path)
    assert b"castle" in arpa(corpus) and arpa(corpus) != first
    configure(tmp_path, language_models=[{**ENGLISH, "order": 2}])
    plan = statuses(opened(tmp_path).planner().plan())
    assert "language_models.english.order 3 -> 2" in plan["english_ngrams", "wiki--0"][1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"language_models": [{**ENGLISH, "sources": ["wikis"]}]},
            "language_models.0.sources.0: no source named 'wikis'",
        ),
        ({"language_models": [{**ENGLISH, "order": 7}]}, "order"),
        *(
            ({"language_models": [{**ENGLISH, "prune": given}]}, f"prune: received {given}; valid: up to 3 numbers")
            for given in ([1, 1], [0, 2, 1], [0, 0, 0, 1])
        ),
        ({"language_models": [{**ENGLISH, "prune": [-1]}]}, "prune.0"),
        ({"language_models": [{**ENGLISH, "prune": []}]}, "prune"),
        ({"language_models": [{**ENGLISH, "prune": 1}]}, "prune"),
        ({"language_models": [ENGLISH, ENGLISH]}, "language_models: 'english' and 'english' have the same keys"),
        (
            {"attributes": [{"name": "b", "score": "lm.english.perplexity"}]},
            "attributes.0.score: no attribute named 'lm'",
        ),
        ({"attributes": [{"name": "b", "score": "perplexity"}]}, "score"),
    ],
)
def test_a_model_that_cannot_be_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    write(tmp_path)
    with pytest.raises(ConfigError) as found:
        configure(tmp_path, **changes)
        opened(tmp_path)
    assert message in str(found.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"percentiles": [60, 30]}, "valid: numbers that ascend"),
        ({"percentiles": [30]}, "received 1 for 3 buckets; valid: one less than buckets"),
        ({"buckets": ["a", "a", "b"]}, "valid: different names"),
        ({"score": "lm.english.perplexit"}, "english gives no 'perplexit'"),
        ({"score": "lm.german.perplexity"}, "'lm' has no tagger 'german'"),
        ({"by": "lm.language"}, "attributes.1.by: 'lm' has no tagger 'language'"),
        ({"score": "lm.english"}, "valid: ENTRY.TAGGER.TYPE"),
        ({"score": "ccnet.bucket.head"}, "attributes.1.score: 'ccnet' has buckets itself, or marks what is repeated"),
        ({"by": "ccnet.bucket"}, "valid: entries with taggers or files: lm"),
    ],
)
def test_buckets_that_cannot_be_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    write(tmp_path)
    buckets = {"name": "ccnet", "score": "lm.english.perplexity", **changes}
    with pytest.raises(ConfigError) as found:
        configure(tmp_path, attributes=[{"name": "lm", "taggers": ["english"]}, buckets])
        opened(tmp_path)
    assert message in str(found.value)


def test_a_source_without_words_and_a_tokenizer_that_is_none_are_named(tmp_path: Path) -> None:
    write(tmp_path)
    before = digests(built(tmp_path))
    (tmp_path / "bad.model").write_bytes(b"no model" * 20)
    configure(tmp_path, language_models=[{**ENGLISH, "tokenizer": "bad.model"}])
    corpus, done = build(tmp_path)
    assert any("bad.model: no model of SentencePiece" in words for words in done.failed), done.failed
    (tmp_path / "raw/empty").mkdir()
    (tmp_path / "raw/empty/0.jsonl").write_text(json.dumps({"id": "a", "text": "<s> \u00a0\n"}) + "\n")
    sources = [{"name": name, "location": f"raw/{name}"} for name in ("wiki", "web", "empty")]
    configure(tmp_path, sources=sources, language_models=[{**ENGLISH, "sources": ["empty"]}])
    corpus, done = build(tmp_path)
    assert any("english: its sources have no document with words" in words for words in done.failed), done.failed
    kept = {key: digest for key, digest in digests(corpus).items() if key in before and key[0] == "lm_attributes"}
    assert kept == {key: digest for key, digest in before.items() if key[0] == "lm_attributes"}
