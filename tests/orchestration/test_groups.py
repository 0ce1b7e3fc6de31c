"""The groups of the web UI: whatever a corpus has, they are in the order of the flow, and none reads a later one."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from corpus_assets.config.datasets.exports import EXPORTS
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.definitions import definitions
from resources.planning.planner import Planner
from resources.stage.graph import Graph
from tests.build.small import opened, statuses, write_config, write_small
from tests.build.test_datasets import CHANGES, DATASETS, write_own
from tests.export.test_every_format import dataset
from tests.house import circles
from tests.orchestration.runs import Runs

OWN_STAGES = """
from resources import Partitioning, Stage, same


def nothing(task):
    pass


STAGES = [
    Stage(name="loud", group="own", description="x", partitioning=Partitioning.SHARD, compute=nothing,
          code_version="1", io="documents", inputs=(same("normalized_documents"),)),
    Stage(name="flat", group="own", description="x", partitioning=Partitioning.CHUNK, compute=nothing,
          code_version="1", io="records", inputs=(same("decontaminated_train"),)),
]
"""
TOKENIZER = {"kind": "train", "vocabulary": 300, "sample": 9000}
RULES = {"quality.char_length_v1.length": {"min": 1}}
REPEATED = {"same.text.duplicate": {"max": 0, "absent": "keep"}}
FILES = {"input": {"location": "own/texts", "text_key": "body"}}
VALIDATION = {"name": "validation", "input": "validation", "sequence_length": 64}
SECTIONS: dict[str, dict[str, Any]] = {
    "remove": {"remove": {"location": "lists/*.txt"}},
    "filter": {"filter": {"rules": RULES}},
    "filter of repetitions": {"filter": {"rules": {**RULES, **REPEATED}}},
    "benchmarks": {"benchmarks": [{"name": "sums", "location": "own/texts", "text_key": "body"}]},
    "on_contamination": {"on_contamination": "remove_span"},
    "streams": {"streams": [{"name": "clean", "rules": REPEATED, "max_size": "1 MB", "attributes": ["quality"]}]},
    "leave_out": {"mix.leave_out": ["short_documents", "duplicates", "others-2.0_attributes"]},
    "stages": {"stages": ["own_stages"]},
    "card": {"card": {"title": "x"}},
}
"""Values of corpus.yaml by dotted key; each set of them adds stages, or moves some to another place in the flow."""
ALWAYS = {
    "attributes": [{"name": "quality", "taggers": ["char_length_v1"]}],
    "dedupers": [{"name": "same", "by": "text"}, {"name": "others-2.0", "by": "url"}, {"kind": "substrings"}],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "own_stages.py").write_text(OWN_STAGES)
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists/legal.txt").write_text("books/one\n")
    write_small(tmp_path)
    write_own(tmp_path)
    return tmp_path


def every_dataset() -> list[dict[str, Any]]:
    """Datasets of every format, from splits and from files, with tokenizers of their own, with weights, and mixed."""
    formats = [dataset(name, tokenizer=TOKENIZER) for name in EXPORTS]
    return [
        *DATASETS,
        VALIDATION,
        *formats,
        {"name": "of_files", "format": "olmo", **FILES, "tokenizer": TOKENIZER},
        {"name": "weighted", "format": "megatron", "weights": {"shares": {"books": 0.5, "web": 0.5}}},
        {"name": "weighted_rows", "sequence_length": 64, "weights": {"tokens": {"web": 600}}, "tokenizer": TOKENIZER},
        {"name": "part", "format": "megatron", **FILES},
        {
            "name": "together",
            "format": "amber",
            "window": 33,
            "chunks": 2,
            "input": [{"source": "one", "datasets": ["part"]}],
        },
    ]


def with_sections(folder: Path, *names: str, datasets: Iterable[Mapping[str, Any]] = ()) -> Corpus:
    changes = {key: value for name in names for key, value in SECTIONS[name].items()}
    values = {**CHANGES, "datasets": [*datasets] or [VALIDATION], **ALWAYS, **changes}
    write_config(folder, json.loads(json.dumps(values)))  # YAML would name what is in it twice by an alias.
    return opened(folder)


def shown(corpus: Corpus) -> dict[str, set[str]]:
    """Which groups read each group, in Dagster's graph of assets, as the web UI draws it."""
    graph = definitions(corpus).resolve_asset_graph()
    edges: dict[str, set[str]] = {graph.get(key).group_name: set() for key in graph.get_all_asset_keys()}
    for key in graph.get_all_asset_keys():
        node = graph.get(key)
        for parent in node.parent_keys:
            if graph.get(parent).group_name != node.group_name:
                edges[graph.get(parent).group_name].add(node.group_name)
    return edges


def test_no_groups_of_a_corpus_with_everything_read_each_other(folder: Path) -> None:
    names = [name for name in SECTIONS if name != "leave_out"]
    corpus = with_sections(folder, *names, datasets=every_dataset())
    edges = shown(corpus)
    assert circles(edges) == []
    assert "dataset_olmo" in edges["token_streams"]
    assert "dataset_together" in edges["dataset_part"]
    assert "filter" in edges["repetitions_same"]


def test_no_groups_of_a_corpus_of_files_alone_read_each_other(tmp_path: Path) -> None:
    write_own(tmp_path)
    datasets = [{"name": "texts", "format": "olmo", **FILES}]
    write_config(tmp_path, {"sources": [], "datasets": datasets, "tokenizer": {"kind": "hub", "name": "any/model"}})
    assert shown(opened(tmp_path)) == {
        "sources": {"dataset_texts", "report"},
        "tokenizers": {"dataset_texts", "report"},
        "dataset_texts": {"report"},
        "report": set(),
    }


@pytest.mark.parametrize("streams", [(), ("streams",)], ids=["", "streams"])
@pytest.mark.parametrize("filters", [(), ("filter",), ("filter of repetitions",)], ids=["", "filter", "repetitions"])
@pytest.mark.parametrize("benchmarks", [(), ("benchmarks",), ("benchmarks", "on_contamination")], ids=len)
def test_no_choice_of_sections_makes_groups_read_each_other(
    folder: Path, streams: tuple[str, ...], filters: tuple[str, ...], benchmarks: tuple[str, ...]
) -> None:
    for rest in product(*(((), (name,)) for name in ("remove", "leave_out", "stages"))):
        names = [*streams, *filters, *benchmarks, *(name for chosen in rest for name in chosen)]
        graph = with_sections(folder, *names).graph
        read = {(graph[edge.asset].group, stage.group) for stage in graph for edge in stage.inputs}
        edges = {group: {reader for one, reader in read if one == group != reader} for group in graph.groups()}
        assert circles(edges) == [], names


def test_the_name_of_a_group_is_in_no_recipe_and_in_no_path(built: Runs) -> None:
    corpus = built.corpus
    renamed = Graph(replace(stage, group=f"other_{stage.group}") for stage in corpus.graph)
    planner = Planner(renamed, corpus.settings, corpus.listing(), corpus.storage, corpus.ledger)
    assert statuses(planner.plan()) == {}
