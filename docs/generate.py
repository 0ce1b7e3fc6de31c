"""Writes the generated pages: `python -m docs.generate`. A test checks that they are current.

`configuration.md` comes from the schema, `cli.md` from the command line itself.
"""

import inspect
import types
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import typer
import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from corpus_assets.cli.main import app
from corpus_assets.config.corpus_config import CorpusConfig
from corpus_assets.config.reading.profiles import PROFILES
from corpus_assets.config.section import Bytes
from docs.attributes_page import attributes_page

FOLDER = Path(__file__).parent
SIZE = get_args(Bytes)[1]
UNITS = {"": 1, "KiB": 1 << 10, "MB": 10**6, "MiB": 1 << 20, "GB": 10**9, "GiB": 1 << 30, "TB": 10**12, "TiB": 1 << 40}
INNER = {
    "S3Access": "`sources[].s3`, `datasets[].input.s3` and `benchmarks[].s3`",
    "S3Section": "`storage.s3`",
    "CacheSection": "`storage.cache`",
    "Csv": "`sources[].csv`, `datasets[].input.csv` and `benchmarks[].csv`",
    "Guard": "`dedup.guard`",
    "Range": "`filter.rules`, each",
    "SpanReplacement": "`filter.span_replacement[]`",
    "HoldoutCount": "`holdout` as a count",
    "TaggerOptions": "`attributes[].options.TAGGER`",
    "Ngrams": "`dedupers[].ngram`",
    "Bloom": "`dedupers[].bloom`",
    "Weights": "`datasets[].weights`",
    "AmberSet": "`datasets[].input[]` with `format: amber`",
    "Party": "`card.creators[]`, `card.publisher` and `card.representative`",
    "Model": "`card.model`",
    "SourceCard": "`card.sources.SOURCE`",
    "Files": "`datasets[].input` as files of its own",
    "TokenFiles": "`datasets[].input` as files of ids",
    "TextFixes": "`normalize.ftfy`, and `datasets[].ftfy` in the stead of `true`",
}

INTRODUCTION = """# Configuration

`python -m docs.generate` writes this page from the schema; a test checks that it is current.

One file, `corpus.yaml`, describes a corpus. The program refuses an unknown key, a wrong type or an impossible
combination; the message names the key, what was received and what is valid. Relative paths start at the folder of the
file. Sizes may be written as `512 MiB`, `4 GiB` or `20 GB`, shares as `0.02` or `2%`.

Each asset depends only on the values that it uses. If you change `split.holdout`, the minhashes stay fresh; if you
change `engine` or `licence`, everything stays fresh. Before you pay for a change, `corpus plan` says what it costs.

Some keys of `datasets` follow Cerebras' Model Zoo (in the tables: Cerebras); see
[formats/cerebras-rows.md](formats/cerebras-rows.md).

```yaml
sources:
  - name: books
    location: raw/books
  - name: web
    location: raw/web
    glob: "2024-*/**/*.jsonl.gz"
    epochs: 0.5
```
"""


def configuration_page() -> str:
    """Returns the page with every key of corpus.yaml."""
    models = list(dict.fromkeys(_models(CorpusConfig)))
    parts = [INTRODUCTION, _section("Top level", CorpusConfig)]
    parts += [_section(_title(model), model) for model in models]
    return "\n".join([*parts, _profiles()])


