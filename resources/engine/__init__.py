"""Engines run the jobs of a build; this module opens the one that corpus.yaml names."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from resources.engine.interface import Engine
from resources.user.modules import named

ENGINES = {"local": "resources.engine.local:open_local", "ray": "resources.engine.ray:open_ray"}
"""The function that opens each kind of engine. A new engine is a file of this folder and a line here."""


def open_engine(section: Mapping[str, Any], folder: Path) -> Engine:
    """Opens the engine that section `engine` of corpus.yaml describes; its workers start with the first job.

    Its `kind` is one of `ENGINES`, or the `module:function` of an engine of the user's own; the function takes the
    section. folder: that of corpus.yaml. Raises `ConfigError` for anything else.
    """
    engine: Engine = named(ENGINES, section["kind"], "engine.kind", folder)(section)
    return engine
