"""Draws the golden figures anew, all or those of some places: `python -m tests.golden [PLACE ...]`. Look at what has
changed before it is committed."""

import gzip
import sys
import tempfile
from pathlib import Path

from dashboard.figure_studio import Studio
from tests.dashboard.places import PLACES
from tests.dashboard.sheets import charts, usual_svg
from tests.dashboard.test_every_figure import GOLDEN, golden, golden_file


def main() -> None:
    GOLDEN.mkdir(exist_ok=True)
    asked = sys.argv[1:] or list(PLACES)
    for old in GOLDEN.glob("*.svg.gz") if len(sys.argv) == 1 else ():
        old.unlink()
    with tempfile.TemporaryDirectory() as folder, Studio(Path(folder)) as studio:
        for place in asked:
            for name in charts(studio, place):
                svg = golden(usual_svg(studio, place, name))
                golden_file(place, name).write_bytes(gzip.compress(svg, mtime=0))
    sizes = [path.stat().st_size for path in GOLDEN.iterdir()]
    print(f"{len(sizes)} figures, {sum(sizes):,} bytes")


if __name__ == "__main__":
    main()
