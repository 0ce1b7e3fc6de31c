"""No stage and no tagger calls a kernel that it does not name, or one with types that are not compiled ahead."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from corpus_assets.attributes.compiled import of_taggers
from corpus_assets.attributes.registry import BUILT_IN
from corpus_assets.packing.first_fit import first_fit
from resources.documents.tagger import Text
from resources.formats.documents import Document
from resources.kernels import compiling
from resources.kernels.kernel_cache import KernelCache
from resources.stage.declaration import Stage
from tests.build.small import drive, opened, prose, write_config, write_raw, write_small
from tests.build.test_datasets import CHANGES, DATASETS, write_own
from tests.classifiers.test_stages import write as write_learned
from tests.contamination.planted import FACTS, write_items
from tests.export.test_every_format import FORMATS
from tests.export.test_every_format import dataset as exported_dataset
from tests.house import sources

pytestmark = pytest.mark.slow
CHAINED = {**DATASETS[3], "name": "nearest", "packing": "nearest_previous"}
EXPORTED = [*map(exported_dataset, FORMATS), {**exported_dataset("amber"), "name": "unwrapped", "wrap": False}]
MASKED = [{**deepcopy(DATASETS[8]), "name": f"masked-{name}", "format": name} for name in ("mds", "olmo")]
DEDUPLICATIONS: list[dict[str, Any]] = [
    {"minhash.family": "affine32", "dedup.verify": "exact", "dedup.guard.action": "report"},
    {"minhash.family": "legacy", "dedup.verify": "signature", "dedup.guard.action": "off"},
    {"minhash.unit": "word", "dedup.verify": "none", "dedup.guard.resemblance": 1.0},
    {"dedup.guard.resemblance": 0.97},
    {"dedup.rule": "contained", "dedup.template_share": 0.05},
]
DEDUPERS: list[dict[str, Any]] = [
    {"name": "words", "by": "text", "min_words": 3},
    {"name": "ngrams", "by": "ngrams", "bloom": {"items": 100_000}},
    {"name": "known", "by": "text", "against": ["web"]},
    {"kind": "substrings", "min_length": "20 bytes", "borders": "words"},
    {"kind": "substrings", "name": "tokens", "min_length": "4 tokens"},
]
Calls = set[str]


@pytest.fixture(scope="module")
def kernels() -> dict[str, Any]:
    """Every kernel of the project by module and name, compiled; those that only kernels call say no types."""
    modules = [import_module(name) for name in sources() if ".kernels." in name]
    found = {
        f"{module.__name__}.{name}": function
        for module in modules
        for name, function in vars(module).items()
        if isinstance(getattr(function, "_cache", None), KernelCache) and function.py_func.__module__ == module.__name__
    }
    compiling.compile_now(name for name, kernel in found.items() if hasattr(kernel, "ahead"))
    return found


def called(kernels: dict[str, Any], function: Callable[[], Any]) -> Calls:
    """Returns the kernels that a function calls; with their types if these are not said."""
    for kernel in kernels.values():
        kernel._reset_overloads()
    function()
    return set(_called(kernels))


def _called(kernels: dict[str, Any]) -> Iterator[str]:
    for name, kernel in kernels.items():
        said = {compiling._parsed(types) for types in getattr(kernel, "ahead", ())}
        yield from (name if types in said else f"{name}{types}" for types in kernel.overloads)


def built(kernels: dict[str, Any], folder: Path, *selected: str) -> Calls:
    """Builds stage by stage; returns the kernels that were called."""
    corpus = opened(folder)
    reached: Calls = set()
    failed: list[str] = []

    def build(stage: Stage) -> None:
        failed.extend(drive(corpus, [stage]).failed)

    for stage in corpus.graph.select(selected) if selected else corpus.graph:
        calls = called(kernels, partial(build, stage))
        assert calls <= set(stage.hooks.kernels(corpus.settings.values)), stage.name
        reached |= calls
    assert failed == []
    return reached


def test_stages_call_what_they_name(tmp_path: Path, kernels: dict[str, Any]) -> None:
    write_own(tmp_path)
    entries = {"dedupers": DEDUPERS, "benchmarks": [FACTS]}
    write_small(tmp_path, {**CHANGES, "datasets": [*DATASETS, CHAINED, *EXPORTED, *MASKED], **entries})
    write_items(tmp_path, "facts/test.jsonl", [{"id": str(n), "text": prose(n, n)} for n in range(8, 40)])
    write_raw(tmp_path, "books/accents.jsonl", [{"id": f"é{n}", "text": f"Élan, {prose(n)}"} for n in range(8)])
    held = " ".join(prose(n) for n in range(100, 110))
    write_raw(tmp_path, "books/held.jsonl", [{"id": f"held{n}", "text": held[n * 200 :]} for n in range(3)])
    reached = built(kernels, tmp_path)
    for changes in DEDUPLICATIONS:
        write_config(tmp_path, changes)
        reached |= built(kernels, tmp_path, "+components")
    write_learned(tmp_path / "learned")
    reached |= built(kernels, tmp_path / "learned", "+quality_attributes")
    reached |= called(kernels, partial(first_fit, np.array([0, 3, 1]), open_packs=8))  # `corpus packing` calls it.
    ahead = {name for name, kernel in kernels.items() if hasattr(kernel, "ahead")}
    of_taggers_alone = {name for name in ahead - reached if ".attributes.kernels." in name}
    assert reached == ahead - of_taggers_alone, "a kernel that no stage calls"


class StandIn:
    """What the files of any tagger hold, as far as kernels are concerned."""

    def predict(self, line: str, k: int) -> tuple[list[str], list[float]]:
        return ["__label__en"], [0.5]

    head, middle = 300.0, 600.0

    @property
    def model(self) -> "StandIn":
        return self

    def mapped(self, label: str, string: str) -> str:
        return label

    def score(self, line: str) -> float:
        return -float(len(line))

    def encode(self, string: str, add_special_tokens: bool = True, out_type: type | None = None) -> Any:
        return string.split() if out_type else SimpleNamespace(ids=[1, 2], offsets=[(0, 1), (1, 2)])

    def analyze(self, **_: Any) -> list[Any]:
        return []

    def __contains__(self, _: str) -> bool:
        return False


@pytest.mark.parametrize("name", BUILT_IN)
def test_taggers_call_what_they_name(name: str, kernels: dict[str, Any]) -> None:
    tagger = BUILT_IN[name]
    if not tagger.files:
        for wheel in tagger.wheels:
            try:
                version(wheel)
            except PackageNotFoundError:
                pytest.skip(f"the extra {tagger.extra} is not installed")
    elif "blingfire" in tagger.wheels:
        pytest.importorskip("blingfire", reason=f"the extra {tagger.extra} is not installed")
    held = dict.fromkeys(tagger.files, StandIn())
    text = Text(Document("a", f"{prose(name)}\nb@c.de again b@c.de\n!!!!\n", "s"))
    assert called(kernels, lambda: tagger.tag(text, **held)) == set(of_taggers([name]))
    if (dolma := tagger.dolma) and not name.startswith("cc_re"):
        text = Text(Document("a", "\u0130 x@y.de", "s"))
        assert called(kernels, lambda: dolma(text, **held)) <= set(of_taggers([name], "dolma"))
