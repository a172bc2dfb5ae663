"""Benchmarks: operations done, time taken, target beside it. They assert counts, never times."""
