"""Our files read by the real libraries of trainers, each in an environment of its own (`make test-readers`)."""
