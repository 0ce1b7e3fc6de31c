"""One script per published figure. Each takes --quick and --json, and measures in the run that it reports."""
