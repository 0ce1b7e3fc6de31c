"""What the web UI shows of assets and partitions."""
