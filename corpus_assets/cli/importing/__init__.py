"""`corpus import`: configurations and command lines of other tools as a corpus.yaml."""
