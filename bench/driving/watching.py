"""A server of our own in another process, and a browser's view of its event streams, for tests and benchmarks."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Event:
    name: str
    data: Any
    id: str | None = None


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def wait_for_port(process: "subprocess.Popen[Any]", port: int, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            with socket.create_connection(("127.0.0.1", port), 1):
                return
        except OSError:
            assert process.poll() is None, "the server ended"
            time.sleep(0.05)
    raise AssertionError(f"the server did not answer within {seconds} s")


class Server:
    """The app on a free loopback port, under `/lab` to show that a base path works."""

    def __init__(self, runs: Path, workers: int | None = None) -> None:
        self.port = free_port()
        environment = {**os.environ, "RADAM_LAB_RUNS": str(runs)}
        if workers is not None:
            environment["RADAM_LAB_WORKERS"] = str(workers)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bench.driving.training_server", str(self.port)],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.base = f"http://127.0.0.1:{self.port}/lab/api/runs"
        wait_for_port(self.process, self.port, 60)

    def tell(self, **command: Any) -> Any:
        """submit=configuration gives the run's id; pause=, resume=, stop=, wants= and sent= take one.

        All but the last may be followed by visitor=, whose command it is.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return next(iter(json.loads(self.process.stdout.readline()).values()))

    def get(self, path: str, method: str = "GET") -> tuple[int, Any]:
        request = urllib.request.Request(f"{self.base}/{path}", method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                code, body = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                code, body = error.code, error.read()
        return code, json.loads(body) if body.startswith(b"{") else body

    def events(self, run: str, query: str = "", last: str | None = None) -> Iterator[Event]:
        """Until the server ends the stream, or the caller stops listening."""
        headers = {} if last is None else {"Last-Event-ID": last}
        request = urllib.request.Request(f"{self.base}/{run}/events{query}", headers=headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            fields: dict[str, str] = {}
            for line in answer:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name:
                    fields[name] = value
                elif fields:
                    yield Event(fields["event"], json.loads(fields["data"]), fields.get("id"))
                    fields = {}

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self._close()

    def stop(self) -> float:
        """As Ctrl-C does; how many seconds that took."""
        start = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        self._close()
        return time.monotonic() - start

    def _close(self) -> None:
        try:
            self.process.wait(30)
        finally:
            self.process.kill()
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe is not None:
                    pipe.close()
