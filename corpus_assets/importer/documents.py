"""Patterns of document files as sources."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from corpus_assets.config.section import expanded
from corpus_assets.importer.draft import Draft, usable_name

_GLOB = re.compile(r"[*?\[]")
_CHOICE = re.compile(r"\[[^\]/]+\]")
_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://")


def add_documents(draft: Draft, patterns: Iterable[str], key: str, folder: Path) -> dict[str, list[str]]:
    """Adds a source for each folder `documents` in some patterns, with all patterns of the folder.

    Returns the names of the sources, each with its patterns.

    key: the key of the configuration that gives the patterns. folder: the folder of corpus.yaml; its paths are relative
    to it.
    """
    found: dict[str, list[str]] = {}
    for place, pattern in enumerate(patterns):
        if _ADDRESS.match(pattern):
            draft.leave(
                f"{key}.{place}",
                f"{pattern!r} is not a folder of this machine; add a source with its `location` and `glob`",
            )
            continue
        if _CHOICE.search(pattern):
            why = f"{pattern!r}: a glob has `*`, `?` and `**` here; write out what is in brackets"
            draft.leave(f"{key}.{place}", why)
            continue
        location, glob = divided(pattern)
        is_variable = location.startswith("$")
        path = location if is_variable else os.path.relpath(Path(location).absolute(), folder.absolute())
        name = _add(draft, path, location, glob)
        if glob not in (known := found.setdefault(name, [])):
            known.append(glob)
    return found


def are_all(draft: Draft, sources: Mapping[str, Sequence[str]]) -> bool:
    """Returns whether these are all documents of the corpus. sources: their patterns by source. Call it last."""
    known = {source["name"]: set(_listed(source["glob"])) for source in draft.values["sources"]}
    return known == {name: set(patterns) for name, patterns in sources.items()}


def narrowed(draft: Draft, sources: Mapping[str, Sequence[str]]) -> list[str] | None:
    """Returns the patterns that select documents within their sources: an empty list if all files are selected.

    Returns None if the sources need different patterns. Call it once all documents are known.
    """
    known = {source["name"]: source["glob"] for source in draft.values["sources"]}
    if all(set(_listed(known[name])) == set(patterns) for name, patterns in sources.items()):
        return []
    wanted = list(sources.values())
    return list(wanted[0]) if all(set(patterns) == set(wanted[0]) for patterns in wanted) else None


def _listed(glob: str | list[str]) -> list[str]:
    return [glob] if isinstance(glob, str) else glob


def divided(pattern: str) -> tuple[str, str]:
    """Splits a pattern into its folder, up to a component `documents` or the first with a glob, and the rest."""
    parts = Path(pattern).parts
    fixed = next((place for place, part in enumerate(parts) if _GLOB.search(part)), len(parts))
    if fixed == len(parts) and Path(expanded(pattern)).is_dir():
        parts = (*parts, "*")  # A folder stands for the files in it.
    elif fixed == len(parts):
        fixed -= 1
    above = parts.index("documents") + 1 if "documents" in parts[:fixed] else fixed
    return str(Path(*parts[:above])) if above else ".", "/".join(parts[above:])


def _add(draft: Draft, path: str, location: str, glob: str) -> str:
    """Adds a pattern to the source of its folder, and the source if it is new; returns its name."""
    known = next((source for source in draft.values.get("sources", []) if source["location"] == path), None)
    if known is not None:
        globs = [known["glob"]] if isinstance(known["glob"], str) else known["glob"]
        known["glob"] = globs if glob in globs else [*globs, glob]
        known["glob"] = known["glob"][0] if len(known["glob"]) == 1 else known["glob"]
        return str(known["name"])
    resolved = Path(location).absolute()
    given = resolved.parent.name if resolved.name == "documents" else resolved.name
    name = draft.free_name("sources", usable_name(given, "documents"))
    draft.add("sources", {"name": name, "location": path, "glob": glob})
    return name
