"""Puts the corpus.yaml together, checks it, and writes it whole or not at all."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from corpus_assets.beginning.drafts import drafts_of
from corpus_assets.beginning.evaluations import without_evaluations
from corpus_assets.beginning.looking.look import Look
from corpus_assets.beginning.looking.places import Place
from corpus_assets.beginning.sources import Section, plain_name, sections_of, stands_for_itself
from corpus_assets.beginning.text import Plan, not_read, text_of
from corpus_assets.beginning.tokenizers import Chosen
from corpus_assets.beginning.trainers import datasets_for
from corpus_assets.config.reading.loading import load_config, parse_config
from corpus_assets.config.reading.strict_yaml import load_yaml
from resources.errors import ConfigError
from resources.raw_places.addresses import scheme_of

STORE: Final = "corpus"
_MOST_SAID: Final = 5


def plan_of(look: Look, output: Path, trainer: str | None, tokenizer: Chosen | None) -> Plan:
    """Returns what is to be written for a place; `ConfigError` in a sentence if nothing in it can be read."""
    drafts = drafts_of(look.families, [folder for folder, _ in look.left.unlisted])
    if not drafts:
        raise ConfigError(nothing_in(look))
    sections = without_evaluations(sections_of(look.place, drafts, locations_in(look.place, output)))
    entries = datasets_for(trainer, sections, tokenizer)
    return Plan(look, sections, entries, trainer, tokenizer, _root(look.place, sections, output))


def nothing_in(look: Look) -> str:
    """Returns in words that no file of a place can be read, and why."""
    where = f"{look.place.asked_by}: {look.place.given!r}"
    why = [" ".join(line.split()) for line in not_read(look)]
    if not look.files:
        return f"{where} has no files{f' that can be read: {why[0]}' if why else ''}; nothing was written"
    more = f"\n  and {len(why) - _MOST_SAID:,} more" if len(why) > _MOST_SAID else ""
    shown = "".join(f"\n  {line}" for line in why[:_MOST_SAID])
    return f"{where} has no file that can be read, so nothing was written:{shown}{more}"


def locations_in(place: Place, output: Path) -> Callable[[str], str | None]:
    """Returns a function that names a folder of the place for a corpus.yaml; None if it has no name of its own there.

    `ConfigError` if the place itself has none.
    """

    def local(folder: str) -> str | None:
        path = os.path.normpath(Path(place.location, folder))
        if not Path(place.location).is_absolute():
            path = os.path.relpath(path, output.parent)
        path = f"./{path}" if path.startswith("~") else path
        if stands_for_itself(path):
            return path
        if folder:
            return None
        raise ConfigError(
            f"{place.asked_by}: {place.given!r} holds $NAME, ~ or bytes that are no UTF-8, which corpus.yaml cannot "
            "name; valid: a folder with another name, or a link to this one"
        )

    def elsewhere(folder: str) -> str | None:
        if not folder:
            return place.location
        unclear = place.is_list or any(mark in folder for mark in "@?#%*") or not stands_for_itself(folder)
        return None if unclear else f"{place.location}/{folder}"

    return local if place.is_local else elsewhere


def _root(place: Place, sections: Sequence[Section], output: Path) -> str:
    """Returns a folder for the store that holds no raw files, and lies in none."""
    locations = [str(section.values["location"]) for section in sections]
    folder = output.parent.resolve()
    taken = [Path(folder, location).resolve() for location in locations if not scheme_of(location)]
    beside = os.path.relpath(Path(place.location).resolve().parent / f"{plain_name(place.name)}-{STORE}", folder)
    for root in (STORE, f"{STORE}-store", beside, f"{beside}-store"):
        path = Path(folder, root).resolve()
        if not any(path.is_relative_to(one) or one.is_relative_to(path) for one in taken):
            return root
    raise ConfigError(f"corpus init: there is no place for the store beside {place.given!r}; give --output elsewhere")


def checked_text(plan: Plan, output: Path) -> str:
    """Returns the text of corpus.yaml, which its schema accepts."""
    text = text_of(plan)
    parse_config(load_yaml(text, str(output)), str(output))
    return text


def write_whole(text: str, output: Path, *, force: bool) -> None:
    """Writes the file, or leaves everything as it is; `ConfigError` if there is one already, without `force`."""
    output.parent.mkdir(parents=True, exist_ok=True)
    half = output.with_name(f".{output.name}.{os.getpid()}.half")
    try:
        with half.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        load_config(half)
        if force:
            half.replace(output)
        else:
            os.link(half, output)
    except FileExistsError:
        raise ConfigError(exists(output)) from None
    finally:
        with suppress(FileNotFoundError):
            half.unlink()


def exists(output: Path) -> str:
    """Returns in words that a file is there."""
    return f"{output} exists; --force replaces it, --output names another, --print only shows what would be written"
