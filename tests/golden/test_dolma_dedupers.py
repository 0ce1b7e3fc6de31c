"""Dedupers equal the original on whatever lies in the golden folder of the Dolma toolkit, through corpus.yaml."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.build.small import drive, opened
from tests.golden.dolma import ABSENT, SET, attributes, configs, documents, top
from tests.golden.files import row_files, rows

pytestmark = pytest.mark.skipif(not SET.is_dir(), reason=ABSENT)

OTHERWISE = {
    "doc_readonly": "nothing fills the filter: `against` names sources that do",
    "doc_rerun_second": "a second run over the same data changes nothing",
    "doc_both": "one entry compares one thing",
    "doc_neither": "the schema requires `by`",
    "doc_partition": "ranges of hashes need no names",
    "doc_key_list": "a key is a path of names; a value that is no text counts by its JSON form",
}
"""Edge cases that have no counterpart, and why."""


def entry_of(name: str, dedupe: Mapping[str, Any]) -> dict[str, Any] | None:
    """The entry of `dedupers` for a configuration of the toolkit; None if there is none."""
    rule: dict[str, Any] = {"name": name, "compat": "dolma", "skip_empty": dedupe.get("skip_empty", False)}
    rule["min_length"] = dedupe.get("min_length", 0)
    if paragraphs := dedupe.get("paragraphs"):
        rule |= {"by": "paragraphs", "attribute": paragraphs["attribute_name"]}
        rule["separator"] = paragraphs.get("paragraph_separator", "\n")
        if ngram := paragraphs.get("by_ngram"):
            shape = {"length": ngram["ngram_length"], "stride": max(1, ngram["stride"])}
            shape |= {"threshold": ngram["overlap_threshold"], "skip_short": ngram["skip_short_paragraphs"]}
            rule |= {"by": "ngrams", "ngram": shape}
        return rule
    documents = dedupe["documents"]
    key = documents["key"].removeprefix("$.")
    return {**rule, "by": key, "attribute": documents["attribute_name"]}


def written(found: list[Any], *keys: str) -> list[str]:
    """Some keys of each row as JSON, in which 1 is not 1.0."""
    return [json.dumps([row[key] for key in keys]) for row in found]


def edge_cases() -> Iterator[dict[str, Any]]:
    for case in rows(SET / "edge_cases.jsonl"):
        if case["kind"] == "dedupe" and case["name"] not in OTHERWISE and case["outputs"] is not None:
            yield case


def write_corpus(folder: Path, documents: Path, dedupers: list[Any]) -> None:
    config = {
        "sources": [{"name": "all", "location": str(documents)}],
        "normalize": {"method": "none"},
        "dedupers": dedupers,
        "engine": {"workers": 0},
        "storage": {"sync": False},
    }
    (folder / "corpus.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")


@pytest.mark.parametrize("case", list(edge_cases()) if SET.is_dir() else [], ids=lambda case: case["name"])
def test_edge_cases(case: dict[str, Any], tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "x.jsonl").write_text("".join(f"{line}\n" for line in case["documents"]), encoding="utf-8")
    write_corpus(tmp_path, raw, [entry_of("n", case["dedupe"])])
    corpus = opened(tmp_path)
    assert drive(corpus, corpus.graph.select(["+n_attributes"])).failed == []
    found = rows(tmp_path / "corpus" / "attributes" / "n" / "all" / "x.jsonl.gz")
    assert written(found, "attributes") == written(case["outputs"], "attributes")


def test_files(tmp_path: Path) -> None:
    """The golden documents as a corpus, with an entry of `dedupers` for each golden run over all of them."""
    rules = {}
    for config in configs().values():
        if "dedupe" not in config or config["bloom_filter"]["read_only"]:
            continue
        if documents(*config["documents"]) == documents():
            name = config["dedupe"]["name"]
            rules[name] = entry_of(name, config["dedupe"])
    assert rules
    write_corpus(tmp_path, top() / "documents", list(rules.values()))
    corpus = opened(tmp_path)
    built = drive(corpus, corpus.graph.select([f"+{name}_attributes" for name in rules]))
    assert built.failed == []
    shards = {Path(shard.path): shard for shard in corpus.listing().shards}
    for name in rules:
        golden = attributes(name)
        for file in row_files(golden):
            shard = shards[file.relative_to(golden)]
            ours = rows(tmp_path / "corpus" / "attributes" / name / "all" / f"{shard.name}.jsonl.gz")
            theirs = rows(file)
            assert written(ours, "id", "attributes") == written(theirs, "id", "attributes"), (name, file)


def filters() -> list[tuple[str, str]]:
    """The runs that read a filter, each with the one that filled it."""
    dedupers = {name: config for name, config in configs().items() if "dedupe" in config}
    return [
        (fill, read)
        for read, reading in dedupers.items()
        for fill, filling in dedupers.items()
        if reading["bloom_filter"]["read_only"]
        and not filling["bloom_filter"]["read_only"]
        and filling["bloom_filter"]["file"] == reading["bloom_filter"]["file"]
    ]


@pytest.mark.parametrize(("filling", "reading"), filters())
def test_files_against_those_of_a_filter(filling: str, reading: str, tmp_path: Path) -> None:
    """The golden runs of which one fills a filter with files, and the other compares all documents with it."""
    fill, read = configs()[filling]["dedupe"], configs()[reading]["dedupe"]
    compared = entry_of("compared", read)
    assert compared is not None
    root = top() / "documents"
    known = [file.relative_to(root).as_posix() for file in documents(*configs()[filling]["documents"])]
    paths = [file.relative_to(root).as_posix() for file in documents(*configs()[reading]["documents"])]
    others = [path for path in paths if path not in known]
    config = {
        "sources": [
            {"name": "known", "location": str(root), "glob": known},
            {"name": "others", "location": str(root), "glob": others},
        ],
        "normalize": {"method": "none"},
        "dedupers": [{**compared, "against": ["known"]}, entry_of("filled", fill)],
        "engine": {"workers": 0},
        "storage": {"sync": False},
    }
    (tmp_path / "corpus.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    corpus = opened(tmp_path)
    assert drive(corpus, corpus.graph.select(["+compared_attributes", "+filled_attributes"])).failed == []
    marked = 0
    for shard in corpus.listing().shards:
        runs = {"compared": read, **({"filled": fill} if shard.source == "known" else {})}
        for name, run in runs.items():
            ours = rows(tmp_path / "corpus" / "attributes" / name / shard.source / f"{shard.name}.jsonl.gz")
            theirs = rows(attributes(run["name"]) / shard.path)
            assert written(ours, "id", "attributes") == written(theirs, "id", "attributes"), (name, shard.path)
            marked += sum(bool(spans) for row in theirs for spans in row["attributes"].values())
    assert marked
