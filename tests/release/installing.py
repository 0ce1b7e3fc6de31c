"""The sdist and the wheel of the tracked files, and environments in which they are installed with what they ask for."""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.house import TOP

SECRET = "deploy/.env"
"""Git ignores it, and it holds passwords."""


@dataclass(frozen=True)
class Dist:
    """What `python -m build` makes, and the files it is made from."""

    sdist: Path
    wheel: Path
    tracked: frozenset[str]


@dataclass(frozen=True)
class Installed:
    """A virtual environment with one of them, and an empty home."""

    folder: Path
    home: Path

    @property
    def packages(self) -> Path:
        """Where pip installs to."""
        return next(self.folder.glob("lib/python*/site-packages"))

    @property
    def environment(self) -> dict[str, str]:
        """Variables of a user who has none of the project's, with the folder of scripts first on the path."""
        path = os.pathsep.join([str(self.folder / "bin"), os.defpath])
        return {"PATH": path, "HOME": str(self.home), "LANG": "C.UTF-8", "PYTHONWARNINGS": "ignore:Function"}

    def run(self, command: str, folder: Path, **more: str) -> str:
        """Runs a line of a shell; returns what it prints. It has to end well."""
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=folder,
            env=self.environment | more,
            check=False,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout


def tracked_files() -> frozenset[str]:
    """The files of the checkout that git knows, new ones that it does not ignore included."""
    asked = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(asked, cwd=TOP, check=True, capture_output=True, text=True).stdout.split("\0")
    return frozenset(name for name in names if name and (TOP / name).is_file())


def build(folder: Path) -> Dist:
    """Builds both from a copy of the tracked files, beside which lies what a checkout may hold."""
    tracked = tracked_files()
    for name in tracked:
        (folder / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TOP / name, folder / "checkout" / name)
    (folder / "checkout" / SECRET).write_text("PASSWORD=secret\n")
    command = [sys.executable, "-m", "build", "--outdir", str(folder / "dist"), str(folder / "checkout")]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    (sdist,), (wheel,) = (folder / "dist").glob("*.tar.gz"), (folder / "dist").glob("*.whl")
    return Dist(sdist, wheel, tracked)


def install(file: Path, folder: Path) -> Installed:
    """Installs a wheel or an sdist into a new environment, with links to what it requires and no other packages."""
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    (folder / "home").mkdir()
    installed = Installed(folder / "venv", folder / "home")
    pip = [str(installed.folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", str(file)], check=True, cwd=folder)
    (described,) = installed.packages.glob("corpus_assets-*.dist-info/METADATA")
    lines = described.read_text(encoding="utf-8").splitlines()
    asked = [line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist: ")]
    here = Path(sysconfig.get_path("purelib"))
    for name in {part for package in closure(asked) for part in _top_names(package)}:
        if not (installed.packages / name).exists():
            (installed.packages / name).symlink_to(here / name)
    return installed


def closure(lines: Iterable[str]) -> set[str]:
    """The names of the packages that requirements ask for, and of all that those ask for."""
    found: set[tuple[str, str]] = set()
    left = [(Requirement(line), "") for line in lines]
    while left:
        one, extra = left.pop()
        if one.marker is None or one.marker.evaluate({"extra": extra}):
            name = canonicalize_name(one.name)
            new = {(name, wanted) for wanted in ("", *one.extras)} - found
            found |= new
            left += [(Requirement(line), wanted) for _, wanted in new for line in _requires(name)]
    return {name for name, _ in found}


def _requires(package: str) -> list[str]:
    """What a package asks for; nothing if it is not installed."""
    try:
        return requires(package) or []
    except PackageNotFoundError:
        return []


def _top_names(package: str) -> Iterator[str]:
    """The files and folders of a package beside those of others."""
    names = {file.parts[0] for file in distribution(package).files or ()}
    yield from names - {"..", "__pycache__"}
