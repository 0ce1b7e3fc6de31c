"""Presets beside the originals: `python -m benchmarks.presets [--quick] [--publish] [options]`.

For each preset the decision, the rule that decides, and the text that is left, on real texts (those of the shared data,
where they lie beside the checkout), and the CPU seconds of both. Ours count from a text to its scores; the original's
from a text to its decision, in an environment of its own, or by the Python that `--datatrove` or `--dclm-python` names.
`--dclm` is a checkout of github.com/mlfoundations/dclm, which is no package; without it, the figures of `dclm` stay.
DCLM's code takes ten minutes.
`--publish` keeps the figures in presets.json, from which docs/presets.md is made.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.dedup_real import QUICK_SOURCES, SOURCES
from benchmarks.peers.environment import python_of
from benchmarks.taggers import PEERS, real_documents
from corpus_assets.attributes.registry import BUILT_IN
from corpus_assets.config.selection.presets import PRESETS
from docs.generate import write_pages
from resources.documents.tagger import Text
from resources.formats.documents import Document
from tests.attributes.presets.judged import judged

KEPT = Path(__file__).with_name("presets.json")
REQUIREMENTS = ("datatrove==0.10.1", "spacy==3.8.18", "nltk", "regex", "tldextract")
OF_DCLM = ("uniseg==0.10.1", "nltk", "retrie==0.3.1", "fasttext-community==0.11.9", "unidecode", "numpy")
TEXTS, QUICK_TEXTS = 2000, 200
SHOWN = 5


def even(documents: Sequence[Document], count: int) -> list[str]:
    """Texts taken evenly from all documents, each once."""
    texts = list(dict.fromkeys(document.text for document in documents))
    return texts[:: max(1, len(texts) // count)][:count]


def seconds_of(name: str, texts: Sequence[str]) -> float:
    """CPU seconds from texts to scores."""
    tag = BUILT_IN[PRESETS[name].tagger].tag
    tag(Text(Document("a", "Warm up.", "s")))
    started = time.process_time()
    for text in texts:
        tag(Text(Document("a", text, "s")))
    return time.process_time() - started


def compared(name: str, texts: Sequence[str], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a preset, and the first texts on which both differ."""
    differing, kept = [], 0
    for text, (dropped, *left) in zip(texts, theirs["decisions"], strict=True):
        ours = judged(name, text)
        kept += ours[0] is None
        if ours != (dropped, left[0] if left else text):
            differing.append({"ours": ours[0], "original": dropped, "text": text[:80]})
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    return {
        "kept": kept,
        "differing": len(differing),
        "first": differing[:SHOWN],
        "ours_mb_per_cpu_s": round(megabytes / seconds_of(name, texts), 2),
        "original_mb_per_cpu_s": round(megabytes / theirs["seconds"], 2),
    }


def said(script: str, texts: Sequence[str], python: Path, *given: str) -> Any:
    """What an original says of the texts."""
    command = [str(python), "-P", str(Path(__file__).parent / "peers" / script), *given]
    done = subprocess.run(command, input=json.dumps(texts), stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure(
    only: Sequence[str], quick: bool, datatrove: str | None, dclm: str | None, dclm_python: str | None
) -> dict[str, Any]:
    texts = even(real_documents(SOURCES[:QUICK_SOURCES] if quick else SOURCES), QUICK_TEXTS if quick else TEXTS)
    theirs: dict[str, Any] = {}
    if set(only) - {"dclm"}:
        python = Path(datatrove) if datatrove else python_of(PEERS / "datatrove-filters", REQUIREMENTS)
        found = said("datatrove_filters.py", texts, python)
        theirs |= {name: found[name] for name in only if name in found}
    if dclm and "dclm" in only:
        python = Path(dclm_python) if dclm_python else python_of(PEERS / "dclm", OF_DCLM)
        theirs["dclm"] = said("dclm_heuristics.py", texts, python, dclm)
    kept = json.loads(KEPT.read_bytes())["presets"]
    figures = {name: compared(name, texts, theirs[name]) if name in theirs else kept.get(name) for name in PRESETS}
    return {
        "texts": len(texts),
        "megabytes": round(sum(len(text.encode()) for text in texts) / 1e6, 1),
        "presets": {name: found for name, found in figures.items() if found},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer texts")
    parser.add_argument("--only", nargs="+", choices=PRESETS, default=[*PRESETS], help="keep the figures of all others")
    parser.add_argument("--publish", action="store_true", help="keep the figures, and write the page")
    parser.add_argument("--datatrove", help="a Python that has datatrove and spaCy")
    parser.add_argument("--dclm", help="a checkout of mlfoundations/dclm")
    parser.add_argument("--dclm-python", help="a Python that has the libraries of its heuristics")
    given = parser.parse_args()
    figures = measure(given.only, given.quick, given.datatrove, given.dclm, given.dclm_python)
    words = json.dumps(figures, ensure_ascii=False, indent=1)
    if given.publish:
        KEPT.write_text(words + "\n", encoding="utf-8")
        write_pages()
    print(words, file=sys.stdout)


if __name__ == "__main__":
    main()