def _models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Yields every section below a section, in order."""
    for field in model.model_fields.values():
        for found in _nested(field.annotation):
            yield found
            yield from _models(found)


def _nested(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _nested(argument)


def _title(model: type[BaseModel]) -> str:
    """Returns where the section is in the file."""
    for name, field in CorpusConfig.model_fields.items():
        if model in set(_nested(field.annotation)):
            if get_origin(field.annotation) is list:
                return f"`{name}[]`{_branch(model)}"
            several = len(set(_nested(field.annotation))) > 1
            return f"`{name}`{_branch(model)}" if several else f"`{name}`"
    return INNER[model.__name__]


def _branch(model: type[BaseModel]) -> str:
    """Returns what chooses a section where there may be several."""
    for key in ("kind", "mode", "format"):
        if (field := model.model_fields.get(key)) and get_args(field.annotation):
            return f" with `{key}: {get_args(field.annotation)[0]}`"
    return ""


def _section(title: str, model: type[BaseModel]) -> str:
    rows = [_row(name, field) for name, field in model.model_fields.items()]
    table = ["| key | type | default | meaning |", "|---|---|---|---|", *rows]
    return "\n".join([f"## {title}", "", inspect.cleandoc(model.__doc__ or ""), "", *table, ""])


def _row(name: str, field: FieldInfo) -> str:
    size = _is_size(field)
    meaning = (field.description or _subject(field)).replace("|", "\\|")
    limits = ", ".join(filter(None, (_limit(entry, size=size) for entry in field.metadata)))
    meaning += f" ({limits})" if limits else ""
    return f"| `{name}` | {_type(field.annotation, field.metadata)} | {_default(field)} | {meaning.strip()} |"


def _subject(field: FieldInfo) -> str:
    """Returns what the section of a key is about, for a key that says nothing itself."""
    models = list(_nested(field.annotation))
    return inspect.cleandoc(models[0].__doc__ or "").partition("\n")[0].removesuffix(".") if len(models) == 1 else ""


def _limit(entry: Any, *, size: bool) -> str:
    words = {"ge": "at least", "gt": "over", "le": "at most", "lt": "under"}
    limits = ((word, getattr(entry, key, None)) for key, word in words.items())
    found = [(word, limit) for word, limit in limits if limit is not None]
    return ", ".join(f"{word} {_size(limit) if size else limit}" for word, limit in found if limit or not size)


def _is_size(field: FieldInfo) -> bool:
    """Returns whether a key is a number of bytes, which may be written with a unit."""
    inner = (getattr(entry, "__metadata__", ()) for entry in (field.annotation, *get_args(field.annotation)))
    return SIZE in field.metadata or any(SIZE in found for found in inner)


def _size(count: int) -> str:
    """Returns a number of bytes in the largest unit of which it is a multiple."""
    unit, name = max((unit, name) for name, unit in UNITS.items() if count % unit == 0)
    return f"{count // unit} {name}".strip()


def _type(annotation: Any, metadata: Sequence[Any] = ()) -> str:
    origin = get_origin(annotation)
    if SIZE in (*metadata, *getattr(annotation, "__metadata__", ())):
        return "size"
    if origin is Literal:
        return " \\| ".join(f"`{value}`" for value in get_args(annotation))
    if origin in (Union, types.UnionType):
        parts = (_type(entry) for entry in get_args(annotation) if entry is not type(None))
        return " \\| ".join(dict.fromkeys(parts))
    if origin is dict:
        return "mapping to sections" if list(_nested(annotation)) else "mapping"
    if origin is list:
        return f"list of {_type(get_args(annotation)[0])}"
    if origin is not None:
        return _type(get_args(annotation)[0])
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "section"
    words = {str: "text", int: "integer", float: "number", bool: "true \\| false"}
    return words.get(annotation, str(annotation))


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    default = field.get_default(call_default_factory=True)
    if default is None or default is PydanticUndefined or default == []:
        return "none"
    if isinstance(default, BaseModel) or (isinstance(default, list) and isinstance(default[0], BaseModel)):
        return "see below"
    return f"`{_size(default) if _is_size(field) else _value(default)}`"


def _value(value: Any) -> str:
    """Returns a value as corpus.yaml has it, for a cell of a table."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | dict):
        return yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=1000).strip()
    return str(value).replace("\n", "\\n").replace("|", "\\|") or '""'


def _profiles() -> str:
    lines = ["## Profiles", "", "`compat` sets these values; a value that you write yourself wins.", ""]
    for name, sections in PROFILES.items():
        lines += [f"`compat: {name}`", "", "| key | value |", "|---|---|"]
        lines += [f"| `{s}.{key}` | `{_value(value)}` |" for s, keys in sections.items() for key, value in keys.items()]
        lines.append("")
    return "\n".join(lines)


