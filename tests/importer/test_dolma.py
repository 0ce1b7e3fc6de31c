"""`corpus import dolma`: configurations of the toolkit as one corpus.yaml, and what is not taken over."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from corpus_assets.cli.main import app
from corpus_assets.config import load_config
from corpus_assets.config.selection.attributes import Attributes
from corpus_assets.importer.dolma.configs import import_dolma
from corpus_assets.importer.draft import Draft, usable_name
from resources.errors import ConfigError
from tests.build.small import drive, opened
from tests.golden.dolma import ABSENT, SET, configs, top

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


def test_a_pattern_with_brackets_is_no_glob_here(tmp_path: Path) -> None:
    patterns = ["d/documents/part-[0-4]?.gz", "d/documents/*.gz"]
    draft = imported(tmp_path, {"documents": patterns, "taggers": ["c4_v1"]})
    assert draft.values["sources"] == [{"name": "d", "location": "d/documents", "glob": "*.gz"}]
    assert "write out what is in brackets" in draft.left_out["documents.0"]


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
        ({"name": "a", "documents": {"key": "$.source"}}, "dedupe.documents.key"),
        ({"name": "a", "documents": {"key": "$.metadata"}}, "dedupe.documents.key"),
        ({"name": "a", "documents": {"key": "$.metadata.urls[0]"}}, "dedupe.documents.key"),
    ],
)
def test_a_key_that_cannot_be_compared_is_left_out(tmp_path: Path, dedupe: dict[str, Any], key: str) -> None:
    draft = imported(tmp_path, {"documents": ["d/documents/*"], "dedupe": dedupe})
    assert key in draft.left_out
    assert "dedupers" not in draft.values


@pytest.mark.parametrize(
    ("key", "by"),
    [
        ("$.text", "text"),
        ("$['id']", "id"),
        ("$.created", "created"),
        ("$.metadata.url", "url"),
        ("$.url", "url"),
        ("$.metadata['warc'].\"x\"", None),
        ("$.metadata['a b'].c", "metadata.a b.c"),
        ("$.digest", "metadata.digest"),
    ],
)
def test_a_key_by_its_name_here(tmp_path: Path, key: str, by: str | None) -> None:
    dedupe = {"name": "a", "documents": {"key": key, "attribute_name": "again"}}
    draft = imported(tmp_path, {"documents": ["d/documents/*"], "dedupe": dedupe})
    assert [entry["by"] for entry in draft.values.get("dedupers", [])] == ([by] if by else [])


SEEN = {"name": "seen", "paragraphs": {"attribute_name": "seen"}, "skip_empty": True}
BUILT = {"documents": ["eval/documents/*.gz"], "dedupe": SEEN, "bloom_filter": {"file": "a.bin", "read_only": False}}
READ = {
    "documents": ["data/documents/**/*.gz"],
    "dedupe": {**SEEN, "name": "leak"},
    "bloom_filter": {"file": "a.bin", "read_only": True},
}


def test_a_filter_that_is_only_read_is_one_of_certain_sources(tmp_path: Path) -> None:
    draft = imported(tmp_path, READ, BUILT)
    seen = {"by": "paragraphs", "attribute": "seen", "skip_empty": True, "compat": "dolma"}
    assert draft.values["dedupers"] == [
        {"name": "seen", **seen, "sources": ["eval"]},
        {"name": "leak", **seen, "against": ["eval"], "sources": ["data"]},
    ]
    assert {source["name"] for source in draft.values["sources"]} == {"data", "eval"}


@pytest.mark.parametrize(
    ("others", "why"),
    [
        ([], "import it together with the configuration that fills this filter"),
        ([{**BUILT, "documents": ["data/documents/a.gz"]}], "both in source data; give the latter a source"),
        ([{**BUILT, "dedupe": {**SEEN, "min_length": 9}}], "compares other things than this one"),
        ([BUILT, {"taggers": ["c4_v1"], "documents": ["eval/documents/*.gz"]}], ""),
        ([BUILT, {"taggers": ["c4_v1"], "documents": ["eval/documents/x/*"]}], "sources eval have more documents"),
        ([BUILT, {"streams": [{"documents": ["eval/documents/y/*"]}]}], "sources eval have more documents than those"),
    ],
)
def test_a_filter_that_is_only_read_is_left_out_otherwise(tmp_path: Path, others: list[Any], why: str) -> None:
    draft = imported(tmp_path, READ, *others)
    names = [entry["name"] for entry in draft.values.get("dedupers", [])]
    assert ("leak" in names) == (why == "")
    assert why in draft.left_out.get("bloom_filter.read_only", "")


def dedupe(name: str, *documents: str, file: str | None = None, **more: Any) -> dict[str, Any]:
    section = {"name": name, "documents": {"key": "$.text", "attribute_name": "again"}, **more}
    return {"documents": list(documents), "dedupe": section, "bloom_filter": {"file": file} if file else {}}


def test_dedupers_keep_to_their_documents(tmp_path: Path) -> None:
    web, code = dedupe("web", "d/documents/web/*"), dedupe("code", "d/documents/code/*", "d/documents/b/*")
    draft = imported(tmp_path, web, code, dedupe("all", "d/documents/*/*", *web["documents"], *code["documents"]))
    found = {entry["name"]: (entry.get("sources"), entry.get("glob")) for entry in draft.values["dedupers"]}
    assert found == {"web": (["d"], ["web/*"]), "code": (["d"], ["code/*", "b/*"]), "all": (None, None)}
    draft = imported(tmp_path, dedupe("a", "x/documents/*"), dedupe("b", "y/documents/*"))
    assert [entry["sources"] for entry in draft.values["dedupers"]] == [["x"], ["y"]]
    draft = imported(tmp_path, dedupe("a", "x/documents/*", "y/documents/1"), dedupe("b", "y/documents/*"))
    assert [entry["name"] for entry in draft.values["dedupers"]] == ["b"]
    assert "patterns of a are not the same in each folder" in draft.left_out["documents"]
    draft = imported(tmp_path, dedupe("a", "s3://bucket/x/*"), dedupe("b", "y/documents/*"))
    assert [entry["name"] for entry in draft.values["dedupers"]] == ["b"]
    assert draft.left_out["documents"] == "a has no documents that could be a source"


def test_dedupers_of_one_name_are_all_that_a_stream_sees(tmp_path: Path) -> None:
    stream = {"documents": ["d/documents/*"], "attributes": ["same"], "filter": {"exclude": ["$.attributes.again"]}}
    both = [dedupe("same", "d/documents/a"), dedupe("same", "d/documents/b", min_length=3)]
    draft = imported(tmp_path, *both, {"streams": [stream]})
    assert [entry["name"] for entry in draft.values["dedupers"]] == ["same", "same-2"]
    assert draft.values["streams"][0]["attributes"] == ["same", "same-2"]


def test_one_filter_of_several_configurations(tmp_path: Path) -> None:
    shared = [dedupe("same", f"{name}/documents/*", file="a.bin") for name in "xyz"]
    draft = imported(tmp_path, *shared[:2], dedupe("other", "z/documents/*"))
    assert [(entry["name"], entry["sources"]) for entry in draft.values["dedupers"]] == [
        ("same", ["x", "y"]),
        ("other", ["z"]),
    ]
    draft = imported(tmp_path, *shared)
    assert [(entry["name"], entry.get("sources")) for entry in draft.values["dedupers"]] == [("same", None)]
    draft = imported(tmp_path, shared[0], dedupe("other", "y/documents/*", file="a.bin"))
    assert "same and other fill 'a.bin'" in draft.left_out["bloom_filter.file"]


def test_attributes_of_fewer_documents_are_named(tmp_path: Path) -> None:
    tags = [{"documents": [f"{name}/documents/*"], "experiment": "q", "taggers": ["c4_v1"]} for name in "xy"]
    assert imported(tmp_path, *tags).to_do == []
    draft = imported(tmp_path, *tags, dedupe("a", "z/documents/*"))
    assert draft.to_do == ["q describes all documents here, and in Dolma those of x: *, y: *"]


def test_mixes_of_several_files(tmp_path: Path) -> None:
    first = {"streams": [{**STREAM, "attributes": ["quality"]}]}
    other = {"streams": [{**STREAM, "attributes": [], "filter": {"exclude": ["$.metadata.bad"]}}], "shuffle": False}
    draft = imported(tmp_path, first, other)
    assert "filter" not in draft.values
    assert [(entry["name"], entry["exclude"], "max_size" in entry) for entry in draft.values["streams"]] == [
        ("web", STREAM["filter"]["exclude"], True),
        ("web-2", ["$.metadata.bad"], False),
    ]
    draft = imported(tmp_path, first, {"streams": [{**first["streams"][0], "documents": ["e/documents/*"]}]})
    assert "streams" not in draft.values
    assert draft.values["filter"]["exclude"] == STREAM["filter"]["exclude"]


@pytest.mark.parametrize("more", [dedupe("a", "e/documents/*"), dedupe("a", "d/documents/b/*")])
def test_a_mix_of_fewer_documents_filters_these_alone(tmp_path: Path, more: dict[str, Any]) -> None:
    draft = imported(tmp_path, more, {"streams": [{**STREAM, "attributes": ["quality"]}]})
    assert "filter" not in draft.values
    (entry,) = draft.values["streams"]
    assert (entry["sources"], entry["exclude"]) == (["d"], STREAM["filter"]["exclude"])
    assert entry.get("glob") == (["*"] if "d/documents/b/*" in more["documents"] else None)


def test_a_stream_does_not_name_what_was_left_out(tmp_path: Path) -> None:
    stream = {**STREAM, "documents": ["data/documents/**/*.gz"], "attributes": ["leak"]}
    draft = imported(tmp_path, READ, BUILT, dedupe("a", "eval/documents/x/*"), {"streams": [stream]})
    assert draft.values["streams"][0]["attributes"] == []
    assert draft.left_out["streams.0.attributes: leak"] == "what makes it was not taken over"


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
    assert draft.values["attributes"] == [
        {"name": "quality", "taggers": ["gopher_v2"], "compat": "dolma"},
        {"name": "again", "location": {"d": "d/attributes/again"}},
    ]
    assert draft.taken["streams.0.attributes: again"] == "attributes[].location"
    assert "see that the files of again are in d/attributes/again" in draft.to_do
    left = {"shuffle", "streams.0.output.path", "streams.0.compression", "streams.0.output.discard_fields"}
    assert left <= set(draft.left_out)
    assert draft.values["filter"] == {
        "exclude": STREAM["filter"]["exclude"],
        "discard_fields": ["added"],
        "min_text_length": 40,
        "attributes": ["quality", "again"],
        "compat": "dolma",
    }


def test_attributes_that_nothing_makes_are_files_beside_documents(tmp_path: Path) -> None:
    """The layout of Dolma says where; other folders do not, and that is named."""
    streams = [
        {"documents": [f"data/{name}/documents/*.gz"], "attributes": ["Tox", "judge"], "filter": {"exclude": [rule]}}
        for name, rule in (("a", "$.attributes.judge__judge__score"), ("b", "$.attributes.judge__judge__other"))
    ]
    draft = imported(tmp_path, {"streams": [*streams, {"documents": ["c/*.gz"], "attributes": ["lost"]}]})
    places = {"a": "data/a/attributes/judge", "b": "data/b/attributes/judge"}
    assert draft.values["attributes"] == [{"name": "judge", "location": places}]
    assert [entry["attributes"] for entry in draft.values["streams"]] == [["judge"], ["judge"], []]
    for key in ("streams.0.attributes: Tox", "streams.2.attributes: lost"):
        assert "nothing here says what makes it" in draft.left_out[key]


@pytest.mark.parametrize(
    "rule",
    [
        "$.attributes[?(@.judge && @.judge[0] && @.judge[0][2] >= 1.0)]",
        "$@.attributes[?(@.judge && @.judge[0][2] >= 1.0)]",
        "$.attributes.judge",
        "$.attributes['judge']",
    ],
)
def test_keys_of_dolmas_deduper_in_files_are_named_as_they_are_read(tmp_path: Path, rule: str) -> None:
    """Its deduper writes the name of the attribute alone."""
    documents, attributes = tmp_path / "data/documents", tmp_path / "data/attributes/judge"
    for folder in (documents, attributes):
        folder.mkdir(parents=True)
    texts = {name: f"the text of {name} is no other" for name in ("keep", "drop")}
    rows = [{"id": name, "text": text, "source": "made"} for name, text in texts.items()]
    spans = [{"id": name, "attributes": {"judge": [[0, 9, 1.0]] if name == "drop" else []}} for name in texts]
    if "[0]" not in rule:
        spans[0]["attributes"] = {}
    for folder, lines in ((documents, rows), (attributes, spans)):
        (folder / "a.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    stream = {"documents": ["data/documents/*.jsonl"], "attributes": ["judge"], "filter": {"exclude": [rule]}}
    values = imported(tmp_path, {"streams": [stream]}).values
    (tmp_path / "corpus.yaml").write_text(yaml.safe_dump({**values, "storage": {"root": "corpus"}}))
    corpus = opened(tmp_path)
    assert drive(corpus, corpus.graph.select(["+filtered_documents"])).failed == []
    (record,) = corpus.ledger.records("filtered_documents").values()
    assert (record.statistics["rows_in"], record.statistics["rows_out"]) == (2, 1)


def test_keys_with_more_parts_and_other_fields_stay(tmp_path: Path) -> None:
    rule = "$.attributes[?(@.judge__judge__score[0][2] > 1 && @.judges)]"
    other = "$.metadata.judge"
    stream = {"documents": ["d/documents/*"], "attributes": ["judge"], "filter": {"exclude": [rule, other]}}
    assert imported(tmp_path, {"streams": [stream]}).values["filter"]["exclude"] == [rule, other]


def test_streams_that_filter_in_their_own_ways(tmp_path: Path) -> None:
    other = {
        "name": "Code",
        "documents": ["d/documents/code/*.gz", "d/documents/b.gz"],
        "attributes": [],
        "output": {"path": "out", "max_size_in_bytes": 1000, "discard_fields": ["id", "mine"]},
        "span_replacement": [{"span": "$.attributes.a", "replacement": ""}],
    }
    draft = imported(tmp_path, {"streams": [STREAM, other]})
    assert "filter" not in draft.values
    assert draft.values["sources"] == [
        {"name": "d", "location": "d/documents", "glob": ["*", "code/*.gz", "b.gz"]},
    ]
    assert draft.values["streams"] == [
        {
            "name": "web",
            "sources": ["d"],
            "glob": ["*"],
            "attributes": ["quality", "again"],
            "exclude": STREAM["filter"]["exclude"],
            "min_text_length": 40,
            "discard_fields": ["attributes", "added", "other"],
            "compat": "dolma",
            "max_size": 2 << 30,
            "codec": "zst",
        },
        {
            "name": "code",
            "sources": ["d"],
            "glob": ["code/*.gz", "b.gz"],
            "attributes": [],
            "span_replacement": [{"span": "$.attributes.a", "replacement": "", "syntax": "jsonpath"}],
            "discard_fields": ["mine"],
            "compat": "dolma",
            "max_size": 1000,
            "codec": "gz",
        },
    ]
    left = {"streams.0.output.path", "streams.1.output.path", "streams.1.output.discard_fields"}
    assert set(draft.left_out) == left


def test_what_to_plan_then(tmp_path: Path) -> None:
    (tmp_path / "mix.json").write_text(json.dumps({"streams": [STREAM, {**STREAM, "name": "b", "filter": {}}]}))
    done = CliRunner().invoke(app, ["import", "dolma", str(tmp_path / "mix.json")], catch_exceptions=False)
    assert "then: corpus plan --select +group:streams" in done.output


def test_streams_of_files_as_they_are(tmp_path: Path) -> None:
    plain = {**STREAM, "documents": ["d/documents/**/*", "e/documents/**/*"], "compression": {}}
    other = {**plain, "name": "b", "filter": {"exclude": ["$.a"]}}
    draft = imported(tmp_path, {"streams": [plain, other], "shuffle": False})
    for entry in draft.values["streams"]:
        assert entry["sources"] == ["d", "e"]
        assert not entry.keys() & {"glob", "max_size", "codec"}
    apart = {**other, "documents": ["d/documents/x/*", "e/documents/**/*"]}
    draft = imported(tmp_path, {"streams": [plain, apart], "shuffle": False})
    assert [entry["name"] for entry in draft.values["streams"]] == ["web"]
    assert "make a stream of each" in draft.left_out["streams.1"]


def test_variables_of_the_environment_stay_in_paths_and_other_interpolations_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What corpus.yaml can say is taken over; the rest is named, and the import goes on."""
    documents = ["${oc.env:DATA}/wiki/documents/*.gz", "${oc.env:DATA,/mnt}/web/documents/*.gz", "${base}/x/*"]
    tag = {"documents": documents, "taggers": ["c4_v1", "${oc.env:TAGGER}"], "processes": "${oc.env:CORES}"}
    tokens = {
        "documents": ["${oc.env:DATA}/wiki/documents/*.gz"],
        "tokenizer": {"name_or_path": "${oc.env:DATA}/tokenizer.json", "eos_token_id": "${oc.env:EOS}"},
    }
    draft = imported(tmp_path, tag, tokens)
    assert draft.values["sources"] == [{"name": "wiki", "location": "${DATA}/wiki/documents", "glob": "*.gz"}]
    assert [entry["taggers"] for entry in draft.values["attributes"]] == [["c4_v1"]]
    assert draft.values["tokenizer"]["path"] == "${DATA}/tokenizer.json"
    told = "only the toolkit can resolve '{}'; write its value instead"
    assert {key: draft.left_out[key] for key in ("documents.1", "documents.2", "taggers.1", "processes")} == {
        "documents.1": told.format("${oc.env:DATA,/mnt}"),
        "documents.2": told.format("${base}"),
        "taggers.1": told.format("${oc.env:TAGGER}"),
        "processes": told.format("${oc.env:CORES}"),
    }
    assert draft.left_out["tokenizer.eos_token_id"] == told.format("${oc.env:EOS}")
    assert draft.to_do[0] == "set the environment variable DATA wherever the corpus is built, or write its value"
    monkeypatch.setenv("DATA", str(tmp_path))
    (tmp_path / "wiki/documents").mkdir(parents=True)
    (tmp_path / "wiki/documents/a.jsonl.gz").write_bytes(gzip.compress(b"{}"))
    (tmp_path / "corpus.yaml").write_text(yaml.safe_dump({"name": "a", "sources": draft.values["sources"]}))
    assert [shard.label for shard in opened(tmp_path).listing().shards] == ["wiki/a.jsonl.gz"]


