"""Which browser of this machine draws figures and runs the browser tests."""

import os
import shutil
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find() -> str | None:
    """CHROME_PATH, a browser on the PATH, or one that Playwright brought."""
    named = os.environ.get("CHROME_PATH")
    if named:
        if not Path(named).is_file():
            raise FileNotFoundError(f"CHROME_PATH must be a browser's program, got {named!r}")
        return named
    on_path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if on_path:
        return on_path
    browsers = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH", Path.home() / ".cache" / "ms-playwright"))
    return next((str(path) for path in sorted(browsers.glob("chromium-*/chrome-*/chrome"))), None)
