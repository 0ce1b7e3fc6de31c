"""Each call of the C library in a build of every kind of stage fails once: `make faults`.

A corpus is built stage by stage. Before a stage, its store is kept; then, for each call that the stage makes below the
folder of the corpus (its store, raw files, lists, models, tokenizers and temporary files), the stage is built from the
kept store in a process in which that call fails. Afterwards the failure must be told with its cause and place, or be
none; `verify --deep` must find nothing; and the next build must make the content of an undisturbed one. The plan is
tried in the same way: it is the right one, or an error.
"""

import argparse
import errno
import faulthandler
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from corpus_assets.verification.verify import verify
from resources.errors import CorpusError
from resources.planning.planner import Status
from resources.stage.declaration import Stage
from resources.system_errors import error_words
from tests.faults.calls import Call, Calls, under_library
from tests.faults.places import Place, code_of, exact_place, one_of_each, place_of
from tests.golden_content.corpora import NAMES, placed

MODULE = "tests.faults.every_call"
ERROR = errno.EIO
NEVER = 1 << 62
_SECONDS = 30
"""Longest time of one try."""

ONE_THREAD = {"TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1"}
"""A process that is forked has no threads of pools that were started before."""

_PLAN = "the plan"
T = TypeVar("T")
Digests = dict[str | None, str]
Planned = list[tuple[str, str | None, str, str]]


@dataclass
class Tally:
    """What became of the tries. survived: nothing was told, and the content was right. wrong: what must not be."""

    calls: Counter[str] = field(default_factory=Counter)
    sites: set[tuple[str, str, str]] = field(default_factory=set)
    tried: Counter[str] = field(default_factory=Counter)
    survived: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        self.calls += other.calls
        self.sites |= other.sites
        self.tried += other.tried
        self.survived += other.survived
        self.wrong += other.wrong


@dataclass(frozen=True)
class Tried:
    """A try. failed: the call that failed. said: what was told of it. wrong: what must not be, empty if nothing."""

    failed: Call | None
    said: list[str]
    wrong: str


