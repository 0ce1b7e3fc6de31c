"""The `corpus` command: its arguments. Each command loads what it needs when it runs.

Exit codes: 0 all is well; 1 something failed; 2 the command or configuration is wrong; 3 `plan` with --check or --json
found something not fresh; 130 interrupted.
"""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typing_extensions import override

from corpus_assets.cli.auditing.arguments import audits
from corpus_assets.cli.beginning.arguments import init
from corpus_assets.cli.hub import arguments as hub
from corpus_assets.cli.importing.arguments import imports
from corpus_assets.cli.megatron.arguments import megatron_cache
from corpus_assets.cli.options import ConfigOption, JsonOption, SelectOption, SetOption, does_not_read, reads_only
from corpus_assets.cli.questions import arguments as questions
from resources.errors import ConfigError, CorpusError, EngineError
from resources.version import VERSION


class _Commands(TyperGroup):
    """The commands. Click prints `Aborted` for an end of file; here it is an error with a reason."""

    @override
    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except EOFError as error:
            more = str(error) or "no more is known"
            raise EngineError(f"a process or a stream that was read from ended too early: {more}") from error


app = typer.Typer(
    cls=_Commands,
    name="corpus",
    help="Prepare LLM training corpora: see what is stale and why, rebuild just that, verify what is there.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

app.add_typer(imports, name="import")
app.add_typer(audits, name="audit")


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"corpus {VERSION}")
        raise typer.Exit


@app.callback()
def _corpus(
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version  # Its callback has printed it.


app.command()(init)


@app.command()
def plan(
    config: ConfigOption = None,
    select: SelectOption = None,
    *,
    as_json: JsonOption = False,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 3 if anything is not fresh, as --json does.")
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="List fresh partitions too.")] = False,
    changes: SetOption = None,
) -> None:
    """List the partitions that are not fresh, and why. Changes nothing."""
    from corpus_assets.cli.plan import run

    raise typer.Exit(run(config, select, changes or [], as_json=as_json, check=check, every=every))


