"""Scripts of datatrove as a corpus.yaml; they are parsed and never run."""
