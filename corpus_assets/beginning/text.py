"""The corpus.yaml as a text, with what was seen in comments."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from corpus_assets.beginning.evaluations import benchmark_of
from corpus_assets.beginning.looking.look import Look, Unread
from corpus_assets.beginning.sources import Section
from corpus_assets.beginning.suggestions import (
    USUAL_SHORTEST,
    Left,
    emails,
    left_of,
    repeated,
    rules_for,
    share_of_short,
    shortest,
)
from corpus_assets.beginning.tokenizers import Chosen
from corpus_assets.beginning.trainers import Entry
from corpus_assets.beginning.yaml_lines import Lines
from corpus_assets.numbers import amount, size

_CHUNK: Final = 256 << 20
"""Bytes of text of a chunk, of which several fit `engine.memory`."""
_PACKED: Final = 4
"""How many times larger texts are than their files, roughly."""
_USUAL_CHUNKS: Final = 8
_MOST_CHUNKS: Final = 9_999
_MOST_NAMED: Final = 8
REASONS: Final = {
    "beside": "beside data",
    "empty": "without bytes",
    "no_rows": "without rows",
}
"""What files of a reason have in common, where no words for each are needed."""


@dataclass(frozen=True)
class Plan:
    """All that is written. root: of the store, as corpus.yaml calls it."""

    look: Look
    sections: Sequence[Section]
    entries: Sequence[Entry]
    trainer: str | None
    tokenizer: Chosen | None
    root: str


def text_of(plan: Plan) -> str:
    """Returns the file."""
    lines = Lines()
    _head(lines, plan)
    documents = [section for section in plan.sections if section.is_document]
    if documents:
        left = left_of(documents)
        _sources(lines, documents, left)
        _selection(lines, documents, left)
    _benchmarks(lines, [section for section in plan.sections if section.is_evaluation])
    _tokenizer(lines, plan)
    _datasets(lines, plan.entries)
    lines.blank()
    lines.pair("storage", None)
    lines.pair("root", plan.root, 2)
    _copies(lines, plan.look)
    _not_read(lines, plan.look)
    return lines.text()


def looked(look: Look) -> str:
    """Returns in a sentence what was looked at."""
    more = ", and there are more" if look.left.more else ""
    return (
        f"{amount(look.files, 'files')} ({size(look.bytes)}) in {_shown(look)}{more}; "
        f"looked into {look.sampled:,}: the first rows of each, up to 1 MiB"
    )


def _shown(look: Look) -> str:
    given = look.place.given
    return "".join(char if char.isprintable() else "?" for char in given)


def _head(lines: Lines, plan: Plan) -> None:
    asked = f" --for {plan.trainer}" if plan.trainer else ""
    lines.note(f"Written by `corpus init{asked}` from what it saw. It is a beginning: change what you like.")
    lines.note(f"{looked(plan.look)}.")
    lines.note("All keys: `corpus docs configuration`. `corpus plan` says what a build would do.")
    lines.blank()


def _sources(lines: Lines, documents: Sequence[Section], left: Mapping[str, Left]) -> None:
    lines.note("Of equal documents the one in the earliest source is kept.")
    lines.pair("sources", None)
    for section in documents:
        lines.notes(section.notes, 2)
        values, why = {"name": section.name, **section.values}, dict(section.why)
        if left[section.name].is_empty:
            values["may_be_empty"] = True
            lost = ", ".join(f"{reason} {count}" for reason, count in left[section.name].lost.items())
            why["may_be_empty"] = f"of the sampled texts none is left ({lost}); without this a build would stop"
        lines.entry(values, 4, why)
    lines.blank()


def _selection(lines: Lines, documents: Sequence[Section], left: Mapping[str, Left]) -> None:
    if (threshold := shortest(documents)) < USUAL_SHORTEST:
        share = f"{share_of_short(documents):.0%} of the sampled texts"
        lines.note(f"Shorter documents are left out. {share} have fewer than the usual {USUAL_SHORTEST} characters.")
        lines.pair("short_documents", {"threshold": threshold})
        lines.blank()
    if found := ", ".join(repeated(left)):
        lines.note(
            f"Most sampled texts of these sources are repeats: {found}. A build stops at such a loss by default."
        )
        lines.pair("dedup", {"max_loss": 1})
        lines.blank()
    _filter(lines, documents)
    if any(section.facts.licence for section in documents):
        lines.note("Documents under other licences are dropped with:")
        lines.note("licences: {allow: [MIT, Apache-2.0, CC-BY-*]}")
        lines.blank()
    total = sum(section.bytes * _PACKED for section in documents)
    if (chunks := -(-total // _CHUNK)) > _USUAL_CHUNKS:
        lines.note(
            f"The files have {size(total // _PACKED)}, so perhaps {size(total)} of text: about 256 MiB to a chunk."
        )
        lines.pair("mix", {"chunks": min(chunks, _MOST_CHUNKS)})
        lines.blank()


def _filter(lines: Lines, documents: Sequence[Section]) -> None:
    rules = rules_for(documents)
    active = [rule for rule in rules if rule.is_active]
    taggers = sorted({rule.key.split(".")[1] for rule in rules})
    if rules:
        inner = Lines()
        inner.pair("attributes", None)
        inner.entry({"name": "quality", "taggers": taggers}, 4)
        inner.pair("filter", None)
        inner.pair("rules", None, 2)
        for rule in rules:
            inner.note(f"{rule.reason}.", 4)
            if not rule.is_active:
                inner.note("So many that you should look at some first; then take the next line out of the comment.", 4)
            one = Lines()
            one.pair(rule.key, dict(rule.limits), 4)
            inner.add(one, commented=not rule.is_active and bool(active))
        lines.note("A filter: what fails a rule is dropped, counted and shown in the report (`corpus docs filter`).")
        if not active:
            lines.note("Each rule drops more than a tenth of the sampled texts: look at some, then use what you want.")
        lines.add(inner, commented=not active)
        lines.blank()
    else:
        lines.note("No filter: nothing in the sampled texts asks for one (`corpus docs filter` has the rules).")
        lines.blank()
    held, texts = emails(documents)
    if held:
        lines.note(
            f"{held:,} of {amount(texts, 'sampled texts')} hold e-mail addresses; `span_replacement` of the filter "
            "replaces them (`corpus docs filter`)."
        )
        lines.blank()


def _tokenizer(lines: Lines, plan: Plan) -> None:
    if plan.tokenizer is not None:
        lines.pair("tokenizer", dict(plan.tokenizer.section))
        lines.blank()
    elif any(not entry.is_ready for entry in plan.entries):
        lines.note(f"TO FILL IN: {plan.trainer} reads ids, so it needs the tokenizer of your model, one of")
        lines.note("tokenizer: {kind: hub, name: openai-community/gpt2}          # a name on the hub")
        lines.note("tokenizer: {kind: tokenizer_json, path: my/tokenizer.json}")
        lines.note("tokenizer: {kind: huggingface, path: my/folder}              # as transformers saves it")
        lines.note("tokenizer: {kind: sentencepiece, path: my/tokenizer.model}")
        lines.blank()


def _datasets(lines: Lines, entries: Sequence[Entry]) -> None:
    lines.pair("datasets", None)
    for entry in entries:
        lines.notes(entry.notes, 2)
        lines.entry(entry.values, 4, commented=not entry.is_ready)


def _benchmarks(lines: Lines, evaluations: Sequence[Section]) -> None:
    if evaluations:
        lines.note(
            "Evaluation sets, by their names or keys: a build reports which documents hold pieces of their items."
        )
        lines.note("To train on one, make it a source or a dataset instead. All about it: `corpus docs contamination`.")
        lines.pair("benchmarks", None)
        for section in evaluations:
            lines.notes(section.notes, 2)
            lines.entry(benchmark_of(section), 4, section.why)
        lines.blank()


def _copies(lines: Lines, look: Look) -> None:
    if look.copies:
        lines.blank()
        lines.note("Read more than once, as these files have the same bytes; keep one of each:")
        lines.notes(f"- {_some(paths)}" for paths in look.copies[:_MOST_NAMED])
        if len(look.copies) > _MOST_NAMED:
            lines.note(f"- and {len(look.copies) - _MOST_NAMED:,} more")


def _not_read(lines: Lines, look: Look) -> None:
    found = list(not_read(look))
    if found:
        lines.blank()
        lines.note("Not read:")
        lines.notes(f"- {line}" for line in found)


def not_read(look: Look) -> Iterator[str]:
    """Yields in sentences what is not read and why: each file by its name, many of one reason together."""
    groups: dict[str, list[Unread]] = defaultdict(list)
    for one in look.families:
        for unread in one.bad:
            groups[unread.reason].append(unread)
        if one.family.empty:
            groups["empty"].append(Unread(one.family.glob, one.family.empty, "empty", "has no bytes"))
    for reason, group in sorted(groups.items()):
        yield from _folded(reason, group)
    for path, why in look.left.files[:_MOST_NAMED]:
        yield f"{path}: {why}"
    if len(look.left.files) > _MOST_NAMED:
        yield f"... and {len(look.left.files) - _MOST_NAMED:,} more that are no files"
    if hidden := look.left.hidden:
        yield f"hidden: {_some(hidden)} (`hidden: true` of a source reads them)"
    for folder, why in look.left.unlisted:
        yield f"unlisted: the folder {folder}: {why}"


def _folded(reason: str, group: Sequence[Unread]) -> Iterator[str]:
    files = sum(unread.files for unread in group)
    if reason in REASONS:
        yield f"{reason}: {amount(files, 'files')} {REASONS[reason]}: {_some([unread.path for unread in group])}"
        return
    for unread in group[:_MOST_NAMED]:
        more = " and others" if unread.files > 1 else ""
        yield f"{reason}: {unread.path}{more}: {' '.join(unread.words.split())[:300]}"
    if len(group) > _MOST_NAMED:
        yield f"{reason}: {_some([unread.path for unread in group[_MOST_NAMED:]])}: the same or alike"


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3:,} more"
