"""What is shipped for others to host: that the image has all it copies, and nginx what several processes rely on."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from dashboard.hosting.settings import Hosting, read
from dashboard.server.visitor import COOKIE

ROOT = Path(__file__).resolve().parent.parent
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
NGINX = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")


def instructions(name: str) -> list[str]:
    return re.findall(rf"^{name} (.*)$", DOCKERFILE, re.MULTILINE)


def directives(name: str) -> list[str]:
    """The values of a directive of nginx."""
    return [" ".join(found.split()) for found in re.findall(rf"^\s*{name}\s+([^;{{]*);", NGINX, re.MULTILINE)]


def test_the_image_copies_what_there_is_and_all_that_the_app_imports():
    copied = {part for line in instructions("COPY") for part in line.split()[:-1]}
    assert all((ROOT / part).exists() for part in copied)
    assert copied >= {"app.py", ".streamlit", "dashboard", "radam_core", "demo_models", "pages", "requirements.txt"}
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert not copied & set(ignored)
    assert {".venv", "runs", ".git"} <= set(ignored)


def test_the_image_runs_as_nobody_in_particular_and_says_whether_it_is_well():
    assert instructions("USER") == ["lab"]
    assert DOCKERFILE.index("USER lab") < DOCKERFILE.index("\nCMD")
    assert "useradd --create-home --uid 10001 lab" in DOCKERFILE
    (check,) = instructions("HEALTHCHECK")
    (command,) = instructions("CMD")
    port = json.loads(command)[json.loads(command).index("--server.port") + 1]
    assert f"http://127.0.0.1:{port}/_stcore/health" in check
    assert instructions("EXPOSE") == [port]


def test_torch_comes_from_where_its_builder_says():
    assert instructions("ARG") == ['TORCH_INDEX=""']
    hosts = set(re.findall(r"https?://([^/:'\"\s]+)", DOCKERFILE))
    assert hosts == {"127.0.0.1"}
    (pinned,) = re.findall(r"^torch==.*$", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert re.fullmatch(r"torch==[0-9.]+", pinned)  # so that +cpu behind it names one wheel


def test_nginx_keeps_a_visitor_with_one_process_and_holds_nothing_back():
    (cookie,) = re.findall(r'"~([\w-]+)=', NGINX)
    assert cookie == COOKIE
    assert directives("hash") == ["$visitor"]
    assert [value.split()[0] for value in directives("server")] == ["127.0.0.1:8501", "127.0.0.1:8502"]
    assert "port=${3:-8501}" in (ROOT / "deploy" / "processes.sh").read_text(encoding="utf-8")
    assert directives("proxy_http_version") == ["1.1"]
    assert directives("proxy_buffering") == ["off"]
    assert directives("proxy_read_timeout") == ["1h"]
    assert directives("client_max_body_size") == [f"{Hosting().figure_megabytes}m"]
    headers = dict(value.split() for value in directives("proxy_set_header"))
    assert headers["X-Forwarded-For"] == "$remote_addr"  # and not what the visitor says
    assert headers["Upgrade"] == "$http_upgrade"
    assert "127.0.0.1" in Hosting.make(read(ROOT / "deploy" / "hosted.yaml")).trusted_proxies


def test_a_process_that_is_gone_is_passed_over_and_no_start_is_sent_twice():
    (cases,) = directives("proxy_next_upstream")
    assert set(cases.split()) == {"error", "timeout", "http_404"}  # without non_idempotent


@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not here; what we rely on is checked above")
def test_nginx_takes_the_configuration(tmp_path):
    checked = subprocess.run(
        ["nginx", "-t", "-p", tmp_path, "-c", ROOT / "deploy" / "nginx.conf"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr
