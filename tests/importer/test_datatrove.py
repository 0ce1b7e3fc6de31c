"""`corpus import datatrove`: scripts by their blocks, which are parsed, never run, and built."""

import json
from pathlib import Path

import jq
import pytest

from corpus_assets.importer.datatrove.names import LEFT_BLOCKS, ORDER
from corpus_assets.importer.datatrove.pipelines import TAKEN_BLOCKS, import_datatrove
from corpus_assets.importer.draft import Draft
from resources.errors import ConfigError
from tests.importer.built import WORDS, assert_all_named, built, imported, texts, write_tokenizer

SCRIPT = '''
"""Filters, deduplicates and tokenizes."""
import os
from datatrove.executor import LocalPipelineExecutor as Runner
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers.jsonl import JsonlWriter as Out

open("ran", "w").write("this script was run")
BASE = "work"
FILTERED = os.path.join(BASE, "filtered")
CONFIG = MinhashConfig(n_grams=4, num_buckets=10, hashes_per_bucket=6, hash_config=HashConfig(precision=64))
READ = JsonlReader(f"{FILTERED}/", text_key="text")
LIMIT = 2 * 3 - 7

first = Runner(
    pipeline=[
        JsonlReader("raw", glob_pattern="**/*.jsonl", text_key="body", limit=LIMIT),
        lambda pipeline, rank, world: pipeline,
        GopherQualityFilter(min_doc_words=20, min_stop_words=1, max_avg_word_length=None, exclusion_writer=Out(BASE)),
        GopherRepetitionFilter(dup_line_frac=0.4, top_n_grams=((2, 0.9), (7, 0.2)), dup_n_grams=None),
        C4QualityFilter(filter_no_terminal_punct=False, min_num_sentences=3, filter_javascript=False),
        FineWebQualityFilter(line_punct_thr=0.5, char_duplicates_ratio=0.2, short_line_thr=0.9, new_line_ratio=0.5),
        RegexFilter(r"FOR\\s+SALE"),
        LambdaFilter(lambda doc: len(doc.text) > 3),
        Out(FILTERED),
    ],
    tasks=4, workers=2, logging_dir="logs",
)
second = Runner(pipeline=[READ, MinhashDedupSignature(output_folder="sigs", config=CONFIG)], workers=5, depends=first)
third = Runner(pipeline=[MinhashDedupBuckets("sigs", "buckets", config=CONFIG)], tasks=CONFIG.num_buckets)
steps = [
    READ,
    TokensCounter(),
    MinhashDedupFilter(input_folder="removed"),
    PIIFormatter(remove_ips=False, email_replacement="$gone"),
    Out("final", compression=None),
    DocumentTokenizer(output_folder="tokens", tokenizer_name_or_path="tokenizer/tokenizer.json",
                      eos_token="<|endoftext|>", max_tokens_per_file=2000, seed=7, shuffle_documents=True),
]
if __name__ == "__main__":
    Runner(pipeline=steps).run()
'''


def lines(number: int, count: int = 3) -> str:
    """Lines of words that all rules keep."""
    words = [f"{word}{'abcdefgh'[(number + place) % 8]}" for place, word in enumerate(WORDS)]
    return "\n".join(f"{' '.join(words[place:])} of the {number} and line {place} so." for place in range(count))


LAST = "\nsee our Privacy Policy for all.\nno.\nmail jane@mail.example now [12], so it ends."
KEPT = "\n\n\nmail $gone now , so it ends."
BAD = {
    "short": "the few words of this are not enough.",
    "unended": lines(1).replace(".", ""),
    "brief": "\n".join(f"the line {place} is so." for place in range(60)),
    "repeated": "\n".join([lines(2, 1)] * 2 + [lines(3, 2)]),
    "curly": lines(4) + " {x}",
    "paragraphs": "\n\n".join([lines(6, 1).split("\n")[0]] * 3 + [lines(7, 4)]),
    "sentences": lines(8, 2),
    "sale": lines(5) + " FOR  SALE.",
}


