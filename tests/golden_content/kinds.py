"""The kinds of stages that the graph can have, by the project's own lists, and those that a corpus has."""

import ast
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, get_args
from unittest.mock import patch

import corpus_assets
from corpus_assets.attributes.registry import BUILT_IN
from corpus_assets.config.datasets.exports import EXPORTS, is_export
from corpus_assets.config.datasets.masked import MASKED, is_masked
from corpus_assets.config.datasets.text_exports import TEXT, TextRows, is_text
from corpus_assets.config.selection.attributes import Attributes
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.stages import corpus_stages
from corpus_assets.tokenize.modes.registry import MODES
from resources.documents.tagger import Tagger
from resources.stage.declaration import Stage

TOP = Path(corpus_assets.__file__).parent


def possible() -> set[str]:
    """Every stage of a module, every function that declares stages, every mode, format and tagger.

    Taggers of libraries that an extra installs are left out: their values are those of the library, whose version is
    in the recipe. Of taggers that differ only in the files that they are given one is enough.
    """
    taggers = [tagger for tagger in BUILT_IN.values() if not tagger.wheels]
    return {
        *(place for file in TOP.rglob("*.py") for place in _places(file)),
        *(f"stage {stage.name}" for module in list(sys.modules.values()) for stage in _stages_of(module)),
        *(f"mode {mode.words}" for mode in MODES),
        *(f"format {name}" for name in EXPORTS),
        *(f"masked {name}" for name in MASKED),
        *(f"format {TEXT} of {rows}" for rows in get_args(TextRows)),
        *(_tagger(tagger, None) for tagger in taggers),
        *(_tagger(tagger, "dolma") for tagger in taggers if tagger.dolma or tagger.dolma_files),
    }


def found_in(corpus: Corpus) -> set[str]:
    """The kinds of the stages of a corpus."""
    return {*_declared(corpus), *_of_datasets(corpus), *_of_taggers(corpus)}


def _places(file: Path) -> Iterator[str]:
    """The functions of a module that declare stages, but for those that make stages of the module itself."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == Stage.__module__]
    taken = {name.name for node in imports for name in node.names}
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)] if Stage.__name__ in taken else []
    beside = [node for node in tree.body if not isinstance(node, ast.FunctionDef | ast.ClassDef)]
    called = {_name(call.func) for node in beside for call in ast.walk(node) if isinstance(call, ast.Call)}
    for function in functions:
        if function.name not in called and any(map(_declares, ast.walk(function))):
            yield f"{file.relative_to(TOP)}: {function.name}"


def _stages_of(module: ModuleType) -> Iterator[Stage]:
    """The stages that a module of the project holds."""
    if module.__name__.startswith(f"{corpus_assets.__name__}."):
        for value in vars(module).values():
            held = value if type(value) in (list, tuple) else [value]  # Records of Dagster are tuples that refuse.
            yield from (stage for stage in held if isinstance(stage, Stage))


def _declares(node: ast.AST) -> bool:
    """Whether it is `Stage(...)` or `partial(Stage, ...)`."""
    return isinstance(node, ast.Call) and Stage.__name__ in map(_name, [node.func, *node.args[:1]])


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _declared(corpus: Corpus) -> set[str]:
    """The places that declare the stages of a corpus, and the names of its stages."""
    made: set[str] = set()
    init = Stage.__init__

    def noted(self: Stage, *given: Any, **values: Any) -> None:
        made.add(_place(sys._getframe(1)))
        init(self, *given, **values)

    with patch.object(Stage, "__init__", noted):
        stages = corpus_stages(corpus.config, corpus.folder)
    return made | {f"stage {stage.name}" for stage in stages}


def _place(frame: FrameType) -> str:
    file, function = Path(frame.f_code.co_filename), frame.f_code.co_qualname.partition(".")[0]
    return f"{file.relative_to(TOP)}: {function}" if file.is_relative_to(TOP) else str(file)


def _of_datasets(corpus: Corpus) -> Iterator[str]:
    for dataset, values in zip(corpus.config.datasets, corpus.settings.values["datasets"], strict=True):
        if is_export(values):
            yield f"{'masked' if is_masked(values) else 'format'} {values['format']}"
        elif is_text(values):
            yield f"format {TEXT} of {values['rows']}"
        else:
            yield from (f"mode {mode.words}" for mode in MODES if mode.makes(dataset))  # type: ignore[arg-type]


def _of_taggers(corpus: Corpus) -> Iterator[str]:
    for entry in (one for one in corpus.config.attributes if isinstance(one, Attributes)):
        yield from (_tagger(BUILT_IN[name], entry.compat) for name in entry.taggers if name in BUILT_IN)


def _tagger(tagger: Tagger, compat: str | None) -> str:
    """A tagger as messages name it; one with files by its function, and by those that read them."""
    read = [_function(load) for load in tagger.loaders(compat).values()]
    name = f"of {_function(tagger.function(compat))} with {', '.join(read)}" if read else tagger.name
    return f"tagger {name}" + (f" as {compat}" if compat else "")


def _function(value: Any) -> str:
    if isinstance(value, partial):
        return f"{_function(value.func)}({', '.join(map(_function, value.keywords.values()))})"
    return getattr(value, "__qualname__", repr(value))
