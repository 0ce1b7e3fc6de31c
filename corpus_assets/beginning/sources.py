"""Sections of corpus.yaml for sources: their values, and what was seen of each, in sentences."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from corpus_assets.beginning.drafts import Draft
from corpus_assets.beginning.looking.facts import Facts, facts_of
from corpus_assets.beginning.looking.look import NO_ROWS
from corpus_assets.beginning.looking.places import Place
from corpus_assets.beginning.looking.readings import Reading, is_id
from corpus_assets.config.section import expanded
from corpus_assets.numbers import amount, size
from resources.raw_places.data_suffixes import data_suffix

_LONGEST_NAME: Final = 40
_HOLDS: Final = {
    "text": "texts",
    "messages": "conversations",
    "pair": "pairs of prompt and completion",
    "pair_messages": "pairs of prompt and completion, both messages",
    "preference": "preferences",
    "preference_messages": "preferences between messages",
    "kto": "completions with a label",
    "kto_messages": "completions with a label, as messages",
}
MANY_BAD: Final = 0.3
"""Share of bad rows, or files, from which on `max_bad_rows` is written."""


@dataclass(frozen=True)
class Section:
    """A source, or the files of a dataset's own. values: keys of corpus.yaml, without the name.

    notes: what was seen, in sentences. why: reasons for single keys. keys: of the first rows. file_names: one of
    each kind of names. is_evaluation: it is an evaluation set, which the corpus must not hold.
    """

    name: str
    reading: Reading
    values: Mapping[str, Any]
    notes: Sequence[str]
    facts: Facts
    files: int
    bytes: int
    why: Mapping[str, str] = field(default_factory=dict)
    keys: frozenset[str] = frozenset()
    file_names: Sequence[str] = ()
    is_evaluation: bool = False

    @property
    def is_document(self) -> bool:
        """Whether it is a source of documents."""
        return self.reading.is_text and not self.is_evaluation


def sections_of(place: Place, drafts: Sequence[Draft], location_of: Any) -> list[Section]:
    """Returns a section for each draft. location_of: returns what corpus.yaml calls a folder of the place."""
    names = _names(place, drafts)
    return [_section(place, draft, name, location_of) for draft, name in zip(drafts, names, strict=True)]


def _section(place: Place, draft: Draft, name: str, location_of: Any) -> Section:
    shape = draft.shape
    reading, options = shape.reading, shape.options
    facts = facts_of(draft.rows, reading)
    why: dict[str, str] = {}
    values: dict[str, Any] = dict(_where(place, draft, location_of))
    if shape.format != "auto":
        values["format"] = shape.format
        why["format"] = "what the first bytes say; names say something else, or nothing"
    table = {"delimiter": options.delimiter, "columns": options.columns and list(options.columns)}
    if given := {key: value for key, value in table.items() if value}:
        values["csv"] = given
    if options.extractors:
        (values["extractor"],) = options.extractors
    values |= _keys(reading)
    for key, value, reason in (*_ids(draft), *_bad(draft)):
        values[key] = value
        why[key] = reason
    if reading.is_text and facts.licence:
        values["licence_key"] = facts.licence
        shown = ", ".join(f"{name} ({count})" for name, count in list((facts.licences or {}).items())[:4])
        why["licence_key"] = f"seen: {shown}"
    return Section(
        name,
        reading,
        values,
        list(_notes(draft, facts)),
        facts,
        draft.files,
        draft.bytes,
        why,
        _row_keys(draft),
        [file.path.rpartition("/")[2] for one in draft.families for file in one.family.samples[:1]],
    )


def _row_keys(draft: Draft) -> frozenset[str]:
    return frozenset(str(key) for row in draft.rows[:1] for key in row)


def _where(place: Place, draft: Draft, location_of: Any) -> Iterator[tuple[str, Any]]:
    location = location_of(draft.folder)
    globs, folder = draft.globs, draft.folder
    if location is None:
        location = location_of("")
        globs = tuple(f"{folder}/{glob}" if folder else glob for glob in globs or ("**/*",))
    elif place.glob != "**/*":
        globs = (place.glob,)
    yield "location", location
    if place.access:
        yield "s3", dict(place.access)
    names = [_plain(glob) for glob in globs]
    if names and names != ["**/*"]:
        yield "glob", names[0] if len(names) == 1 else names


def _plain(glob: str) -> str:
    """Returns a pattern that UTF-8 can hold: `?` stands for bytes of names that are no UTF-8."""
    return re.sub(r"[\ud800-\udfff]", "?", glob)


def _keys(reading: Reading) -> dict[str, Any]:
    """Returns the keys of rows that differ from the usual ones."""
    if reading.is_text:
        return {"text_key": reading.text} if reading.text not in ("", "text") else {}
    prompt: Any = reading.prompt
    if reading.kind == "pair" and reading.input:
        prompt = [reading.prompt, reading.input]
    usual = {"prompt": "prompt", "completion": "completion", "chosen": "chosen", "rejected": "rejected"}
    found = {"prompt": prompt, "completion": reading.completion, "chosen": reading.chosen, "rejected": reading.rejected}
    keys = {f"{name}_key": value for name, value in found.items() if value and value != usual[name]}
    if reading.messages:
        keys["messages_key"] = reading.messages
    if reading.kind not in ("pair", "kto", "preference"):
        keys |= {"role_key": reading.role} if reading.role != "role" else {}
        keys |= {"content_key": reading.content} if reading.content != "content" else {}
    return keys


def _ids(draft: Draft) -> Iterator[tuple[str, Any, str]]:
    key = draft.shape.reading.id
    rows = draft.rows
    if draft.shape.reading == Reading("text"):
        return
    given = [row[key or "id"] for row in rows if (key or "id") in row]
    good = [str(value) for value in given if is_id(value)]
    if not given or (len(good) == len(rows) and len(set(good)) == len(good)):
        if key not in (None, "id"):
            yield "id_key", key, "another value in every sampled row"
        return
    what = (
        f"{len(rows) - len(good)} of {len(rows)} sampled rows have no usable id"
        if len(good) < len(rows)
        else (f"{len(good) - len(set(good))} of {len(good)} sampled ids are there twice")
    )
    yield "ids", "derived", f"{what}; ids are made of file and row"


def _bad(draft: Draft) -> Iterator[tuple[str, Any, str]]:
    # A build reads a file without rows, such as a table of a header alone, as what it is.
    files = [one for bad in (*draft.families, *draft.others) for one in bad.bad if one.reason != NO_ROWS]
    looked = len(files) + sum(len(one.samples) for one in draft.families)
    if files:
        reasons = ", ".join(dict.fromkeys(unread.reason for unread in files))
        yield "on_bad_file", "skip", f"{len(files)} of {looked} sampled files cannot be read ({reasons}); see the end"
    bad = sum((one.bad_rows for one in draft.families), Counter[str]())
    share = bad.total() / max(1, bad.total() + len(draft.rows))
    if max(share, len(files) / max(1, looked)) > MANY_BAD:
        words = f"{share:.0%} of the sampled rows are bad ({', '.join(bad)})" if bad else "so many files cannot be read"
        yield "max_bad_rows", 0.95, f"{words}; a lower limit stops a build that has more"


def _notes(draft: Draft, facts: Facts) -> Iterator[str]:
    sampled = sum(len(one.samples) for one in draft.families)
    holds = _HOLDS[draft.shape.reading.kind]
    files = f"{amount(draft.files, 'files')} ({size(draft.bytes)})"
    yield f"{files} of {holds}; seen: {amount(facts.rows, 'rows')} of {amount(sampled, 'files')}."
    more = []
    if lengths := facts.lengths:
        more.append(f"half of the texts have up to {lengths[len(lengths) // 2]:,} characters")
    if facts.languages:
        more.append(f"languages: {facts.languages}")
    if facts.days:
        more.append(f"dates in {_named(facts.dates)}: {facts.days[0]} to {facts.days[1]}")
    if facts.urls:
        more.append(f"addresses in {_named(facts.urls)}")
    bad = sum((one.bad_rows for one in draft.families), Counter[str]())
    if bad:
        more.append(f"bad rows: {', '.join(f'{reason} {count}' for reason, count in bad.most_common())}")
    if more:
        line = "; ".join(more)
        yield f"{line[0].upper()}{line[1:]}."


def _named(keys: Iterable[str]) -> str:
    return ", ".join(f"`{key}`" for key in keys)


def _names(place: Place, drafts: Sequence[Draft]) -> list[str]:
    """Returns a name for each draft: that of its folder, with those above it or a part of its files if needed."""
    folders = Counter(draft.folder for draft in drafts)
    names: list[str] = []
    for draft in drafts:
        parts = draft.folder.split("/") if draft.folder else [place.name]
        more = [] if folders[draft.folder] == 1 else [_of_globs(draft)]
        tries = ["-".join([*parts[-depth:], *more]) for depth in range(1, len(parts) + 1)]
        named = next((name for one in tries if (name := plain_name(one)) not in names), plain_name(tries[-1]))
        number = 2
        while named in names:
            named = plain_name(f"{tries[-1][:30]}-{number}")
            number += 1
        names.append(named)
    return names


def _of_globs(draft: Draft) -> str:
    first = draft.globs[0].rpartition("/")[2] if draft.globs else ""
    stem = first[: len(first) - len(data_suffix(first) or "")].replace("*", "")
    return stem.strip(".") or (data_suffix(first) or first).strip(".*")


def plain_name(text: str) -> str:
    """Returns a text as a name of corpus.yaml."""
    plain = re.sub(r"-{2,}", "-", re.sub(r"[^a-z0-9._]+", "-", text.lower())).strip("-._")[:_LONGEST_NAME].strip("-._")
    return plain or "texts"


def stands_for_itself(location: str) -> bool:
    """Returns whether corpus.yaml leaves a location as it is, and UTF-8 can hold it."""
    return expanded(location) == location and not re.search(r"[\ud800-\udfff]", location)
