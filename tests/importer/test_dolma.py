"""`corpus import dolma`: configurations of the toolkit as one corpus.yaml, and what is not taken over."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from corpus_assets.cli.main import app
from corpus_assets.config import load_config
from corpus_assets.importer.dolma import import_dolma
from corpus_assets.importer.draft import Draft, usable_name
from resources.errors import ConfigError

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "dolma"
TAG = {
    "documents": ["data/documents/**/*.gz", "data/documents/web/*.gz", "s3://bucket/documents/*"],
    "experiment": "my exp/v1",
    "taggers": ["gopher_v2", "gopher_v9", "ft_lang_id_en_doc_v2"],
    "processes": 4,
    "destination": "elsewhere",
}


def imported(folder: Path, *configs: Any) -> Draft:
    files = []
    for number, config in enumerate(configs):
        files.append(folder / f"{number}.json")
        files[-1].write_text(config if isinstance(config, str) else json.dumps(config))
    return import_dolma(files, Path())


def test_taggers(tmp_path: Path) -> None:
    draft = imported(tmp_path, TAG)
    assert draft.values == {
        "normalize": {"method": "none"},
        "sources": [{"name": "data", "location": "data/documents", "glob": ["**/*.gz", "web/*.gz"]}],
        "attributes": [
            {
                "name": "my-exp-v1",
                "taggers": ["gopher_v2", "ft_lang_id_en_doc_v2"],
                "compat": "dolma",
                "options": {"ft_lang_id_en_doc_v2": {"model": "models/ft_lang_id_en_doc_v2.bin"}},
            }
        ],
        "engine": {"workers": 4},
        "datasets": [],
    }
    assert set(draft.left_out) == {"documents.2", "destination", "taggers: gopher_v9"}
    assert "did you mean 'gopher_v" in draft.left_out["taggers: gopher_v9"]
    assert draft.to_do == [
        "put what ft_lang_id_en_doc_v2 downloads into models/ft_lang_id_en_doc_v2.bin, or name another file",
        "pip install 'corpus-assets[fasttext]'",
    ]


def test_an_entry_for_each_tagger_without_an_experiment(tmp_path: Path) -> None:
    draft = imported(tmp_path, {"documents": ["d/documents/*"], "taggers": ["c4_v1", "dolma17-quality"]})
    names = {entry["name"]: entry["taggers"] for entry in draft.values["attributes"]}
    assert names == {"c4_v1": ["c4_v1"], "dolma17-quality": ["dolma17-quality"]}


NGRAMS = {
    "name": "again",
    "paragraphs": {
        "attribute_name": "seen",
        "by_ngram": {"ngram_length": 8, "stride": 0, "overlap_threshold": 0.5, "skip_short_paragraphs": True},
    },
    "skip_empty": True,
    "num_partitions": 4,
}


def test_dedupers(tmp_path: Path) -> None:
    draft = imported(tmp_path, {"documents": ["d/documents/*"], "dedupe": NGRAMS, "bloom_filter": {"file": "a"}})
    assert draft.values["dedupers"] == [
        {
            "name": "again",
            "by": "ngrams",
            "attribute": "seen",
            "ngram": {"length": 8, "stride": 1, "threshold": 0.5, "skip_short": True},
            "skip_empty": True,
            "compat": "dolma",
        }
    ]
    assert set(draft.left_out) == {"bloom_filter", "dedupe.num_partitions"}


@pytest.mark.parametrize(
    ("dedupe", "key"),
    [
        ({"name": "a", "documents": {"key": "text"}}, "dedupe.documents.key"),
        ({"name": "a", "documents": {"key": "$.id"}}, "dedupe.documents.key"),
    ],
)
def test_a_key_that_cannot_be_compared_is_left_out(tmp_path: Path, dedupe: dict[str, Any], key: str) -> None:
    draft = imported(tmp_path, {"documents": ["d/documents/*"], "dedupe": dedupe})
    assert key in draft.left_out
    assert "dedupers" not in draft.values


STREAM: dict[str, Any] = {
    "name": "web",
    "documents": ["d/documents/*"],
    "attributes": ["quality", "again"],
    "output": {"path": "out", "min_text_length": 40, "discard_fields": ["attributes", "added", "other"]},
    "filter": {"exclude": ["$.attributes[?(@.quality__gopher_v2__word_count[0][2] < 50)]"]},
    "compression": {"output": "zst"},
}


def test_a_mix(tmp_path: Path) -> None:
    draft = imported(tmp_path, {"streams": [STREAM], "shuffle": False})
    assert draft.values["attributes"] == [{"name": "quality", "taggers": ["gopher_v2"], "compat": "dolma"}]
    left = {"shuffle", "streams.0.output.path", "streams.0.compression", "streams.0.output.discard_fields"}
    assert left | {"streams.0.attributes: again"} <= set(draft.left_out)
    assert draft.values["filter"] == {
        "exclude": STREAM["filter"]["exclude"],
        "discard_fields": ["added"],
        "min_text_length": 40,
        "attributes": ["quality"],
        "compat": "dolma",
    }


def test_streams_that_filter_in_their_own_ways_are_left_out(tmp_path: Path) -> None:
    draft = imported(tmp_path, {"streams": [STREAM, {**STREAM, "filter": {"exclude": ["$.a"]}}]})
    assert "a corpus has one `filter`" in draft.left_out["streams"]
    assert "filter" not in draft.values


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"documents": ["a"]}, "has none of taggers, dedupe, streams"),
        ({"taggers": [], "dedupe": {}}, "has taggers and dedupe of "),
        ([1], "no mapping"),
        ('{"taggers": ["${oc.env:A}"]}', "'${oc.env:A}' is resolved by the toolkit alone"),
        ("{", "cannot be read"),
        ({"taggers": "c4_v1"}, "taggers: received 'c4_v1'; valid: a list"),
        ({"taggers": [1]}, "taggers: received 1; valid: a list of texts"),
        ({"streams": [5]}, "streams.0: received 5; valid: a mapping"),
        ({"documents": ["a/*"], "dedupe": {"paragraphs": 5}}, "a value of another type than the toolkit takes"),
        ({"streams": [{"documents": ["a/*"], "output": {"min_text_length": "x"}}]}, "a value of another type than"),
        ({"taggers": ["c4_v1"]}, "no documents that could be a source"),
    ],
)
def test_what_is_no_configuration_is_refused(tmp_path: Path, config: Any, message: str) -> None:
    with pytest.raises(ConfigError) as found:
        imported(tmp_path, config)
    assert message in str(found.value)


@pytest.mark.parametrize(
    ("name", "usable"), [("pii-strict", "pii-strict"), ("A b//C", "a-b-c"), ("1st", "x"), ("", "x"), ("-.", "x")]
)
def test_names(name: str, usable: str) -> None:
    assert usable_name(name, "x") == usable


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="no golden files of the Dolma toolkit")
def test_configurations_of_the_golden_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them together become a corpus.yaml that can be used; its globs find the golden documents."""
    monkeypatch.chdir(GOLDEN)
    names = ("tag_*", "dedupe_*", "mix_jsonpath*")
    configs = [str(file) for name in names for file in sorted(Path("configs").glob(name))]
    output = tmp_path / "corpus.yaml"
    arguments = ["import", "dolma", *configs, "--output", str(output)]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    config = load_config(output)
    assert [source.name for source in config.sources] == ["corpus"]
    assert (tmp_path / config.sources[0].location).resolve() == (GOLDEN / "corpus" / "documents").resolve()
    entries = {entry.name: set(entry.taggers) for entry in config.attributes}
    for file in Path("configs").glob("tag_*"):
        given = yaml.safe_load(file.read_text())
        for tagger in given["taggers"]:
            assert tagger in entries[given.get("experiment", tagger)]
    with pytest.raises(ConfigError, match="--force replaces it"):
        CliRunner().invoke(app, arguments, catch_exceptions=False)
