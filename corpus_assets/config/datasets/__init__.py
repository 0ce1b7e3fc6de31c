"""`datasets` of `corpus.yaml`: one strict section per mode and per format."""
