"""Each request to an object store in a build of a small corpus meets a fault once: `make faults`.

The corpus is built stage by stage, in one bucket. Each request of a stage is refused for good once, in every attempt of
the client (503), and once its connection is cut, whether or not the server has done what was asked. Then the failure is
told with its cause, and no address, or there is none; `verify --deep` finds nothing; and what was committed, at the
latest by the build without a fault that follows, has the content of a build in a folder.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from corpus_assets.verification.verify import verify
from resources.errors import CorpusError
from resources.system_errors import error_words
from tests.build.small import Key, digests, drive, opened, reported_on, write_config
from tests.fault_proxy import Kind, Proxy, faults
from tests.faults.test_wire import FEW, write_few
from tests.object_store import ENVIRONMENT, Server, moto

MODULE = "tests.faults.every_request"
LEASE = 10  # seconds, the least
WAYS: tuple[tuple[Kind, bool], ...] = (("503", True), ("cut", False))


@dataclass
class Tally:
    """What became of the tries. survived: the client tried again, or did without. wrong: what must not be."""

    requests: int = 0
    tried: int = 0
    survived: int = 0
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Prober:
    """Tries the requests of the stages of a corpus. server: without faults. proxy: before it. wanted: the content."""

    folder: Path
    server: Server
    proxy: Proxy
    wanted: Mapping[Key, str]
    chance: random.Random
    share: float

    def stages(self) -> list[str]:
        return [stage.name for stage in reported_on(self._opened(self.server.endpoint).graph)]

    def probe(self, name: str) -> Tally:
        """Tries the requests of a stage, and leaves it built."""
        tally = Tally()
        for kind, for_good in WAYS:
            said = self._built(name, 0, kind, for_good=False)
            count = self.proxy.requests
            self._note(tally, f"{name} without a fault", said, may_fail=False)
            tally.requests += count
            for number in range(1, count + 1):
                if self.chance.random() < self.share:
                    self._forget(name)
                    said = self._built(name, number, kind, for_good=for_good)
                    tally.tried += 1
                    tally.survived += not said
                    self._note(tally, f"{name}, request {number}, {kind}", said, may_fail=for_good)
            self._forget(name)
        self._note(tally, name, self._built(name, 0, "503", for_good=False), may_fail=False)
        return tally

    def _opened(self, endpoint: str) -> Corpus:
        storage = {
            "root": f"s3://{self.server.bucket}/every-request",
            "s3": {"endpoint": endpoint, "addressing": "path"},
            "cache": {"folder": "cache"},
            "lease": LEASE,
        }
        write_config(self.folder, FEW | {"storage": storage})
        return opened(self.folder)

    def _built(self, name: str, number: int, kind: Kind, *, for_good: bool) -> list[str]:
        """Builds a stage while a request meets a fault; returns what was told of it."""
        self.proxy.aim(number, kind, for_good=for_good)
        try:
            corpus = self._opened(self.proxy.endpoint)
            step = Step(corpus, corpus.graph[name])
            step.run()
            return step.failures()
        except (CorpusError, OSError) as error:
            return [error_words(error)]
        finally:
            requests = self.proxy.requests
            self.proxy.aim(0, kind, for_good=False)
            self.proxy.requests = requests

    def _note(self, tally: Tally, what: str, said: Sequence[str], *, may_fail: bool) -> None:
        faults = [f"told: {said[0]}"] if said and not may_fail else []
        faults += [f"no place: {line}" for line in said if f"s3://{self.server.bucket}/" not in line]
        faults += [f"no cause: {line}" for line in said if "SlowDown" not in line and "503" not in line]
        faults += [f"an address: {line}" for line in said if "://" in line.replace("s3://", "")]
        corpus = self._opened(self.server.endpoint)
        faults += [f"verify: {problem}" for problem in verify(corpus, deep=True).bad]
        found = digests(corpus)
        faults += [f"other content: {key}" for key, digest in found.items() if digest != self.wanted[key]]
        tally.wrong += [f"{what}: {fault}" for fault in faults]

    def _forget(self, name: str) -> None:
        """Makes the partitions of a stage absent."""
        ledger = self._opened(self.server.endpoint).ledger
        for key in ledger.records(name):
            ledger.forget(name, key)


def main(arguments: Sequence[str]) -> int:
    """Tries the requests; returns 1 if anything was wrong."""
    parser = argparse.ArgumentParser(prog=MODULE, description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="the share of the requests that is tried")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="which requests a share takes")
    parser.add_argument("--stages", nargs="+", help="only requests of these stages")
    options = parser.parse_args(arguments)
    os.environ.update(ENVIRONMENT)
    print(f"seed {options.seed}", flush=True)
    total, chance = Tally(), random.Random(options.seed)
    waits = patch("botocore.retries.standard.ExponentialBackoff.delay_amount", lambda *_: 0.01)
    with (
        tempfile.TemporaryDirectory() as name,
        moto(Path(name, "moto")) as server,
        faults(server.endpoint) as proxy,
        waits,
    ):
        folder, beside = write_few(Path(name, "corpus")), write_few(Path(name, "beside"))
        assert not drive(opened(beside)).failed
        wanted = digests(opened(beside))
        stages = Prober(folder, server, proxy, wanted, chance, 0).stages()
        left = set(options.stages or stages)
        for stage in stages:
            share = options.share if stage in left else 0.0
            began, found = time.monotonic(), Prober(folder, server, proxy, wanted, chance, share).probe(stage)
            print(
                f"{stage}: {found.tried} of {found.requests} requests tried, {found.survived} of no harm, "
                f"{time.monotonic() - began:.0f} s",
                flush=True,
            )
            for line in found.wrong:
                print(f"  WRONG {line}", flush=True)
            left.discard(stage)
            total.requests += found.requests
            total.tried += found.tried
            total.survived += found.survived
            total.wrong += found.wrong
            if not left:
                break
    print(json.dumps({"requests": total.requests, "tried": total.tried, "wrong": total.wrong}))
    return 1 if total.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
