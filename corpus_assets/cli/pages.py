"""`corpus docs`: the pages that say how the project is used. A wheel carries them; a checkout has them in place."""

from collections.abc import Iterator
from pathlib import Path

import typer

from resources.errors import ConfigError
from resources.stage.graph import did_you_mean

_PACKAGE = Path(__file__).resolve().parents[1]


def top() -> Path:
    """Returns the folder with README.md, corpus.yaml, `docs`, `examples` and `deploy`."""
    carried = _PACKAGE / "pages"
    return carried if carried.is_dir() else _PACKAGE.parent


def pages() -> dict[str, Path]:
    """Returns all pages by name: `README`, `stores` of docs/stores.md, `examples/code` of examples/code/README.md."""
    return {page_name(file.relative_to(top()).as_posix()): file for file in _files()}


def page_name(path: str) -> str:
    """Returns the name of the page with this path below `top`; a name stays as it is."""
    return path.removesuffix(".md").removeprefix("docs/").removesuffix("/README")


def _files() -> Iterator[Path]:
    yield from sorted(top().glob("*.md"))
    yield from sorted((top() / "docs").rglob("*.md"))
    yield top() / "examples" / "README.md"
    yield from sorted((top() / "examples").glob("*/README.md"))


def run(name: str | None) -> None:
    """Prints a page as it is written, in Markdown; without a name the names of all, with their titles."""
    known = pages()
    if name is None:
        width = max(map(len, known))
        for one, file in known.items():
            typer.echo(f"{one:{width}}  {_title(file)}")
        typer.echo(f"They are in {top()}")
        return
    wanted = page_name(name)
    if wanted not in known:
        raise ConfigError(f"docs: no page named {name!r}{did_you_mean(wanted, known)}; `corpus docs` lists all of them")
    typer.echo(known[wanted].read_text(encoding="utf-8"), nl=False)


def _title(file: Path) -> str:
    with file.open(encoding="utf-8") as lines:
        return next(lines).strip().removeprefix("# ")
