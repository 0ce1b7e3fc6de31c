"""`extends: base.yaml`: what a variant takes from its base, changes, adds and takes away, and what is refused."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from pydantic import BaseModel

from corpus_assets.config.corpus_config import CorpusConfig
from corpus_assets.config.paths import with_absolute_paths
from corpus_assets.config.reading.extending import MOST_FILES, PATHS, PATHS_AT, read_values
from corpus_assets.config.reading.loading import load_config, loaded_config
from corpus_assets.config.section import LocalPath, Location, Template
from docs.configuration_page import models
from resources.errors import ConfigError
from tests.failing import failing

BASE = """\
name: base
sources:
  - name: books
    location: raw/books
    epochs: 2
  - name: web
    location: raw/web
split:
  holdout: 0.02
  seed: 7
dedup:
  keep: [longest]
datasets:
  - name: train
    input: decontaminated_train
"""


def write(folder: Path, **files: str) -> Path:
    """Writes files of the folder, and the base; returns the variant."""
    for name, text in {"base": BASE, **files}.items():
        (folder / f"{name}.yaml").write_text(text)
    return folder / "variant.yaml"


def load(folder: Path, variant: str) -> CorpusConfig:
    return load_config(write(folder, variant=variant))


def refused(folder: Path, variant: str, **files: str) -> str:
    with pytest.raises(ConfigError) as error:
        load_config(write(folder, variant=variant, **files))
    return str(error.value)


def test_mappings_are_merged_key_by_key_and_everything_else_is_replaced(tmp_path: Path) -> None:
    found = load(tmp_path, "extends: base.yaml\nname: variant\nsplit: {holdout: 0.05}\ndedup: {keep: [first]}\n")
    assert (found.name, found.split.holdout, found.split.seed) == ("variant", 0.05, 7)
    assert found.dedup.keep == ["first"]
    assert [source.name for source in found.sources] == ["books", "web"]


def test_a_list_replaces_a_list(tmp_path: Path) -> None:
    found = load(tmp_path, "extends: base.yaml\nsources: [{name: notes, location: raw/notes}]\n")
    assert [source.name for source in found.sources] == ["notes"]


def test_a_mapping_changes_adds_and_takes_away_entries_of_a_list_by_name(tmp_path: Path) -> None:
    variant = "extends: base.yaml\nsources:\n  web: null\n  books: {epochs: 3}\n  +notes: {location: raw/notes}\n"
    found = load(tmp_path, variant)
    assert [(one.name, one.location, one.epochs) for one in found.sources] == [
        ("books", "raw/books", 3),
        ("notes", "raw/notes", 1),
    ]


def test_null_takes_a_key_away_so_that_its_default_holds(tmp_path: Path) -> None:
    found = load(tmp_path, "extends: base.yaml\nsplit: null\nsources: {books: {epochs: null}}\n")
    assert found.split == CorpusConfig(sources=found.sources).split
    assert found.sources[0].epochs == 1


def test_a_base_may_extend_another_one(tmp_path: Path) -> None:
    middle = "extends: base.yaml\nsplit: {holdout: 0.04}\n"
    path = write(tmp_path, middle=middle, variant="extends: ./middle.yaml\nsplit: {seed: 8}\n")
    found = loaded_config(path)
    assert (found.config.split.holdout, found.config.split.seed) == (0.04, 8)
    assert [file.name for file in found.files] == ["variant.yaml", "middle.yaml", "base.yaml"]
    lines = [found.where(key) for key in ("split.holdout", "split.seed", "sources.1.location", "name")]
    assert lines == ["middle.yaml, line 2", "variant.yaml, line 2", "base.yaml, line 7", "base.yaml, line 1"]


def test_a_variant_means_the_same_as_one_file_with_all_of_it(tmp_path: Path) -> None:
    found = load(tmp_path, "extends: base.yaml\nsplit: {holdout: 0.05}\n")
    values = yaml.safe_load(BASE)
    values["split"]["holdout"] = 0.05
    (tmp_path / "whole.yaml").write_text(yaml.safe_dump(values))
    assert load_config(tmp_path / "whole.yaml") == found


@pytest.mark.parametrize(
    ("variant", "said"),
    [
        ("extends: base.yaml\nsplit:\n  holdout: 7\n", "split.holdout: received 7 (int); {} (variant.yaml, line 3)"),
        ("extends: base.yaml\nsplit: {seed: null}\ndedupp: {}\n", "dedupp: unknown key"),
        (
            "extends: base.yaml\nsources: {+extra: {}}\n",
            "sources.2.location: missing, but required (variant.yaml, line 2)",
        ),
        ("extends: base.yaml\nstorage: {root: raw}\n", "(base.yaml, line 4)"),
        ("extends: base.yaml\nsources: {web: {location: raw/books}}\n", "share no file (variant.yaml, line 2)"),
        ("extends: base.yaml\nsources: {pages: null}\n", "variant.yaml, line 2: sources.pages: valid over the list"),
        ("extends: base.yaml\nsources: {boks: {epochs: 2}}\n", "its names (books, web), and +NAME to add one"),
        ("extends: base.yaml\nsources: {+web: {epochs: 2}}\n", "its names (books, web), and +NAME to add one"),
        ("extends: base.yaml\nsources: {+pages: null}\n", "received None (NoneType); valid is a mapping"),
        ("extends: base.yaml\nsources: {web: 5}\n", "or null to take the entry away"),
        (
            "extends: base.yaml\ndedup: {keep: {first: {}}}\n",
            "line 2: dedup.keep.first: entries of the base have no `name`",
        ),
        ("extends: other.yaml\n", "other.yaml: cannot be read: No such file or directory ("),
        ("extends: .\n", "cannot be read: Is a directory"),
        (
            "extends: s3://bucket/base.yaml\n",
            "line 1: extends: received 's3://bucket/base.yaml' (str); valid is the path",
        ),
        ("extends: https://example.org/base.yaml\n", "valid is the path of one file of this machine"),
        ("extends: [base.yaml]\n", "extends: received ['base.yaml'] (list); valid is the path of one file"),
        ("extends: ''\n", "valid is the path of one file"),
        ("extends: null\n", "valid is the path of one file"),
        ("\nextends: variant.yaml\n", "line 2: extends: received 'variant.yaml', which makes a circle"),
        ("extends: list.yaml\n", "list.yaml holds [1] (list); valid is a mapping"),
        ("extends: broken.yaml\n", "broken.yaml: not YAML that can be used"),
    ],
)
def test_what_cannot_be_used_is_said_with_file_and_line(tmp_path: Path, variant: str, said: str) -> None:
    message = refused(tmp_path, variant, list="[1]\n", broken="a: [\n")
    for part in said.split("{}"):
        assert part in message


def test_a_fault_of_the_base_is_found_in_the_base(tmp_path: Path) -> None:
    message = refused(tmp_path, "extends: base.yaml\nname: variant\n", base=BASE.replace("seed: 7", "seed: many"))
    assert message.startswith(f"{tmp_path / 'variant.yaml'}: cannot be used")
    assert message.endswith("(base.yaml, line 10)")


def test_circles_and_long_chains_are_refused(tmp_path: Path) -> None:
    message = refused(tmp_path, "extends: one.yaml\n", one="extends: two.yaml\n", two="extends: one.yaml\n")
    assert "two.yaml, line 1: extends: received 'one.yaml', which makes a circle" in message
    chain = {f"n{number}": f"extends: n{number + 1}.yaml\n" for number in range(MOST_FILES)}
    message = refused(tmp_path, "extends: n0.yaml\n", **chain)
    assert f"at most {MOST_FILES} files extend one another" in message


def test_set_changes_the_variant_and_its_faults_are_not_blamed_on_a_file(tmp_path: Path) -> None:
    path = write(tmp_path, variant="extends: base.yaml\nsplit: {seed: 9}\n")
    assert load_config(path, ["split.seed=10"]).split.seed == 10
    with pytest.raises(ConfigError, match=r"split\.seed: .*\(--set\)$"):
        load_config(path, ["split.seed=many"])
    with pytest.raises(ConfigError, match="only a file can extend another one"):
        load_config(path, ["extends=base.yaml"])


def test_paths_start_at_the_folder_of_the_file_they_are_written_in(tmp_path: Path) -> None:
    common, mine = tmp_path / "common", tmp_path / "mine" / "deep"
    common.mkdir()
    mine.mkdir(parents=True)
    base = yaml.safe_load(BASE)
    base |= {
        "storage": {"root": "corpus", "cache": {"folder": "cache"}},
        "remove": {"location": "lists/*.txt"},
        "tokenizer": {"kind": "tokenizer_json", "path": "tokenizer.json", "chat_template": "chatml"},
        "attributes": [
            {"name": "urls", "taggers": ["url_blocklist"], "options": {"url_blocklist": {"lists": ["a", "b"]}}}
        ],
        "own": {"mine": {"path": "as/it/is"}},
    }
    base["sources"] += [
        {"name": "far", "location": "s3://bucket/raw"},
        {"name": "home", "location": "~/raw"},
        {"name": "absolute", "location": "/data/raw"},
    ]
    (common / "base.yaml").write_text(yaml.safe_dump(base))
    variant = mine / "corpus.yaml"
    variant.write_text("extends: ../../common/base.yaml\nsources: {web: {location: raw/web}}\n")
    found = load_config(variant)
    places = [source.location for source in found.sources]
    assert places == ["../../common/raw/books", "raw/web", "s3://bucket/raw", "~/raw", "/data/raw"]
    assert found.storage.root == "../../common/corpus"
    assert found.own == {"mine": {"path": "as/it/is"}}
    there = with_absolute_paths(found, mine)
    here = with_absolute_paths(load_config(common / "base.yaml"), common)
    for name in ("remove", "tokenizer", "attributes"):
        ours, theirs = getattr(there, name), getattr(here, name)
        assert _normal(ours) == _normal(theirs)
    assert os.path.normpath(str(there.storage.cache.folder)) == str(common / "cache")
    (mine / "other.yaml").write_text("extends: corpus.yaml\nname: other\n")  # In one folder nothing is rewritten.
    assert load_config(mine / "other.yaml").sources == found.sources


def test_a_base_behind_a_link_is_found_where_the_system_finds_it(tmp_path: Path) -> None:
    real = tmp_path / "real" / "deep"
    real.mkdir(parents=True)
    (tmp_path / "real" / "base.yaml").write_text(BASE)
    (tmp_path / "link").symlink_to(real)
    (real / "corpus.yaml").write_text(f"extends: {tmp_path / 'real' / 'base.yaml'}\n")
    found = load_config(tmp_path / "link" / "corpus.yaml")
    assert (tmp_path / "link" / found.sources[0].location).resolve() == tmp_path / "real" / "raw" / "books"


def test_a_sample_of_a_variant_is_one_of_all_that_it_says(tmp_path: Path) -> None:
    write(tmp_path, variant="extends: base.yaml\nsplit: {holdout: 0.05}\n")
    (tmp_path / "small").mkdir()
    sample = tmp_path / "small" / "corpus.yaml"
    sample.write_text("sample: {of: ../variant.yaml, share: 0.1}\n")
    found = loaded_config(sample)
    assert (found.config.split.holdout, found.config.split.seed) == (0.05, 7)
    assert [file.name for file in found.files] == ["corpus.yaml", "variant.yaml", "base.yaml"]


def test_paths_of_taggers_and_examples_start_at_the_base_and_names_of_models_stay(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "corpus.yaml").write_text(
        "sources: [{name: web, location: raw}]\n"
        "attributes:\n"
        "  - name: asked\n"
        "    taggers: [endpoint_score_v1]\n"
        "    options:\n"
        "      endpoint_score_v1:\n"
        "        endpoint: {url: 'http://127.0.0.1:1/v1', model: org/judge, prompt: '{text}', answers: kept}\n"
        "classifiers:\n"
        "  - {name: edu, positive: [{file: good.jsonl}], negative: [{source: web}]}\n"
    )
    (tmp_path / "corpus.yaml").write_text("extends: base/corpus.yaml\n")
    values = read_values(tmp_path / "corpus.yaml").values
    endpoint = values["attributes"][0]["options"]["endpoint_score_v1"]["endpoint"]
    assert (endpoint["model"], endpoint["answers"]) == ("org/judge", "base/kept")
    assert values["classifiers"][0]["positive"] == [{"file": "base/good.jsonl"}]


def test_every_path_of_the_schema_is_known_as_one() -> None:
    known = PATHS | {key for keys in PATHS_AT.values() for key in keys}
    found = {
        name
        for model in dict.fromkeys(models(CorpusConfig))
        for name, field in model.model_fields.items()
        if any(marks in (LocalPath, Location, Template) for marks in _types(field.annotation, field.metadata))
    }
    assert found
    assert found <= known


def _types(annotation: Any, metadata: list[Any]) -> Iterator[Any]:
    for kind in (LocalPath, Location, Template):
        own = {id(mark) for mark in get_args(kind)[1:] if callable(getattr(mark, "func", None))}
        if own & {id(mark) for mark in metadata}:
            yield kind
    yield annotation
    for argument in get_args(annotation):
        yield from _types(argument, [*getattr(argument, "__metadata__", [])])


def _normal(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return _normal(value.model_dump())
    if isinstance(value, dict):
        return {key: _normal(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_normal(one) for one in value]
    return os.path.normpath(value) if isinstance(value, str) else value


@pytest.mark.parametrize("link", ["store", "again.yaml"])
def test_a_link_that_the_machine_cannot_follow_gives_no_other_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, link: str
) -> None:
    (tmp_path / "deep/below").mkdir(parents=True)
    (tmp_path / "store").symlink_to("deep/below")
    write(tmp_path / "deep/below", variant="extends: ../../store/base.yaml\n")
    (tmp_path / "deep/below/again.yaml").symlink_to("base.yaml")
    variant = tmp_path / "deep/variant.yaml"
    variant.write_text(f"extends: {tmp_path}/store/{'again' if link == 'again.yaml' else 'base'}.yaml\n")
    assert read_values(variant).values["sources"][0]["location"] == "below/raw/books"
    failing(monkeypatch, "lstat", link)
    with pytest.raises(OSError, match="Input/output error"):
        read_values(variant)
