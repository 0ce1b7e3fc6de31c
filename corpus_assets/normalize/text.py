"""Text normalization: NFC alone, SlimPajama's full ftfy, or nothing."""

import unicodedata
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, get_args

from corpus_assets.normalize.settled import unsettled
from resources.errors import ConfigError

Method = Literal["nfc", "ftfy", "none"]
_METHODS = get_args(Method)


def nfc(text: str) -> str:
    """Returns a text in Unicode normalization form C, by the Unicode version of this Python.

    Only the places that may not be in that form yet are normalized, since Python's check is slow at every letter that
    could combine with the one before.
    """
    if text.isascii():
        return text
    spans = unsettled(text)
    if spans is None:
        return unicodedata.normalize("NFC", text)
    pieces: list[str] = []
    done = 0
    for start, end in spans:
        pieces += text[done:start], unicodedata.normalize("NFC", text[start:end])
        done = end
    return "".join((*pieces, text[done:])) if pieces else text


def _keep(text: str) -> str:
    return text


def normalizer(method: Method, fixes: Mapping[str, Any] = MappingProxyType({})) -> Callable[[str], str]:
    """Returns the normalization function of that name, pure and picklable. `ConfigError` for an unknown name.

    fixes: of ftfy, by their names in its TextFixerConfig, where they are not as usual.
    """
    methods: dict[str, Callable[[str], str]] = {"nfc": nfc, "none": _keep}
    if method == "ftfy":
        from corpus_assets.normalize.fixed import WITH_HTML, fix  # ftfy makes its tables when it is loaded.

        methods["ftfy"] = partial(fix, config=WITH_HTML._replace(**fixes)) if fixes else fix
    if method not in methods:
        raise ConfigError(f"normalize.method is {method!r}; valid: {', '.join(_METHODS)}")
    return methods[method]
