"""Hooks: what a build asks of a stage. Workers get none of it, and a misspelt one is refused."""

import dataclasses
import io
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest
import yaml
from typing_extensions import override

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.jobs import Jobs
from resources.documents.row_rule import RuleSet
from resources.engine.local import LocalEngine
from resources.errors import ConfigError
from resources.stage.declaration import Partitioning, Stage, kernels_of, reasons_of
from resources.stage.hooks import NO_HOOKS, Hooks, Values, gives
from resources.stage.jobs.job import Job
from resources.storage.holders import this_process
from tests.build.small import opened, write_raw, write_small

CHANGES: dict[str, Any] = {
    "attributes": [{"name": "quality", "taggers": ["gopher_v2"]}],
    "dedupers": [{"name": "lines", "by": "paragraphs"}, {"name": "pieces", "by": "ngrams"}],
    "filter": {"rules": {"quality.gopher_v2.word_count": {"min": 1}}, "include": ["$.text"], "min_text_length": 1},
    "streams": [{"name": "clean", "include": ["$.text"], "max_size": 1_000_000}],
    "benchmarks": [{"name": "exam", "location": "raw/own"}],
    "remove": {"location": "list.txt"},
    "datasets": [
        {"name": "train", "input": "train", "sequence_length": 64, "shuffle": True},
        {"name": "talk", "mode": "chat", "input": {"location": "raw/own"}, "sequence_length": 64},
        {"name": "weighted", "input": "train", "sequence_length": 64, "weights": {"shares": {"books": 1, "web": 1}}},
        {"name": "megatron", "format": "megatron", "input": "train"},
    ],
    "card": {"title": "Small"},
}
LARGEST = 8_000
"""Bytes of a pickled stage: what it declares, not what a configuration holds."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    """A corpus with a stage of every kind; nothing of it is built."""
    folder = tmp_path_factory.mktemp("hooks")
    write_small(folder, CHANGES)
    write_raw(folder, "own/a.jsonl", [{"id": "a", "text": "any"}])
    (folder / "list.txt").write_text("url:https://example.org/page\n")
    found = opened(folder)
    yield found
    found.close()


def sent(stage: Stage, corpus: Corpus) -> Job:
    planner = corpus.planner()
    jobs = Jobs(planner, this_process("any"), 1 << 30, LocalEngine(0))
    return jobs.job(stage, next(iter(planner.partitions(stage))))


def pickled(value: object) -> tuple[bytes, list[object]]:
    """A value as a worker gets it, and every object in it."""
    seen: list[object] = []

    class Pickler(pickle.Pickler):
        def persistent_id(self, one: object) -> None:
            seen.append(one)

    out = io.BytesIO()
    Pickler(out).dump(value)
    return out.getvalue(), seen


def test_no_worker_gets_a_hook(corpus: Corpus) -> None:
    asked = [stage for stage in corpus.graph if type(stage.hooks) is not Hooks]
    assert len(asked) > 40
    for stage in corpus.graph:
        found = sent(stage, corpus).stage
        content, held = pickled(found)
        assert [one for one in held if isinstance(one, Hooks) and type(one) is not Hooks] == [], stage.name
        assert [one for one in held if isinstance(one, type) and issubclass(one, Hooks) and one is not Hooks] == []
        assert len(content) < LARGEST, stage.name
        assert dataclasses.replace(pickle.loads(content), compute=stage.compute, hooks=NO_HOOKS) == dataclasses.replace(
            stage, hooks=NO_HOOKS
        )


def test_a_hook_in_what_is_computed_would_be_found(corpus: Corpus) -> None:
    stage = corpus.graph["talk_tokens"]
    _, held = pickled(stage)
    assert stage.hooks in held


@pytest.mark.parametrize("declared", [Stage, RuleSet])
def test_what_a_build_calls_is_a_hook_and_no_field(declared: type) -> None:
    functions = {name for name, kind in get_type_hints(declared).items() if "Callable" in str(kind)}
    assert functions == {Stage: {"compute"}, RuleSet: {"make", "replaced"}}[declared]


def test_a_misspelt_hook_is_refused_and_the_right_names_are_told() -> None:
    with pytest.raises(TypeError, match=r"Own: received 'gates', which no build calls; valid: .*\bgate, gate_all\b"):
        type("Own", (Hooks,), {"gates": lambda *_: ["never"]})


def test_what_is_no_hook_may_have_a_name_of_its_own() -> None:
    @dataclasses.dataclass(frozen=True)
    class Own(Hooks):
        most: int = 3

        @property
        def words(self) -> str:
            return f"at most {self.most}"

        @override
        def reasons(self, settings: Values) -> list[str]:
            return [self._reason()]

        def _reason(self) -> str:
            return self.words

    stage = Stage("s", "g", "", Partitioning.NONE, print, "1", "records", hooks=Own(), reasons=("other",))
    assert reasons_of(stage, {}) == ["other", "at most 3"]


def test_a_stage_without_hooks_has_nothing_to_say() -> None:
    stage = Stage("s", "g", "", Partitioning.NONE, print, "1", "records")
    hooks: Any = stage.hooks
    names = [name for name in vars(Hooks) if not name.startswith("_")]
    assert len(names) == 13
    for name in names:
        method: Callable[..., Any] = getattr(hooks, name)
        assert not method(*({},) * (method.__code__.co_argcount - 1))
        assert not gives(hooks, getattr(Hooks, name))
    assert not stage.has_gate
    assert kernels_of([stage], {}) == []


OWN = """
from resources import Hooks, Partitioning, Stage


class Shouting(Hooks):
    def {hook}(self, counters, settings):
        return ["nearly all documents shout"]


def shouting(task):
    task.save_json("shouting.json", [], rows=0)


STAGES = [
    Stage(name="shouting", group="own", description="x", partitioning=Partitioning.NONE, compute=shouting,
          code_version="1", io="records", hooks=Shouting())
]
"""


def test_a_module_of_ones_own_has_hooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "shouts_rightly.py").write_text(OWN.format(hook="gate"))
    (tmp_path / "shouts_wrongly.py").write_text(OWN.format(hook="gated"))
    write_small(tmp_path, {"stages": ["shouts_rightly"]})
    assert opened(tmp_path).graph["shouting"].has_gate
    config = yaml.safe_load((tmp_path / "corpus.yaml").read_text())
    (tmp_path / "corpus.yaml").write_text(yaml.safe_dump({**config, "stages": ["shouts_wrongly"]}))
    with pytest.raises(ConfigError, match=r"module 'shouts_wrongly' .* Shouting: received 'gated'"):
        opened(tmp_path)
