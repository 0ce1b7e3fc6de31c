"""What a build will give and cost, from samples of the corpus that are really built."""
