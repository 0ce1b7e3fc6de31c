"""The text of `docs/benchmarks.md`, a section for each benchmark; `benchmarks.publish` inserts the figures."""

PAGE = """# Benchmarks

How fast is it? The first table says which figures have a goal, and whether they reach it. A section per benchmark
follows. To measure on your machine:

```sh
python -m benchmarks.stages                # one section; its script is named in it
python -m benchmarks.publish --quick       # all sections on small inputs, written into this page
```

Every figure comes from the script named in its section, on a machine with {cores} cores and Python {python}. Rates are
MB (10^6 bytes) of document text per CPU-second of one core. Compare figures with each other rather than with those of
another machine. What a corpus of yours will cost: `corpus estimate` ([before-a-build.md](before-a-build.md)).

## Stages

`python -m benchmarks.stages`: {small_text_mb} and {text_mb} MB of text ({corpus} corpus) in `jsonl.gz`, each stage in a
separate process. Two sizes separate the cost of one more MB of text (ms per MB, and its inverse) from the fixed cost:
imports, compiled kernels, partitions with hardly any rows. A stage of a few seconds runs three times, and the fastest
run counts. All figures are over the text of the whole corpus, so they add up; `pipeline` is raw to decontaminated
train, `mix_and_splits` the two passes of the mix, train and decontaminated train.

{stages}

Every stage is stored. The codecs alone take, in ms per MB of text: gzip {gunzip_alone_ms} to decompress and
{gzip_alone_ms} to compress, zstd {unzstd_alone_ms} and {zstd_alone_ms}. On the way to clean train a text is
decompressed from gzip four times (normalized_documents, minhashes, mixed_pass1, train) and compressed twice, and once
both ways with zstd; decontaminated_train copies what it does not change. That is most of the mix and the splits, and
what stands in the way of their goal.

## Real text

`python -m benchmarks.real`: pages of documentation as WARC (Rust, OpenJDK, Scala, GHC, Linux, two versions of Boost,
LibreOffice in six languages) and the sources of Linux as JSON lines, from Debian packages that apt downloads; they have
natural duplicates. Built with {real_workers} workers, from the pages to all outputs: five taggers (Gopher, C4, PII,
length, CLD2), a filter, near-duplicates, a holdout, shuffled HDF5, Megatron and OLMo, with a tokenizer of 32,000 tokens
that is trained on the texts. {real_absent}

MB are 10^6 bytes of the pages and source files. CPU seconds are those of all processes. `peak memory` is the largest
sum of the memory of all processes at one time (PSS), the driver included; `memory share` is that over `engine.memory`,
4 GiB. `disk` is the whole store. `of a third` is the same over about a third of the bytes. `growth` is CPU seconds over
those of a third, over bytes over those of a third: over 1 is slower than linear.

{real}

![CPU seconds by stage](real-stages.svg)

{real_stages}

Other tools on a sample of the normalized texts, in the same run: MB of text per CPU-second. Ours are the jobs of our
stages, reading and writing included, five taggers in one pass; datatrove's are its Gopher, C4 and PII blocks and its
four MinHash blocks, reading and writing included. Of dolma it is four taggers alone, without CLD2.

{real_peers}

## Signatures

`python -m benchmarks.minhash` measures everything between a text and its signature. `ratio` is the speed of `affine32`
over that of datasketch's `update` called shingle by shingle, its `bulk` call, and rensa, on the same texts in turns.
Figures with `ascii` are for ASCII texts only; the others are for all texts.

{minhash}

## Taggers

`python -m benchmarks.taggers`: everything between a text and its row of attributes, each tagger alone, and
`five together` (Gopher, C4, PII, length, repetitions) in one pass. `real five` is Gopher, C4, PII, length and the
language by CLD2 (extra `cld2`) in one pass over the texts of the shared data, where they lie beside the checkout, and
`real cld2` its last tagger alone, most of which is the library. `ratio` is the speed of a tagger over that of the same
tagger of dolma 1.2.1 on an even sample of the same texts, without dolma's reading and writing.

{taggers}

## Dedupers

`python -m benchmarks.dedupers`: the stages of whole documents (`text`), paragraphs, and paragraphs by n-grams of 13
words, from normalized documents to attributes.

{dedupers}

## Substrings

`python -m benchmarks.substrings`: exact repeated substrings of 500 bytes or more in Python files, from normalized
documents to attributes, beside a suffix array of the same bytes (pydivsufsort). `equal` says whether both found the
same spans. `own growth` is CPU time for all of the text over that for a third of it, divided by three: 1 is linear. The
step of datatrove is not among the peers: it compares ids of a tokenizer, and leaves the search to a program in Rust
that it does not come with, which is a suffix array too.

{substrings}

## Meaning

`python -m benchmarks.semantic`: documents that mean the same, among short documents (docstrings of installed packages),
with the vectors that wordllama's wheel brings, beside semhash with the same vectors and threshold (0.9). `own` are our
stages from normalized documents to attributes; `semhash` is its whole process, both with one core. `slope` is what the
other two thirds of the documents take beyond the first third. `agreement` is the number of documents that both remove
over that of those that either does. `kept pairs` counts pairs of kept documents that are still at or above the
threshold, `unlike` removed documents that no kept one resembles so much; both by exact cosines of all pairs. `clustered
share` is how many of our marked documents are found in clusters too, of which documents on both sides of a border are
not compared.

{semantic}

## Contamination

`python -m benchmarks.contamination`: everything between a text and the n-grams of 100,000 benchmark items in it.

{contamination}

## Benchmark items found

`python -m benchmarks.contamination_quality` plants items of GSM8K and HumanEval in real documents, one in each, and
searches these and all shared texts without plants (some 25,000 documents) through the stages of a build. Rows are kinds
of copies: re-spaced has other white space between words; cut is six words of ten in a row, from anywhere; other
numbers, other names (in code that of the function) and other variables are replaced wherever they stand; signs apart
has spaces around all punctuation, which cuts words like `48/2` and `f(x)` in two. Recall is the share of documents in
which `contamination.share` of the planted item, or more, is found. Precision is of the first four kinds: documents of
theirs that are found, over these and all documents without a plant in which so much of an item is found. Columns are
options of [`contamination`](contamination.md); the text of an item is question and answer, or in the last column the
question alone, which is then planted alone. The answers of HumanEval are much shorter than its questions, so an answer
alone is seldom half of an item.

{contamination_quality}

## Phrases

`python -m benchmarks.text_index` searches forty phrases of five words in generated documents, with the index of texts
(`search_index: true`) and, for three of them, without; every file is in the page cache, and the machine worked for
others too. Larger corpora were not measured. The time grows with the number of blocks, so a straight line through both
sizes estimates it for more. The worst ones are phrases of frequent words, of which many blocks have all runs.

{text_index}

## Near-duplicates found

`python -m benchmarks.dedup_quality` measures recall and precision against true Jaccard similarity at 0.8, on the
labelled pairs of the shared data (`pairs`) and on generated pairs with similarities spread evenly from 0.5 to 1
(`made`). `missed above 095` counts the pairs of similarity 0.95 or more that the sketches missed. `default` is the
default configuration; `removed below threshold` is the share of its removed documents that are less similar than 0.8 to
the document kept in their place. Pairs contain no chains, in which neighbours are similar and the ends are not. So
`real` is the same over a build of the shared data, which has dozens of versions of one file, and `unguarded` over that
build with `dedup.guard.action: report`, which keeps chains whole.

`two sided time ratio` is the CPU time of the stage `verified_pairs` with the default check over that with
`dedup.verify: signature`, in a build of the shared data; with `made`, of {check_mb} MB of generated text. The time over
{check_small_mb} MB is the fixed cost, and is subtracted. `texts read` is the share of the candidates that the sketches
leave open, so that both texts are read and compared. To compare two sketches takes a microsecond or two, to read and
compare two texts a hundred times that; so the ratio follows from this share. `build ratio` is the same over all stages
up to the duplicates, with nothing subtracted (`python -m benchmarks.dedup_check`).

{quality}

What the families of signatures find with the default bands and check (`--families`):

{families}

Other ways to check the same candidates, with their bytes per document (`--checks`). The default is 1024 x 1 bit.

{checks}

## Documents within others

`python -m benchmarks.containment` builds three corpora up to the duplicates, with each `dedup.rule` at its defaults:
`shared` is the shared data; `editions` two editions of the documentation of Boost, from Debian packages that apt
downloads; `templates` calls of functions in one frame, made by a generator: most of each call is the frame, and
no two calls are alike. `left` counts the kept documents that stand in another kept one by 0.95 of their shingles, by
comparing all pairs with sets: what `contained` and `either` should have found. (With `similar` it is what that rule
does not look for.)

{containment}

## Token datasets

`python -m benchmarks.tokenize`: `text to hdf5` is everything from `jsonl.gz` to packed, deflated HDF5 of 2,048 tokens a
row, compared with the same rows made with `tokenizers` and h5py's own gzip. `code to shuffled hdf5` is both stages of a
shuffled dataset over Python files of this machine, fixed cost apart. `tokenize` is tokenization alone, compared with
`tokenizers.encode_batch` and tiktoken on a twelfth of the texts. `fim` is text to rows with fill in the
middle, by document and by row. `vsl` packs whole documents with best fit.

{tokenize}

## Conversations

`python -m benchmarks.chat`: generated texts as conversations of four turns of 1,000 characters, through the ready
template `chatml`, to ids, what is learned of them, and packed rows of 8,192. The process that renders counts too. The
rate is what one more MB costs, told from two sizes. `apply chat template` is that of transformers with
`return_assistant_tokens_mask=True` on an even sample of the same conversations; it makes no rows.

{chat}

## Token streams and files for trainers

`python -m benchmarks.export`: `stream` is text to token stream, in MB of text per CPU-second; each format is from the
stream to its files, in millions of ids per CPU-second; `reader` reads windows of 2,049 ids in a keyed order, in MB of
ids per CPU-second. `copy` is numpy copying the same bytes in order.

{export}

## Masked documents in files

`python -m benchmarks.masked_formats`: conversations as ids, and what is learned of them, written by the functions of
the formats with default options, in millions of ids per CPU-second. `ratio` is CPU seconds over those of the same ids
alone (`plain`), in the same format or, for Megatron-Bridge, in Parquet. Packed rows in Parquet have three columns as
long as the ids by default, and `parquet trl` has two; most of the cost of each is what Arrow's writer needs for any
column of lists. A sample of MDS is JSON of the ids in decimal, one and a half times as many bytes as four for each id.

{masked_formats}

## Index files for Megatron

`python -m benchmarks.megatron_cache`: the index files of a run over three epochs of documents of 500 ids on average, in
samples of 2,048: by `corpus megatron-cache` (`ours`) and by megatron-core itself, without imports. The files are equal.
`blend` is over two prefixes with weights. `peak mb` is the memory that this needs at most, with the pages of mapped
files.

{megatron_cache}

## The sample corpus

`python -m benchmarks.demo` runs `make demo` without installing packages, three times: without compiled kernels and with
an empty cache folder (fresh), with both (first), then the same build again (second). `fresh to first` is the ratio of
the first two. If the machine did other work, rely on the ratio of CPU seconds.

{demo}

## Kernels

`python -m benchmarks.kernels` compiles every kernel in one process with an empty cache: CPU seconds of the kernels that
the sample corpus needs, of all kernels, and of the functions that take longest, without the functions they call.

{kernels}

## Small datasets

`python -m benchmarks.small_datasets` builds chat datasets of one to three conversations, each with files and a
tokenizer of its own and one of three templates in turn, with compiled kernels: wall seconds, and CPU seconds of all
processes. `cpu ms per dataset` is the CPU time of one more. `large` is with tokenizers of 50,000 tokens. Most of their
cost is to load each of them: before the build, into the store, and for rows.

{small_datasets}

## One small file

`python -m benchmarks.one_file` builds 20 documents in one file, with one dataset: CPU seconds of all processes, of
those of the process that drives the build (workers have the rest), and wall seconds. Kernels and Python's bytecode are
compiled before. First into an empty store; `changed` is after the file changed, `nothing` with nothing to do. Nearly
all of it is loading: Python's modules, Dagster and its databases, numba.

What stands in the way of the goal: a build with nothing to do takes 0.6 s, `import dagster` alone as much again, and
Dagster's databases, run and events half a second; the process that workers are forked from loads numba and the stages
in half a second, and workers spend the rest on some sixty partitions. A second worker is not what costs: without it the
sum is the same within 0.1 s.

{one_file}

## The plan

`python -m benchmarks.plan` measures the seconds to decide on every partition of a fresh corpus, by number of shards.
`first look` reads every record; `again` is a new process with the snapshots of the first one. `s3` is a corpus in an
object store (SeaweedFS on loopback), with the number of requests.

{plan}

## The sensor

`python -m benchmarks.sensor`: CPU seconds of a tick of the sensor, with a Dagster database in SQLite files; `ms per
shard` and `fixed` are told from two numbers of shards. `first` registers all shards in Dagster, `unchanged` finds
everything fresh, `failed` finds that a shard of ten has failed and nothing has changed since, `gone` finds half of the
raw files removed, and `stale` a parameter changed that all shards depend on. `memory` is what the process grows by in
four ticks.

{sensor}

## Stores

`python -m benchmarks.stores` builds the sample corpus on a local disk and on S3 (SeaweedFS on loopback), each in one
process, and counts the CPU time of that process alone. `s3 cpu ratio` is that of the build on S3 over the local one.
`bytes read twice` counts bytes of objects that the build received more than once.

{stores}

## Digests of stored bytes

`python -m benchmarks.digests`: a record has two digests of each file, of its stored bytes and of its content. `write
ratio` is the CPU time to write a file with the first digest over that without it; `verify ratio` is the time to compare
a file with both over that with the second alone. Files have 128 MB before compression: rows of tokens in HDF5,
documents in gzip, and ids as trainers read them (`bytes`), where nothing else is computed. `digest` is the digest
alone. Runs alternate, and the best counts.

{digests}

## Raw files elsewhere

`python -m benchmarks.raw_places` reads the same `jsonl.gz` from a local folder, from S3 (SeaweedFS on loopback) and
from a web server: CPU seconds per MB of text of the two stages that read raw files, `raw_source` and
`normalized_documents`. A `ratio` is over the local folder. `moved` is bytes received per byte of the raw files; each
file is read twice.

{raw_places}

## Compressed raw files

`python -m benchmarks.packings` reads the same documents, as JSON lines in every compression, as parquet and as Arrow
streams, from memory to documents. Two sizes separate the rate from the fixed cost. A `ratio` is over gzip.

{packings}

## Web crawls

`python -m benchmarks.warc` reads web pages in a WARC file, with a gzip member per response, from memory to documents
with resiliparse, and gives the same pages to resiliparse alone: MB of HTML per CPU-second. `warc over extractor` is the
cost of documents over that of the extractor.

{warc}

## Attributes of others

`python -m benchmarks.attribute_files` reads files of attributes beside raw files, with a score of the whole text and
one of each 200 code points: MB of text per CPU-second of the stage that reads them, in the order of the raw rows
(`rows`) or joined by id, with texts that normalization may change (`nfc`), which are read again, or not (`none`). `and
filter` has the filter by one of the scores after it. `dolma mixer` is that of the toolkit with the same filter over the
same files; the ratio is of `rows none and filter` over it.

{attribute_files}

## Learned filters

`python -m benchmarks.learned_filters` trains classifiers of both kinds on the texts of a corpus, and scores these: MB
of text per CPU-second of the function of the stage and of the tagger, and of the fastText library with the same
options on lines that are ready, one for one and in a list. The ratios are of the kind `fasttext` over the library.

{learned_filters}

## The text of web pages

`python -m benchmarks.web_text`: articles of 127 news pages by the measure of the benchmark that they are of, and code
blocks of pages of documentation. [The page on web text](web-text.md#figures) says how. `PEERS_PYTHON` names the Python
of the packages of others, some of which need 3.12; they get an environment that is thrown away.

{web_text}

## The driver

`python -m benchmarks.driver` builds corpora of shards of ten short documents with two workers and measures the process
that drives the build: its CPU time per partition (the slope over two numbers of shards) and per build, and the share of
time in which a worker is busy. Busy is the wall time inside a job, computing or committing: it includes waits for the
disk and for the CPU, which the driver shares. Files are not flushed to disk (`storage.sync: false`). Figures for 10000
shards lie on the line through both measurements; the larger one had {shards} shards in {partitions} partitions.
`two workers speedup` is the wall time of the stages by shard on larger shards, with one worker over that with two.

What stands in the way of `one change share`: a build with nothing to do looks at 70,000 records and at the size of
170,000 files, which is a second of system calls and half of its time. The documents of any shard lie in all chunks, so
one changed shard makes the mix, the splits and the tokens of the whole corpus again, four CPU-seconds. Both workers
read the records of all shards for each stage that reads them all, 0.1 s each time. Small files are no cost: reading and
checking one takes 11 microseconds.

{driver}

## A month on a cluster

`python -m benchmarks.month` simulates 4,096 cores for a month: 10 TB of text in 1,000 raw files and 500 chunks; then
a week of 100 TB in 2,000 files and 1,000 chunks. Planner, builder, leases and commit records are the real ones, each
build in a process of its own. Only the contents are missing: a digest of its recipe stands for each partition, so a
change goes on to everything that reads it. Costs are the published ones of stages and bytes. The clock is the
cluster's, and these things go wrong:

- 1 % of the machines (64 cores) are lost on a day, with all that runs on them, and replaced after ten minutes; an
  attempt that ends within the last second has committed without the driver's knowledge;
- 2 % of the machines have disks that make everything take five times as long;
- the store refuses one request of 1,000 with 503, and one of ten during two minutes of each hour; after five refusals
  the partition fails, and the next build computes it;
- on a fifth of the days the machine of the driver is lost at a moment of the first build's first hour.

Every day 1 % more raw files come, 0.1 % are edited, 0.05 % deleted; every week a parameter changes. `corpus build` runs
until all is fresh. `differ` counts the partitions whose digest differs from that of one build of the last state in an
empty store, without faults. `twice percent` is the share of all CPU time that went into attempts without a commit, or
into partitions of which a record of the same recipe existed before. `plan s`, `driver cpu s` (of all builds, with what
workers do for a commit) and `driver mb` are measured; `million` is a plan of that many fresh partitions. Checks are
left out, as they look at contents.

{month}

## Engines

`python -m benchmarks.engines`: the engine of this machine and a Ray cluster of one machine, each with one worker and
with two. `efficiency` is the time of all stages by shard with one worker over twice that with two, the best of several
runs; the driver and Ray's own processes share the cores with the workers. `busy share` is the share of the time of two
workers that is work on partitions; the machine loses the rest, because the two share its caches and memory. `empty` is
the time per partition of a stage that does nothing, with two workers: each partition is computed and committed;
`message` is the same for jobs that commit nothing.

{engines}

## Events in Dagster's database

`python -m benchmarks.event_log` stores the events of partitions as a build does, in SQLite files and in a Postgres
server on the same machine, in turns; the best turn of each counts. `ms per event` is wall time, `cpu ms per event` the
CPU time of the build's process alone; `postgres ratio` is Postgres over SQLite in wall time. A thread stores events
while workers compute.

{event_log}

## The memory of a worker

`python -m benchmarks.worker_memory`: the memory, in MB, of an engine's only worker after every default stage: its own
pages, and its part of those that it shares. `base` is measured on a few documents: libraries, compiled kernels and a
tokenizer of 300 tokens; `base 100k` is with a tokenizer of 100,000 tokens. `counted` is what `engine.memory` counts for
a worker ([clusters.md](clusters.md#memory-and-disk)). `data` is what a worker keeps beyond its base after larger
shards.

{worker_memory}

## The memory of a long document

`python -m benchmarks.document_memory`: the memory that one document of 128 MB of ASCII text takes in each stage, in
bytes for each byte of the text, beyond what the process had before. Stages that look at no text are left out. What a
text of other characters takes: [reliability.md](reliability.md#memory).

{document_memory}

## The estimate

`python -m benchmarks.estimate`: the ratio of what `corpus estimate` says before a build to what that build then gave
and cost, for the sample corpus and for generated text.

{demo}

{generated}

## One more source

`python -m benchmarks.added_source`: a corpus without one of its sources is built, the source is estimated
(`corpus estimate --add`), and built. Ratios of estimate to build: documents, those that are kept, partitions that are
computed, and seconds of the whole command. `share` is that of the rows that the estimate read, `most off` the largest
error of the time.

{added_source}

## The time left

`python -m benchmarks.forecast`: the time left that a build says, over the time that was left, when 10, 25, 50, 75 and
90 % of the build are over; 1 is right. The builds: the first one of a store, then one after a change of
`split.holdout`, and one after a change of `short_documents.threshold`, after which much may turn out fresh. Two values
are both ends of a range. `generated` is text from the generator; `real` is the shared data, with taggers, a filter and
files for Megatron.

{forecast}

## The web UI

`python -m benchmarks.materialize_all` launches a backfill over everything, as the button "Materialize all" of the web
UI does, with all partitions fresh and with an empty store (new): seconds in which its runs start and run. The waits of
Dagster's daemon come on top: it looks at backfills every 30 seconds and at queued runs every 5.

{materialize_all}

## The command

`python -m benchmarks.command` measures CPU seconds of whole processes, the least of several runs: `corpus --help`,
and `corpus plan` on a fresh corpus of three shards. `modules` counts what each loads.

{command}

## Near-duplicates in natural texts

`python -m benchmarks.dedup_labelled`: sets of real documents whose copies are known by a label or by their origin, read
by every tool of the next section with its settings there. Precision, recall and F1 are of pairs of documents, which
count as found if one cluster has both; `gone` is the share of pairs of copies of which one at least is removed, which
is what counts for training: a tool that splits chains of versions need not join each pair. `ARI` is the adjusted Rand
index between clusters and groups of versions. No tool is made for versions that changed much, nor for pages of one
frame, so no recall or precision here has to be 1.

{labelled}

## Beside other tools

`python -m benchmarks.dedup_peers`: {beside}
"""
