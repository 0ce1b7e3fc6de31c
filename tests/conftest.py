"""Settings of all tests."""

import os

from hypothesis import HealthCheck, settings

# No test may fail because the machine is busy, and a release must not fail by chance.
settings.register_profile(
    "project",
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("project")