class Prober:
    """Tries the calls of the stages of one corpus. folder: of the corpus; its store is kept beside it."""

    def __init__(self, folder: Path, chosen: Callable[[str, Sequence[Place]], Iterable[int]], until: float) -> None:
        self.folder = folder
        self._store, self._kept = folder / "corpus", folder.parent / f"{folder.name}-kept"
        self._calls = Calls(folder.parent / f"{folder.name}-notes")
        self._chosen = chosen
        self._until = until
        self._temporary = folder / "tmp"

    def stages(self) -> dict[str, str]:
        """What computes each stage, by its name."""
        return forked(dict[str, str], lambda: {stage.name: code_of(stage) for stage in self._opened().graph})

    def probe(self, name: str, code: str) -> Tally:
        """Tries the calls of a stage, and leaves it built. code: what computes it."""
        self._keep()
        wanted, traced = forked(tuple[Digests, list[Call]], lambda: self._undisturbed(name))
        tally = self._tally(name, traced)
        for number in self._numbers(name, code, traced):
            self._restore()
            self._note(tally, name, number, forked_or_words(Tried, partial(self._try, name, number, wanted)))
        self._restore()
        forked(tuple[Digests, list[Call]], lambda: self._undisturbed(name))
        return tally

    def probe_plan(self) -> Tally:
        """Tries the calls of a plan over the corpus."""
        wanted, traced = forked(tuple[Planned, list[Call]], self._planned)
        tally = self._tally(_PLAN, traced)
        for number in self._numbers(_PLAN, "", traced):
            self._note(tally, _PLAN, number, forked_or_words(Tried, partial(self._try_plan, number, wanted)))
        return tally

    def _tally(self, name: str, traced: Sequence[Call]) -> Tally:
        places = {(name, call.kind, exact_place(self._below(call))) for call in traced}
        return Tally(Counter(call.kind for call in traced), places)

    def _below(self, call: Call) -> str:
        return call.path.removeprefix(f"{self.folder}/")

    def _numbers(self, name: str, code: str, traced: Sequence[Call]) -> Iterator[int]:
        places = [place_of(code, call.kind, self._below(call)) for call in traced]
        for number in self._chosen(name, places):
            if time.monotonic() < self._until:
                yield number

    def _note(self, tally: Tally, name: str, number: int, found: Tried | str) -> None:
        if isinstance(found, str):
            tally.wrong.append(f"{self.folder.name}: {name}, call {number}: {found}")
            return
        if found.failed is None:  # With threads, not each build makes the same number of calls.
            return
        tally.tried[found.failed.kind] += 1
        tally.survived += not found.said
        if found.wrong:
            what = f"{found.failed.kind} {found.failed.path}"
            tally.wrong.append(f"{self.folder.name}: {name}, call {number}, {what}: {found.wrong} (said: {found.said})")

    def _opened(self) -> Corpus:
        self._temporary.mkdir(exist_ok=True)
        tempfile.tempdir = str(self._temporary)
        return Corpus.open(self.folder / "corpus.yaml")

    def _undisturbed(self, name: str) -> tuple[Digests, list[Call]]:
        """Builds a stage; returns the digests of its partitions, and the calls."""
        corpus = self._opened()
        step = Step(corpus, corpus.graph[name])
        self._calls.arm(self.folder, at=NEVER, error=ERROR, trace=True)
        step.run()
        self._calls.disarm()
        assert not step.failures(), step.failures()
        return _digests(corpus, corpus.graph[name]), self._calls.traced()

    def _try(self, name: str, at: int, wanted: Digests) -> Tried:
        corpus = self._opened()
        step = Step(corpus, corpus.graph[name])
        self._calls.arm(self.folder, at=at, error=ERROR)
        try:
            step.run()
            said = step.failures()
        except (CorpusError, OSError) as error:
            said = [error_words(error)]
        finally:
            self._calls.disarm()
        failed = self._calls.failed()
        return Tried(failed, said, self._fault_in(said, failed) or self._after(name, wanted))

    def _fault_in(self, said: Sequence[str], failed: Call | None) -> str:
        if failed is None and said:
            return "it failed although no call did"
        if said and not any(os.strerror(ERROR) in line for line in said):
            return "no message tells the cause"
        own = [Path(failed.path).name] if failed else []
        places = (*own, f"{self.folder}/", *(f"{top.name}/" for top in self.folder.iterdir()), *self._labels())
        unplaced = [line for line in said if os.strerror(ERROR) in line and not any(place in line for place in places)]
        return f"a message tells no place: {unplaced[0]}" if unplaced else ""

    def _labels(self) -> list[str]:
        """Names of sources and datasets, as messages name raw files."""
        return [f"{shard.source}/" for shard in self._opened().listing().shards]

    def _after(self, name: str, wanted: Digests) -> str:
        """What is wrong with the store, and with the next build."""
        if bad := verify(self._opened(), deep=True).bad:
            return f"verify: {bad[0]}"
        corpus = self._opened()
        step = Step(corpus, corpus.graph[name])
        step.run()
        if step.failures():
            return f"the next build: {step.failures()[0]}"
        if (found := _digests(corpus, corpus.graph[name])) != wanted:
            return f"other content: {sorted(str(key) for key in wanted if found.get(key) != wanted[key])}"
        if bad := verify(self._opened(), deep=True).bad:
            return f"verify after the next build: {bad[0]}"
        return ""

    def _planned(self) -> tuple[Planned, list[Call]]:
        self._calls.arm(self.folder, at=NEVER, error=ERROR, trace=True)
        plan = _plan_of(self._opened())
        self._calls.disarm()
        return plan, self._calls.traced()

    def _try_plan(self, at: int, wanted: Planned) -> Tried:
        found, said = wanted, list[str]()
        self._calls.arm(self.folder, at=at, error=ERROR)
        try:
            found = _plan_of(self._opened())
        except (CorpusError, OSError) as error:
            said = [error_words(error)]
        finally:
            self._calls.disarm()
        failed = self._calls.failed()
        other = [pair for pair in zip(wanted, found, strict=False) if pair[0] != pair[1]]
        wrong = f"another plan: {other[0] if other else len(found)}" if found != wanted else ""
        return Tried(failed, said, self._fault_in(said, failed) or wrong)

    def _keep(self) -> None:
        shutil.rmtree(self._kept, ignore_errors=True)
        if self._store.exists():
            _linked(self._store, self._kept)

    def _restore(self) -> None:
        shutil.rmtree(self._store, ignore_errors=True)
        shutil.rmtree(self._temporary, ignore_errors=True)
        if self._kept.exists():
            _linked(self._kept, self._store)


def _digests(corpus: Corpus, stage: Stage) -> Digests:
    """Content of the partitions of a stage that the plan calls fresh."""
    planner = corpus.planner()
    records = planner.records(stage.name)
    fresh = (key for key, one in planner.decisions(stage).items() if one.status is Status.FRESH)
    return {key: records[key].digest for key in fresh}


def _plan_of(corpus: Corpus) -> Planned:
    decisions = corpus.planner().plan().decisions
    return [(one.asset, one.partition, str(one.status), one.reason) for one in decisions]