@pytest.fixture
def draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Draft:
    monkeypatch.chdir(tmp_path)
    write_tokenizer(tmp_path / "tokenizer" / "tokenizer.json")
    (tmp_path / "raw" / "a").mkdir(parents=True)
    good = [lines(10), lines(22, 4), lines(35, 5) + LAST]
    rows = [*good, *BAD.values(), lines(10) + " The end is near."]
    (tmp_path / "raw" / "a" / "x.jsonl").write_text("\n".join(json.dumps({"body": row}) for row in rows))
    return imported(import_datatrove, tmp_path, {"script.py": SCRIPT})


def test_blocks_become_sections(draft: Draft) -> None:
    values = draft.values
    assert not Path("ran").exists()
    assert values["sources"] == [{"name": "raw", "location": "raw", "glob": "**/*.jsonl", "text_key": "body"}]
    assert values["minhash"] == {"unit": "word", "width": 4, "bands": 10, "rows": 6, "seed": 1, "permutations": 60}
    assert values["dedup"] == {"verify": "none"}
    assert values["mix"] == {"seed": 7, "leave_out": ["duplicates"]}
    assert values["engine"] == {"workers": 5}
    rules = values["filter"]["rules"]
    assert rules["quality.gopher_quality.words"] == {"min": 20, "max": 100_000}
    assert rules["quality.gopher_quality.word_length"] == {"min": 3}
    assert rules["quality.gopher_repetition.characters_in_top_2grams"] == {"max": 0.9}
    assert rules["quality.fineweb_quality.newlines_per_word"] == {"max": 0.5}
    assert [one["format"] for one in values["datasets"]] == ["datatrove", "text"]
    assert values["datasets"][1]["files"] == "jsonl"
    assert values["tokenizer"]["eos"] == "<|endoftext|>"
    assert [one.get("syntax") for one in values["filter"]["span_replacement"]] == ["jq"] * 4 + [None]


def test_every_parameter_of_a_block_is_named(draft: Draft) -> None:
    given = ("data_folder", "glob_pattern", "text_key", "limit", "min_doc_words", "exclusion_writer", "dup_line_frac")
    more = ("top_n_grams", "top_n_grams: 7", "dup_n_grams", "filter_no_terminal_punct", "min_num_sentences", "seed")
    last = ("regex_exp", "n_grams", "hash_config", "input_folder", "remove_ips", "email_replacement", "compression")
    tokens = ("tokenizer_name_or_path", "eos_token", "max_tokens_per_file", "shuffle_documents", "tasks", "logging_dir")
    assert_all_named(draft, [*given, *more, *last, *tokens, "workers", "depends", "filter_function", "LambdaFilter"])
    assert any(key.startswith("step lambda pipeline") for key in draft.left_out)
    assert any(key.endswith("TokensCounter") for key in draft.left_out)
    assert any("steps join" in why for why in draft.left_out.values())


def test_what_was_imported_is_built(draft: Draft, tmp_path: Path) -> None:
    pytest.importorskip("spacy", reason="the extra words is not installed")
    corpus = built(draft, tmp_path)
    assert texts(corpus, "train") == {lines(10), lines(22, 4), lines(35, 5) + KEPT}


def one(block: str, tmp_path: Path, before: str = "") -> Draft:
    script = f"{before}\nLocalPipelineExecutor(pipeline=[JsonlReader('raw'), {block}, JsonlWriter('out')])\n"
    return imported(import_datatrove, tmp_path, {"one.py": script})


@pytest.mark.parametrize("block", [*TAKEN_BLOCKS, *LEFT_BLOCKS, "Invented"])
def test_every_block_is_taken_over_or_named_with_unknown_parameters(block: str, tmp_path: Path) -> None:
    draft = one(f"{block}(invented=1, called=call(), *given, **more)", tmp_path)
    assert_all_named(draft, ["invented", "called"])
    assert any(block in key for key in [*draft.taken, *draft.left_out])


