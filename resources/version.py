"""The version of the project, which `corpus --version` prints, records keep and the package takes from here."""

from typing import Final

VERSION: Final = "0.2.0"
