"""An OpenAI-compatible endpoint: requests within limits, and answers that are kept."""
