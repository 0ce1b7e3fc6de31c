"""Checks whether this machine can build a corpus, and estimates a first build; changes nothing."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import psutil

from corpus_assets.cli.doctor.finding import Finding
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.numbers import duration, size
from corpus_assets.orchestration.building.telling.delivery import cannot_be_told
from corpus_assets.orchestration.home import postgres
from corpus_assets.orchestration.home.faults import require_readable
from corpus_assets.orchestration.home.folder import dagster_home
from corpus_assets.tokenize.encode.fast_libraries import LIBRARIES, UnusableError, encoded_by
from resources.errors import CorpusError
from resources.kernels.cache_folder import VARIABLE, cache_base
from resources.kernels.compiling import cpu_seconds, missing
from resources.stage.declaration import kernels_of
from resources.storage import open_storage
from resources.storage.local.store import LocalStorage
from resources.storage.s3 import store as s3

CGROUP = Path("/sys/fs/cgroup")
SCARCE = 2_000_000_000
"""Free bytes below which a disk counts as nearly full, unless the need is known from the raw files."""

_TEXTS = ["the quick brown fox jumps over the lazy dog 12345", "Grüße, 世界!\n\tdef f(x): return x"]


class Need(NamedTuple):
    """Bytes of free disk that are needed, and the reason in words."""

    bytes: int
    words: str


_LITTLE = Need(SCARCE, "little is left")


def findings(open_corpus: Callable[[], Corpus]) -> Iterator[Finding]:
    """Yields what was found, subject by subject."""
    yield from map(_library, LIBRARIES)
    yield _cores()
    try:
        corpus = open_corpus()
    except (CorpusError, OSError) as error:
        yield Finding("configuration", str(error), "correct it, or name another one with --config", broken=True)
        yield _memory(None)
        return
    yield Finding("configuration", str(corpus.file))
    yield _memory(corpus.config.engine.memory if corpus.config.engine.kind == "local" else None)
    yield _engine(corpus)
    first, needed = _first_build(corpus)
    yield first
    yield from _store(corpus, needed)
    yield _dagster_home(corpus)
    yield from _notices(corpus)
    if os.environ.get(postgres.VARIABLE):
        yield _database()
    yield _kernels(corpus)


def _store(corpus: Corpus, needed: Need) -> Iterator[Finding]:
    """Tries whether a build can write; the corpus is only read, so the store is opened once more for that."""
    store = open_storage(corpus.settings.values["storage"], corpus.folder)
    if isinstance(store, LocalStorage):
        yield _folder("storage", Path(store.place), "storage.root", needed)
    if isinstance(store, s3.S3Storage):
        yield _bucket(store)
        yield _folder("cache", store.cache.folder, "storage.cache.folder")


def _dagster_home(corpus: Corpus) -> Finding:
    try:
        require_readable(corpus.home)
    except CorpusError as error:
        return Finding("dagster home", str(error), "correct it: a build would end there", broken=True)
    return _folder("dagster home", dagster_home(corpus.home), "DAGSTER_HOME")


def _notices(corpus: Corpus) -> Iterator[Finding]:
    """Looks whether notices of a build may arrive; none is sent."""
    for place, notice in enumerate(corpus.config.notices):
        why = cannot_be_told(notice, corpus.folder)
        advice = "correct it: builds end with a warning and tell nobody" if why else ""
        yield Finding(f"notices.{place}", f"{notice.words}{f': {why}' if why else ''}", advice)


def _library(name: str) -> Finding:
    """Compares a fast tokenizer library with `tokenizers` on a few texts."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    reference = Tokenizer(models.BPE())
    reference.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet, show_progress=False)
    reference.train_from_iterator(_TEXTS, trainer)
    try:
        found = encoded_by(name, reference.to_str(), _TEXTS)
    except UnusableError as error:
        return Finding(name, f"cannot be used: {error}", "nothing: tokenizers is used instead, more slowly")
    lists = [found.ids[start:stop].tolist() for start, stop in zip(found.offsets, found.offsets[1:], strict=False)]
    if lists != [encoding.ids for encoding in reference.encode_batch(_TEXTS)]:
        return Finding(
            name, "gives other ids than the library tokenizers", "nothing: tokenizers is used instead, more slowly"
        )
    return Finding(name, "gives the same ids as the library tokenizers")


def _cores() -> Finding:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    allowed = _cpu_limit()
    if allowed is not None and allowed < usable:
        advice = f"set engine.workers to {max(1, int(allowed))}: `auto` starts {usable}"
        return Finding("cores", f"{usable}, of which the container may use {allowed:.1f}", advice)
    return Finding("cores", str(usable))


def _cpu_limit() -> float | None:
    try:
        quota, period = (CGROUP / "cpu.max").read_text().split()
        return int(quota) / int(period)
    except (OSError, ValueError):  # no container, or no limit
        return None


def _memory(wanted: int | None) -> Finding:
    total = min([psutil.virtual_memory().total, *_memory_limits()])
    if wanted is not None and wanted > total:
        advice = f"set engine.memory, now {size(wanted)}, to at most half of it"
        return Finding("memory", size(total), advice, broken=True)
    return Finding("memory", size(total))


def _memory_limits() -> Iterator[int]:
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        try:
            yield int((CGROUP / name).read_text())
        except (OSError, ValueError):
            continue