@pytest.mark.parametrize("block", ORDER)
def test_parameters_by_place_have_their_names(block: str, tmp_path: Path) -> None:
    draft = one(f"{block}({', '.join(['None'] * len(ORDER[block]))})", tmp_path)
    if block != "MinhashConfig":
        assert not any("argument" in key for key in draft.left_out)


def test_languages(tmp_path: Path) -> None:
    draft = one("LanguageFilter(languages=['de'], language_threshold=0.5)", tmp_path)
    assert draft.values["filter"]["rules"] == {"language.ft_lang_id_doc_v1.de": {"min": 0.5}}
    several = one("LanguageFilter(('de', 'en'))", tmp_path).values["filter"]
    assert "language__ft_lang_id_doc_v1__en" in several["exclude"][0]
    assert several["attributes"] == ["language"]
    assert 'startswith("language__")' in one("LanguageFilter()", tmp_path).values["filter"]["exclude"][0]
    assert "filter" not in one("LanguageFilter(label_only=True)", tmp_path).values
    assert "attributes" not in one("LanguageFilter(backend='glotlid')", tmp_path).values


def test_readers(tmp_path: Path) -> None:
    blocks = "ParquetReader('s3://bucket/x', glob_pattern='/*.parquet')"
    blocks += ", HuggingFaceDatasetReader('org/name', {'split': 'train'})"
    more = "WarcReader(DataFolder('warc'), recursive=False), Trafilatura(timeout=2), JsonlReader('gs://b/x')"
    draft = one(f"{blocks}, {more}", tmp_path)
    known = {source["name"]: source for source in draft.values["sources"]}
    assert known["x"]["location"] == "s3://bucket/x"
    assert known["x"]["glob"] == "*.parquet"
    assert known["name"]["location"] == "hf://datasets/org/name"
    assert known["warc"]["glob"] == "*"
    assert (known["warc"]["extractor"], known["warc"]["html"]) == ("trafilatura", {"seconds": 2})
    assert_all_named(draft, ["dataset_options.split", "timeout", "recursive"])
    assert any("'gs://b/x' cannot be read" in why for why in draft.left_out.values())


@pytest.mark.parametrize(
    ("before", "said", "location"),
    [
        ("A = 'x'", "f'{A}/y'", "x/y"),
        ("A = 'x' + '-z'", "A", "x-z"),
        ("import sys\nA = sys.argv[1]", "f's3://bucket/{A}/y'", "s3://bucket/<sys.argv[1]>/y"),
        ("p.add_argument('--in-put', default='there')\nargs = p.parse_args()", "args.in_put", "there"),
        ("def run(folder):\n    pass", "folder", "<folder>"),
        ("A = 'x' * 10**9", "A", "<'x' * 10 ** 9>"),
        ("A = ''.join(['a'] * 9)", "A", "<''.join(...)>"),
        ("A = 'aaaaaaaaaaaaaaaa'\n" + "A = A + A\n" * 60, "A", None),
    ],
)
def test_values_that_a_script_computes(before: str, said: str, location: str | None, tmp_path: Path) -> None:
    script = f"{before}\nLocalPipelineExecutor([JsonlReader({said}), JsonlWriter('out')])\n"
    draft = imported(import_datatrove, tmp_path, {"a.py": script})
    found = draft.values["sources"][0]["location"]
    if location is None:
        assert found.startswith("<")
    elif location.startswith(("s3:", "<")):
        assert found == location
        assert any("write the folder of the raw files" in step for step in draft.to_do)
    else:
        assert found.endswith(location)


def test_pipelines_without_an_executor_and_through_a_function(tmp_path: Path) -> None:
    assert imported(import_datatrove, tmp_path, {"a.py": "p = [JsonlReader('raw')] + [JsonlWriter('out')]"}).values[
        "sources"
    ]
    script = (
        "def run(steps):\n    return SlurmPipelineExecutor(pipeline=steps, time='1:0')\nrun(steps=[JsonlReader('r')])"
    )
    assert imported(import_datatrove, tmp_path, {"a.py": script}).values["sources"][0]["name"] == "r"


