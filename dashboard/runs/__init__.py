"""What is kept and told of runs: their states, the store, the records' codec, the feed and downloads."""
