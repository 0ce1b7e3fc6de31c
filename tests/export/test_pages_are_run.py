"""Every block of code on a trainer's page is asked for by a test that runs it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.docs.test_trainer_pages import PAGES as NUMPY_ALONE
from tests.export.readers.environments import PAGES

READERS = Path(__file__).parent / "readers"
TRAINERS = sorted(path.stem for path in PAGES.glob("*.md"))
LANGUAGES = ("python", "sh", "yaml")
NOT_RUN = {("datatrove", "dataset_folder"), ("torchtitan", "TokenSource")}
"""Pages and words of blocks that nobody runs: the configuration of nanotron, which needs a GPU, and classes that no
released torchtitan has yet (its test fails as soon as one has them)."""


def asked(module: Path) -> Iterator[tuple[set[str], set[str]]]:
    """Yields of each call of `block` which pages it may mean, and which words.

    An argument that is no text of the module's own may be any of its texts.
    """
    tree = ast.parse(module.read_text(encoding="utf-8"))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    own = {
        node.targets[0].id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }

    def meant(argument: ast.expr) -> set[str]:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            return {argument.value}
        return {own[argument.id]} if isinstance(argument, ast.Name) and argument.id in own else texts

    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "block":
            page, _, words = node.args
            yield meant(page), meant(words)


ASKED = [call for module in sorted(READERS.glob("test_*.py")) for call in asked(module)]


def somebody_runs(page: str, language: str, block: str) -> bool:
    """Whether a test does: those of readers, that of `numpy` alone, or the build of what a page configures."""
    if language == "yaml" and {"datasets", "tokenizer"} & set(yaml.safe_load(block)):
        return True
    if page in NUMPY_ALONE and "import numpy" in block and "torch" not in block:
        return True
    return any(word in block for pages, words in ASKED if page in pages for word in words if len(word) > 2)


@pytest.mark.parametrize("page", TRAINERS)
def test_every_block_is_run(page: str) -> None:
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    for language, block in re.findall(r"```(\w+)\n(.*?)```", text, re.DOTALL):
        assert language in LANGUAGES, f"nothing runs a block of {language}"
        if not any(page == name and words in block for name, words in NOT_RUN):
            assert somebody_runs(page, language, block), block
