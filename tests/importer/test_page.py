"""The page about importing names every parameter that the importers know."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from corpus_assets.config.datasets.cerebras_names import IN_INPUT, OPTIONS, SAME
from corpus_assets.importer.cerebras.reasons import LEFT as CEREBRAS
from corpus_assets.importer.datatrove.names import LEFT_BLOCKS, LEFT_OF_EXECUTORS, LEFT_PARAMETERS
from corpus_assets.importer.datatrove.pipelines import TAKEN_BLOCKS
from corpus_assets.importer.dolma.commands import OTHERS
from corpus_assets.importer.dolma.keys import TAKEN
from corpus_assets.importer.dolma.tag import REASONS as TAG
from corpus_assets.importer.dolma.tokens import REASONS as TOKENS
from corpus_assets.importer.slimpajama import LEFT as SLIMPAJAMA
from corpus_assets.importer.slimpajama import PROGRAMS

PAGE = Path(__file__).parents[2] / "docs" / "importing.md"


def section(title: str) -> str:
    return PAGE.read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize(
    ("title", "names"),
    [
        ("Dolma", [*TAKEN, *TAG, *TOKENS, *(f"dolma {name}" for name in OTHERS)]),
        ("Cerebras", [*OPTIONS, *IN_INPUT, *SAME, *CEREBRAS]),
        ("SlimPajama", [*SLIMPAJAMA, *(f"{name}.py" for name in PROGRAMS)]),
        ("datatrove", [*TAKEN_BLOCKS, *LEFT_BLOCKS, *LEFT_PARAMETERS, *LEFT_OF_EXECUTORS]),
    ],
)
def test_every_name_is_on_the_page(title: str, names: Iterable[str]) -> None:
    page = section(title)
    assert [name for name in names if f"`{name}`" not in page] == []
