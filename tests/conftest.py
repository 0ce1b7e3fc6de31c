"""Settings of all tests."""

import ctypes
import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from corpus_assets.config import sections
from corpus_assets.corpus.corpus import CONFIG_VARIABLE
from corpus_assets.orchestration.home.folder import HOME_VARIABLE
from resources.processes.collector import calm_collector

pytest_plugins = ["tests.object_store_fixtures"]

# Tests give stages next to no memory, so that small corpora are sorted and joined through files.
sections.LEAST_MEMORY = 1

# No test may fail because the machine is busy, and a release must not fail by chance.
settings.register_profile(
    "project",
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("project")


# Whoever runs the tests may use the project too: their corpus and their runs are no part of any test.
for _name in (CONFIG_VARIABLE, HOME_VARIABLE):
    os.environ.pop(_name, None)


MUST_BE_THERE = {"--all-extras": "extra", "--all-readers": ".venv-readers"}
"""What options forbid to be missing, as reasons of skipped tests name it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    for option, what in MUST_BE_THERE.items():
        parser.addoption(option, action="store_true", help=f"fail if the reason of a skipped test names {what}")
    parser.addoption("--skipped-to", metavar="FILE", help="write the ids of skipped tests: pytest runs @FILE")
    parser.addoption("--minutes", action="store_true", help="run the tests that take minutes, too")
    parser.addoption("--all-cases", action="store_true", help="run all cases of the tests that are `sampled`")


@pytest.hookimpl(trylast=True)  # A sample is of what `-k` and `-m` left.
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--all-cases"):
        left_out = {*_beside_the_sample(items)} - {*config.args}  # What is asked for by name is run.
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left_out])
        items[:] = [item for item in items if item.nodeid not in left_out]
    if not config.getoption("--minutes"):
        for item in items:
            if item.get_closest_marker("minutes"):
                item.add_marker(pytest.mark.skip(reason="takes minutes; --minutes runs it"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """Each tester holds all tests: the collector looked at them again and again, for 5 % of the CPU seconds."""
    gc.disable()


def pytest_collection_finish() -> None:
    calm_collector()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """What the tests of a file have freed goes back to the system: a tester kept up to 4 GB."""
    if nextitem is None or nextitem.path != item.path:
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # Of glibc alone.
        if trim is not None:
            trim(0)


def _beside_the_sample(items: list[pytest.Item]) -> Iterator[str]:
    """The cases of `sampled` tests that are not the first of every few, in their order."""
    seen: dict[str, int] = {}
    for item in items:
        if (sampled := item.get_closest_marker("sampled")) is not None:
            test = item.nodeid.partition("[")[0]
            seen[test] = seen.get(test, -1) + 1
            if seen[test] % sampled.kwargs["every"]:
                yield item.nodeid


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    skipped = reporter.stats.get("skipped", ())
    if (to := session.config.getoption("--skipped-to")) is not None:
        ids = sorted({report.nodeid for report in skipped})
        Path(to).write_text("".join(f"{one}\n" for one in ids), encoding="utf-8")
    reasons = [str(report.longrepr[2]) for report in skipped]
    for option, what in MUST_BE_THERE.items():
        if session.config.getoption(option) and any(what in reason for reason in reasons):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
