"""Writes the generated pages: `python -m docs.generate`. A test checks that they are current."""

from pathlib import Path

from docs.attributes_page import attributes_page
from docs.cli_page import cli_page
from docs.configuration_page import configuration_page
from docs.limits import trust_page
from docs.presets_page import presets_page

FOLDER = Path(__file__).parent
PAGES = {
    "configuration.md": configuration_page,
    "cli.md": cli_page,
    "attributes.md": attributes_page,
    "presets.md": presets_page,
    "trust.md": trust_page,
}


def write_pages() -> None:
    """Writes all of them."""
    for file, page in PAGES.items():
        (FOLDER / file).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    write_pages()
