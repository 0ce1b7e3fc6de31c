"""The page with every command, made from the command line itself."""

from collections.abc import Iterator, Mapping
from typing import Any

import typer

from corpus_assets.cli.main import app
from docs.headings import link

INTRODUCTION = """# Commands

| to | command |
|---|---|
@COMMANDS@

Every command reads the configuration `--config`, else `$CORPUS_CONFIG`, else `corpus.yaml` in the working folder.
`corpus --version` prints the version.

| exit code | meaning |
|---|---|
| 0 | all is well |
| 1 | something failed: a partition, a check, a damaged file; `corpus plan`: a source has no usable files |
| 2 | the command line or the configuration is wrong |
| 3 | `corpus plan` with `--json` or `--check`: something is not fresh |
| 130 | interrupted; complete partitions are kept |

An option that a command would not read beside the others that it is given is refused.

With `--json` a command prints one JSON object on standard output, and nothing else there. The sections of the commands
describe these objects.

`python -m docs.generate` writes this page from the program; a test checks that it is current.
"""

PURPOSES = {
    "doctor": "check that this machine can build the corpus",
    "sample": "get raw files to try everything with",
    "init": "write the first corpus.yaml for raw files of your own",
    "import dolma": "start from configurations or command lines of the Dolma toolkit",
    "import cerebras": "start from configurations of Cerebras' preprocessing",
    "import amber": "start from command lines of LLM360's amber-data-prep",
    "import slimpajama": "start from command lines of SlimPajama",
    "import datatrove": "start from a script of datatrove",
    "plan": "see what a build would compute, and why; try a change with `--set`",
    "config": "see what the configuration is, or with `--changed` what of it differs from the defaults",
    "estimate": "know time, disk and memory of a build before it starts",
    "build": "build what is not up to date; a small part first with `--sample`",
    "view": "look at documents, duplicates and token rows in a browser",
    "ui": "run and watch builds in the Dagster web UI",
    "docs": "read these pages as they belong to the installed version",
    "show": "print rows of a partition, or its record",
    "classifier": "see what a learned filter is worth, and export it",
    "tokens": "count tokens by source, split and dataset",
    "why": "find out what became of a document",
    "audit dedup": "let people judge a sample of the documents that were removed as near-duplicates",
    "trace": "find the document that a token comes from",
    "diff": "compare two corpora, or a corpus with its previous build",
    "sql": "ask records, documents and attributes in SQL",
    "packing": "compare methods of packing for a dataset",
    "weights": "begin a table of weights, with what each source or unit has",
    "check-windows": "check files in Amber's format line by line",
    "megatron-cache": "let a run of Megatron start at once",
    "verify": "find damaged files, or prove that a document is gone",
    "clean": "remove files that nothing needs any more",
    "copy": "copy the corpus to another store",
    "publish": "publish the corpus on the Hugging Face hub",
    "pull": "get a dataset of the hub into a folder, every file compared with its digest",
}
"""What each command is for, in the order in which most people need them."""

