"""What the configuration says, the whole with its defaults, and recorded values of stages that differ from it."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from pydantic import BaseModel

from corpus_assets.config.reading.differing import NO_DEFAULT, Differing, differing
from corpus_assets.config.reading.loading import loaded_config
from corpus_assets.viewer.opened import View
from corpus_assets.viewer.site import Asked, link, page, seen, short
from resources.outside.hidden import is_secret

MOST_RECORDED = 200


def configuration(asked: Asked) -> str:
    """Shows the keys of corpus.yaml that differ from the defaults, and folded away every key with its value."""
    view = asked.view
    config = view.corpus.config
    whole, given = config.model_dump(mode="json"), config.model_dump(mode="json", exclude_unset=True)
    recorded = view.looks.get("recorded", lambda: list(_recorded(view)))
    loaded = loaded_config(view.corpus.file, view.corpus.changes)
    sections = [(name, list(_values(value, given.get(name), name))) for name, value in whole.items()]
    return page(
        asked,
        "config.html",
        "Configuration",
        file=view.corpus.file.name,
        bases=[os.path.relpath(file, view.corpus.file.parent) for file in loaded.files[1:]],
        changed=[_changed(one) for one in differing(loaded)],
        config_sections=sections,
        keys=sum(len(values) for _, values in sections),
        recorded=recorded[:MOST_RECORDED],
        more=max(0, len(recorded) - MOST_RECORDED),
    )


def _changed(one: Differing) -> dict[str, str]:
    default = "" if one.default is NO_DEFAULT or isinstance(one.default, BaseModel) else one.readable_default
    before = "" if default in ("", None) else _shown(one.name, default)
    return {"key": one.name, "value": _shown(one.name, one.value), "default": before, "where": one.where}


def _values(value: Any, given: Any, key: str) -> Iterator[tuple[str, str, bool]]:
    """Yields each key below one with its value in words, and whether it was given."""
    if isinstance(value, Mapping) and value:
        for name, below in value.items():
            yield from _values(below, given.get(name) if isinstance(given, Mapping) else None, f"{key}.{name}")
    elif isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
        for number, below in enumerate(value):
            name = below.get("name", number) if isinstance(below, Mapping) else number
            ours = given[number] if isinstance(given, Sequence) and number < len(given) else None
            yield from _values(below, ours, f"{key}.{name}")
    else:
        yield key, _shown(key, value), given is not None


def _shown(key: str, value: Any) -> str:
    if value is not None and is_secret(key.rpartition(".")[2], value):
        return "(not shown)"
    return (
        seen(value[:2000]) if isinstance(value, str) else short(msgspec.json.encode(value, enc_hook=str).decode(), 1000)
    )


def _recorded(view: View) -> Iterator[dict[str, Any]]:
    """Yields each recorded parameter that has another value now, with the number of partitions made with it."""
    planner = view.planner()
    for stage in planner.graph:
        differing: dict[tuple[str, str, str], int] = {}
        records = planner.records(stage.name)
        for key in planner.partitions(stage):  # Orphans have no present parameters.
            record = records.get(key)
            now = {} if record is None else planner.parameters(stage, key)
            if record is None or record.parameters == now:
                continue
            for name in dict.fromkeys([*record.parameters, *now]):
                for place, before, after in differences(name, record.parameters.get(name), now.get(name)):
                    change = (place, _shown(place, before), _shown(place, after))
                    differing[change] = differing.get(change, 0) + 1
        for (name, before, after), count in differing.items():
            yield {
                "asset": stage.name,
                "href": link("assets", stage.name),
                "key": name,
                "before": before,
                "after": after,
                "partitions": count,
            }


def differences(key: str, before: Any, after: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yields the places below a key at which two values differ, with what stands there in each; None for nothing."""
    if before == after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in dict.fromkeys([*before, *after]):
            yield from differences(f"{key}.{name}", before.get(name), after.get(name))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, pair in enumerate(zip(before, after, strict=True)):
            yield from differences(f"{key}[{number}]", *pair)
    else:
        yield key, before, after
