"""The page about presets of the filter: an introduction, and a table for each of them."""

import json
from collections.abc import Mapping
from pathlib import Path

from corpus_assets.config.selection.presets import GROUPS, PRESETS, Preset

INTRODUCTION = """# Presets

A preset is a set of rules with which a published corpus was filtered. It decides of each document as the original
implementation does:

```yaml
filter:
  presets: [gopher, c4_any_ending, fineweb]
```

These three are the filters of FineWeb, in its order. The words of English texts are those of spaCy's rules, as in the
original: `pip install 'corpus-assets[words]'`.

`corpus config` shows what presets are written out to: an entry `presets` of `attributes` with their taggers, ranges in
`filter.rules`, and replacements in `filter.span_replacement`. So they compose with all other rules of
[the filter](filter.md), and each dropped document counts for the one rule that dropped it, such as
`presets.gopher_quality.words`.

@PRESETS@

- **Another limit.** A range in `filter.rules` with the same key stands in place of the preset's:
  `presets.gopher_quality.words: {min: 20}`.
- **Order.** A document counts for the first rule that drops it, in the order of the presets. `c4` and `c4_any_ending`
  remove lines and citations from the texts that stay. A preset that stands behind one of them measures what it leaves,
  as in a pipeline; one before it measures the whole text.
- **Scores.** `corpus show presets_attributes` has them for each document. They are not rounded, so that a value at a
  limit is decided as in the original.
- **In a stream.** Name the taggers in an entry of `attributes` and write the ranges as the table below has them.

## Rules

"""

DIFFERENCES = """
## What differs from the originals

`python -m benchmarks.presets --publish` compared {texts:,} real texts ({megabytes} MB: documentation, code, licences,
manual pages, web pages): the decision, the rule that decides, and the text that is left. MB of text per CPU-second are
those from a text to its scores, and of datatrove 0.10.1 from a text to its decision:

| preset | texts that stay | that differ | MB per CPU-second | datatrove's |
|---|---:|---:|---:|---:|
{rows}

These are the differences that are known:

| where | the original | here | why |
|---|---|---|---|
| a text that is not blank and has no word | fails with a division by zero | the share is 0 | one document must \
not fail a shard |
| a document that several presets see | the first filter drops it, the next ones do not see it | all rules see it, the \
first that drops it is counted | another limit needs no new scores |
| a text before the filters | as the extractor gave it | normalized ([configuration](configuration.md)) | all stages \
see one form of a text |
"""
FIGURES = Path(__file__).parents[1] / "benchmarks" / "presets.json"


def _limits(limits: Mapping[str, float]) -> str:
    words = {"min": "at least", "max": "at most"}
    return ", ".join(f"{words[name]} {value:,}" for name, value in limits.items())


def _table(name: str, preset: Preset) -> str:
    groups = [group for group, members in GROUPS.items() if name in members]
    part = f" Part of {', '.join(f'`{group}`' for group in groups)}." if groups else ""
    rows = [f"| `presets.{preset.tagger}.{kind}` | {_limits(limits)} |" for kind, limits in preset.rules.items()]
    rows += [f"| `presets.{preset.tagger}.{kind}` | replaced by {new!r} |" for kind, new in preset.replaced.items()]
    return "\n".join([f"### {name}", "", f"{preset.source}.{part}", "", "| rule | keeps |", "|---|---|", *rows, ""])


def presets_page() -> str:
    """Returns the page about presets, with the rules of each."""
    listed = ["| preset | equal to |", "|---|---|"]
    listed += [f"| [`{name}`](#{name}) | {preset.source} |" for name, preset in PRESETS.items()]
    listed += [f"| `{name}` | {' and '.join(f'[`{one}`](#{one})' for one in both)} |" for name, both in GROUPS.items()]
    introduction = INTRODUCTION.replace("@PRESETS@", "\n".join(listed))
    return introduction + "\n".join(_table(name, preset) for name, preset in PRESETS.items()) + _differences()


def _differences() -> str:
    figures = json.loads(FIGURES.read_bytes())
    rows = [
        f"| `{name}` | {one['kept']:,} | {one['differing']:,} | {one['ours_mb_per_cpu_s']} "
        f"| {one['datatrove_mb_per_cpu_s']} |"
        for name, one in figures["presets"].items()
    ]
    return DIFFERENCES.format(texts=figures["texts"], megabytes=figures["megabytes"], rows="\n".join(rows))
