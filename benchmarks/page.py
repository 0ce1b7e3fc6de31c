"""The text of `docs/benchmarks.md`, a section for each benchmark; `benchmarks.publish` puts the figures in."""

PAGE = """# Benchmarks

`python -m benchmarks.publish` writes this page. Every figure comes from the script named in its section, on
a machine with {cores} cores and Python {python}. Rates are MB (10^6 bytes) of document text per CPU-second of one
core. Compare them with each other rather than with those of another machine.

## Stages

`python -m benchmarks.stages`: {small_text_mb} and {text_mb} MB of text ({corpus} corpus), `jsonl.gz` in, each stage in
a process of its own. What one more MB of text costs (ms per MB, and its inverse) is told from what a stage costs before
it has done anything: imports, compiled kernels, partitions with next to no rows. A stage of few seconds runs three
times, of which the least counts. All are over the text of the whole corpus, so they add up; `pipeline` is raw to
decontaminated train.

{stages}

## Signatures

`python -m benchmarks.minhash` measures everything between a text and its signature. `ratio` says how many times as
fast `affine32` is as datasketch's `update` called shingle by shingle, its `bulk` call, and rensa, on the same texts
in turns. Figures with `ascii` are for ASCII texts only; the others are for all texts, mixed as they come.

{minhash}

## Taggers

`python -m benchmarks.taggers`: everything between a text and its row of attributes, each tagger alone, and
`five together` (Gopher, C4, PII, length, repetitions) in one pass. `ratio` says how many times as fast each is as that
of dolma 1.2.1 on an even sample of the same texts, its reading and writing left out.

{taggers}

## Dedupers

`python -m benchmarks.dedupers`: the stages of whole documents (`text`), paragraphs, and paragraphs by n-grams of 13
words, from normalized documents to attributes.

{dedupers}

## Contamination

`python -m benchmarks.contamination`: everything between a text and the n-grams of 100,000 benchmark items in it.

{contamination}

## Near-duplicates found

`python -m benchmarks.dedup_quality` measures recall and precision against true Jaccard similarity at 0.8, on the
labelled pairs of the shared data (`pairs`) and on generated pairs that spread evenly over 0.5 to 1 (`made`). `missed
above 095` counts the pairs of similarity 0.95 or more that the sketches missed. `default` is what a corpus.yaml that
says nothing does; `removed below threshold` the share of the documents it removes that are less similar than that to
the one kept in their stead. Pairs are no chains, in which neighbours are similar and the ends are not; so `real` is the
same over a build of the shared data, which has dozens of versions of one file, and `unguarded` over that build with
`dedup.guard.action: report`, which lets chains be.

`two sided time ratio` is the CPU time of the stage `verified_pairs` with the default check over that with
`dedup.verify: signature`, in a build of the shared data; with `made`, of {check_mb} MB of generated text. What the
stage takes over {check_small_mb} MB is its fixed cost, and is taken off. `texts read` is the share of the candidates
that the sketches leave open, so that both texts are read and compared. To compare two sketches takes a microsecond or
two, to read and compare two texts a hundred times that; so the ratio follows from this share. `build ratio` is the
same over all stages up to the duplicates, nothing taken off (`python -m benchmarks.dedup_check`).

{quality}

What the families of signatures find with the default bands and check (`--families`):

{families}

Other ways to check the same candidates, with their bytes per document (`--checks`). The default is 1024 x 1 bit.

{checks}

## Token datasets

`python -m benchmarks.tokenize`: `text to hdf5` is the whole way from `jsonl.gz` to packed, deflated HDF5 of 2,048
tokens a row; it is compared with the same rows made with `tokenizers` and h5py's own gzip. `tokenize` is tokenization
alone; it is compared with `tokenizers.encode_batch` and tiktoken on a twelfth of the same texts. `fim` is text
to rows with fill in the middle, by document and by row. `vsl` packs whole documents with best fit.

{tokenize}

## Token streams and files for trainers

`python -m benchmarks.export`: `stream` is text to token stream, in MB of text per CPU-second; each format is from the
stream to its files, in millions of ids per CPU-second; `reader` reads windows of 2,049 ids in a keyed order, in MB of
ids per CPU-second. `copy` is numpy copying the same bytes in order.

{export}

## The sample corpus

`python -m benchmarks.demo` runs `make demo` without the installation of packages, without compiled
kernels and with an empty cache folder (fresh), with both (first), then the same build again (second). `fresh to first`
is the ratio of the two; with other work on the machine, that of CPU seconds is the one to believe.

{demo}

## Kernels

`python -m benchmarks.kernels` compiles every kernel in one process with an empty cache: CPU seconds of those that the
sample corpus needs, of all, and of the functions that take longest, without what they call.

{kernels}

## The plan

`python -m benchmarks.plan` measures the seconds to decide on every partition of a fresh corpus, by number of shards.
`first look` reads every record; `again` is a new process with the snapshots that the first one left. `s3` is a corpus
in an object store (SeaweedFS on loopback), with the number of requests.

{plan}

## Stores

`python -m benchmarks.stores` builds the sample corpus on a local disk and on S3 (SeaweedFS on loopback), each in one
process, and counts the CPU time of that process alone. `s3 cpu ratio` is that of the build on S3 over the local one.
`bytes read twice` counts bytes of objects that the build was sent although it had had them.

{stores}

## Digests of stored bytes

`python -m benchmarks.digests`: a record has a digest of each file's bytes beside that of its content. `write ratio` is
the CPU time to write a file with it over that without, `verify ratio` that to compare a file with both over that with
the digest of its content alone. Files are of 128 MB before compression: rows of tokens in HDF5, documents in gzip, and
ids as trainers read them (`bytes`), where nothing else is computed. `digest` is the digest alone. In turns, the best of
which counts.

{digests}

## Raw files elsewhere

`python -m benchmarks.raw_places` reads the same `jsonl.gz` from a local folder, from S3 (SeaweedFS on loopback) and
from a web server: CPU seconds per MB of text of the two stages that read raw files, `raw_source` and
`normalized_documents`. A `ratio` is over the local folder. `moved` is bytes received per byte of the raw files, which
are read twice.

{raw_places}

## The driver

`python -m benchmarks.driver` builds corpora of shards of ten short documents with two workers and measures the process
that drives the build: its CPU per partition (slope over two numbers of shards) and per build, and the share of the time
in which a worker is busy. Busy is the wall time inside a job, computing or committing: it includes waits for the disk
and for the CPU, which the driver shares. Files are not flushed to disk (`storage.sync: false`). Figures for 10000
shards lie on the line through both measurements; the larger one had {shards} shards in {partitions} partitions.
`two workers speedup` is the wall time of the stages by shard on larger shards, with one worker over that with two.

{driver}

## Engines

`python -m benchmarks.engines`: the engine of this machine and a Ray cluster of one machine, each with one worker and
with two. `efficiency` is the time of all stages by shard with one worker over twice that with two, the best of turns;
the driver and Ray's own processes share the cores with the workers. `busy share` is how much of the time of two
workers is work on partitions; what else is lost is lost by the machine, whose caches and memory the two share.
`empty` is the time per partition of a stage that does nothing, with two workers: each is computed and committed;
`message` the same of jobs that commit nothing.

{engines}

## Events in Dagster's database

`python -m benchmarks.event_log` stores the events of partitions as a build does, in SQLite files and in a Postgres
server on the same machine, in turns; the best turn of each counts. `ms per event` is by the clock, `cpu ms per event`
the CPU time of the build's process alone; `postgres ratio` is Postgres over SQLite by the clock. A thread stores them
while workers compute.

{event_log}

## The memory of a worker

`python -m benchmarks.worker_memory`: the memory of the one worker of an engine after it did every default stage, in MB:
its own, and its part of the pages that it shares. `base` is that on a few documents: libraries, compiled kernels and a
tokenizer of 300 tokens; `base 100k` with a tokenizer of 100,000 tokens. `counted` is what `engine.memory` counts for it
([clusters.md](clusters.md#memory-and-disk)). `data` is what a worker keeps beyond its base after larger shards.

{worker_memory}

## The estimate

`python -m benchmarks.estimate`: what `corpus estimate` says before a build, over what that build then gave and cost
(`ratio`), for the sample corpus and for generated text.

{demo}

{generated}

## The web UI

`python -m benchmarks.materialize_all` launches a backfill over everything from the web UI, as its button "Materialize
all" does, with all partitions fresh and with an empty store (new): seconds in which its runs start and run. On the
clock come the waits of Dagster's daemon, which looks at backfills every 30 seconds and at queued runs every 5.

{materialize_all}

## The command

`python -m benchmarks.command` measures CPU seconds of whole processes, the least of several runs: `corpus --help`,
and `corpus plan` on a fresh corpus of three shards. `modules` counts what each loads.

{command}

## Beside other tools

`python -m benchmarks.dedup_peers`: {beside}
"""
