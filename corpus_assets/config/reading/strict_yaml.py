"""Reads YAML as `corpus.yaml` uses it: only plain values, every key once, and no anchors."""

from contextlib import suppress
from typing import Any

import yaml
from typing_extensions import override

from resources.errors import ConfigError
from resources.outside.hidden import may_hold_credentials

MAX_CONFIG_BYTES = 4 << 20
MAX_VALUES = 50_000
"""Most keys and values of a file, since the loader needs a tenth of a millisecond for each."""
_BOOLEAN, _TEXT = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:str"


class _StrictLoader(yaml.SafeLoader):
    """PyYAML's safe loader, without anchors (which expand without limit), duplicate keys and keys that are no words."""

    @override
    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            problem = "anchors and aliases (& and *) are not read; write the value out"
            raise yaml.composer.ComposerError(None, None, problem, event.start_mark)
        return super().compose_node(parent, index)

    @override
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                problem = f"key {key.value!r} is given twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(str(key.value))
            if key.tag == _BOOLEAN:  # YAML 1.1 reads the key `on` as true.
                key.tag = _TEXT
        return super().construct_mapping(node, deep)


def load_yaml(text: str, where: str) -> Any:
    """Returns the plain values of one YAML document.

    Raises `ConfigError` with `where` and the line if the text is not YAML, or has a tag that is not a plain type, a key
    given twice, an anchor, nesting too deep to read, or more than `MAX_VALUES` keys and values.
    """
    _require_few(text, where)
    try:
        return yaml.load(text, _StrictLoader)
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"{where}: not YAML that can be used: {_words(error, text)}") from None
    except RecursionError:
        raise ConfigError(f"{where}: not YAML that can be used: nested too deep") from None


def _words(error: Exception, text: str) -> str:
    """Returns what is wrong and where; with the line itself if nothing in the text may be a credential."""
    if may_hold_credentials(text) and isinstance(error, yaml.MarkedYAMLError):
        for mark in (error.context_mark, error.problem_mark):
            if mark is not None:
                mark.buffer = None
    return str(error)


def _require_few(text: str, where: str) -> None:
    """Counts keys and values, which is fast in C; text that is no YAML is left to the loader's error."""
    count = 0
    with suppress(yaml.YAMLError, ValueError):
        for event in yaml.parse(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            count += isinstance(event, yaml.NodeEvent)
            if count > MAX_VALUES and event.start_mark is not None:
                most = f"a configuration has at most {MAX_VALUES:,} keys and values"
                raise ConfigError(f"{where}: {most}; here are more from line {event.start_mark.line + 1:,} on")
