"""A hosted copy in a process of its own: `streamlit run app.py` with the shipped settings, its log, and its memory."""

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil

from bench.driving.watching import ROOT, free_port
from bench.soak.outcome import Outcome

SETTINGS = ROOT / "deploy" / "hosted.yaml"
START_SECONDS, END_SECONDS = 120.0, 60.0
_TRACEBACK = "Traceback (most recent call last)"


class Host:
    """`folder` holds its runs, unless `environment` says otherwise, and its log; it survives a restart."""

    def __init__(self, folder: Path, environment: Mapping[str, str] | None = None, settings: Path = SETTINGS) -> None:
        self.port, self.log = free_port(), folder / "server.log"
        self.environment = {
            "RADAM_LAB_MODE": "hosted",
            "RADAM_LAB_SETTINGS": str(settings),
            "RADAM_LAB_RUNS": str(folder / "runs"),
            **(environment or {}),
        }
        self.process: subprocess.Popen[bytes] | None = None
        self._last_words: list[tuple[int, int]] = []  # places in the log

    @property
    def runs(self) -> Path:
        return Path(self.environment["RADAM_LAB_RUNS"])

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def server(self) -> psutil.Process:
        assert self.process is not None
        return psutil.Process(self.process.pid)

    def start(self) -> None:
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(self.port)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "--server.address", "127.0.0.1"],
                cwd=ROOT,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **self.environment},
            )
        end = time.monotonic() + START_SECONDS
        while not self.healthy():
            assert self.process.poll() is None, f"the server ended: {self.tail()}"
            assert time.monotonic() < end, f"the server was not healthy within {START_SECONDS:g} s"
            time.sleep(0.1)

    def healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}/_stcore/health", timeout=10) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def workers(self) -> list[psutil.Process]:
        found = []
        for child in self.server.children(recursive=True):
            try:
                if "spawn_main" in " ".join(child.cmdline()):
                    found.append(child)
            except psutil.Error:  # it has just ended
                continue
        return found

    def memory_mb(self) -> float:
        """The server's own, without what it shares and without its workers."""
        return float(self.server.memory_full_info().uss) / 1e6

    def files(self) -> int:
        """How many files and sockets it holds open."""
        return int(self.server.num_fds())

    def sockets(self) -> int:
        """How many connections of visitors it holds. Streamlit keeps some files, too, for two minutes after each."""
        return sum(one.laddr.port == self.port for one in self.server.net_connections("tcp"))

    def kill(self) -> None:
        """As a crash would; waits until its workers have noticed."""
        assert self.process is not None
        workers, size = self.workers(), self.log.stat().st_size
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(END_SECONDS)
        _, left = psutil.wait_procs(workers, timeout=END_SECONDS)
        for one in left:
            one.kill()
        # What workers say of a server that is no more is no mistake of the server's.
        self._last_words.append((size, self.log.stat().st_size))

    def stop(self) -> None:
        """As Ctrl-C does."""
        if self.process is None or self.process.poll() is not None:
            return
        workers = self.workers()
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for one in psutil.wait_procs(workers, timeout=END_SECONDS)[1]:
            one.kill()

    def text(self) -> str:
        """Of the log, without what the workers of a killed server said until they ended."""
        told = self.log.read_bytes() if self.log.exists() else b""
        for start, end in reversed(self._last_words):
            told = told[:start] + told[end:]
        return told.decode(errors="replace")

    def tail(self, letters: int = 1500) -> str:
        return self.text()[-letters:]

    def judge(self, outcome: Outcome) -> None:
        """What holds after anything: it answers, and has logged no traceback."""
        text = self.text()
        found = text.count(_TRACEBACK)
        outcome.figures["tracebacks in the log"] = str(found)
        first = text.split(_TRACEBACK)[1][:20_000].split("\n20")[0][-1500:] if found else ""  # its end says what it was
        outcome.require(found == 0, f"{found} tracebacks in the server's log, the first: {first}")
        alive = self.process is not None and self.process.poll() is None
        outcome.require(alive and self.healthy(), "the server does not answer at the end")


@contextmanager
def hosted(folder: Path, environment: Mapping[str, str] | None = None, settings: Path = SETTINGS) -> Iterator[Host]:
    """A started one; it has ended when the block has."""
    host = Host(folder, environment, settings)
    host.start()
    try:
        yield host
    finally:
        host.stop()