def _linked(source: Path, target: Path) -> None:
    """Copies a folder by links: the store never changes a file that is there."""
    shutil.copytree(source, target, copy_function=os.link)


def forked(kind: type[T], function: Callable[[], T]) -> T:
    """The result of a function in a process of its own, which inherits all that is loaded here."""
    found = forked_or_words(kind, function)
    if isinstance(found, str):
        raise AssertionError(found)
    return found


def forked_or_words(kind: type[T], function: Callable[[], T]) -> T | str:
    """The same; or what ended the process instead."""
    reads, writes = os.pipe()
    pid = os.fork()
    if not pid:
        _run_child(function, writes)
    os.close(writes)
    with os.fdopen(reads, "rb") as answer:
        content = answer.read()
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        ended = signal.Signals(os.WTERMSIG(status)).name
        return f"took longer than {_SECONDS} s" if ended == "SIGALRM" else f"was ended by {ended}"
    right, found = msgspec.msgpack.decode(content, type=tuple[bool, msgspec.Raw])
    return msgspec.msgpack.decode(found, type=kind) if right else msgspec.msgpack.decode(found, type=str)


def _run_child(function: Callable[[], Any], writes: int) -> None:
    faulthandler.register(signal.SIGALRM, chain=True)  # It shows where it waits.
    signal.alarm(_SECONDS)
    try:
        answer = (True, function())
    except BaseException:
        answer = (False, traceback.format_exc())
    with suppress(BaseException), os.fdopen(writes, "wb") as file:
        file.write(msgspec.msgpack.encode(answer))
    os._exit(0)


def warmed(folder: Path, name: str) -> None:
    """Builds a corpus here once, so that processes that are forked later have all code loaded and compiled."""
    corpus = placed(name, folder)
    for stage in corpus.graph:
        Step(corpus, stage).run()


def probed(name: str, top: Path, options: argparse.Namespace, chance: random.Random, seen: set[Place]) -> Tally:
    """Tries the calls of one of the corpora. seen: places that were tried in others."""
    until = time.monotonic() + options.seconds
    placed(name, top / name)
    prober = Prober(top / name, partial(_chosen, options, chance, seen), until)
    total = Tally()
    for stage, code in prober.stages().items():
        began, found = time.monotonic(), prober.probe(stage, code)
        total.add(found)
        _tell(f"{name}: {stage}", found, time.monotonic() - began)
    began, found = time.monotonic(), prober.probe_plan()
    total.add(found)
    _tell(f"{name}: {_PLAN}", found, time.monotonic() - began)
    return total


def _chosen(
    options: argparse.Namespace, chance: random.Random, seen: set[Place], stage: str, places: Sequence[Place]
) -> list[int]:
    """Numbers of the calls of a stage, from 1, that the options ask for. places: of all its calls."""
    if options.stage and stage != options.stage:
        return []
    if options.each_place:
        return one_of_each(places, seen, chance)
    numbers = range(1, len(places) + 1)
    return [
        number for number in numbers if (number in options.call if options.call else chance.random() < options.share)
    ]


def _tell(name: str, found: Tally, seconds: float) -> None:
    calls, tried = found.calls.total(), found.tried.total()
    print(f"{name}: {tried} of {calls} calls tried, {found.survived} of no harm, {seconds:.0f} s", flush=True)
    for line in found.wrong:
        print(f"  WRONG {line}", flush=True)


def main(arguments: Sequence[str]) -> int:
    """Tries the calls; returns 1 if anything was wrong."""
    parser = argparse.ArgumentParser(prog=MODULE, description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--corpora", nargs="+", default=NAMES, choices=NAMES, help="which of the golden corpora")
    parser.add_argument("--share", type=float, default=1.0, help="the share of the calls that is tried")
    parser.add_argument("--each-place", action="store_true", help="one call of each place in the code, by the seed")
    parser.add_argument("--stage", help="only calls of this stage")
    parser.add_argument("--call", type=int, nargs="+", help="only calls with these numbers")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="which calls a share takes")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="the longest time for a corpus")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "every-call")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    under_library(options.folder, MODULE, arguments)
    print(f"seed {options.seed}", flush=True)
    chance, total, seen = random.Random(options.seed), Tally(), set[Place]()
    for name in options.corpora:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            warmed(Path(folder, "warm"), name)
            total.add(probed(name, Path(folder), options, chance, seen))
    kinds = dict(sorted(total.tried.items()))
    print(json.dumps({"calls": total.calls.total(), "sites": len(total.sites), "tried": kinds, "wrong": total.wrong}))
    return 1 if total.wrong else 0


if __name__ == "__main__":
    os.environ.update(ONE_THREAD)
    sys.exit(main(sys.argv[1:]))
