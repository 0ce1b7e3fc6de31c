"""What the assets lean on: storage, ledger, plan, engine, IO managers, codecs."""
