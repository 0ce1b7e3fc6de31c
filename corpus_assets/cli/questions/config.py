"""`corpus config`: the configuration as it is used, or what of it differs from the defaults."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from corpus_assets.cli.console import output, print_json, print_line
from corpus_assets.config.reading.differing import NO_DEFAULT, TAGS, Differing, differing, differing_values
from corpus_assets.config.reading.loading import Loaded, loaded_config
from corpus_assets.corpus.corpus import config_file
from corpus_assets.orchestration.shown.config_text import config_text

_LONGEST = 60


class _OneLine(yaml.SafeDumper):
    """Writes values on one line, also texts of several."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"' if "\n" in text else None)


_OneLine.add_representer(str, _text)


def run(config: Path | None, changes: Sequence[str], *, changed: bool, as_json: bool) -> None:
    """Prints the configuration as YAML that gives it. changed: only what differs from the defaults."""
    loaded = loaded_config(config_file(config), changes)
    if as_json:
        print_json(_as_json(loaded, changed=changed))
        return
    out = output()
    print_line(out, f"# {' <- '.join(str(file) for file in loaded.files)}")
    for line in changed_lines(loaded) if changed else [config_text(loaded.config)]:
        print_line(out, line)


def _as_json(loaded: Loaded, *, changed: bool) -> dict[str, Any]:
    files = [str(file) for file in loaded.files]
    if not changed:
        return {"files": files, "config": loaded.config.model_dump(mode="json")}
    rows = [
        {"key": one.name, "value": _plain(one.value), **_default(one), "from": one.where or None}
        for one in differing(loaded)
    ]
    return {"files": files, "config": _plain(differing_values(loaded)), "changed": rows}


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))


def _default(one: Differing) -> dict[str, Any]:
    return {} if one.default is NO_DEFAULT else {"default": _plain(_dumped(one.default))}


def _dumped(value: Any) -> Any:
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else value


def changed_lines(loaded: Loaded) -> Iterator[str]:
    """Yields the lines of a file that says only what differs; comments name the default and where a value is from."""
    rows = {one.key: one for one in differing(loaded)}
    for name, value in differing_values(loaded).items():
        yield from _lines(name, value, name, "", rows)


def _lines(name: Any, value: Any, key: str, indent: str, rows: Mapping[str, Differing]) -> Iterator[str]:
    if key in rows or not isinstance(value, Mapping | list):
        yield f"{indent}{_flow(name)}: {_flow(value)}{_comment(rows.get(key))}"
        return
    yield f"{indent}{_flow(name)}:"
    if isinstance(value, Mapping):
        for below, one in value.items():
            yield from _lines(below, one, f"{key}.{below}", f"{indent}  ", rows)
        return
    for number, entry in enumerate(value):
        if not isinstance(entry, Mapping):
            yield f"{indent}  - {_flow(entry)}"
            continue
        for place, (below, one) in enumerate(entry.items()):
            lines = _lines(below, one, f"{key}.{number}.{below}", f"{indent}    ", rows)
            first = next(lines)
            yield first if place else f"{indent}  - {first.lstrip()}"
            yield from lines


def _flow(value: Any) -> str:
    """Returns a value on one line of YAML."""
    text = yaml.dump(value, Dumper=_OneLine, default_flow_style=True, width=10**9, allow_unicode=True, sort_keys=False)
    return text.removesuffix("\n").removesuffix("\n...")


def _comment(one: Differing | None) -> str:
    if one is None:
        return ""
    default = "" if one.key.rpartition(".")[2] in TAGS else _shown_default(one)
    words = ", ".join(part for part in (default, one.where) if part)
    return f"  # {words}" if words else ""


def _shown_default(one: Differing) -> str:
    if one.default is NO_DEFAULT or one.default is None:
        return ""
    shown = _flow(_plain(_dumped(one.readable_default)))
    return f"default {shown}" if len(shown) <= _LONGEST else ""