def test_pipelines_that_get_longer_statement_by_statement(tmp_path: Path) -> None:
    script = (
        "p = []\np.append(JsonlReader('raw'))\np += [JsonlWriter('out')]\n"
        "if args.c4:\n    p.insert(1, C4QualityFilter())\n"
        "p.extend([RegexFilter('x')])\np.insert(n, GopherQualityFilter())\ncount += 1\nLocalPipelineExecutor(p).run()"
    )
    values = imported(import_datatrove, tmp_path, {"a.py": script}).values
    assert [source["name"] for source in values["sources"]] == ["raw"]
    assert values["filter"]["presets"] == ["c4"]
    assert len(values["filter"]["exclude"]) == 1
    assert [dataset["format"] for dataset in values["datasets"]] == ["text"]


def test_attributes_that_are_set_after_a_block_is_made(tmp_path: Path) -> None:
    script = (
        "c = MinhashConfig(5)\nread = JsonlReader('raw', 9)\nsteps = [read, MinhashDedupSignature('s', config=c)]\n"
        "e = LocalPipelineExecutor(steps)\nc.n_grams = 7\nread.data_folder = 'there'\nread.colour = 1\n"
        "e.workers = 3\ne.pipeline = [*steps, RegexFilter('x')]\ncfg.out = 'x'\ne.logging_dir = cfg.out"
    )
    draft = imported(import_datatrove, tmp_path, {"a.py": script})
    assert [source["name"] for source in draft.values["sources"]] == ["there"]
    assert (draft.values["minhash"]["width"], draft.values["engine"]["workers"]) == (7, 3)
    assert len(draft.values["filter"]["exclude"]) == 1
    assert_all_named(draft, ["colour", "logging_dir"])


def test_functions_that_return_steps_are_followed_with_their_arguments(tmp_path: Path) -> None:
    script = (
        "def filters(least, *, c4=True, stop=2):\n    'Steps.'\n    found = [GopherQualityFilter(min_doc_words=least,"
        " min_stop_words=stop)]\n    if c4:\n        found.append(C4QualityFilter())\n    return found\n"
        "def read(name):\n    return JsonlReader(f'raw/{name}')\n"
        "def run(name, steps):\n    return LocalPipelineExecutor([read(name), *steps], workers=2)\n"
        "run('a', filters(30)).run()\nrun('b', steps=[*filters(20, c4=False, stop=1), JsonlWriter('out')]).run()\n"
    )
    draft = imported(import_datatrove, tmp_path, {"a.py": script})
    assert [source["name"] for source in draft.values["sources"]] == ["a", "b"]
    assert draft.values["filter"]["presets"] == ["c4"]
    assert draft.values["filter"]["rules"]["quality.gopher_quality.words"]["min"] == 30
    assert [dataset["format"] for dataset in draft.values["datasets"]] == ["text"]
    script = "def steps(n):\n    return [JsonlReader('raw', n)]\npipeline = steps(5) + [JsonlWriter('out')]"
    assert imported(import_datatrove, tmp_path, {"b.py": script}).values["sources"][0]["name"] == "raw"


FINEWEB2 = """
for lang in ["und_Latn", "tha_Thai", "deu_Latn"]:
    with open(f"configs/{lang}.yml") as f:
        config = yaml.safe_load(f)
    LocalPipelineExecutor([
        JsonlReader(f"raw/{lang}"),
        GopherRepetitionFilter(language=lang, dup_para_frac=0, dup_line_char_frac=0, dup_para_char_frac=0,
            dup_line_frac=config['dup_line_frac'], top_n_grams=config["top_n_grams"], dup_n_grams=config["dup_n_grams"],
            exclusion_writer=JsonlWriter("removed")),
        FineWebQualityFilter(language=lang, short_line_thr=999, char_duplicates_ratio=0.1,
            line_punct_thr=config["line_punct_thr"], new_line_ratio=config['new_line_ratio']),
        GopherQualityFilter(language=lang, max_avg_word_length=config['max_avg_word_length'], min_stop_words=2,
            min_avg_word_length=config['min_avg_word_length'], stop_words=config['stopwords'],
            max_non_alpha_words_ratio=config['max_non_alpha_words_ratio']),
        JsonlWriter("out"),
    ]).run()
"""


