"""The small corpus of the builds, for tests of the command line."""

from tests.build.conftest import built_once, work

__all__ = ["built_once", "work"]