MORE = {
    "audit dedup": """How to judge: [near-duplicates.md](near-duplicates.md#was-it-right). With `--json`: `{"build",
"sources": {source: {"removed", "equal", "bands": {band: {"removed", "judged", "wrong", "unsure"}}, "bars", "nearest",
"wrong_share": {"share", "low", "high"} or null}}}`. `bars` counts the removed documents with another text by their
similarity, `nearest` kept documents by that of the nearest other kept one, both in 40 equal steps from 0 to 1.""",
    "plan": """With `--json`: `{"partitions": [{"asset", "partition", "status", "reason"}], "counts": {"fresh",
"missing", "stale", "waiting"}, "orphans": [{"asset", "partition"}], "notes": [...], "held_back": {reason: waiting
partitions}, "failed_before": {partition: words}, "outlook": {"sure", "may_change", "held_back"}}`. `partition` is null
for an asset without partitions. Each outlook has the number of `partitions`; for the `recorded` ones among them it has
their stored `bytes` and the `seconds` of their last computation. Like `--check`, `--json` exits with 3 if anything is
not fresh.

The last failure of a partition is kept in `ledger/.failures` of the store. `corpus plan` shows it until the partition
succeeds, or its input or parameters change.""",
    "config": """With `--json`: `{"files": [...], "config": {...}}`; with `--changed` too, `config` holds only what
differs, and `"changed": [{"key", "value", "default", "from"}]` lists it; `from` is the file and line, or `--set`
([variants.md](variants.md)).""",
    "build": """With `--json`: `{"recomputed", "elsewhere", "fresh", "failed", "waiting", "seconds", "by_asset": {...},
"errors": [...], "held_back": [...], "log", "build_log", "summary": {"raw_files", "read", "documents", "not_sampled",
"kept", "repeats", "held_out", "train", "dropped": {...}, "datasets": [{"name", "rows", "tokens", "folder"}],
"unfinished": {...}, "page"}, "notes": [...], "examples": [...], "orphans", "set": [...]}`.

- `elsewhere` counts partitions that other builders of the store made meanwhile.
- `log` is the file with all errors, `build_log` the file with all events.
- `documents` come from the `read` ones of the `raw_files`.
- `kept`, `held_out` and `train` are null while none of their partitions is built. `unfinished` says for them and for
  `datasets.NAME` what is `not built`, `built in part` or `not up to date`; for `documents`, that files
  changed and could not be read again.
- `page` is the path of the report below the store.
- `set` holds what was given with `--set` ([variants.md](variants.md)).

A build writes all errors to a file in `errors/` of the DAGSTER_HOME (`.dagster_home` beside corpus.yaml), and prints
its name; the last 20 files are kept. The events of each build are in `logs/` beside it
([before-a-build.md](before-a-build.md)).""",
    "estimate": """With `--json`: `{"documents", "text_bytes", "kept", "tokens": {dataset: ...}, "cpu_seconds",
"wall_seconds", "disk_bytes", "memory_bytes", "prices": {"cpu", "month"}, "duplicates": {"found", "expected", "least",
"most"}, "stages": [{"asset", "partitions", "cpu_seconds", "seconds", "bytes", "rows", "due", "recorded"}], ...}`.
Estimated numbers are `{"value", "error", "fixed"}` ([before-a-build.md](before-a-build.md)).""",
    "packing": """With `--json`: `{"dataset", "sequence_length", "depth", "documents", "ids", "sequences",
"lower_bound", "methods": [{"method", "depth", "rows", "fill", ...}], ...}` ([packing.md](packing.md)).""",
    "megatron-cache": """With `--json`: `{"folder", "caches": [{"base", "part", "prefix", "samples", "epochs",
"asked"}]}`. `base` is what names of files begin with; `prefix` is null for a blend. What to give the command, and how
to see that Megatron builds nothing: [trainers/megatron-lm.md](trainers/megatron-lm.md#index-files-ahead-of-a-run).""",
    "doctor": """With `--json`: `{"ok", "findings": [{"subject", "found", "advice", "broken"}]}`. The command exits with
1 if something is broken. The finding `first build` estimates time and disk of a first build, from records or the last
`corpus estimate`; `storage` compares the free disk with that ([before-a-build.md](before-a-build.md)).""",
    "verify": """With `--json`: `{"checked", "bad": [{"asset", "partition", "file", "problem"}], "unread": [...],
"suspect", "unsure", "unowned", "mended"}`. The command exits with 1 if anything is bad or unread.

- `unread` lists the files that the machine could not read, in the form of `bad`; they are never mended.
- `suspect` names partitions that were made from bad ones.
- `unsure` names partitions that read bad ones but are older, by their records: the bad partition was rebuilt since, or
  the clock was set back.

With `--absent LIST --json`: `{"entries", "searched", "texts", "token_rows", "shared", "too_short", "found":
[{"partition", "file", "row", "id", "named", "tokens"}], "unproven": [...]}` ([takedown.md](takedown.md)).""",
    "copy": """With `--json`: `{"from", "to", "copied", "already_there", "gone", "files", "bytes", "removed", "errors":
[...]}` ([copying.md](copying.md)).""",
    "publish": """With `--json`: `{"to", "commit", "sent", "removed", "kept", "bytes", "has_changes"}`. `commit` is that
of the branch afterwards; without changes none is made ([publishing.md](publishing.md)).""",
    "pull": """With `--json`: `{"from", "to", "commit", "files", "fetched", "bytes"}`. `fetched` and `bytes` count what
came now ([publishing.md](publishing.md#what-is-pulled)).""",
    "show": """`corpus show ASSET --row 5 --row 100-120` prints these rows of every file of documents, attributes or
token rows; of arrays if there are no others. Rows count from 0 in each file; they are printed in order, each once. For
documents, token rows and arrays nothing else is read; other files of lines have no index and are read from the start.
A row beyond the end of all files is an error (2), and so is `--id` or `--where` that chooses no row.""",
}
"""What the help of a command does not say."""


def cli_page() -> str:
    """Returns the page with every command, its arguments and options."""
    group = typer.main.get_command(app)
    commands = dict(_leaves(vars(group)["commands"]))
    if set(PURPOSES) != set(commands):
        raise ValueError(f"PURPOSES and the commands differ: {sorted(set(PURPOSES) ^ set(commands))}")
    rows = [
        f"| {words} | {link(_usage(name, commands[name]), f'`corpus {name}`')} |" for name, words in PURPOSES.items()
    ]
    introduction = INTRODUCTION.replace("@COMMANDS@", "\n".join(rows))
    return "\n".join([introduction, *(_command(name, command) for name, command in commands.items())])


def _leaves(commands: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yields every command that does something, with the names of the commands it belongs to."""
    for name, command in commands.items():
        if inner := vars(command).get("commands"):
            yield from _leaves(inner, f"{above}{name} ")
        else:
            yield f"{above}{name}", command


def _usage(name: str, command: Any) -> str:
    arguments = [_argument(p) for p in command.params if p.param_type_name == "argument"]
    return " ".join(["corpus", name, *arguments, "[OPTIONS]" if _options(command) else ""]).strip()


def _options(command: Any) -> list[Any]:
    return [p for p in command.params if p.param_type_name == "option"]


def _command(name: str, command: Any) -> str:
    rows = [f"| `{', '.join([*p.opts, *p.secondary_opts])}` | {_help(p)} |" for p in _options(command)]
    table = ["| option | meaning |", "|---|---|", *rows, ""] if rows else []
    more = [MORE[name], ""] if name in MORE else []
    return "\n".join([f"## `{_usage(name, command)}`", "", command.help or "", "", *table, *more])


def _help(option: Any) -> str:
    """Returns what an option means, and its default if it has a value."""
    value = option.default
    if value is None or isinstance(value, bool):
        return str(option.help or "")
    return f"{option.help or ''} Default {value:g}." if isinstance(value, float) else f"{option.help} Default {value}."


def _argument(parameter: Any) -> str:
    name = parameter.metavar or parameter.name.upper()
    return name if parameter.required else f"[{name}]"
