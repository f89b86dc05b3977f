"""The downloader against a real server on the loopback interface: whole and right, or nothing at all."""

import hashlib
import io
import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from demo_models.download import RemoteFile, check_sha256, download, progress_bar
from demo_models.image_files import DataFileError

CONTENT = bytes(range(256)) * 3000  # 768,000 bytes: several chunks


@contextmanager
def server(content=CONTENT, announced=None, status=200):
    """A server that announces a length and sends the content, which may be less."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(status)
            self.send_header("Content-Length", str(len(content) if announced is None else announced))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args):
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{httpd.server_port}/file.bin", asked
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()


def remote(url, content=CONTENT):
    return RemoteFile("file.bin", url, len(content), hashlib.sha256(content).hexdigest())


def test_a_download_arrives_whole_with_its_progress_and_is_not_fetched_twice(tmp_path):
    seen = []
    with server() as (url, asked):
        path = download(remote(url), tmp_path / "new", lambda arrived, total: seen.append((arrived, total)))
        assert path.read_bytes() == CONTENT
        download(remote(url), tmp_path / "new")
        assert len(asked) == 1
    assert [p.name for p in path.parent.iterdir()] == ["file.bin"]
    assert seen == sorted(seen)
    assert seen[-1] == (len(CONTENT), len(CONTENT))


def test_a_damaged_copy_is_replaced(tmp_path):
    (tmp_path / "file.bin").write_bytes(b"damaged")
    with server() as (url, asked):
        assert download(remote(url), tmp_path).read_bytes() == CONTENT
        assert len(asked) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"content": CONTENT[:-5]}, "must give 768000 bytes, but ended after 767995: try again"),
        ({"content": CONTENT[:-5], "announced": len(CONTENT)}, "ended after 767995"),  # the connection broke
        ({"content": CONTENT + b"x"}, "must give 768000 bytes, but it goes on"),
        ({"content": CONTENT[::-1]}, "must have SHA-256 .* nothing was kept"),
        ({"status": 404}, "file.bin could not be fetched from http://.*404"),
    ],
)
def test_a_wrong_download_leaves_what_was_there(options, message, tmp_path):
    (tmp_path / "file.bin").write_bytes(b"what was there")
    with server(**options) as (url, _), pytest.raises(DataFileError, match=message):
        download(remote(url), tmp_path)
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("file.bin", b"what was there")]


def test_an_unreachable_server_is_named(tmp_path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/file.bin"
        with pytest.raises(DataFileError, match=f"file.bin could not be fetched from {url}"):
            download(remote(url), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_only_web_addresses_are_fetched(tmp_path):
    with pytest.raises(DataFileError, match="url must start with https:// or http://, got 'file:///etc/hostname'"):
        download(remote("file:///etc/hostname"), tmp_path)


def test_a_checksum_names_the_file(tmp_path):
    path = tmp_path / "file.bin"
    path.write_bytes(CONTENT)
    check_sha256(path, hashlib.sha256(CONTENT).hexdigest())
    with pytest.raises(DataFileError, match=r"file.bin must have SHA-256 0000, got [0-9a-f]{64}"):
        check_sha256(path, "0000")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_bar_shows_size_and_time_left_on_a_terminal_and_one_line_elsewhere():
    terminal, file = Terminal(), io.StringIO()
    for out in (terminal, file):
        show = progress_bar("set.gz", out)
        show(1_000_000, 4_000_000)
        show(4_000_000, 4_000_000)
    assert "set.gz [########                      ] 1.0 of 4.0 MB" in terminal.getvalue()
    assert "s left" in terminal.getvalue()
    assert file.getvalue().count("MB") == 1
    assert file.getvalue().endswith("4.0 of 4.0 MB, done   \n")