CLI_INTRODUCTION = """# Commands

`python -m docs.generate` writes this page from the program; a test checks that it is current.

| exit code | meaning |
|---|---|
| 0 | all is well |
| 1 | something failed: a partition, a check, a damaged file; `corpus plan`: a source has no files that can be used |
| 2 | the command line or the configuration is wrong |
| 3 | `corpus plan` with `--json` or `--check`: something is not fresh |
| 130 | interrupted; partitions that are complete are kept |

With `--json` a command prints one JSON object on standard output, and nothing else there:

- `corpus plan --json`: `{"partitions": [{"asset", "partition", "status", "reason"}], "counts": {"fresh", "missing",
  "stale", "waiting"}, "orphans": [{"asset", "partition"}], "notes": [...], "held_back": {reason: partitions that wait},
  "failed_before": {partition: words}, "outlook": {"sure", "may_change", "held_back"}}`; each outlook has `partitions`,
  and of the `recorded` ones among them the stored `bytes` and the `seconds` of the last time; `partition` is null for
  an asset without partitions; like `--check`, the command exits with 3 when anything is not fresh
- `corpus build --json`: `{"recomputed", "elsewhere", "fresh", "failed", "waiting", "seconds", "by_asset": {...},
  "errors": [...], "held_back": [...], "log", "build_log", "summary": {"raw_files", "read", "documents",
  "not_sampled", "kept", "repeats", "held_out", "train", "dropped": {...},
  "datasets": [{"name", "rows", "tokens", "folder"}], "unfinished": {...}, "page"}, "notes": [...],
  "examples": [...], "orphans"}`;
  `elsewhere` counts the partitions that other builders of the store made meanwhile, `page` is the path of the report
  below the store, `log` is the file with all errors, `build_log` that with all that happened; `documents` are of `read`
  of the `raw_files`; `kept`, `held_out` and `train` are null while nothing of them is built, and `unfinished` says of
  them and of `datasets.NAME` what is `not built`, `built in part` or `not up to date`; `--events` prints lines while
  the build runs
- `corpus estimate --json`: `{"documents", "text_bytes", "kept", "tokens": {dataset: ...}, "cpu_seconds",
  "wall_seconds", "disk_bytes", "memory_bytes", "prices": {"cpu", "month"},
  "duplicates": {"found", "expected", "least", "most"},
  "stages": [{"asset", "partitions", "cpu_seconds", "seconds", "bytes", "rows", "due", "recorded"}], ...}`; numbers
  that are estimated are `{"value", "error", "fixed"}` ([before-a-build.md](before-a-build.md))
- `corpus packing --json`: `{"dataset", "sequence_length", "depth", "documents", "ids", "sequences", "lower_bound",
  "methods": [{"method", "depth", "rows", "fill", ...}], ...}`; [packing.md](packing.md) has all of it
- `corpus doctor --json`: `{"ok", "findings": [{"subject", "found", "advice", "broken"}]}`; like without,
  the command exits with 1 when something is broken; `first build` says about how long one takes and what it stores,
  by records or the last `corpus estimate`, and `storage` compares the free disk with that
  ([before-a-build.md](before-a-build.md))
- `corpus verify --json`: `{"checked", "bad": [{"asset", "partition", "file", "problem"}], "unread": [...], "suspect",
  "unsure", "unowned", "mended"}`; `unread` holds what the machine could not read, as `bad`
  does, and is never mended; like without, the command exits with 1 then. `suspect` was made from what is bad; `unsure`
  names what reads it too and says that it was made before: the bad partition was made again since, or the clock was set
  back
- `corpus verify --absent LIST --json`: `{"entries", "searched", "texts", "token_rows", "shared", "too_short",
  "found": [{"partition", "file", "row", "id", "named", "tokens"}], "unproven": [...]}` ([takedown.md](takedown.md))
- `corpus copy --json`: `{"from", "to", "copied", "already_there", "gone", "files", "bytes", "removed",
  "errors": [...]}` ([copying.md](copying.md))

A build writes all its errors to a file in `errors/` of the DAGSTER_HOME (`.dagster_home` beside corpus.yaml), and says
which; the last 20 files are kept. What happened when is in `logs/` beside it
([before-a-build.md](before-a-build.md)).

The last failure of a partition is kept in `ledger/.failures` of the store, and `corpus plan` shows it until the
partition succeeds, or its input or parameters change. `corpus --version` prints the version.

The configuration is `--config`, else `$CORPUS_CONFIG`, else `corpus.yaml` in the working folder.

`corpus show --row 5 --row 100-120` shows these rows of every file of documents, attributes or token rows, or of arrays
where there are no others. Rows count from 0, in each file; they come in order, each once. Of documents, of token rows
and of arrays nothing else is read; other files of lines have no index and are read from their start. A row beyond the
end of all files is an error (2).
"""


def cli_page() -> str:
    """Returns the page with every command, its arguments and options."""
    group = typer.main.get_command(app)
    commands: dict[str, Any] = vars(group)["commands"]
    return "\n".join([CLI_INTRODUCTION, *(_command(name, command) for name, command in _leaves(commands))])


def _leaves(commands: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yields every command that does something, with the names of the commands it belongs to."""
    for name, command in commands.items():
        if inner := vars(command).get("commands"):
            yield from _leaves(inner, f"{above}{name} ")
        else:
            yield f"{above}{name}", command


def _command(name: str, command: Any) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option"]
    usage = " ".join(["corpus", name, *(_argument(p) for p in arguments), "[OPTIONS]" if options else ""]).strip()
    rows = [f"| `{', '.join([*p.opts, *p.secondary_opts])}` | {_help(p)} |" for p in options]
    table = ["| option | meaning |", "|---|---|", *rows, ""] if rows else []
    return "\n".join([f"## `{usage}`", "", command.help or "", "", *table])


def _help(option: Any) -> str:
    """Returns what an option means, and its default if it has a value."""
    value = option.default
    if value is None or isinstance(value, bool):
        return str(option.help or "")
    return f"{option.help or ''} Default {value:g}." if isinstance(value, float) else f"{option.help} Default {value}."


def _argument(parameter: Any) -> str:
    name = parameter.metavar or parameter.name.upper()
    return name if parameter.required else f"[{name}]"


PAGES = {"configuration.md": configuration_page, "cli.md": cli_page, "attributes.md": attributes_page}


if __name__ == "__main__":
    for file, page in PAGES.items():
        (FOLDER / file).write_text(page(), encoding="utf-8")
