"""Language models that are trained on sources: counts of n-grams by shard, and an estimate of their probabilities."""
