"""Pictures one after the other as a moving one: GIF and APNG by Pillow, MP4 by PyAV."""

import io
import struct
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from PIL import Image, UnidentifiedImageError

from dashboard.export.forms import LEAST_SECONDS, MOST_FRAMES, MOST_SECONDS, MOVING

MOST_BYTES = 60_000_000
MOST_WIDTH, HEIGHT = 1280, 720
COLOURS = 64
ALIKE = 8  # of 255
LAST_MS = 1500  # how long the last picture stands before it begins again


def pictures(body: bytes) -> list[Image.Image]:
    """PNGs of one size, each after its length in four bytes. `ValueError` for anything else."""
    if len(body) > MOST_BYTES:
        raise ValueError(f"a moving figure may have at most {MOST_BYTES:,} bytes of pictures, got {len(body):,}")
    found = [_picture(part) for part in _parts(body)]
    if not 2 <= len(found) <= MOST_FRAMES:
        raise ValueError(f"a moving figure must have 2 to {MOST_FRAMES} pictures, got {len(found)}")
    if len({one.size for one in found}) > 1:
        raise ValueError("all pictures of a moving figure must have one size")
    return found


def _parts(body: bytes) -> Iterator[bytes]:
    place = count = 0
    while place < len(body):
        if count > MOST_FRAMES or place + 4 > len(body):
            raise ValueError(f"a moving figure must be 2 to {MOST_FRAMES} pictures, each after its length")
        (length,) = struct.unpack_from(">I", body, place)
        part = body[place + 4 : place + 4 + length]
        if len(part) < length or length == 0:
            raise ValueError("a moving figure's last picture is cut off")
        yield part
        place, count = place + 4 + length, count + 1


def _picture(png: bytes) -> Image.Image:
    try:
        with Image.open(io.BytesIO(png), formats=["PNG"]) as found:
            if found.width > MOST_WIDTH or found.height != HEIGHT:  # known before anything is unpacked
                raise ValueError(
                    f"a picture of a moving figure must be {HEIGHT} pixels high and at most {MOST_WIDTH} wide, "
                    f"got {found.width} x {found.height}"
                )
            return found.convert("RGB")
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError):
        raise ValueError("a picture of a moving figure cannot be read as PNG") from None


def moving(frames: list[Image.Image], form: str, seconds: float) -> bytes:
    """One round in so many seconds, then again and again."""
    if form not in MOVING:
        raise ValueError(f"format must be one of {', '.join(MOVING)}, got {form[:20]!r}")
    if not LEAST_SECONDS <= seconds <= MOST_SECONDS:
        raise ValueError(f"seconds must be between {LEAST_SECONDS:g} and {MOST_SECONDS:g}, got {seconds:g}")
    return _mp4(frames, seconds) if form == "mp4" else _pillow(frames, form, seconds)


def _pillow(frames: list[Image.Image], form: str, seconds: float) -> bytes:
    each = max(20, round(1000 * seconds / len(frames) / 10) * 10)  # a GIF counts in hundredths of a second
    durations = [*[each] * (len(frames) - 1), LAST_MS]
    # The last picture has all that the others have: its colours are everybody's.
    palette = _palette(frames[-1])
    drawn = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    out = io.BytesIO()
    kind = {"gif": "GIF", "apng": "PNG"}[form]
    drawn[0].save(out, kind, save_all=True, append_images=drawn[1:], duration=durations, loop=0, optimize=False)
    return out.getvalue()


def _palette(picture: Image.Image) -> Image.Image:
    """Few colours, of which the background's is exact."""
    found = picture.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    colours = np.asarray(found.getpalette(), dtype=int).reshape(-1, 3)
    paper = np.asarray(picture)[0, 0]
    colours[np.abs(colours - paper).max(1) < ALIKE] = paper  # Pillow takes one that is near for the nearest
    found.putpalette(colours.ravel().tolist())
    found.load()  # only then others see it
    return found


def _mp4(frames: list[Image.Image], seconds: float) -> bytes:
    """In a form that every slide program plays. Its sides must be even."""
    import av

    width, height = (side - side % 2 for side in frames[0].size)
    rate = Fraction(len(frames) / seconds).limit_denominator(1000)
    out = io.BytesIO()
    with av.open(out, "w", format="mp4") as file:
        stream = file.add_stream("libx264", rate=rate, options={"crf": "20", "movflags": "+faststart"})
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        still = round(LAST_MS / 1000 * rate)
        for frame in [*frames, *[frames[-1]] * still]:
            picture = av.VideoFrame.from_ndarray(np.asarray(frame.crop((0, 0, width, height))), format="rgb24")
            file.mux(stream.encode(picture))
        file.mux(stream.encode())
    return out.getvalue()
