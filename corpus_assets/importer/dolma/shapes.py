"""Types that values of the toolkit's configurations must have, so that a message names the key and what it holds."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from resources.errors import ConfigError

_TEXTS: Final = "a list of texts"
_WHOLE: Final = "a whole number"
_NUMBER: Final = "a number"
_STREAM: Final = {
    "documents": _TEXTS,
    "attributes": _TEXTS,
    "filter": {"include": _TEXTS, "exclude": _TEXTS},
    "output": {"max_size_in_bytes": _WHOLE, "min_text_length": _WHOLE, "discard_fields": _TEXTS},
    "compression": {},
    "span_replacement": [{"min_score": _NUMBER, "max_score": _NUMBER}],
}
_NGRAM: Final = {"ngram_length": _WHOLE, "stride": _WHOLE, "overlap_threshold": _NUMBER}
_SHAPES: Final[Mapping[str, Any]] = {
    "documents": _TEXTS,
    "taggers": _TEXTS,
    "tagger_modules": _TEXTS,
    "dedupe": {"documents": {}, "paragraphs": {"by_ngram": _NGRAM}, "min_length": _WHOLE, "min_words": _WHOLE},
    "bloom_filter": {},
    "tokenizer": {},
    "streams": [_STREAM],
}


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _converts(kind: Callable[[Any], Any], value: Any) -> bool:
    try:
        kind(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


_HOLDS: Final[Mapping[str, Callable[[Any], bool]]] = {
    _TEXTS: _is_texts,
    _WHOLE: lambda value: _converts(int, value),
    _NUMBER: lambda value: _converts(float, value),
}


def check_shapes(file: Path, values: Mapping[str, Any]) -> None:
    """Raises `ConfigError` with the key of a value of another type than the toolkit's; missing and null are none."""
    _check(f"{file}: ", values, _SHAPES)


def _check(key: str, value: Any, shape: Any) -> None:
    """Raises `ConfigError` for a value, or one in it. key: its place with a dot behind, for messages."""
    if isinstance(shape, str):
        if not _HOLDS[shape](value):
            raise _fault(key, value, shape)
    elif not isinstance(value, type(shape)):
        raise _fault(key, value, "a list" if isinstance(shape, list) else "a mapping")
    elif isinstance(shape, list):
        for place, one in enumerate(value):
            _check(f"{key}{place}.", one, shape[0])
    else:
        for name in (name for name in shape if value.get(name) is not None):
            _check(f"{key}{name}.", value[name], shape[name])


def _fault(key: str, value: Any, valid: str) -> ConfigError:
    of_texts = valid == _TEXTS and isinstance(value, list)
    wrong = [one for one in value if not isinstance(one, str)] if of_texts else []
    return ConfigError(f"{key.removesuffix('.')}: received {(wrong or [value])[0]!r:.200}; valid: {valid}")
