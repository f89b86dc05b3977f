"""A hosted copy under all that a class, an attacker and a bad day do to it: `make soak`, report in docs/RELIABILITY.md.

Loopback only, bounded in time and in count. Every scenario is a file here and a row in `scenarios.py`; each says what
it did in figures, and what it missed in sentences. One miss, and the soak fails.
"""