def test_limits_by_language_of_fineweb2_are_its_preset(tmp_path: Path) -> None:
    draft = imported(import_datatrove, tmp_path, {"a.py": FINEWEB2})
    assert draft.values["filter"] == {"presets": ["fineweb2"], "fineweb2": {"language": "tha_Thai"}}
    assert any("und_Latn, deu_Latn" in step for step in draft.to_do)
    assert_all_named(draft, ["language", "stop_words", "char_duplicates_ratio", "exclusion_writer"])
    other = imported(import_datatrove, tmp_path, {"a.py": FINEWEB2.replace("0.1,", "0.2,")})
    assert "presets" not in other.values["filter"]


def test_addresses_that_no_source_can_have_are_named_and_are_placeholders(tmp_path: Path) -> None:
    script = "LocalPipelineExecutor([JsonlReader('s3://a_bucket/x'), JsonlReader('https://me:secret@h.org/list.txt')])"
    draft = imported(import_datatrove, tmp_path, {"a.py": script})
    assert [source["location"] for source in draft.values["sources"]] == ["<data_folder>"]
    assert any("a bucket of 3 to 63 small letters" in why for why in draft.left_out.values())
    assert "secret" not in str(draft.left_out)


def test_limits_in_a_mapping_of_the_script_are_values(tmp_path: Path) -> None:
    block = "GopherQualityFilter(min_doc_words=L['th']['words'], max_doc_words=L['th']['no'], min_stop_words=N[5])"
    draft = one(block, tmp_path, "L = {'th': {'words': 7}}\nN = [1]")
    assert draft.values["filter"]["rules"]["quality.gopher_quality.words"] == {"min": 7}
    assert any("L['th']['no']" in why for why in draft.left_out.values())


@pytest.mark.parametrize(
    "function", ["for one in n:\n        s += [one]\n    return s", "pass", "return f(n)", "if n:\n        return [1]"]
)
def test_functions_that_do_more_are_named(function: str, tmp_path: Path) -> None:
    script = f"def f(n):\n    {function}\nLocalPipelineExecutor([JsonlReader('raw'), *f(*a), *f(x), *f(1)])"
    draft = imported(import_datatrove, tmp_path, {"a.py": script})
    assert "step f(...)" in draft.left_out


def test_long_functions_that_are_called_often_are_no_trouble(tmp_path: Path) -> None:
    script = (
        f"def f():\n    return [{'1,' * 5000}]\nx = [{'f(),' * 500}]\nLocalPipelineExecutor([JsonlReader('r'), *f()])"
    )
    assert "step f(...)" in imported(import_datatrove, tmp_path, {"a.py": script}).left_out


def test_functions_that_call_each_other_many_times_are_no_trouble(tmp_path: Path) -> None:
    levels = "".join(f"def f{n}():\n    return [*f{n - 1}(), *f{n - 1}()]\n" for n in range(1, 40))
    script = f"def f0():\n    return [JsonlReader('raw')]\n{levels}LocalPipelineExecutor([JsonlReader('r'), *f39()])"
    assert imported(import_datatrove, tmp_path, {"a.py": script}).values["sources"][0]["name"] == "r"


def test_a_class_of_the_script_is_no_block_of_datatrove(tmp_path: Path) -> None:
    own = one("C4QualityFilter(min_num_sentences=2)", tmp_path, "class C4QualityFilter(BaseFilter): pass")
    assert "filter" not in own.values
    (why,) = (why for key, why in own.left_out.items() if key.endswith("C4QualityFilter of the script itself"))
    assert why.startswith("no block that is known here")


