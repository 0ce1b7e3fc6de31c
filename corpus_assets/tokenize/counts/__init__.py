"""What is counted while rows are made: tokens, lengths, losses; and the files that say so to trainers."""
