"""A small built corpus."""

from tests.build.conftest import built_once

__all__ = ["built_once"]