def test_lists_that_double_are_no_trouble(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has no pipeline"):
        imported(import_datatrove, tmp_path, {"a.py": "x = [JsonlReader('r')]\n" + "x += x\n" * 60})
    script = "x = [JsonlReader('r')]\n" + "x = [x, x]\n" * 60
    assert imported(import_datatrove, tmp_path, {"a.py": script}).values["sources"][0]["name"] == "r"


def test_samples_and_urls_and_fixed_texts(tmp_path: Path) -> None:
    draft = one("SamplerFilter(rate=0.25, seed=3), UrlDedupSignature('s', UrlDedupConfig()), FTFYFormatter()", tmp_path)
    assert draft.values["sample"] == {"share": 0.25, "seed": 3}
    assert draft.values["dedupers"] == [{"name": "urls", "by": "url"}]
    assert draft.values["mix"]["leave_out"] == ["urls_attributes"]
    assert draft.values["normalize"]["ftfy"]["uncurl_quotes"] is False


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("def (", "is no Python that can be parsed"),
        ("a = 1", "has no pipeline"),
        ("(" * 2000 + ")" * 2000, "is no Python"),
        ("LocalPipelineExecutor(pipeline=[TokensCounter()])", "nothing can be imported"),
        ("x = [" + "1," * 250_000 + "]", "at most 200,000 names and values"),
    ],
)
def test_what_is_no_script_is_refused(script: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        imported(import_datatrove, tmp_path, {"a.py": script})


OFF = ["line_punct_thr=0", "short_line_thr=2", "char_duplicates_ratio=2", "new_line_ratio=2"]


def fineweb(**given: object) -> str:
    """The block with one rule; the others are off."""
    off = [one for one in OFF if one.partition("=")[0] not in given]
    return f"FineWebQualityFilter({', '.join([*off, *(f'{key}={value!r}' for key, value in given.items())])})"


@pytest.mark.parametrize(
    ("block", "dropped", "kept"),
    [
        (fineweb(), " \n ", "a"),
        (fineweb(line_punct_thr=0.5), "a.\nb\nc", "a.\nb?\nc"),
        (fineweb(line_punct_thr=0.5, line_punct_exclude_zero=True), "a.\nb\nc", "a\nb\nc"),
        (fineweb(line_punct_thr=0.5, stop_chars=("x", "+")), "a.\nb.", "ax\nb+"),
        (fineweb(short_line_thr=0.5, short_line_length=2), "ab\nab\nabc", "ab\nabc\nabc"),
        (fineweb(char_duplicates_ratio=0.2), "abcd\nabcd\nx", "abcd\nab\nab\nxyz1234"),
        (fineweb(char_duplicates_ratio=0), "abcd\nabcd\nx", "abcd\nab"),
        ("C4QualityFilter(min_num_sentences=3, filter_policy=False)", "One is. Two is?", "One is. Two is? Three"),
        ("RegexFilter('a+b')", "xaab", "xb"),
    ],
)
def test_an_expression_drops_what_the_block_drops(block: str, dropped: str, kept: str, tmp_path: Path) -> None:
    expressions = one(block, tmp_path).values["filter"]["exclude"]
    for text, expected in ((dropped, True), (kept, False)):
        assert any(jq.compile(one).input_value({"text": text}).first() for one in expressions) == expected, text


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        ("min_words_per_line=2", ["ab"]),
        ("max_word_length=12", ["a long-long-word is é"]),
        ("filter_javascript=True", ["needs JavaScript é"]),
        ("filter_policy=True", ["the Cookie Policy é"]),
        ("remove_citations=True", ["[12]", "[citation needed]"]),
    ],
)
def test_an_expression_finds_what_the_block_removes(only: str, expected: list[str], tmp_path: Path) -> None:
    off = {"min_words_per_line": -1, "max_word_length": -1, "min_num_sentences": -1}
    off |= dict.fromkeys(("filter_javascript", "filter_policy", "remove_citations", "filter_no_terminal_punct"), False)
    given = [f"{key}={value}" for key, value in off.items() if not only.startswith(key)]
    draft = one(f"C4QualityFilter({', '.join([only, *given])})", tmp_path)
    (replaced,) = draft.values["filter"]["span_replacement"]
    text = (
        "é first [12] line\nab\n\na long-long-word is é\nneeds JavaScript é\nthe Cookie Policy é\nso [citation needed]"
    )
    spans = jq.compile(replaced["span"]).input_value({"text": text}).first()
    assert [text[start:end] for start, end, _ in spans] == expected


