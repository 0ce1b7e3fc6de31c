"""What is released can be made again, and what it installs may be used: builds are equal, licences are known."""

import re
from email import message_from_string
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.house import TOP
from tests.release.installing import build

FREE = re.compile(
    r"\b(MIT|Apache|BSD|ISC|PSF|Python Software Foundation|MPL|Mozilla Public|LGPL|Zlib|0BSD|CC0|Unlicense|HPND)", re.I
)
BOUND = re.compile(r"\b(AGPL|Affero|(?<!L)GPL|Proprietary|Non-?commercial|SSPL|BUSL|Business Source)", re.I)

LONGEST = 300
"""Characters of a text of a licence that are looked at: its name comes first, libraries that it ships with later."""


def installed_for_users() -> set[str]:
    """The names of all packages that an installation without extras brings, itself left out."""
    found: set[str] = set()
    frontier = [("corpus-assets", frozenset[str]())]
    while frontier:
        name, extras = frontier.pop()
        for line in distribution(name).requires or []:
            asked = Requirement(line)
            needed = canonicalize_name(asked.name)
            wanted = asked.marker is None or any(asked.marker.evaluate({"extra": extra}) for extra in extras or {""})
            if wanted and needed not in found:
                try:
                    distribution(needed)
                except PackageNotFoundError:
                    pytest.fail(f"{name} needs {needed}, which is not installed")
                found.add(needed)
                frontier.append((needed, frozenset(asked.extras)))
    return found


def licence_of(name: str) -> str:
    """What a package says of its licence: the expression, classifiers and the field, else its files."""
    made = distribution(name)
    stated = message_from_string(made.read_text("METADATA") or "")
    said = [stated.get("License-Expression", ""), *stated.get_all("Classifier", [])]
    said = [line for line in said if not line.startswith(("Programming", "Topic", "Operating", "Framework"))]
    said = [line for line in [*said, stated.get("License", "")[:LONGEST]] if line]
    if any(FREE.search(line) or BOUND.search(line) for line in said):
        return "\n".join(said)
    files = [file for file in made.files or [] if re.search(r"licen[cs]e|copying", file.name, re.I)]
    return "\n".join([*said, *(file.read_text(encoding="utf-8")[:LONGEST] for file in files)])


def test_every_package_that_users_install_has_a_free_licence() -> None:
    found = {name: licence_of(name) for name in installed_for_users()}
    assert len(found) > 20
    unknown = {name: said for name, said in found.items() if not FREE.search(said) or BOUND.search(said)}
    assert unknown == {}


@pytest.mark.parametrize("said", ["GPL-3.0-only", "GNU AGPL", "Business Source License 1.1", "Proprietary"])
def test_a_licence_that_binds_is_seen(said: str) -> None:
    assert BOUND.search(said)


def test_a_lesser_licence_binds_nobody() -> None:
    assert FREE.search("LGPL-2.1-or-later")
    assert not BOUND.search("LGPL-2.1-or-later")


@pytest.mark.slow
def test_two_builds_have_the_same_bytes(tmp_path: Path) -> None:
    if not (TOP / ".git").exists():
        pytest.skip("only a clone knows which files belong to the project")
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    first, second = build(tmp_path / "one"), build(tmp_path / "two")
    assert first.wheel.read_bytes() == second.wheel.read_bytes()
    assert first.sdist.read_bytes() == second.sdist.read_bytes()
