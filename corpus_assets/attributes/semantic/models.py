"""Models: static embeddings in a folder or in a wheel, or a function of the user's own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.loading import once
from corpus_assets.attributes.semantic.integers import MOST_DIMENSIONS, in_whole_numbers
from corpus_assets.attributes.wheels import wheel_version
from corpus_assets.config.selection.kinds.semantic import IN_WHEEL, is_function
from resources.errors import ConfigError, CorpusError
from resources.outside_files import outside_digest, require_digest
from resources.user.modules import module_digest

EXTRA: Final = "semantic"
BATCH: Final = 64
"""Documents that are embedded together: those of a shard in their order, so that batches are the same in any build."""

_OF_WHEEL: Final = ("weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json")

Sums = NDArray[np.int64]
"""Directions of texts in whole numbers, shape (n, dimensions); zeros for a text without known tokens."""

Embed = Callable[[Sequence[str]], Sums]


class ModelFiles(NamedTuple):
    """The files of a model: its tensors, and its tokenizer."""

    tensors: str
    tokenizer: str


def files_of(model: str, key: str) -> ModelFiles:
    """Returns the files of a folder, or of the wheel; `ConfigError` names the configuration key if they are absent."""
    if model == IN_WHEEL:
        wheel_version(IN_WHEEL, EXTRA, key)
        spec = find_spec(IN_WHEEL)
        folder = Path(next(iter((spec and spec.submodule_search_locations) or ["."])))
        return ModelFiles(*(str(folder / name) for name in _OF_WHEEL))
    folder = Path(model)
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError as error:
        raise ConfigError(f"{key}: {model!r} cannot be read: {error.strerror}; valid: {_VALID}") from None
    tensors = [name for name in names if name.endswith(".safetensors")]
    tokenizers = [name for name in names if name == "tokenizer.json"] or [
        name for name in names if name.endswith(".json") and "tokenizer" in name
    ]
    if len(tensors) != 1 or len(tokenizers) != 1:
        there = ", ".join(names[:10]) or "nothing"
        raise ConfigError(f"{key}: {model!r} holds {there}; valid: one *.safetensors and one tokenizer.json")
    return ModelFiles(str(folder / tensors[0]), str(folder / tokenizers[0]))


_VALID: Final = f"a folder with *.safetensors and tokenizer.json, {IN_WHEEL}, or module:function of your own"


def model_version(model: str, key: str) -> str:
    """Returns what vectors depend on: the digest of the files of a model, or of the module of a function."""
    if is_function(model):
        module, _, _ = model.partition(":")
        own_function(model, key)
        return f"{model} {module_digest(module)}"
    return outside_digest(key, list(files_of(model, key)))


def own_function(model: str, key: str) -> Callable[[list[str]], Any]:
    """Returns the function that `module:function` names; `ConfigError` if there is none."""
    module, _, name = model.partition(":")
    try:
        found: Any = getattr(import_module(module), name, None)
    except Exception as error:
        words = f"{type(error).__name__}: {error}"
        raise ConfigError(f"{key}: module {module!r} cannot be imported: {words}") from error
    if not callable(found):
        raise ConfigError(f"{key}: module {module!r} has no function {name!r}")
    return found  # type: ignore[no-any-return]


def embedder(model: str, key: str, version: str) -> Embed:
    """Returns the function that embeds texts, loaded once per worker. version: as `model_version` was in the plan."""
    if is_function(model):
        return _Own(model, own_function(model, key))
    files = files_of(model, key)
    require_digest(key, list(files), version)

    def load() -> Embed:
        from corpus_assets.attributes.semantic.static import Static

        return Static.read(files, key)

    return once(("semantic", version), load)


@dataclass(frozen=True)
class _Own:
    """A function of the user's own: texts to rows of numbers, of as many dimensions each time."""

    name: str
    function: Callable[[list[str]], Any]

    def __call__(self, texts: Sequence[str]) -> Sums:
        try:
            rows = np.asarray(self.function(list(texts)), dtype=np.float64)
        except Exception as error:
            raise CorpusError(f"{self.name}: {type(error).__name__}: {error}") from error
        if rows.ndim != 2 or len(rows) != len(texts) or not 0 < rows.shape[1] <= MOST_DIMENSIONS:
            raise CorpusError(
                f"{self.name}: gave numbers of shape {rows.shape} for {len(texts)} texts; valid: a row for each, of 1 "
                f"to {MOST_DIMENSIONS:,} dimensions"
            )
        if bad := np.flatnonzero(~np.isfinite(rows).all(axis=1)).tolist():
            raise BadRowError(self.name, bad[0])
        return in_whole_numbers(rows)


class BadRowError(CorpusError):
    """A function gave numbers that are not finite. place: of the text in its batch."""

    def __init__(self, name: str, place: int) -> None:
        super().__init__(f"{name}: gave numbers that are not finite (NaN or infinite)")
        self.place = place