def test_blocks_with_their_defaults_are_presets(tmp_path: Path) -> None:
    fineweb = (
        "GopherRepetitionFilter(exclusion_writer=JsonlWriter('x')), GopherQualityFilter(min_doc_words=50), "
        "C4QualityFilter(filter_no_terminal_punct=False), FineWebQualityFilter()"
    )
    draft = one(fineweb, tmp_path)
    names = ["gopher_repetition", "gopher_quality", "c4_any_ending", "fineweb"]
    assert draft.values["filter"] == {"presets": names}
    assert "attributes" not in draft.values
    assert_all_named(draft, ["exclusion_writer", "min_doc_words", "filter_no_terminal_punct"])
    taken = {key.rpartition(" ")[2]: ours for key, ours in draft.taken.items()}
    assert taken["min_doc_words"] == "filter.presets: gopher_quality"
    assert one("C4QualityFilter()", tmp_path).values["filter"] == {"presets": ["c4"]}


@pytest.mark.parametrize(
    "block",
    [
        "GopherQualityFilter(min_doc_words=51)",
        "GopherRepetitionFilter(dup_n_grams=((5, 0.2),))",
        "C4QualityFilter(filter_no_terminal_punct=False, min_num_sentences=3)",
        "C4QualityFilter(filter_policy=1)",
        "FineWebQualityFilter(language='fra')",
        "FineWebQualityFilter(line_punct_thr=LIMIT)",
    ],
)
def test_blocks_with_other_values_are_no_presets(block: str, tmp_path: Path) -> None:
    assert "presets" not in one(block, tmp_path).values.get("filter", {})


@pytest.mark.parametrize(
    ("block", "rules"),
    [
        (
            "GopherQualityFilter(min_doc_words=51, max_symbol_word_ratio=None)",
            {"gopher_quality.words": {"min": 51, "max": 100_000}},
        ),
        ("GopherRepetitionFilter(dup_para_frac=0.1)", {"gopher_repetition.duplicate_paragraphs": {"max": 0.1}}),
        ("C4QualityFilter(min_num_sentences=2)", {"c4_lines.sentences": {"min": 2}}),
        (
            "C4QualityFilter(filter_no_terminal_punct=False, min_num_sentences=-1)",
            {"c4_lines_any_ending.lorem_ipsum": {"max": 0}},
        ),
        ("FineWebQualityFilter(new_line_ratio=0)", {"fineweb_quality.newlines_per_word": {"max": 0}}),
    ],
)
def test_other_limits_are_ranges_of_the_taggers_that_decide_as_the_blocks(
    block: str, rules: dict[str, dict[str, float]], tmp_path: Path
) -> None:
    values = one(block, tmp_path).values
    found = values["filter"]["rules"]
    assert {f"quality.{key}": limits for key, limits in rules.items()}.items() <= found.items()
    assert values["attributes"] == [{"name": "quality", "taggers": [next(iter(rules)).partition(".")[0]]}]
    assert "quality.gopher_quality.hashes_per_word" not in found


def test_c4_with_and_without_endings_are_not_both_presets(tmp_path: Path) -> None:
    draft = one("C4QualityFilter(), C4QualityFilter(filter_no_terminal_punct=False)", tmp_path)
    assert draft.values["filter"]["presets"] == ["c4"]
    assert draft.values["attributes"][0]["taggers"] == ["c4_v2"]