def _engine(corpus: Corpus) -> Finding:
    """Opens the engine; every machine of a Ray cluster is checked for the project's code and access to the store."""
    kind = corpus.config.engine.kind
    try:
        engine = corpus.engine
        found = f"{kind}, {engine.workers} worker{'s' if engine.workers != 1 else ''}"
        return _on_cluster(corpus, found) if kind == "ray" else Finding("engine", found)
    except CorpusError as error:
        return Finding("engine", str(error), "correct engine in corpus.yaml, or start what it names", broken=True)
    finally:
        corpus.close()


def _on_cluster(corpus: Corpus, said: str) -> Finding:
    from resources.engine.ray import RayEngine
    from resources.engine.ray_cluster import machines

    assert isinstance(corpus.engine, RayEngine)
    unfit = corpus.engine.unfit(corpus.storage)
    found = machines()  # Ray has learned meanwhile of those that do not answer.
    memory = size(min((one.memory for one in found), default=0))
    said += f"; ray {version('ray')}, {len(found)} machines with {sum(one.cores for one in found)} cores"
    if unfit:
        return Finding("engine", f"{said}; {unfit[0]}", "until then builds are refused", broken=True)
    return Finding("engine", f"{said} and at least {memory} of memory each, all of which see the store")


def _bucket(storage: s3.S3Storage) -> Finding:
    """Tries the first steps of a build: writes and removes a small object under conditions, and lists old uploads."""
    try:
        next(storage.folders("ledger"), None)  # Some stores create a missing bucket at the first write.
        holds = storage.holds_conditions
        storage.abandoned()
    except (CorpusError, OSError) as error:
        return Finding("storage", str(error), "make the bucket readable and writable (corpus docs stores)", broken=True)
    found = f"{storage.place}: can be written, conditional writes: {'yes' if holds else 'no'}"
    advice = "" if holds else "start one build at a time: the store does not keep a second one out for certain"
    return Finding("storage", found, advice)


def _first_build(corpus: Corpus) -> tuple[Finding, Need]:
    """Returns how long a first build takes and what it stores, and the bytes of disk that are still needed for it."""
    from corpus_assets.estimate.known import known_cost, raw_bytes

    subject = "first build"
    try:
        planner = corpus.planner()
        raw = raw_bytes(corpus, planner.listing)
        cost = known_cost(corpus, planner)
    except (CorpusError, OSError) as error:
        advice = "correct it: no build can begin before"
        return Finding(subject, str(error), advice, broken=True), _LITTLE
    finally:
        corpus.close()
    if cost is None:
        found = f"of {size(raw)} of raw files: without reading them nobody knows how long it takes and what it stores"
        advice = "`corpus estimate` says it in about a minute, from samples, and then so does this line"
        return Finding(subject, found, advice), _unknown(raw)
    workers = f"{cost.workers} worker{'s' if cost.workers != 1 else ''}"
    basis = "by the records of what is built" if cost.built else "by the last `corpus estimate`"
    found = (
        f"of {size(raw)} of raw files: about {duration(cost.seconds)} with {workers}, and {size(cost.stored)} of disk"
    )
    return Finding(subject, f"{found}, {basis}"), Need(
        round(cost.needed), f"a build needs about {size(cost.needed)} more"
    )


def _unknown(raw: int) -> Need:
    """Returns the least need while nothing is known: each stage with texts stores about all that it keeps."""
    return _LITTLE if raw < SCARCE else Need(raw, f"the raw files alone have {size(raw)}")


def _folder(subject: str, folder: Path, key: str, needed: Need = _LITTLE) -> Finding:
    """Checks free space and the permission to write."""
    try:
        free = shutil.disk_usage(_writable(folder)).free
    except OSError as error:
        return Finding(subject, f"{folder}: {error.strerror}", f"make it writable, or set {key}", broken=True)
    advice = f"{needed.words}: make room, or set {key} to a larger disk" if free < needed.bytes else ""
    return Finding(subject, f"{folder}: {size(free)} free", advice)


def _writable(folder: Path) -> Path:
    """Returns the nearest folder that exists, if a file can be written there; raises `OSError` if not."""
    place = next(parent for parent in (folder, *folder.parents) if parent.exists())
    with tempfile.TemporaryFile(dir=place) as file:
        file.write(b"corpus doctor")
    return place


def _database() -> Finding:
    """Connects to the database that holds Dagster's runs and events."""
    if fault := postgres.fault():
        return Finding("database", fault, "start it, or correct the variable (corpus docs postgres)", broken=True)
    return Finding("database", f"that of ${postgres.VARIABLE} can be reached")


def _kernels(corpus: Corpus) -> Finding:
    names = kernels_of(corpus.graph, corpus.settings.values)
    left, place = missing(names), cache_base()
    if not left:
        return Finding("kernels", f"all {len(names)} are compiled, in {place}")
    said = f"{len(left)} of {len(names)} are not compiled: about {duration(cpu_seconds(left))} of CPU"
    try:
        _writable(place)
    except OSError as error:
        found = f"{said} for each worker of each build, since they cannot be kept in {place}: {error.strerror}"
        return Finding("kernels", found, f"make it writable, or set {VARIABLE}")
    return Finding("kernels", f"{said} in the first build, beside its stages", "nothing: a build compiles them once")
