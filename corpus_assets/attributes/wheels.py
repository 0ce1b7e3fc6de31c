"""Optional libraries: which version is installed, or what to install."""

from importlib.metadata import PackageNotFoundError, version

from resources.errors import ConfigError


def wheel_version(wheel: str, extra: str, what: str) -> str:
    """Returns the version of an optional distribution; `ConfigError` says what installs it.

    extra: the extra of this project that names it; empty for none. what: what needs it, with its configuration key.
    """
    try:
        return version(wheel)
    except PackageNotFoundError:
        install = f"corpus-assets[{extra}]" if extra else wheel
        named = f" (extra {extra!r})" if extra else ""
        raise ConfigError(f"{what} needs the wheel {wheel}{named}; run: pip install '{install}'") from None
