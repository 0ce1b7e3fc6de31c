"""A build: the loop, its workers' outcomes, its progress, checks and report."""