@app.command()
def build(
    context: typer.Context,
    config: ConfigOption = None,
    select: SelectOption = None,
    as_json: JsonOption = False,
    *,
    checks: Annotated[bool, typer.Option(help="Run the asset checks of rebuilt partitions.")] = True,
    rehash: Annotated[
        bool, typer.Option("--rehash", help="Read all raw files again, whatever their sizes and times.")
    ] = False,
    events: Annotated[
        bool,
        typer.Option(
            "--events", help="Print a JSON object per event during the build; the last one is that of --json."
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only failures and the last line.")] = False,
    log_level: Annotated[
        str, typer.Option(help="Lowest level in the log of the build: debug, info, warning or error.")
    ] = "info",
    sample: Annotated[
        str | None, typer.Option(help="Build a sample of the raw rows, such as 1%, in a folder of its own.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Build a sample of so many raw rows of each source.", min=1)] = None,
    root: Annotated[
        Path | None, typer.Option(help="Folder of the sample; by default beside the store, named after the sample.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Another seed gives another sample.", min=0)] = 0,
    changes: SetOption = None,
) -> None:
    """Build everything, or the selected assets, that is not up to date."""
    if sample is None and limit is None:
        does_not_read(context, "without --sample or --limit", "--root", "--seed")
    from resources.kernels.compiling import load_early
    from resources.processes.collector import loading

    load_early()
    with loading():
        from corpus_assets.cli.build.command import Said, run

    if sample is not None or limit is not None:
        from corpus_assets.cli.sampling import sample_config

        config = sample_config(config, sample, limit, root, seed, quiet=quiet)
    said = Said(as_json=as_json, events=events, quiet=quiet, log_level=log_level)
    raise typer.Exit(run(config, select, changes or [], said, checks=checks, rehash=rehash))


@app.command()
def estimate(
    context: typer.Context,
    config: ConfigOption = None,
    as_json: JsonOption = False,
    *,
    changes: SetOption = None,
    add: Annotated[
        str | None,
        typer.Option(
            help="NAME=LOCATION: instead, what one more source costs a corpus that is built: documents, copies, time."
        ),
    ] = None,
    seconds: Annotated[float, typer.Option(help="About how long it may take.", min=5)] = 60,
    core_hour: Annotated[float | None, typer.Option(help="Price of an hour of one core.", min=0)] = None,
    gb_month: Annotated[float | None, typer.Option(help="Price of a gigabyte on disk for a month.", min=0)] = None,
) -> None:
    """Estimate the results and costs of the whole build from samples that are built in a temporary place.

    Changes nothing.
    """
    if add is not None:
        does_not_read(context, "with --add", "--core-hour", "--gb-month")
        from corpus_assets.cli.estimating.added import run as run_added

        run_added(config, changes or [], add, seconds, as_json=as_json)
        return
    from corpus_assets.cli.estimating.whole import Prices, run

    run(config, changes or [], seconds, Prices(core_hour, gb_month), as_json=as_json)


@app.command()
def verify(
    context: typer.Context,
    config: ConfigOption = None,
    as_json: JsonOption = False,
    *,
    deep: Annotated[bool, typer.Option("--deep", help="Read every byte again and compare digests.")] = False,
    mend: Annotated[
        bool, typer.Option("--mend", help="Remove the records of bad partitions, so that the next build rebuilds them.")
    ] = False,
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            help="Read content for so long (90s, 10m, 2h), beginning with what was read least lately, so that runs "
            "in turn read all.",
        ),
    ] = None,
    repair_plan: Annotated[
        bool, typer.Option("--repair-plan", help="Say what a build would compute after --mend; change nothing.")
    ] = False,
    absent: Annotated[
        list[str] | None,
        typer.Option("--absent", help="Prove instead that no file holds a document that this list names."),
    ] = None,
) -> None:
    """Compare the ledger with the files: presence and size, with --deep the content too."""
    if absent:
        reads_only(context, "with --absent", "--absent", "--config", "--json")
        from corpus_assets.cli.absent import run as prove

        raise typer.Exit(prove(config, absent, as_json=as_json))
    from corpus_assets.cli.verify import run

    raise typer.Exit(run(config, as_json=as_json, deep=deep, mend=mend, budget=budget, repair_plan=repair_plan))


@app.command()
def config(
    config: ConfigOption = None,
    changes: SetOption = None,
    as_json: JsonOption = False,
    *,
    changed: Annotated[
        bool, typer.Option("--changed", help="Only what differs from the defaults, and which file says it.")
    ] = False,
) -> None:
    """Print the configuration as it is used, with every default; changes nothing."""
    from corpus_assets.cli.questions.config import run

    run(config, changes or [], changed=changed, as_json=as_json)


for question in (
    questions.show,
    questions.classifier,
    questions.packing,
    questions.trace,
    questions.why,
    questions.diff,
    questions.tokens,
):
    app.command()(question)
app.command()(questions.sql)
app.command("check-windows")(questions.check_windows)
app.command()(questions.weights)
app.command("megatron-cache")(megatron_cache)


@app.command()
def clean(
    context: typer.Context,
    config: ConfigOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be removed.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Remove orphans even if the folder of a source lost most of its files.")
    ] = False,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Only make this configuration the owner of the store; remove nothing.")
    ] = False,
) -> None:
    """Remove orphans (partitions whose raw file, band, chunk or asset is gone) and files that no partition owns."""
    if take_over:
        reads_only(context, "with --take-over, which removes nothing", "--take-over", "--config")
    from corpus_assets.cli.clean import run

    run(config, dry_run=dry_run, force=force, taking_over=take_over)


