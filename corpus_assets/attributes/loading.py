"""What taggers load from files, once per worker."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar, cast

from resources.documents.batch_tagger import Batch, BatchTagger, Loading
from resources.documents.tagger import Load, Tagger
from resources.hashing import value_digest
from resources.outside.agreed import MisreadError
from resources.outside_files import OutsideFile, require_digest
from resources.stage.partition import Partition

_READINGS = 4
T = TypeVar("T")
_LOADED: dict[tuple[str, ...], Any] = {}


def loaded(load: Load, option: str, paths: Sequence[str], digest: str) -> Any:
    """Returns the loaded content of files; a worker reads them once for all taggers with the same reader.

    Raises `CorpusError` if they changed since the plan, and `MisreadError` if they are repeatedly misread. option: the
    configuration key that names them. digest: of their content.
    """
    require_digest(option, paths, digest)

    def read() -> Any:
        found = _load(load, option, paths, digest)
        require_digest(option, paths, digest)
        return found

    return once((_known_as(load), digest), read)


def once(known: tuple[str, ...], load: Callable[[], T]) -> T:
    """Returns what `load` returned when it was first called in this process for an equal name."""
    if known not in _LOADED:
        _LOADED[known] = load()
    return cast(T, _LOADED[known])


def loaded_asset(tagger: Tagger, partition: Partition) -> Any:
    """Returns what a tagger reads in an asset; a worker reads it once."""
    assert tagger.read is not None, f"{tagger.name} needs {tagger.asset} and does not say how it is read"
    read = tagger.read
    return once((_known_as(read), partition.record.digest), lambda: read(partition))


def loaded_batch(tagger: BatchTagger, loading: Loading, places: Mapping[str, str], digests: Mapping[str, str]) -> Batch:
    """Returns the function of a batch tagger; a worker loads it once for equal files, settings and device.

    places, digests: of its files, by option. `CorpusError` if they changed since the plan.
    """
    paths = {option: [file.path for file in files] for option, files in loading.files.items()}

    def require_same() -> None:
        for option, given in paths.items():
            require_digest(places[option], given, digests[option])

    def load() -> Batch:
        found = tagger.load(loading)
        require_same()
        return found

    require_same()
    values = [tagger.version, loading.settings, loading.device, loading.endpoint, digests]
    return once((_known_as(tagger.load), value_digest(values)), load)


def _load(load: Load, option: str, paths: Sequence[str], digest: str) -> Any:
    for _ in range(_READINGS - 1):
        with suppress(MisreadError):
            return load([OutsideFile(path) for path in paths])
        require_digest(option, paths, digest)
    return load([OutsideFile(path) for path in paths])


def _known_as(value: Any) -> str:
    """Returns a name of a function that is equal for its copies, since every job brings one."""
    if isinstance(value, partial):
        return f"{_known_as(value.func)} {[(key, _known_as(given)) for key, given in sorted(value.keywords.items())]}"
    return f"{value.__module__}.{value.__qualname__}" if callable(value) else repr(value)
