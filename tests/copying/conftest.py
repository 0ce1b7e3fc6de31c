"""The shared small corpora."""

from tests.build.conftest import built_once, work

__all__ = ["built_once", "work"]
