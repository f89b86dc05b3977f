"""Whether another process of this machine is gone for certain, as far as the system tells: Linux does.

A process is named by the machine's start, its process namespace (a container has its own), its number and when it was
started, which no two share. Of processes in other containers, and on other systems, nothing is certain.
"""

import os
from pathlib import Path

_PROC = Path("/proc")


def name() -> str:
    """Of this process; empty where the system tells nothing."""
    started = _started(os.getpid())
    try:
        boot = (_PROC / "sys" / "kernel" / "random" / "boot_id").read_text(encoding="ascii").strip()
        namespace = (_PROC / "self" / "ns" / "pid").readlink()
    except OSError:
        return ""
    return f"{boot} {namespace} {os.getpid()} {started}" if started else ""


def is_gone(other: str, own: str) -> bool:
    """Whether the process with this name is gone for certain; `own` is that of the process that asks."""
    parts, mine = other.split(), own.split()
    if len(parts) != 4 or len(mine) != 4:
        return False
    if parts[0] != mine[0]:  # the machine was started again since
        return True
    return parts[1] == mine[1] and _started(int(parts[2])) != parts[3]


def _started(process: int) -> str:
    """When, in ticks since the machine's start; empty if it does not run."""
    try:
        stat = (_PROC / str(process) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    state, *rest = stat.rpartition(")")[2].split()  # before it is a name, in which anything may stand
    return "" if state in "ZX" else rest[18]
