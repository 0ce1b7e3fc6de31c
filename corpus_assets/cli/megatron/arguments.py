"""Arguments of `corpus megatron-cache`, which are those of Megatron-LM where it has them."""

from pathlib import Path
from typing import Annotated

import typer

from corpus_assets.cli.options import JsonOption


def megatron_cache(
    prefixes: Annotated[
        list[str],
        typer.Argument(
            metavar="[WEIGHT] PREFIX...",
            help="What follows --data-path or --train-data-path, written as there: paths are part of file names.",
        ),
    ],
    output: Annotated[Path, typer.Option(help="The folder to be given to Megatron as --data-cache-path.")],
    tokenizer: Annotated[
        Path,
        typer.Option(
            help="A *-description.txt that Megatron wrote with the same tokenizer, or its `unique_identifiers` as JSON."
        ),
    ],
    sequence_length: Annotated[int, typer.Option("--seq-length", help="As of the run.", min=2)],
    *,
    seed: Annotated[int, typer.Option(help="As of the run.", min=0, max=2**32 - 1)] = 1234,
    split: Annotated[
        str | None,
        typer.Option(help="As of the run, character by character; without it the prefixes are of one part alone."),
    ] = None,
    part: Annotated[
        str, typer.Option(help="Without --split: whose prefixes these are: train, valid or test.")
    ] = "train",
    samples: Annotated[
        str | None,
        typer.Option(help="Samples of train, valid and test: 1000000,6400,3200. With one number only train has any."),
    ] = None,
    iterations: Annotated[
        int | None, typer.Option("--train-iters", help="As of the run, instead of --samples.", min=1)
    ] = None,
    batch: Annotated[
        int | None, typer.Option("--global-batch-size", help="As of the run, with --train-iters.", min=1)
    ] = None,
    eval_iterations: Annotated[int, typer.Option("--eval-iters", help="As of the run.", min=0)] = 100,
    eval_interval: Annotated[int, typer.Option(help="As of the run.", min=1)] = 1000,
    surplus: Annotated[float, typer.Option("--mid-level-dataset-surplus", help="As of the run.", min=0)] = 0.005,
    places: Annotated[
        list[str] | None,
        typer.Option("--map", help="TRAINERS=OURS: a prefix that begins with the first lies here under the second."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write the index files that Megatron would build before a run, so that it starts at once."""
    from corpus_assets.cli.megatron.command import place_of, run, sizes_said, tokenizer_in
    from corpus_assets.megatron_cache.blends import PARTS, blend_of, sizes_of_run
    from corpus_assets.megatron_cache.caches import Run
    from resources.errors import ConfigError

    if part not in PARTS:
        raise ConfigError(f"--part {part!r} is not valid; valid: {', '.join(PARTS)}")
    if samples is not None and iterations is None and batch is None:
        sizes = sizes_said(samples, "train" if split is not None else part)
    elif samples is None and iterations is not None and batch is not None:
        sizes = sizes_of_run(iterations, batch, eval_iterations, eval_interval)
    else:
        raise ConfigError("valid: either --samples, or --train-iters and --global-batch-size")
    asked = Run(
        blend=blend_of(prefixes),
        sequence_length=sequence_length,
        seed=seed,
        split=split,
        part=part,
        sizes=sizes,
        surplus=surplus,
        tokenizer=tokenizer_in(tokenizer),
        files=place_of(places or []),
    )
    run(asked, output, as_json=as_json)
