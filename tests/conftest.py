"""Settings of all tests."""

import os

import pytest
from hypothesis import HealthCheck, settings

from corpus_assets.config import sections
from corpus_assets.corpus.corpus import CONFIG_VARIABLE
from corpus_assets.orchestration.home.folder import HOME_VARIABLE

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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all-extras", action="store_true", help="fail if a test is skipped for want of an extra")


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and session.config.getoption("--all-extras"):
        skipped = reporter.stats.get("skipped", ())
        if any("extra" in str(report.longrepr[2]) for report in skipped):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
