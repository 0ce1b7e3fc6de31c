"""`corpus import dolma` of command lines and of `tokens`: as one corpus.yaml, which is built."""

import gzip
import json
from pathlib import Path

import pytest
import yaml

from corpus_assets.importer.dolma.configs import import_dolma
from resources.errors import ConfigError
from tests.importer.built import assert_all_named, built, imported, text, texts, write_tokenizer

LINES = """
dolma tag --documents 'wiki/v0/documents/*.gz' --experiment exp \\ # a name
  --taggers gopher_v2 char_length_v1 --processes 16
dolma dedupe \\
  --documents "wiki/v0/documents/*.gz" --dedupe.paragraphs.attribute_name again --dedupe.skip_empty \\
  --bloom_filter.file /tmp/filter.bin --no-bloom_filter.read_only --bloom_filter.estimated_doc_count '6_000' \\
  --bloom_filter.desired_false_positive_rate 0.0001 --processes 2
dolma -c mix.yaml mix --processes 3 --dryrun false
dolma tokens --documents 'wiki/clean/documents/*.gz' --tokenizer.name_or_path tokenizer/tokenizer.json \\
  --tokenizer.eos_token_id 0 --tokenizer.bos_token_id 1 --destination wiki/ids --max_size 10_000 --seed 4
dolma stat --attributes x
"""
MIX = {
    "streams": [
        {
            "name": "clean",
            "documents": ["wiki/v0/documents/*.gz"],
            "attributes": ["exp", "again"],
            "output": {"path": "wiki/clean/documents", "max_size_in_bytes": 1000},
            "filter": {"exclude": ["$.attributes[?(@.exp__gopher_v2__word_count[0][2] < 20)]"]},
            "span_replacement": [{"span": "$.attributes.again", "min_score": 0.5, "replacement": ""}],
            "colour": "blue",
        }
    ]
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_tokenizer(tmp_path / "tokenizer" / "tokenizer.json")
    (tmp_path / "mix.yaml").write_text(yaml.safe_dump(MIX))
    documents = tmp_path / "wiki" / "v0" / "documents"
    documents.mkdir(parents=True)
    rows = [text(1), text(2), f"{text(2)}\n{text(3)}", "too short"]
    with gzip.open(documents / "a.json.gz", "wt") as file:
        file.writelines(json.dumps({"id": str(n), "text": row, "source": "w"}) + "\n" for n, row in enumerate(rows))
    return tmp_path


def test_lines_become_one_corpus_that_is_built(folder: Path) -> None:
    draft = imported(import_dolma, folder, {"README.sh": LINES})
    values = draft.values
    assert [entry["name"] for entry in values["dedupers"]] == ["again"]
    assert values["filter"]["attributes"] == ["exp", "again"]
    assert values["engine"] == {"workers": 16}
    (dataset,) = values["datasets"]
    assert (dataset["name"], dataset["input"], dataset["bos_token"]) == ("ids", "train", "<|padding|>")
    assert dataset["file_ids"] == 10_000
    assert values["tokenizer"] == {
        **{"kind": "tokenizer_json", "path": "tokenizer/tokenizer.json", "eos": 0, "special_tokens_in_text": True},
    }
    keys = ("documents", "experiment", "taggers", "processes", "dedupe.skip_empty", "bloom_filter", "dryrun")
    more = ("streams.0.name", "streams.0.filter.exclude", "streams.0.output.max_size_in_bytes", "streams.0.colour")
    last = ("tokenizer.name_or_path", "destination", "max_size", "seed", "streams.0.span_replacement.0.min_score")
    assert_all_named(draft, [*keys, *more, *last, "stat", "tokenizer.bos_token_id"])
    assert draft.left_out["streams.0.colour"] == "no key of the toolkit that is known here"
    assert draft.left_out["streams.0.name"] == "there is one filter for all documents, and no stream"
    corpus = built(draft, folder)
    assert texts(corpus, "train") == {text(1), text(2), text(3)}


def test_tokens_of_files_of_their_own(folder: Path) -> None:
    config = {
        "documents": ["wiki/v0/documents/*.gz"],
        "destination": "out/ids",
        "tokenizer": {"name_or_path": "tokenizer/tokenizer.json", "eos_token_id": 0, "fast": True},
        "fields": {"text_field_name": "text", "id_field_name": "id"},
        "dtype": "uint16",
        "colour": "blue",
    }
    draft = imported(import_dolma, folder, {"tokens.yaml": yaml.safe_dump(config)})
    (dataset,) = draft.values["datasets"]
    own = {"location": "wiki/v0/documents", "glob": "*.gz", "text_key": "text", "id_key": "id"}
    assert dataset["input"] == own
    assert_all_named(draft, [*(config.keys() - {"tokenizer", "fields"}), "tokenizer.fast", "fields.text_field_name"])
    corpus = built(draft, folder)
    assert any(entry.path.endswith(".npy") for entry in corpus.storage.entries("exports/ids"))


def test_a_configuration_that_is_not_there_is_named(folder: Path) -> None:
    lines = "dolma -c gone.json mix\ndolma tag --documents 'wiki/v0/documents/*' --taggers c4_v2\ndolma list\n"
    draft = imported(import_dolma, folder, {"run.sh": lines})
    assert draft.left_out["line 1: dolma -c"] == "there is no file gone.json; import it beside this one"
    assert "lists all taggers" in draft.left_out["line 3: dolma list"]


def test_two_mixes_and_two_dedupers_keep_what_is_theirs(folder: Path) -> None:
    """A filter is that of its own mix, and a deduper looks at its own documents, in whatever order files come."""
    files: dict[str, str] = {}
    for name in "xy":
        mix = {**MIX["streams"][0], "name": name, "documents": [f"{name}/documents/*"], "attributes": [f"seen-{name}"]}
        mix["filter"] = {"exclude": [f"$.metadata.{name}"]}
        section = {"name": f"seen-{name}", "documents": {"key": "$.text", "attribute_name": f"again_{name}"}}
        dedupe = {"documents": [f"{name}/documents/*"], "dedupe": section, "bloom_filter": {"file": name}}
        files |= {f"mix-{name}.yaml": yaml.safe_dump({"streams": [mix]}), f"dedupe-{name}.yaml": yaml.safe_dump(dedupe)}
    for order in (files, dict(reversed(files.items()))):
        values = imported(import_dolma, folder, order).values
        streams = {
            entry["name"]: (entry["sources"], entry["exclude"], entry["attributes"]) for entry in values["streams"]
        }
        assert streams == {name: ([name], [f"$.metadata.{name}"], [f"seen-{name}"]) for name in "xy"}
        assert {entry["name"]: entry["sources"] for entry in values["dedupers"]} == {"seen-x": ["x"], "seen-y": ["y"]}


@pytest.mark.parametrize(
    ("lines", "message"),
    [("dolma stat --bins 2", "no `documents` can be imported"), ("dolma tag --taggers c4_v2", "no `documents`")],
)
def test_lines_without_documents_are_refused(lines: str, message: str, folder: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        imported(import_dolma, folder, {"run.sh": lines})
