"""YAML as `corpus.yaml` uses it: plain values only, every key once, nothing that grows when it is read."""

from typing import Any

import yaml

from resources.errors import ConfigError


class _StrictLoader(yaml.SafeLoader):
    """PyYAML's safe loader without anchors, whose expansion has no bound, and without silently lost keys."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            problem = "anchors and aliases (& and *) are not read; write the value out"
            raise yaml.composer.ComposerError(None, None, problem, event.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                problem = f"key {key.value!r} is given twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(str(key.value))
        return super().construct_mapping(node, deep)


def load_yaml(text: str, where: str) -> Any:
    """The plain values of one YAML document.

    Raises `ConfigError` with `where` and the line for what is no YAML, a tag that is no plain type, a key given
    twice, an anchor, or nesting too deep to read.
    """
    try:
        return yaml.load(text, _StrictLoader)
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"{where}: not YAML that can be used: {error}") from None
    except RecursionError:
        raise ConfigError(f"{where}: not YAML that can be used: nested too deep") from None