@app.command()
def copy(
    root: Annotated[str, typer.Argument(metavar="OTHER_ROOT", help="Where to, as `storage.root` would say it.")],
    config: ConfigOption = None,
    *,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="Copy only these assets; also group:NAME, +asset and asset+."),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", help="KEY=VALUE for the store of the copy, such as storage.sync=false."),
    ] = None,
    jobs: Annotated[int, typer.Option(help="How many partitions are copied at a time.", min=1, max=64)] = 4,
    as_json: JsonOption = False,
) -> None:
    """Copy the corpus to another store, checking every file; an interrupted copy continues where it stopped."""
    from corpus_assets.cli.copy import run

    raise typer.Exit(run(config, root, only, changes or [], jobs, as_json=as_json))


app.command()(hub.publish)
app.command()(hub.pull)


@app.command()
def sample(
    folder: Annotated[Path, typer.Argument(help="Where to write it.")],
    megabytes: Annotated[float, typer.Option(help="Text to write, in MB.")] = 24,
) -> None:
    """Write the sample corpus: raw shards made from files of this Python installation.

    Also writes a corpus.yaml over them into the working folder, if none is there and $CORPUS_CONFIG names none.
    """
    from corpus_assets.cli.sample_corpus import run

    run(folder, megabytes)


@app.command()
def docs(
    page: Annotated[str | None, typer.Argument(help="Its name, such as stores; without one all are listed.")] = None,
) -> None:
    """Print a page of the documentation of this version, or list all pages and say where they are."""
    from corpus_assets.cli.pages import run

    run(page)


@app.command()
def doctor(config: ConfigOption = None, as_json: JsonOption = False, changes: SetOption = None) -> None:
    """Check whether this machine can build the corpus, and estimate time and disk of a first build."""
    from corpus_assets.cli.doctor.command import run

    raise typer.Exit(run(config, changes or [], as_json=as_json))


@app.command()
def view(
    config: ConfigOption = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 3001,
) -> None:
    """Show the corpus in a browser: documents, duplicates, token rows, the plan. Read-only; needs no Dagster."""
    from corpus_assets.cli.view import run

    run(config, host, port)


@app.command()
def ui(
    config: ConfigOption = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 3000,
) -> None:
    """Open the Dagster web UI on this corpus, with the pages of `corpus view` at /corpus/."""
    from corpus_assets.cli.console import warn_of_open_door
    from corpus_assets.corpus.corpus import Corpus
    from corpus_assets.orchestration.home.faults import require_home

    corpus = Corpus.open(config)
    require_home(corpus.home)  # Before Dagster is loaded, which takes seconds.
    warn_of_open_door(host)
    from corpus_assets.orchestration.instance.instance import serve

    serve(corpus, config, host, port)


def _leave_scripts_aside() -> None:
    """Imports nothing from the folder of this script: others lie there, and a `jsonpath.py` would hide the package."""
    script = Path(sys.argv[0]).resolve()
    if script.is_file() and sys.path[:1] == [str(script.parent)]:
        del sys.path[0]


def main() -> None:
    """Runs the command; prints errors that are meant for a person without a traceback, and sets the exit code."""
    from corpus_assets.cli.console import FAILED, INTERRUPTED, USAGE, errors, print_line
    from corpus_assets.cli.interrupts import heed_all_interrupts
    from resources.processes.collector import calm_collector
    from resources.system_errors import advice, error_words

    _leave_scripts_aside()
    calm_collector()
    heed_all_interrupts()
    try:
        app()
    except ConfigError as error:
        print_line(errors(), str(error))
        sys.exit(USAGE)
    except (KeyboardInterrupt, SystemExit) as leaving:
        # Typer turns Ctrl-C into an exit code without a message.
        if isinstance(leaving, SystemExit) and leaving.code != INTERRUPTED:
            raise
        print_line(errors(), "interrupted; finished partitions are kept, and the same command continues from there")
        sys.exit(INTERRUPTED)
    except (CorpusError, OSError, MemoryError) as error:
        words = error_words(error) or "this process gets no more memory from the machine"
        print_line(errors(), f"{words}{advice(error)}")
        sys.exit(FAILED)
