"""Formats, lists, models and tokenizers get streams and bytes: none of their modules opens a path by itself."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from corpus_assets.takedown.lists import entries
from resources.errors import ConfigError

ROOT = Path(__file__).parent.parent
READERS = (
    *("corpus_assets/raw", "corpus_assets/takedown", "corpus_assets/contamination", "corpus_assets/attributes"),
    *("corpus_assets/tokenize", "resources/formats"),
)
OPENING = {"read_bytes", "read_text", "from_file", "memory_map", "fromfile", "genfromtxt", "loadtxt"}
OPENING_MODULES = {"pathlib", "os", "mmap", "glob", "shutil"}
OWN = {
    "corpus_assets/raw/sample/writing.py": "writes the sample corpus",
    "corpus_assets/raw/sample/installed.py": "finds installed packages for the sample corpus",
    "corpus_assets/raw/sample/sources.py": "reads installed packages for the sample corpus",
    "corpus_assets/attributes/taggers/c4.py": "a list of the project's own",
    "corpus_assets/attributes/taggers/source_code/starcoder.py": "a table of the project's own",
    "corpus_assets/attributes/splitters/choice.py": "a table of the project's own",
    "corpus_assets/attributes/taggers/presets/dclm/pieces.py": "a table of the project's own",
    "corpus_assets/attributes/taggers/presets/measures.py": "a table of the project's own",
    "corpus_assets/attributes/taggers/uniseg.py": "a table of a library",
}


def openings(file: Path) -> Iterator[str]:
    """What a module calls or imports that could open a path."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open":
            yield "open"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in OPENING:
            if ast.unparse(node.func) != "text.read_text":  # ours, of a stream
                yield node.func.attr
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in OPENING_MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in OPENING_MODULES:
            yield str(node.module)


def test_no_reader_opens_a_path() -> None:
    files = {path for folder in READERS for path in (ROOT / folder).rglob("*.py")}
    found = {str(path.relative_to(ROOT)): sorted(set(openings(path))) for path in files}
    assert {name: what for name, what in found.items() if what and name not in OWN} == {}
    assert not OWN.keys() - {name for name, what in found.items() if what}


@pytest.mark.parametrize("packed", [b"\x1f\x8b\x08\0", b"\x28\xb5\x2f\xfd"])
def test_a_packed_list_of_takedown_is_refused_by_name(packed: bytes) -> None:
    with pytest.raises(ConfigError, match=r"list\.txt line 1: no UTF-8"):
        list(entries({"list.txt": packed + bytes(100)}, None))
