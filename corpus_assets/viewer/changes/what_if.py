"""What would be computed with other values in corpus.yaml, as `corpus plan --set` says it. Nothing is written.

Any page of the web can send a request here, though it cannot read the answer. So the values that are taken neither
name a file, a place or a module, nor do they touch a section with such names.
"""

import re
from collections.abc import Sequence
from threading import Lock
from typing import Any

from corpus_assets.config.reading.strict_yaml import load_yaml
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.viewer.opened import View
from corpus_assets.viewer.plan import described
from corpus_assets.viewer.query import RefusedError
from corpus_assets.viewer.site import Asked, page, seen
from resources.errors import CorpusError

SECTIONS = (
    "sources",
    "normalize",
    "short_documents",
    "contamination",
    "on_contamination",
    "filter",
    "licences",
    "minhash",
    "dedup",
    "mix",
    "split",
    "datasets",
)
NAMES_A_PLACE = re.compile(
    r"location|path|file|model|list|option|template|module|tokenizer|input|url|key_id|secret", re.I
)
MOST = 20
_WORD = re.compile(r"[\w .,%+-]{0,100}", re.ASCII)
_ONE_AT_A_TIME = Lock()


def what_if(asked: Asked) -> str:
    """Shows the plan with changed values: `set`, `KEY=VALUE` in each of its lines."""
    given = asked.query.text("set", 2000)
    changes = [line.strip() for line in given.splitlines() if line.strip()]
    found, fault = _planned(asked.view, changes) if changes else (None, "")
    return page(
        asked,
        "what_if.html",
        "What if",
        given=given,
        fault=seen(fault),
        planned=found is not None,
        sections_allowed=SECTIONS,
        **(found or {}),
    )


def _planned(view: View, changes: Sequence[str]) -> tuple[dict[str, Any] | None, str]:
    """Returns the plan with changed values in words and numbers, or what is wrong with them."""
    require_harmless(changes)
    with _ONE_AT_A_TIME:
        try:
            corpus = Corpus.open(view.corpus.file, changes, read_only=True)
            planner = corpus.planner()
            planner.check_before(stage for stage in planner.graph if not planner.all_fresh(stage))
            return described(planner), ""
        except (CorpusError, OSError) as error:
            return None, str(error)


def require_harmless(changes: Sequence[str]) -> None:
    """Raises `RefusedError` for a change that a page does not take; `corpus plan --set` takes all of them."""
    if len(changes) > MOST:
        raise RefusedError(400, f"{len(changes)} changes; valid are up to {MOST}")
    for change in changes:
        key, _, value = change.partition("=")
        if key.split(".")[0] not in SECTIONS or NAMES_A_PLACE.search(key):
            said = f"{key[:100]}: a page changes no such value; valid are numbers and words in {', '.join(SECTIONS)}"
            raise RefusedError(400, f"{said}. In a terminal: corpus plan --set {change[:200]}")
        try:
            held = load_yaml(value, f"--set {key}")
        except CorpusError as error:
            raise RefusedError(400, str(error)) from None
        for one in held if isinstance(held, list) else [held]:
            if not isinstance(one, int | float | str | None) or not _WORD.fullmatch(str(one)):
                said = f"{change[:200]}: valid on a page is a number, a plain word, or a list of these"
                raise RefusedError(400, f"{said}; corpus plan --set takes others")
