"""What a configuration says that its defaults do not: shorter, and the same configuration."""

from pathlib import Path

import pytest
import yaml

from corpus_assets.cli.questions.config import changed_lines
from corpus_assets.config.reading.differing import NO_DEFAULT, differing, differing_values
from corpus_assets.config.reading.loading import Loaded, loaded_config
from tests.build.small import CONFIG
from tests.faults.command import last_json
from tests.forked import run

TOP = Path(__file__).parents[2]
EXAMPLES = [
    TOP / "corpus.yaml",
    *sorted(TOP.glob("examples/*/corpus.yaml")),
    *sorted(TOP.glob("tests/golden_content/corpora/*.yaml")),
]


def load(folder: Path, text: str, *changes: str) -> Loaded:
    (folder / "corpus.yaml").write_text(text)
    return loaded_config(folder / "corpus.yaml", changes)


def as_text(loaded: Loaded) -> str:
    return "\n".join(changed_lines(loaded)) + "\n"


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_what_differs_is_a_file_that_gives_the_same(file: Path, tmp_path: Path) -> None:
    loaded = load(tmp_path, file.read_text(encoding="utf-8"))
    again = load(tmp_path, as_text(loaded))
    assert again.config.model_dump() == loaded.config.model_dump()
    assert yaml.safe_load(as_text(loaded)) == differing_values(loaded)
    assert {one.key: one.value for one in differing(again)} == {one.key: one.value for one in differing(loaded)}


WRITTEN = """\
compat: slimpajama
sources:
  - name: books
    location: raw/books
    epochs: 1.0
    glob: "**/*"
  - {name: web, location: raw/web, epochs: 2}
short_documents: {threshold: 200}
minhash: {width: 13, seed: 2}
split: {holdout: 0.05, validation: 0.5}
tokenizer: {kind: train, vocabulary: 8192}
engine: {memory: 1 GiB}
filter: {exclude: ["$.metadata[?(@.bad)]"]}
"""


def test_defaults_and_values_of_the_profile_are_left_out(tmp_path: Path) -> None:
    loaded = load(tmp_path, WRITTEN)
    assert differing_values(loaded) == {
        "compat": "slimpajama",
        "sources": [{"name": "books", "location": "raw/books"}, {"name": "web", "location": "raw/web", "epochs": 2}],
        "minhash": {"seed": 2},
        "split": {"holdout": 0.05},
        "engine": {"memory": "1 GiB"},
        "filter": {"exclude": ["$.metadata[?(@.bad)]"]},
    }
    found = {one.name: one for one in differing(loaded)}
    assert (found["split.holdout"].value, found["split.holdout"].default) == (0.05, 0.0017)
    assert (found["sources.web.epochs"].value, found["sources.web.epochs"].default) == (2, 1.0)
    assert found["sources.web.location"].default is NO_DEFAULT
    assert {one.where for one in found.values()} == {""}
    assert "  holdout: 0.05  # default 0.0017\n" in as_text(loaded)
    assert "  memory: 1 GiB  # default 2048 MiB\n" in as_text(loaded)


def test_it_says_which_file_gives_a_value(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(yaml.safe_dump(CONFIG, sort_keys=False))
    loaded = load(tmp_path, "extends: base.yaml\nsplit: {holdout: 0.3}\n", "mix.chunks=4")
    found = {one.name: one for one in differing(loaded)}
    assert found["split.holdout"].where == "corpus.yaml, line 2"
    assert found["mix.chunks"].where == "--set"
    assert found["datasets.train.sequence_length"].where.startswith("base.yaml, line ")
    assert "holdout: 0.3  # default 0.01, corpus.yaml, line 2\n" in as_text(loaded)
    assert load(tmp_path, as_text(loaded)).config.model_dump() == loaded.config.model_dump()


def test_the_command_prints_what_differs_or_all_of_it(tmp_path: Path) -> None:
    load(tmp_path, WRITTEN)
    code, out, err = run(tmp_path, "config", "--changed", "--set", "split.holdout=0.1")
    assert code == 0, err
    assert "  holdout: 0.1  # default 0.0017, --set\n" in out
    assert "threshold" not in out
    code, out, err = run(tmp_path, "config")
    assert code == 0, err
    assert "threshold: 200" in out
    assert yaml.safe_load(out)["split"]["holdout"] == 0.05
    code, out, err = run(tmp_path, "config", "--changed", "--json")
    found = last_json(out)
    assert found["files"] == [str(tmp_path / "corpus.yaml")]
    assert {"key": "split.holdout", "value": 0.05, "default": 0.0017, "from": None} in found["changed"]
    code, out, err = run(tmp_path, "config", "--json")
    assert last_json(out)["config"]["short_documents"] == {"threshold": 200}
    code, out, err = run(tmp_path, "config", "-c", "nowhere.yaml")
    assert (code, out) == (2, "")
    assert "nowhere.yaml: cannot be read" in err
