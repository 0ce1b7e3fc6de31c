"""Token streams, and the files for trainers that are made from them."""
