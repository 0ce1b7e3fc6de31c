"""What runs in a worker of Ray: pieces of work, one after the other, until they have taken long enough.

Before the first piece the worker proves that it has the driver's code and sees the driver's store.
"""

import pickle
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from resources.engine.attempt import attempt
from resources.engine.libraries import Versions, differences, versions
from resources.hashing import content_digest
from resources.outside.looking import files_below
from resources.processes.collector import calm_collector
from resources.storage.interface import Storage
from resources.storage.ownership import nonce_of

_PACKAGES = ("corpus_assets", "partitions", "resources")


class Ground(NamedTuple):
    """What a worker must have in common with its driver.

    paths: where modules are found.
    code: `code_digest` of the driver.
    libraries: its `versions`.
    store: the store, pickled, as its class may be of the user's own.
    nonce: what the driver found there; None if it has none.
    """

    paths: tuple[str, ...]
    code: str
    libraries: Versions
    store: bytes
    nonce: str | None


class Done(NamedTuple):
    """What became of a piece of work: what the function returned or the error it raised, and its seconds."""

    result: Any
    error: Exception | None
    seconds: float


class Answer(NamedTuple):
    """What became of the first pieces of a batch; the others were not begun. refused: why this machine did none."""

    done: list[Done]
    refused: str | None = None


def ground_of(store: Storage) -> Ground:
    """Returns what workers must have in common with this process."""
    paths = tuple(dict.fromkeys(path for path in sys.path if Path(path).is_absolute()))
    return Ground(paths, code_digest(), versions(), pickle.dumps(store), nonce_of(store))


def serve(ground: Ground, payload: bytes, seconds: float) -> Answer:
    """Calls a function with items, and begins no other once so many seconds are over.

    payload: the function and the items, pickled.
    """
    # Workers of a cluster that a shell started in the background ignore SIGINT, and so what ends a task.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if refused := _refusal(ground):
        return Answer([], refused)
    try:
        function, items = pickle.loads(payload)  # From our own driver, as Ray sends functions.
    except (ImportError, AttributeError) as error:
        where = f"machine {socket.gethostname()} cannot load what a job names: {error}"
        return Answer([], f"{where}; valid: a module beside corpus.yaml, in a folder that all machines share")
    return Answer(_served(function, items, time.monotonic() + seconds))


def _served(function: Callable[[Any], Any], items: Sequence[Any], until: float) -> list[Done]:
    done: list[Done] = []
    for item in items:
        started = time.monotonic()
        if done and started >= until:
            break
        result, error = attempt(function, item)
        done.append(Done(result, error, time.monotonic() - started))
    return done


_FIT: set[Ground] = set()
"""The drivers that this process was found fit to work for. A refusal is not kept, since its reason may pass."""


def _refusal(ground: Ground) -> str | None:
    """Returns why this machine cannot work for a driver; None if it can."""
    refused = None if ground in _FIT else _unfit(ground)
    if refused is None:
        _FIT.add(ground)
    return refused


def _unfit(ground: Ground) -> str | None:
    sys.path.extend(path for path in ground.paths if path not in sys.path)
    calm_collector()
    host = socket.gethostname()
    if code_digest() != ground.code:
        return f"machine {host} has other code than this one; install the same corpus-assets on all machines"
    if others := differences(ground.libraries, versions()):
        return (
            f"machine {host} has {', '.join(others)}; its content may be another one. Install the same on all machines"
        )
    try:
        store: Storage = pickle.loads(ground.store)
        found = nonce_of(store)
    except Exception as error:
        return f"machine {host} cannot open the store: {type(error).__name__}: {error}"
    if ground.nonce is not None and found != ground.nonce:
        return (
            f"machine {host} does not see the store {store.place}; valid: a folder that all machines of the cluster "
            "share under the same path, or a store that they all reach, such as storage.root: s3://bucket/prefix"
        )
    return None


@cache
def code_digest() -> str:
    """Returns a digest of this project's modules, as this process finds them."""
    folders = [
        Path(place)
        for name in _PACKAGES
        if (spec := find_spec(name))
        for place in spec.submodule_search_locations or ()
    ]
    found = [
        (str(file.relative_to(folder.parent)), file)
        for folder in folders
        for file in files_below(folder)
        if file.suffix == ".py"
    ]
    # A wheel also carries scripts of the examples, which lie in no package.
    files = [(name, file) for name, file in found if (file.parent / "__init__.py").is_file()]
    return content_digest(*(part for name, file in sorted(files) for part in (name.encode(), file.read_bytes())))


def warm_up(modules: Sequence[str]) -> None:
    """Loads what every worker needs, before the first batch."""
    from importlib import import_module

    for name in modules:
        import_module(name)
