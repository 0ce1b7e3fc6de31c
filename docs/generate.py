"""Writes the generated pages: `python -m docs.generate`. A test checks that they are current."""

from pathlib import Path

from docs.attributes_page import attributes_page
from docs.cli_page import cli_page
from docs.configuration_page import configuration_page

FOLDER = Path(__file__).parent
PAGES = {"configuration.md": configuration_page, "cli.md": cli_page, "attributes.md": attributes_page}


if __name__ == "__main__":
    for file, page in PAGES.items():
        (FOLDER / file).write_text(page(), encoding="utf-8")
