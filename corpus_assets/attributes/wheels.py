"""Optional libraries: the installed version, or the command that installs them."""

from importlib.metadata import PackageNotFoundError, version

from resources.errors import ConfigError


def wheel_version(wheel: str, extra: str, what: str) -> str:
    """Returns the version of an optional distribution; `ConfigError` has the command that installs it.

    extra: the extra of this project that contains it; empty for none. what: the user of the library, with its
    configuration key.
    """
    try:
        return version(wheel)
    except PackageNotFoundError:
        install = f"corpus-assets[{extra}]" if extra else wheel
        named = f" (extra {extra!r})" if extra else ""
        raise ConfigError(f"{what} needs the wheel {wheel}{named}; run: pip install '{install}'") from None
