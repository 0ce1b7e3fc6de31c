"""What no message and page may show, since it may hold credentials: values of certain names, and certain addresses."""

import re
from typing import Final

_VARIABLE: Final = "env:"
HIDDEN: Final = "what is not shown, since it may hold credentials"
_NAMES = re.compile(
    r"secret|passw|credential|webhook|authorization|api_?key|access_?key|private_?key|(auth|hf|hub|access|session)_?token",
    re.I,
)
_SIGNED = re.compile(r"://(\S*@|\S*\?)|[^\s/]+:[^\s/]+@")


def is_secret_name(name: str) -> bool:
    """Returns whether what stands under a name is hidden, such as `hf_token`."""
    return _NAMES.search(name) is not None


def is_secret(name: str, value: object) -> bool:
    """Returns whether a value under a name is hidden: not the name of a variable of the environment, `env:NAME`."""
    return is_secret_name(name) and not (isinstance(value, str) and value.startswith(_VARIABLE))


def shown_address(address: str) -> str:
    """Returns an address or a path in quotes, or that it is not shown."""
    return HIDDEN if may_hold_credentials(address) else repr(address)


def may_hold_credentials(text: str) -> bool:
    """Returns whether a text holds an address with a user or a query, or one of the hidden names."""
    return _SIGNED.search(text) is not None or is_secret_name(text)
