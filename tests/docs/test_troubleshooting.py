"""The page of symptoms quotes messages that the program has."""

import ast
import re
from pathlib import Path

import pytest

from docs.generate import FOLDER
from tests.house import sources

QUOTED = re.findall(
    r"`([^`]+)`", "".join(re.findall(r"^\| (`.+?) \| ", (FOLDER / "troubleshooting.md").read_text("utf-8"), re.M))
)


def literals(file: Path) -> list[str]:
    """The texts of a module; what an f-string inserts is left out."""
    nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    inserted = [node for node in nodes if isinstance(node, ast.JoinedStr)]
    return texts + [
        "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in one.values) for one in inserted
    ]


@pytest.fixture(scope="module")
def said() -> str:
    return "\n".join(text for file in sources().values() for text in literals(file))


def test_messages_are_quoted() -> None:
    assert len(QUOTED) > 30


@pytest.mark.parametrize("message", QUOTED)
def test_a_quoted_message_is_one_of_the_program(message: str, said: str) -> None:
    pieces = [piece.strip() for piece in message.split("…")]
    assert [piece for piece in pieces if len(piece) > 2 and piece not in said] == []
