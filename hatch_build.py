"""Puts the pages of the top folder, and the configuration of the sample corpus, beside the other pages of the wheel."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FILES = ("CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md", "corpus.yaml")


class Pages(BuildHookInterface[Any]):
    """Called for every wheel. An editable installation has the pages where they are written."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds the files, as paths in the checkout with their paths in the wheel."""
        if version == "standard":
            build_data["force_include"].update({name: f"corpus_assets/pages/{name}" for name in FILES})
