"""Each key that names something in the data points nowhere once, and a build says so; a new key cannot be silent."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
import yaml
from pydantic import BaseModel
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

from corpus_assets.config.corpus_config import CorpusConfig
from corpus_assets.config.naming import Names
from corpus_assets.config.whole.schema import Schema
from corpus_assets.orchestration.building.notes import build_notes
from resources.errors import CorpusError
from resources.stage.declaration import Stage
from resources.stage.graph import Graph
from tests.build.nowhere import CASES, ELSEWHERE, NAMES_NOTHING, Key, documents
from tests.build.small import drive, opened


def sections(section: type[BaseModel] = CorpusConfig) -> Iterator[type[BaseModel]]:
    """A section of the schema, and all below it."""
    found, frontier = {section}, [section]
    while frontier:
        one = frontier.pop()
        yield one
        below = {inner for held in one.model_fields.values() for inner in models_in(held.annotation)} - found
        found |= below
        frontier += sorted(below, key=lambda model: model.__name__)


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from models_in(inner)


def holds_strings(annotation: Any) -> bool:
    if annotation is str:
        return True
    return get_origin(annotation) is not Literal and any(
        holds_strings(inner) for inner in get_args(annotation) if not isinstance(inner, str | int)
    )


def owner(section: type[BaseModel], key: str) -> str:
    """The class that declares a key, which others inherit."""
    declares = next(base for base in section.__mro__ if key in vars(base).get("__annotations__", {}))
    return CorpusConfig.__name__ if declares is Schema else declares.__name__


MARKED = {
    (owner(section, key), key)
    for section in sections()
    for key, held in section.model_fields.items()
    if any(isinstance(mark, Names) for mark in held.metadata)
}


def test_every_key_with_text_is_marked_or_names_nothing() -> None:
    keys = {
        (owner(section, key), key)
        for section in sections()
        for key, held in section.model_fields.items()
        if holds_strings(held.annotation) and not (key == "input" and owner(section, key) != "Source")
    }
    listed = {tuple(name.split(".")) for names in NAMES_NOTHING.values() for name in names}
    assert keys - MARKED == listed
    assert not listed & MARKED


def test_every_marked_key_has_a_case() -> None:
    assert CASES.keys() | ELSEWHERE.keys() == MARKED


def up_to(graph: Graph, last: str) -> list[Stage]:
    """The stages that an asset is made of, in order."""
    wanted, frontier = {last}, [last]
    while frontier:
        new = {edge.asset for edge in graph[frontier.pop()].inputs} - wanted
        wanted |= new
        frontier += new
    return [stage for stage in graph if stage.name in wanted or stage.lists_shards]


def said(folder: Path, upto: str) -> list[str]:
    """All that a build says up to an asset: refusals, failures, what is held back, and notes."""
    try:
        corpus = opened(folder)
        stages = up_to(corpus.graph, upto)
        for stage in stages:
            corpus.settings.derived_parameters(stage)
            stage.hooks.check_before(corpus.settings.values)
        built = drive(corpus, stages)
        gates = [why for stage in stages if (why := corpus.planner().gate(stage))]
        return [*built.failed, *built.waiting, *gates, *build_notes(corpus.planner())]
    except CorpusError as error:
        return [str(error)]


@pytest.mark.parametrize("key", sorted(CASES), ids=".".join)
def test_a_name_that_points_nowhere_is_named(key: Key, tmp_path: Path) -> None:
    case = CASES[key]
    words = Tokenizer(WordLevel({"<|endoftext|>": 0, "a": 1, "b": 2}, unk_token="a"))
    words.add_special_tokens(["<|endoftext|>"])
    words.save(str(tmp_path / "tok.json"))
    given = {"raw/a.jsonl": documents(), "hosts.txt": "e.org\n", **case.files}
    for path, content in given.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content, encoding="utf-8")
    usual = {"mix": {"chunks": 1}, "engine": {"workers": 0}, "storage": {"sync": False}}
    (tmp_path / "corpus.yaml").write_text(yaml.safe_dump({**usual, **case.config}), encoding="utf-8")
    lines = said(tmp_path, case.upto)
    assert [line for line in lines if all(part in re.sub(r"\s+", " ", line) for part in case.says)], lines
