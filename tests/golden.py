"""Draws the golden figures anew: `python -m tests.golden`. Look at what has changed before it is committed."""

import gzip
import tempfile
from pathlib import Path

from dashboard.figure_studio import Studio
from tests.dashboard.places import PLACES
from tests.dashboard.sheets import charts, usual_svg
from tests.dashboard.test_every_figure import GOLDEN, golden, golden_file


def main() -> None:
    GOLDEN.mkdir(exist_ok=True)
    for old in GOLDEN.glob("*.svg.gz"):
        old.unlink()
    with tempfile.TemporaryDirectory() as folder, Studio(Path(folder)) as studio:
        for place in PLACES:
            for name in charts(studio, place):
                svg = golden(usual_svg(studio, place, name))
                golden_file(place, name).write_bytes(gzip.compress(svg, mtime=0))
    sizes = [path.stat().st_size for path in GOLDEN.iterdir()]
    print(f"{len(sizes)} figures, {sum(sizes):,} bytes")


if __name__ == "__main__":
    main()
