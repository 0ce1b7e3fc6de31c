"""The page about presets of the filter: an introduction, and a table for each of them."""

import json
from collections.abc import Mapping
from pathlib import Path

from corpus_assets.config.selection.fineweb2.section import ranges_of, shipped
from corpus_assets.config.selection.presets import ENTRY, GROUPS, PRESETS, Preset

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

- **Other languages.** `words` of the entry chooses [the words of other languages](languages.md#words), as in
  `{name: presets, taggers: [gopher_quality], words: {language: tha_Thai}}`; the preset [`fineweb2`](#fineweb2) does
  so by itself. `c4` and `c4_any_ending` are made for English: they count sentences by its rules, as datatrove does
  without a language. In text without spaces (Chinese, Japanese, Thai, Khmer, Burmese, Tibetan) each line counts as one
  sentence, whatever its marks. `presets.c4_lines.sentences: {min: 0}` in `filter.rules` turns the rule off, and
  `{min: 5}` under a language of [`filter.languages`](languages.md#ranges-by-language) keeps it for that one.
- **Another limit.** A range in `filter.rules` with the same key stands in place of the preset's:
  `presets.gopher_quality.words: {min: 20}`.
- **Order.** A document counts for the first rule that drops it, in the order of the presets. `c4`, `c4_any_ending`
  and `dclm` remove lines and pieces from the texts that stay. A preset that stands behind one of them measures what it
  leaves, as in a pipeline; one before it measures the whole text.
- **Scores.** `corpus show presets_attributes` has them for each document. They are not rounded, so that a value at a
  limit is decided as in the original.
- **In a stream.** Name the taggers in an entry of `attributes` and write the ranges as the table below has them.

## Rules

"""

FINEWEB2 = """### fineweb2

The filters of FineWeb-2 (Penedo et al. 2025; step 5 of its pipeline), whose limits and stop words each language has of
its own:

```yaml
attributes:
  - name: lang
    taggers: [language]
    options:
      language: {{model: models/glotlid.bin}}
filter:
  presets: [fineweb2]
  fineweb2:
    by: lang.language
    languages: [tha_Thai, deu_Latn, xho_Latn]
```

It takes the words of each language ([extra `splitters`](languages.md#words)) and is written out to ranges in
[`filter.languages`](languages.md#ranges-by-language): `score` of the label first, then those below. Documents in other
languages are dropped as `languages.other`. A range that the file has under `filter.languages.thresholds` stands in
place of the preset's. With `language: tha_Thai` in place of `by` and `languages`, all documents are taken as Thai, and
the ranges are in `filter.rules`.

The limits of the {shipped} languages with most text in FineWeb-2 come with the package (Apache-2.0, from `configs` of
[its repository](https://github.com/huggingface/fineweb-2)). `configs: FOLDER` reads `LABEL.yml` as that repository has
them, for all languages that are named; `limits: {{LABEL: {{...}}}}` gives one in place. English is not among them:
FineWeb has other filters. For Thai, for example:

| rule | keeps |
|---|---|
| `languages.score` | at least 0.9 |
{rows}

"""

DCLM = """
These are all heuristics of `dclm_baseline_refinedweb.yaml`: measures of a page without addresses; then lines of
capitals, digits, counters or one word, and phrases such as `Read more...`, are removed, and a page that loses over 5 %
of its words is dropped. What stands around them there is configured beside it:

- **Addresses**: hosts by the tagger `host_list` with a list of your own, since DCLM's list of domains is not published
  with its code. Its lists of words in addresses are; they are used by no tagger here, and an expression of
  [the filter](filter.md#expressions) can have such words: `exclude: ['$.metadata[?search(@.url, "casino|porn")]']`.
- **Language**: English with 0.65 or more, by [`filter.languages`](languages.md).
- **fastText**: [a learned filter](learned-filters.md), as in [examples/dclm](../examples/dclm/README.md); or their
  model by `fasttext_doc`, whose type `hq` is kept from 0.018112 on.

"""

DIFFERENCES = """
## What differs from the originals

`python -m benchmarks.presets --publish` compared {texts:,} real texts ({megabytes} MB: documentation, code, licences,
manual pages, web pages): the decision, the rule that decides, and the text that is left. MB of text per CPU-second are
those from a text to its scores, and of the original (datatrove 0.10.1, and the code of DCLM) from a text to its
decision:

| preset | texts that stay | that differ | MB per CPU-second | the original's |
|---|---:|---:|---:|---:|
{rows}

`fineweb2`, by `python -m benchmarks.presets_languages --publish`: {of_languages:,} texts of the Universal Declaration
of Human Rights in {count} languages, some of them changed so that rules apply. Where datatrove has another library for
the words, other decisions are expected; these languages are marked with *.

| language | words by | texts | that stay | that differ | kept by one only | MB per CPU-second | datatrove's |
|---|---|---:|---:|---:|---:|---:|---:|
{language_rows}

These are the differences that are known:

| where | the original | here | why |
|---|---|---|---|
| a text that is not blank and has no word | fails with a division by zero | the share is 0 | one document must \
not fail a shard |
| a document that several presets see | the first filter drops it, the next ones do not see it | all rules see it, the \
first that drops it is counted | another limit needs no new scores |
| words of Khmer, Burmese, Tibetan, Vietnamese, and of languages that Stanza splits | by other libraries | by ICU, or \
spaCy's rules for any language | those unpickle models, clash with other extras, or download |
| a text before the filters | as the extractor gave it | normalized ([configuration](configuration.md)) | all stages \
see one form of a text |
"""
FIGURES = Path(__file__).parents[1] / "benchmarks" / "presets.json"
OF_LANGUAGES = FIGURES.with_name("presets_languages.json")


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
    listed.append("| [`fineweb2`](#fineweb2) | the filters of FineWeb-2, with the limits of each language |")
    introduction = INTRODUCTION.replace("@PRESETS@", "\n".join(listed))
    tables = "\n".join(_table(name, preset) for name, preset in PRESETS.items())
    return f"{introduction}{tables}{DCLM}{_fineweb2()}{_differences().lstrip()}"


def _fineweb2() -> str:
    ranges = ranges_of(shipped()["tha_Thai"], ENTRY)
    rows = [f"| `languages.{key}` | {_limits(limits)} |" for key, limits in ranges.items()]
    return FINEWEB2.format(shipped=len(shipped()), rows="\n".join(rows))


def _differences() -> str:
    figures = json.loads(FIGURES.read_bytes())
    rows = [
        f"| `{name}` | {one['kept']:,} | {one['differing']:,} | {one['ours_mb_per_cpu_s']} "
        f"| {one['original_mb_per_cpu_s']} |"
        for name, one in figures["presets"].items()
    ]
    by_language = json.loads(OF_LANGUAGES.read_bytes())
    language_rows = [
        f"| {label}{'*' if one['other_library'] else ''} | {one['splitter']} | {one['texts']} | {one['kept']} "
        f"| {one['differing']} | {one['keep_or_drop_differing']} | {one['ours_mb_per_cpu_s']} "
        f"| {one['datatrove_mb_per_cpu_s']} |"
        for label, one in by_language["languages"].items()
    ]
    return DIFFERENCES.format(
        texts=figures["texts"],
        megabytes=figures["megabytes"],
        rows="\n".join(rows),
        of_languages=by_language["texts"],
        count=len(by_language["languages"]),
        language_rows="\n".join(language_rows),
    )
