"""Runs one harness in a process with limits on the time and memory of an input, and keeps the input that broke it."""

import hashlib
import itertools
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tests.fuzz.harness import harnesses
from tests.fuzz.mutations import changed
from tests.house import TOP

INPUT_SECONDS, INPUT_MEMORY = 10, 1 << 30
_LONGEST = 1 << 16
_NOW = "now"


@dataclass(frozen=True)
class Found:
    """How a run ended. broke: what was said when an input broke the harness; empty if none did. kept: that input."""

    name: str
    runs: int
    broke: str = ""
    kept: Path | None = None


def has_atheris() -> bool:
    """Whether the fuzzer that is led by coverage is installed."""
    return find_spec("atheris") is not None


def run(
    names: Sequence[str], seconds: float, seed: int | str, finds: Path, *, by_coverage: bool, inputs: int = 0
) -> Iterator[Found]:
    """Runs harnesses one after another, each for so many seconds or so many inputs, and yields how each ended.

    What breaks one is kept in a folder of its name below `finds`. Without a fuzzer that is led by coverage all run in
    one process, as long as none ends it.
    """
    left = list(names)
    while left:
        some = left[:1] if by_coverage else left[:]
        for name in some:
            (finds / name).mkdir(parents=True, exist_ok=True)
        given = [str(seconds), str(seed), str(finds), str(inputs), str(int(by_coverage)), *some]
        done = subprocess.run(
            [sys.executable, "-m", "tests.fuzz.running", *given],
            cwd=TOP,
            env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"},  # Its own one reserves addresses by the GiB.
            check=False,
            capture_output=True,
            text=True,
        )
        said = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines() if line.rpartition(" ")[0] in some)
        whole = {some[0]: _counted(done.stderr)} if by_coverage and not done.returncode else said
        for name in some:
            left.remove(name)
            if name in whole:
                yield Found(name, int(whole[name]))
                continue
            why = f"signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
            new = max((finds / name).iterdir(), key=lambda file: file.stat().st_mtime, default=None)
            yield Found(name, 0, f"{why}: {(done.stderr + done.stdout).strip()[-3000:]}", _kept(new))
            break


def _kept(input_: Path | None) -> Path | None:
    """Gives the input of a run by seed a name of its own."""
    if input_ is None or input_.name != _NOW:
        return input_
    return input_.rename(input_.with_name(hashlib.sha1(input_.read_bytes()).hexdigest()[:16]))


def _counted(said: str) -> int:
    """Returns the number of runs that libFuzzer says: `Done 1234 runs in 5 second(s)`."""
    words = [line.split()[1] for line in said.splitlines() if line.startswith("Done ")]
    return int(words[-1]) if words else 0


def _limit() -> None:
    """Holds this process to so much memory beside what it has; a limit on time is set for each input."""
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else 0
    if pages:
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + INPUT_MEMORY,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _by_seed(names: Sequence[str], seconds: float, seed: str, finds: Path, most: int) -> None:
    chosen = [harnesses()[name] for name in names]
    seeds = {one.name: [*one.seeds(), *one.regressions] for one in chosen}
    for one in chosen:  # All modules are loaded before memory is limited.
        for content in seeds[one.name]:
            one(content)
    _limit()
    for one in chosen:
        now, count = finds / one.name / _NOW, 0
        end = time.monotonic() + seconds
        for content in changed(seeds[one.name], one.words, f"{one.name} {seed}"):
            now.write_bytes(content)  # Whatever ends the process, its input is there.
            signal.setitimer(signal.ITIMER_PROF, INPUT_SECONDS)
            one(content)
            count += 1
            if (most and count >= most) or (not most and time.monotonic() >= end):
                break
        signal.setitimer(signal.ITIMER_PROF, 0)
        now.unlink()
        print(one.name, count, flush=True)


def _by_coverage(name: str, seconds: float, seed: str, finds: Path) -> None:
    import atheris  # type: ignore[import-not-found,import-untyped,unused-ignore]

    with atheris.instrument_imports(include=["corpus_assets", "resources"]):
        harness = harnesses()[name]
    corpus = finds / ".corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    for content in itertools.chain(harness.seeds(), harness.regressions):
        (corpus / hashlib.sha1(content).hexdigest()).write_bytes(content)
    words = finds / ".corpus" / f"{name}.dict"
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in harness.words))
    options = [
        *(f"-max_total_time={int(seconds)}", f"-timeout={INPUT_SECONDS}", f"-rss_limit_mb={INPUT_MEMORY >> 19}"),
        *(
            f"-artifact_prefix={finds / name}/",
            f"-max_len={_LONGEST}",
            "-verbosity=1",
            *([f"-dict={words}"] if harness.words else []),
        ),
        f"-seed={int(hashlib.sha1(seed.encode()).hexdigest()[:7], 16)}",
    ]
    atheris.Setup([sys.argv[0], *options, str(corpus)], lambda content: harness(content) and None)
    atheris.Fuzz()


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


def main() -> None:
    """Is the process of a run."""
    seconds, seed, finds, inputs, by_coverage, *names = sys.argv[1:]
    if int(by_coverage):
        _by_coverage(names[0], float(seconds), seed, Path(finds))
    else:
        _by_seed(names, float(seconds), seed, Path(finds), int(inputs))


if __name__ == "__main__":
    main()
