"""Where the documents of train are from: domains, hosts, suffixes and years, counted by source."""