def test_a_dataset_reads_what_a_mix_writes_below_a_variable(tmp_path: Path) -> None:
    """Such a path needs no variable: nothing of it is in corpus.yaml."""
    stream = {"name": "web", "documents": ["${oc.env:DATA}/web/documents/*.gz"]}
    mix = {"streams": [{**stream, "output": {"path": "${oc.env:OUT}/mixed", "max_size_in_bytes": 100}}]}
    tokenizer = {"name_or_path": "${oc.env:DATA}/tokenizer.json", "eos_token_id": 0, "pad_token_id": "${oc.env:PAD,1}"}
    tokens = {"documents": ["${oc.env:OUT}/mixed/*.gz"], "destination": "${oc.env:OUT}/ids", "tokenizer": tokenizer}
    draft = imported(tmp_path, mix, tokens)
    apart = imported(tmp_path, {**mix, "streams": [{**stream, "output": {"path": "mixed", "max_size_in_bytes": 100}}]})
    assert [(entry["name"], entry["input"]) for entry in draft.values["datasets"]] == [("ids", "train")]
    assert draft.values["sources"] == apart.values["sources"]
    assert draft.to_do == ["set the environment variable DATA wherever the corpus is built, or write its value"]
    assert [key for key in draft.left_out if "pad_token_id" in key] == ["tokenizer.pad_token_id"]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"documents": ["a"]}, "has none of taggers, dedupe, streams"),
        ({"taggers": [], "dedupe": {}}, "has taggers and dedupe of "),
        ([1], "is not a mapping"),
        ('{"taggers": ["${oc.env:A}"]}', "no `documents` can be imported as a source"),
        ('{"taggers": ["${oc.env:A}"]}', "taggers.0: only the toolkit can resolve '${oc.env:A}'; write its value"),
        ("{", "cannot be read"),
        ({"taggers": "c4_v1"}, "taggers: received 'c4_v1'; valid: a list"),
        ({"taggers": [1]}, "taggers: received 1; valid: a list of texts"),
        ({"streams": [None]}, "streams.0: received None; valid: a mapping"),
        ({"streams": [{"output": {"max_size_in_bytes": "5GB"}}]}, "streams.0.output.max_size_in_bytes: received '5GB'"),
        ({"streams": [{"output": {"discard_fields": True}}]}, "discard_fields: received True; valid: a list of texts"),
        ({"streams": [{"compression": "gz"}]}, "streams.0.compression: received 'gz'; valid: a mapping"),
        ({"dedupe": {"paragraphs": {"by_ngram": {"stride": "x"}}}}, "by_ngram.stride: received 'x'; valid: a whole"),
        ({"streams": [5]}, "streams.0: received 5; valid: a mapping"),
        ({"documents": ["a/*"], "dedupe": {"paragraphs": 5}}, "dedupe.paragraphs: received 5; valid: a mapping"),
        (
            {"streams": [{"documents": ["a/*"], "output": {"min_text_length": "x"}}]},
            "streams.0.output.min_text_length: received 'x'; valid: a whole number",
        ),
        ({"taggers": ["c4_v1"]}, "no `documents` can be imported as a source"),
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


