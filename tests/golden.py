"""Draws the golden figures anew: `python -m tests.golden`. Look at what has changed before it is committed."""

import gzip
import tempfile
from pathlib import Path

from dashboard.figure_studio import Studio
from tests.dashboard.test_every_figure import GOLDEN, PAGES, golden, made


def main() -> None:
    GOLDEN.mkdir(exist_ok=True)
    for old in GOLDEN.glob("*.svg.gz"):
        old.unlink()
    with tempfile.TemporaryDirectory() as folder, Studio(Path(folder)) as studio:
        for place, (page, query) in PAGES.items():
            for name in studio.charts(page, query):
                svg = golden(made(studio, place, name, "svg"))
                (GOLDEN / f"{place}-{name}.svg.gz").write_bytes(gzip.compress(svg, mtime=0))
    sizes = [path.stat().st_size for path in GOLDEN.iterdir()]
    print(f"{len(sizes)} figures, {sum(sizes):,} bytes")


if __name__ == "__main__":
    main()
