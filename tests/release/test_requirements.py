"""What the modules import comes with what the package asks for."""

import sys
import tomllib
from importlib.metadata import packages_distributions

from packaging.utils import canonicalize_name

from tests.house import PACKAGES, TOP, imported, roots, sources
from tests.release.installing import closure


def test_every_package_that_is_imported_comes_with_the_requirements_or_an_extra() -> None:
    """Late imports too. A package of an extra that is not installed here has no name that could be compared."""
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {name: lines for name, lines in project["optional-dependencies"].items() if name != "dev"}
    asked = closure([*project["dependencies"], *(line for lines in extras.values() for line in lines)])
    names = {name for file in sources().values() for name in roots(imported(file))}
    names -= {*sys.stdlib_module_names, *PACKAGES}
    installed = packages_distributions()
    outside = {name: {*map(canonicalize_name, installed[name])} for name in names if name in installed}
    assert len(outside) > 30
    assert {name: found for name, found in outside.items() if not found & asked} == {}