def is_about_all_documents(config: Mapping[str, Any]) -> bool:
    """Whether a run tags, or compares with a filter of its own, or is the one that filters with JSONPath alone."""
    if "dedupe" in config:
        filters = [one["bloom_filter"]["file"] for one in configs().values() if "dedupe" in one]
        return filters.count(config["bloom_filter"]["file"]) == 1
    rules = [stream.get("filter") or {} for stream in config.get("streams", [])]
    by_jsonpath = len(rules) == 1 and rules[0].get("include") and rules[0].get("syntax", "jsonpath") == "jsonpath"
    return "taggers" in config or bool(by_jsonpath)


@pytest.mark.skipif(not SET.is_dir(), reason=ABSENT)
def test_configurations_of_the_golden_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them together become a corpus.yaml that can be used; its globs find the golden documents."""
    monkeypatch.chdir(SET)
    chosen = {name: config for name, config in configs().items() if is_about_all_documents(config)}
    output = tmp_path / "corpus.yaml"
    arguments = ["import", "dolma", *(f"configs/{name}" for name in chosen), "--output", str(output)]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    config = load_config(output)
    assert [source.name for source in config.sources] == [top().name]
    assert (tmp_path / config.sources[0].location).resolve() == (top() / "documents").resolve()
    entries = {entry.name: set(entry.taggers) for entry in config.attributes if isinstance(entry, Attributes)}
    for given in chosen.values():
        for tagger in given.get("taggers", ()):
            assert tagger in entries[given.get("experiment", tagger)]
    with pytest.raises(ConfigError, match="--force replaces it"):
        CliRunner().invoke(app, arguments, catch_exceptions=False)
