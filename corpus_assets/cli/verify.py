"""`corpus verify`: compares the ledger with the files; with `--mend` the next build rebuilds bad partitions."""

from pathlib import Path
from typing import Any

from corpus_assets.cli.console import FAILED, output, print_json, print_line
from corpus_assets.cli.plan import plan_values, show_plan
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.freshness.causes import Causes, causes
from corpus_assets.verification.rounds import Round, seconds_of
from corpus_assets.verification.verify import LEDGER, Verification, mended, verify
from resources.errors import ConfigError
from resources.ledger.ledger import partition_name
from resources.planning.planner import Plan, Status

_MAX_LISTED = 20
_UNSURE = (
    "{1:,} of what reads a bad partition says that it was made before it ({0} ...): the bad one was made again since, "
    "or the clock was set back, and then these and what was made from them are suspect too"
)


def run(
    config: Path | None,
    *,
    as_json: bool,
    deep: bool,
    mend: bool = False,
    budget: str | None = None,
    repair_plan: bool = False,
) -> int:
    """Verifies a corpus and prints bad files; returns the exit code, which is 0 too if all bad ones are mended.

    Files that could not be read are never mended. budget: how long content is read, such as `10m`. repair_plan: whether
    to say what a build would compute after mending, which changes nothing.
    """
    if mend and repair_plan:
        raise ConfigError("--repair-plan changes nothing, --mend does: give one of them")
    seconds = None if budget is None else seconds_of(budget)
    corpus = Corpus.open(config, read_only=not mend and seconds is None)
    part = None if seconds is None else Round(corpus.storage, seconds)
    deep = deep or part is not None
    result = verify(corpus, deep=deep, part=part)
    if mend and result.bad:
        result.mended = mended(corpus, result, deep=deep)
    repair = repaired(corpus, result) if repair_plan else None
    if as_json:
        print_json(_as_values(result, part, repair))
    else:
        _print(result, part, mend=mend)
        if repair is not None:
            _print_repair(*repair)
    return FAILED if result.unread or (result.bad and not mend) else 0


def _as_values(result: Verification, part: Round | None, repair: tuple[Plan, Causes] | None) -> dict[str, Any]:
    problems = {"bad": result.bad, "unread": result.unread}
    values: dict[str, Any] = {
        **result.__dict__,
        **{name: [one.__dict__ for one in of] for name, of in problems.items()},
    }
    if part is not None:
        values |= {"oldest": part.oldest or None, "not_kept": part.not_kept or None}
    return values if repair is None else {**values, "repair": plan_values(*repair, [])}


def repaired(corpus: Corpus, result: Verification) -> tuple[Plan, Causes]:
    """Returns the plan of a corpus without the records of its bad partitions, and its causes; changes nothing."""
    planner = corpus.planner()
    for asset, key in dict.fromkeys((one.asset, one.partition) for one in result.bad if one.asset != LEDGER):
        planner.forgotten(asset, key)
    return planner.plan(), causes(planner, list(corpus.graph))


def _print_repair(found: Plan, why: Causes) -> None:
    if all(decision.status is Status.FRESH for decision in found.decisions):
        print_line(output(), "nothing is to be repaired")
    else:
        output().print("After `--mend` a build has this to do; nothing is changed now.", style="bold")
        show_plan(output(), found, why)


def _print(result: Verification, part: Round | None, *, mend: bool) -> None:
    out = output()
    for title, problems in (("bad", result.bad), ("unread", result.unread)):
        for problem in problems:
            where = partition_name(problem.asset, problem.partition)
            print_line(out, f"{where}: {problem.file}: {problem.problem}", title)
    _print_some("suspect", [f"{name}: made from a bad partition, after it" for name in result.suspect])
    if result.unsure:
        print_line(out, _UNSURE.format(", ".join(result.unsure[:3]), len(result.unsure)), "unsure")
    _print_some("unowned", [f"{path}: no record names it; `corpus clean` removes it" for path in result.unowned])
    _print_some("mended", [f"{name}: its record is removed; the next build makes it again" for name in result.mended])
    unread = f", {len(result.unread):,} could not be read" if result.unread else ""
    print_line(out, f"{result.checked:,} files checked, {len(result.bad):,} bad{unread}")
    if part is not None:
        _print_round(result, part)
    if result.bad and not mend:
        print_line(
            out, "`corpus verify --deep --mend` removes the records of what is bad; the next build makes it again"
        )


def _print_round(result: Verification, part: Round) -> None:
    every = result.read + result.left
    rest = f"; next in turn is what was last whole at {part.oldest}" if part.oldest else ""
    print_line(output(), f"{result.read:,} of {every:,} partitions read whole in this round{rest}")
    if part.not_kept:
        print_line(
            output(), f"what was read is not noted, so the next round reads it again: {part.not_kept}", "warning"
        )


def _print_some(title: str, lines: list[str]) -> None:
    out = output()
    for line in lines[:_MAX_LISTED]:
        print_line(out, line, title)
    if len(lines) > _MAX_LISTED:
        print_line(out, f"and {len(lines) - _MAX_LISTED:,} more", title)
