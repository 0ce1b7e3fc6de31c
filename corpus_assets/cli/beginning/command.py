"""`corpus init`: looks at raw files, writes a corpus.yaml for them, and says what it saw."""

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from rich.console import Console

from corpus_assets.beginning.looking.look import look_at
from corpus_assets.beginning.looking.places import place_named
from corpus_assets.beginning.text import Plan, looked, not_read
from corpus_assets.beginning.tokenizers import tokenizer_named
from corpus_assets.beginning.trainers import page_of
from corpus_assets.beginning.writing import checked_text, exists, plan_of, write_whole
from corpus_assets.cli.console import errors, output, print_line
from corpus_assets.config.raw_places import S3Access
from corpus_assets.corpus.corpus import CONFIG_VARIABLE
from resources.errors import ConfigError

CONFIG = Path("corpus.yaml")
_MOST_SAID = 12
_LARGE = 1 << 30
"""Bytes from which on a sample is worth a command."""


@dataclass(frozen=True)
class Asked:
    """What was asked for. access: `KEY=VALUE` of the section `s3`."""

    place: str
    output: Path
    trainer: str | None
    tokenizer: str | None
    files: int | None
    access: Sequence[str]


def run(asked: Asked, *, only_print: bool, force: bool) -> None:
    """Writes the file or prints it; everything that a person is told goes to standard error if it is printed."""
    if os.path.lexists(asked.output) and not (force or only_print):
        raise ConfigError(exists(asked.output))
    tokenizer = tokenizer_named(asked.tokenizer) if asked.tokenizer else None
    place = place_named(asked.place, _access(asked.access))
    with errors().status(f"looking at {asked.place}") as status:
        look = look_at(place, asked.files, lambda done, count: status.update(f"looking into files: {done} of {count}"))
    plan = plan_of(look, asked.output, asked.trainer, tokenizer)
    text = checked_text(plan, asked.output)
    if not only_print:
        write_whole(text, asked.output, force=force)
    _say(plan, asked, errors() if only_print else output(), only_print=only_print)
    if only_print:
        sys.stdout.write(text)


def _access(given: Sequence[str]) -> dict[str, Any]:
    """Returns the section `s3` of corpus.yaml; `ConfigError` for what it does not hold."""
    pairs = [one.partition("=") for one in given]
    if faulty := [one for one, (_, equals, _) in zip(given, pairs, strict=True) if not equals]:
        raise ConfigError(
            f"--access: received {faulty[0]!r}; valid: KEY=VALUE, such as endpoint=https://s3.example.org"
        )
    values = {key: yaml.safe_load(value) for key, _, value in pairs}
    try:
        S3Access.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ConfigError(f"--access: {where or 'the section'}: {first['msg']}") from None
    return values


def _say(plan: Plan, asked: Asked, out: Console, *, only_print: bool) -> None:
    print_line(out, looked(plan.look))
    for section in plan.sections:
        what = "evaluation set, " if section.is_evaluation else ""
        print_line(out, f"  {section.name}: {what}{section.notes[0]}")
    for paths in plan.look.copies[:_MOST_SAID]:
        print_line(out, f"the same bytes: {', '.join(paths[:3])}{' ...' if paths[3:] else ''}")
    found = list(not_read(plan.look))
    for line in found[:_MOST_SAID]:
        print_line(out, f"not read: {line}")
    if len(found) > _MOST_SAID:
        print_line(out, f"... and {len(found) - _MOST_SAID:,} more, which stand at the end of the file")
    if any(not entry.is_ready for entry in plan.entries):
        print_line(out, f"to fill in: `tokenizer`, then the datasets for {plan.trainer} (or give --tokenizer)")
    if asked.trainer:
        print_line(out, f"how to train: corpus docs {page_of(asked.trainer)}")
    if only_print:
        return
    print_line(out, f"{asked.output}: written")
    if plan.look.bytes > _LARGE:
        print_line(out, f"to try it first: {_build(asked.output)} --sample 1%")
    print_line(out, f"next: {_build(asked.output)}")


def _build(file: Path) -> str:
    if file == CONFIG and not os.environ.get(CONFIG_VARIABLE):
        return "corpus build"
    return f"corpus build --config {shlex.quote(str(file))}"
