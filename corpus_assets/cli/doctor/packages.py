"""Compares the installed packages that the product needs with the locked versions."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from corpus_assets.cli.doctor.finding import Finding

FOLDER = Path(__file__).resolve().parents[3]
LOCK, PROJECT = "requirements.lock", "pyproject.toml"
_PINNED = re.compile(r"^([\w.-]+==[^\\\n]+)", re.MULTILINE)


def compared() -> Finding:
    """Returns the findings on packages that are missing or have another version than the locked one."""
    wanted = locked()
    if wanted is None:
        return Finding("packages", "installed without requirements.lock; versions are not compared")
    there = {name: installed(name) for name in wanted}
    absent = [name for name, found in there.items() if found is None]
    other = [f"{name} {found} (locked: {wanted[name]})" for name, found in there.items() if found != wanted[name]]
    how = "pip install --require-hashes -r requirements.lock"
    if absent:
        return Finding("packages", f"{len(absent)} are missing: {', '.join(absent[:5])}", how, broken=True)
    if other:
        return Finding("packages", f"{len(other)} have other versions: {', '.join(other[:5])}", how)
    return Finding("packages", f"{len(wanted)}, all of the locked versions")


def locked() -> dict[str, str] | None:
    """Returns the locked versions of the needed packages by name; None for an installation without the lock.

    Packages that only extras need, such as those of the tests, are locked too, but may be absent.
    """
    lock, project = FOLDER / LOCK, FOLDER / PROJECT
    if not (lock.is_file() and project.is_file()):
        return None
    needed = _needed(tomllib.loads(project.read_text(encoding="utf-8"))["project"]["dependencies"])
    pinned = map(Requirement, _PINNED.findall(lock.read_text(encoding="utf-8")))
    here = [one for one in pinned if one.marker is None or one.marker.evaluate()]
    return {one.name: str(one.specifier).lstrip("=") for one in here if canonicalize_name(one.name) in needed}


def _needed(dependencies: list[str]) -> set[str]:
    """Returns the names of these packages and of all installed ones that they need."""
    found: set[tuple[str, str]] = set()
    left = list(map(Requirement, dependencies))
    while left:
        one = left.pop()
        name = canonicalize_name(one.name)
        for extra in {"", *one.extras} - {extra for known, extra in found if known == name}:
            found.add((name, extra))
            wanted = map(Requirement, _requires(name))
            left += (other for other in wanted if other.marker is None or other.marker.evaluate({"extra": extra}))
    return {name for name, _ in found}


def _requires(name: str) -> list[str]:
    try:
        return requires(name) or []
    except PackageNotFoundError:
        return []


def installed(name: str) -> str | None:
    """Returns the version of a package that is installed; None if there is none."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None
