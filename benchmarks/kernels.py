"""How long every kernel takes to compile: `python -m benchmarks.kernels [--json]`.

CPU seconds, without those of the kernels and helpers that it calls, in one process with an empty cache. The sample
corpus compiles `for_sample_corpus_s` of them, all kernels together take `all_s`.
"""

import argparse
import json
import os
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any, cast

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("corpus_assets", "resources")
SLOWEST = 10
TOTALS = ("for_sample_corpus_s", "all_s", "kernels")
Seconds = dict[str, float]


def all_kernels() -> list[str]:
    """Names of all kernels that are compiled ahead under any configuration."""
    names = []
    for file in sorted(file for package in PACKAGES for file in (ROOT / package).glob("**/kernels/**/*.py")):
        if file.stem != "__init__":
            module = import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
            names += [
                f"{module.__name__}.{name}"
                for name, value in vars(module).items()
                if isinstance(getattr(value, "ahead", None), tuple) and value.py_func.__module__ == module.__name__
            ]
    return names


def compiled(names: list[str]) -> Seconds:
    """CPU seconds by function; what numba compiles of its own counts for `numba`."""
    from numba.core import event

    seconds: Seconds = {}
    running: list[list[float]] = []

    class Stopwatch(event.Listener):  # type: ignore[misc, unused-ignore]
        def on_start(self, _: Any) -> None:
            running.append([time.process_time(), 0.0])

        def on_end(self, event: Any) -> None:
            started, within = running.pop()
            took = time.process_time() - started
            function = event.data["dispatcher"].py_func
            ours = ".kernels." in function.__module__
            name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}" if ours else "numba"
            seconds[name] = seconds.get(name, 0.0) + took - within
            if running:
                running[-1][1] += took

    with cast(Any, event).install_listener("numba:compile", Stopwatch()):
        import_module("resources.kernels.compiling").compile_now(names)
    return seconds


def compile_all() -> dict[str, float]:
    """The totals, then the CPU seconds of each function, the slowest first; in a process that has compiled nothing."""
    with tempfile.TemporaryDirectory() as cache:
        os.environ["NUMBA_CACHE_DIR"] = cache
        from corpus_assets.corpus.corpus import Corpus
        from resources.stage.declaration import kernels_of

        corpus = Corpus.open(ROOT / "corpus.yaml")
        needed = kernels_of(corpus.graph, corpus.settings.values)
        everything = all_kernels()
        default = compiled(needed)
        others = compiled([name for name in everything if name not in needed])
    both = {name: default.get(name, 0.0) + others.get(name, 0.0) for name in default | others}
    totals = dict(zip(TOTALS, (sum(default.values()), sum(both.values()), len(everything)), strict=True))
    slowest_first = sorted(both.items(), key=lambda item: -item[1])
    return {name: round(value, 2) for name, value in [*totals.items(), *slowest_first]}


def slowest(figures: dict[str, float]) -> dict[str, float]:
    """The totals, and the functions that take longest."""
    return dict(list(figures.items())[: len(TOTALS) + SLOWEST])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    as_json = parser.parse_args().json
    figures = compile_all()
    print(json.dumps(figures) if as_json else "\n".join(f"{name:32}{value:>8}" for name, value in figures.items()))


if __name__ == "__main__":
    main()
