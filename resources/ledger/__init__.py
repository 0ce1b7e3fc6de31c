"""The ledger: commit records, one per partition, and what holds many of them in few files."""
