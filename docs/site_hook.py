"""Takes into the site what lies outside of `docs/`: pages of the top folder, of `examples/`, and files of `deploy/`."""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

TOP = Path(__file__).parents[1]
_TO_TOP = re.compile(r"\]\((?:\.\./)+(?=(?:deploy/|examples/|[A-Z]+\.md))")
_TO_DOCS = re.compile(r"\]\(((?:\.\./)*)docs/")


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages of the top folder, with `README.md` as the first of the site, of `examples/` and of `deploy/`."""
    for page in sorted(TOP.glob("*.md")):
        name = "index.md" if page.name == "README.md" else page.name
        content = _TO_DOCS.sub(r"](\1", page.read_text(encoding="utf-8"))
        files.append(File.generated(config, name, content=content))
    for page in sorted((TOP / "examples").rglob("README.md")):
        files.append(File.generated(config, page.relative_to(TOP).as_posix(), abs_src_path=str(page)))
    for file in sorted((TOP / "deploy").rglob("*")):
        if file.is_file() and file.suffix != ".lock":
            files.append(File.generated(config, file.relative_to(TOP).as_posix(), abs_src_path=str(file)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Returns a page whose links to the top folder lead to where the site has it: the folder of `docs/` itself."""
    depth = page.file.src_uri.count("/")
    return _TO_TOP.sub("](" + "../" * depth, _TO_DOCS.sub(r"](\1", markdown))
