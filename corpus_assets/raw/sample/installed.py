"""Finds what a Python installation holds, for the sample corpus: its files and packages, each in a fixed order.

No file that it finds is imported.
"""

import os
import platform
import re
import sys
import sysconfig
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email import message_from_string
from email.message import Message
from importlib.metadata import Distribution, distributions
from pathlib import Path

from resources.errors import ConfigError, is_of_the_file
from resources.outside.looking import is_file

OWN_NAME = "corpus-assets"
# Settings of the build and of the machine, which are often links out of the library.
MACHINE_OWN = ("_sysconfigdata", "sitecustomize", "usercustomize")
PACKAGE_FOLDERS = frozenset({"site-packages", "dist-packages"})
NOT_CODE = frozenset({"__pycache__", "test", "tests", "idle_test", "ensurepip"}) | PACKAGE_FOLDERS


@dataclass(frozen=True)
class Origin:
    """The package of a text. `license` is a SPDX expression, a classifier or "unknown"."""

    package: str
    version: str
    license: str


@dataclass(frozen=True)
class InstalledFile:
    """One file of the installation. `name` is its `/`-separated path below the library folder."""

    name: str
    path: Path
    origin: Origin


@dataclass(frozen=True)
class Installation:
    """The files and package descriptions that the sample is made from, each in a fixed order."""

    standard: Sequence[InstalledFile]
    packages: Sequence[InstalledFile]
    descriptions: Sequence[tuple[Origin, str]]

    def versions(self) -> list[str]:
        """Returns `name==version` of Python, of its Unicode data and of every package that was found."""
        origins = [origin for origin, _ in self.descriptions]
        return [
            f"python=={sys.version}",
            f"unicode=={unicodedata.unidata_version}",
            *(f"{origin.package}=={origin.version}" for origin in origins),
        ]


def installation() -> Installation:
    """Returns the running interpreter's standard library and the packages installed for it, without this project.

    `ConfigError` if no package is found: most of the sample is made of them.
    """
    files: dict[str, InstalledFile] = {}
    descriptions = []
    for name, (distribution, headers) in sorted(_distributions().items()):
        origin = _origin(name, headers)
        descriptions.append((origin, _description(headers)))
        files.update((file.name, file) for file in _distribution_files(distribution, origin))
    return Installation(
        standard=_standard_files(Path(sysconfig.get_path("stdlib"))),
        packages=[files[name] for name in sorted(files)],
        descriptions=descriptions,
    )


def _distributions() -> dict[str, tuple[Distribution, Message]]:
    named = [folder for folder in sys.path if Path(folder).name in PACKAGE_FOLDERS]
    # What was installed with `pip --target` lies in a folder of any name.
    found = _distributions_in(named) or _distributions_in(sys.path)
    if not found:
        places = ", ".join(filter(None, sys.path)) or "sys.path, which is empty"
        raise ConfigError(f"sample: no installed package is in {places}; valid is a Python with packages from pip")
    return found


def _distributions_in(folders: Sequence[str]) -> dict[str, tuple[Distribution, Message]]:
    found: dict[str, tuple[Distribution, Message]] = {}
    for distribution in distributions(path=list(folders)):
        headers = _headers(distribution)
        name = re.sub(r"[-_.]+", "-", str(headers.get("Name", ""))).lower()
        if name not in {"", OWN_NAME}:
            found.setdefault(name, (distribution, headers))
    return found


def _headers(distribution: Distribution) -> Message:
    text = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""
    return message_from_string(text)


def _origin(name: str, headers: Message) -> Origin:
    classifiers = [str(line) for line in headers.get_all("Classifier", [])]
    licences = [line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License ::")]
    stated = str(headers.get("License", ""))
    short = stated if "\n" not in stated else ""
    licence = str(headers.get("License-Expression", "")) or "; ".join(licences) or short or "unknown"
    return Origin(name, str(headers.get("Version", "")), licence)


def _description(headers: Message) -> str:
    return str(headers.get_payload()) or str(headers.get("Description", ""))


def _distribution_files(distribution: Distribution, origin: Origin) -> Iterator[InstalledFile]:
    for file in distribution.files or []:
        # Scripts are outside the library folder; an editable install is only a path of one machine.
        if ".." not in file.parts and not file.is_absolute() and "__editable__" not in file.name:
            yield InstalledFile(file.as_posix(), Path(str(distribution.locate_file(file))), origin)


def _standard_files(root: Path) -> list[InstalledFile]:
    origin = Origin("python", platform.python_version(), "PSF-2.0")
    found = []
    for folder, subfolders, names in os.walk(root, onerror=_refuse):
        subfolders[:] = [name for name in subfolders if name not in NOT_CODE]
        paths = [Path(folder, name) for name in names if not name.startswith(MACHINE_OWN)]
        found += [InstalledFile(path.relative_to(root).as_posix(), path, origin) for path in paths if is_file(path)]
    return sorted(found, key=lambda file: file.name)


def _refuse(error: OSError) -> None:
    """Raises the error of a folder that the machine cannot list now; one without rights is passed over."""
    if not is_of_the_file(error):
        raise error
