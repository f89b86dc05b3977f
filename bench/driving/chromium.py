"""Finds a Chromium for the browser tests, or installs one; `python -m bench.driving.chromium` says which."""

import os
import shutil
import subprocess
import sys

from dashboard.export.chrome import find

INSTALLERS = (
    ("apt-get", [["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "chromium"]]),
    ("dnf", [["dnf", "install", "-y", "-q", "chromium"]]),
    ("apk", [["apk", "add", "-q", "chromium"]]),
    ("brew", [["brew", "install", "--quiet", "--cask", "chromium"]]),
)
# The address bar's suggestions are two pages of their own in every window, together 0.6 s of CPU time. A second list
# of features takes the place of Playwright's, so what matters of that is here again.
NOT_NEEDED = (
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "OptimizationHints",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
)
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    f"--disable-features={','.join(NOT_NEEDED)}",
)


def install() -> None:
    """By the system's package manager, when we may: as root, or with Homebrew."""
    for program, commands in INSTALLERS:
        if shutil.which(program) and (program == "brew" or os.geteuid() == 0):
            environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
            for command in commands:
                subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
            return


def main() -> int:
    if find() is None:
        install()
    found = find()
    if found:
        print(f"browser tests use {found}")
        return 0
    print("no Chromium was found: set CHROME_PATH or install chromium; browser tests will be skipped", file=sys.stderr)
    return 1 if os.environ.get("CI") else 0


if __name__ == "__main__":
    sys.exit(main())
