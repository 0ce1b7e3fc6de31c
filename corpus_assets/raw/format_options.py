"""The options of formats and compressions as parameters of a stage.

They exist only if a source sets them, so that records from before an option existed stay fresh.
"""

from collections.abc import Mapping
from typing import Any

from corpus_assets.config.file_formats import BLANK_LINE, Html, given_options
from corpus_assets.raw.rows.rules import FormatOptions
from corpus_assets.raw.web.extractors import extractor_version
from resources.formats.codecs import ZSTD_WINDOW_BYTES

_EXTRACTOR = "extractor"
_HTML = "html"
_SAMPLE = "sample"
_WINDOW = "largest_window"
_METADATA_KEYS = "metadata_keys"
_SEPARATOR = "text_separator"
_KEYS = (
    *("text_key", "id_key", "metadata_key", "prompt_key", "completion_key", "messages_key", "chosen_key"),
    *("rejected_key", "role_key", "content_key"),
)
_DOTS, _WEB = "dots", "web"
RULES = {_DOTS: "how keys with dots are read", _WEB: "how web crawls are read"}
"""Parameters that are versions of rules, and no keys of corpus.yaml."""
_OBJECTS = 1
"""How keys with dots are read, for records from before they led into objects."""
_READING = 3
"""How web crawls are read. Since 2: labels, prescan and decoders of the WHATWG, guessed charsets, no binary files.
Since 3: headers that are there several times."""


def key_options(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns how keys are read, as far as a section says more than one key without dots for each value.

    values: the section of corpus.yaml. Dots have led into objects since `_OBJECTS`.
    """
    given = {name: values[name] for name in (_METADATA_KEYS,) if values.get(name) is not None}
    if values.get(_SEPARATOR, BLANK_LINE) != BLANK_LINE:
        given[_SEPARATOR] = values[_SEPARATOR]
    named = (values.get(name) or () for name in _KEYS)
    if any("." in key for keys in named for key in ([keys] if isinstance(keys, str) else keys)):
        given[_DOTS] = _OBJECTS
    return given


def says_web(values: Mapping[str, Any]) -> bool:
    """Returns whether a section declares web crawls; with format `auto` any file may be one."""
    says = f"{values.get('format')} {values.get('glob')}"
    return bool(values.get(_EXTRACTOR)) or any(word in says for word in ("warc", "wet"))


def format_parameters(values: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Returns the options that a source or a dataset's own files set, by dotted key.

    The extractor has its version; in a sample of a corpus its share is included. values: the section of corpus.yaml.
    `ConfigError` names the extra of an extractor that is not installed.
    """
    given = given_options(values["csv"], values.get(_EXTRACTOR), values.get(_HTML)) | key_options(values)
    if values[_WINDOW] != ZSTD_WINDOW_BYTES:
        given[_WINDOW] = values[_WINDOW]
    if says_web(values):
        given[_WEB] = _READING
    if _EXTRACTOR in given:
        named = given[_EXTRACTOR]
        given[_EXTRACTOR] = extractor_version(named) if isinstance(named, str) else list(map(extractor_version, named))
    given |= {f"{_SAMPLE}.{key}": value for key, value in values.get(_SAMPLE, {}).items()}
    return {f"{prefix}.{key}": value for key, value in given.items()}


def format_options(parameters: Mapping[str, Any], prefix: str) -> FormatOptions:
    """Returns the options that `format_parameters` made parameters from."""
    columns = parameters.get(f"{prefix}.csv.columns")
    named = parameters.get(f"{prefix}.{_EXTRACTOR}") or ()
    extractors = (named,) if isinstance(named, str) else named
    usual = Html()
    return FormatOptions(
        delimiter=parameters.get(f"{prefix}.csv.delimiter"),
        quote=parameters.get(f"{prefix}.csv.quote", '"'),
        columns=None if columns is None else tuple(columns),
        extractors=tuple(one.partition(" ")[0] for one in extractors),
        least=parameters.get(f"{prefix}.{_HTML}.least", usual.least),
        form=parameters.get(f"{prefix}.{_HTML}.form", usual.form),
        seconds=parameters.get(f"{prefix}.{_HTML}.seconds", usual.seconds),
        escape=parameters.get(f"{prefix}.csv.escape"),
        window=parameters.get(f"{prefix}.{_WINDOW}", ZSTD_WINDOW_BYTES),
    )
