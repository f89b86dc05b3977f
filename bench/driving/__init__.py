"""The real app driven from outside, for benchmarks and tests: servers, crowds, and visitors in a Chromium."""
