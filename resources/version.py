"""The version of the project: `corpus --version` prints it, records keep it, and the package takes it from here."""

from typing import Final

VERSION: Final = "0.2.0"
