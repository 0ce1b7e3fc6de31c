"""A corpus on the Hugging Face hub: published in one commit, and pulled again (docs/publishing.md)."""
