"""The content of small corpora with every kind of stage, as digests that are kept with the code.

`corpora/` has a configuration for each corpus, `given/` the files that all of them read. `digests.yaml` says what each
stage made of them: its `code_version`, what it was `made_of` (its parameters, and the content of what it read), and its
`content`. Equal inputs with other content mean that an algorithm changed. Then the `code_version` of the stage must be
raised, or corpora that are built already would keep the old content without a word.

After a change that is meant, write the digests again, and commit them with it:

    .venv/bin/python -m tests.golden_content.write
"""
