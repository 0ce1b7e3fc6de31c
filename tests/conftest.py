"""Settings of all tests."""

import os

from hypothesis import HealthCheck, settings

from corpus_assets.config import sections

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
