"""Lines of shell scripts and of READMEs as commands with their parameters; nothing is run."""
