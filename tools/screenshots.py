"""Pictures of the atlas and the explorer for the documentation: ``python -m tools.screenshots --out docs/screenshots``.

Needs a built atlas (``make atlas``; another folder with ``--site``) and a Chromium (``tools/get_chromium.py``). The
front page, a task's page and the explorer are taken at desktop and phone width, in light and dark; the separation table
and the stories by themselves, in light and dark; and the explorer's views. Files are reduced to a palette so that each
stays small.
"""

import argparse
import io
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from tools.get_chromium import NONE, chromium
from tools.running_server import running_server

SIZES = {"desktop": (1280, 860), "phone": (390, 844)}
SCHEMES = ("light", "dark")
COLOURS = 256
MARGIN = 24
"""Pixels around the table."""
LARGEST = 300_000
"""Bytes of one file."""
PATIENCE = 120_000
"""Milliseconds: the first verdict waits for the server's processes."""
EXPLORER = "#construction=equality&length=16"
WHOLE = 1700
"""Pixels: tall enough for every view of the explorer, and not more than a page of documentation bears."""


def small(content: bytes) -> bytes:
    """A picture with a palette of so many colours that the file stays below the limit."""
    picture = Image.open(io.BytesIO(content)).convert("RGB")
    colours = COLOURS
    while True:
        written = io.BytesIO()
        picture.quantize(colours, dither=Image.Dither.NONE).save(written, "PNG", optimize=True)
        if written.tell() < LARGEST or colours <= 16:
            return written.getvalue()
        colours //= 2


@dataclass(frozen=True)
class Camera:
    """A browser and the folder that its pictures go to."""

    browser: Browser
    out: Path

    @contextmanager
    def opened(self, address: str, size: str, scheme: Any) -> Iterator[Page]:
        """A page at one of the sizes."""
        width, height = SIZES[size]
        context = self.browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.goto(address)
        yield page
        context.close()

    def keep(self, name: str, content: bytes) -> None:
        """Write one picture."""
        reduced = small(content)
        self.out.mkdir(parents=True, exist_ok=True)
        (self.out / f"{name}.png").write_bytes(reduced)
        print(f"{self.out / name}.png {len(reduced) / 1000:.0f} kB")

    def everywhere(self, name: str, address: str, ready: Callable[[Page], None], taller: int = 0) -> None:
        """One view at every size and in every scheme, so many pixels taller than usual on a desktop."""
        for size in SIZES:
            for scheme in SCHEMES:
                with self.opened(address, size, scheme) as page:
                    ready(page)
                    if taller and size == "desktop":
                        width, height = SIZES[size]
                        page.set_viewport_size({"width": width, "height": height + taller})
                        page.wait_for_timeout(200)
                    self.keep(f"{name}-{size}-{scheme}", page.screenshot())


def of_the_site(camera: Camera, site: Path) -> None:
    """The front page, a task's page, and the table."""
    camera.everywhere("front", (site / "index.html").as_uri(), lambda page: None)
    camera.everywhere("task", (site / "tasks" / "index-lookup.html").as_uri(), lambda page: None, taller=640)
    for scheme in SCHEMES:
        with camera.opened((site / "index.html").as_uri(), "desktop", scheme) as page:
            # Nothing that stays in place while a page is scrolled may be in a long picture, and no button.
            still = ".controls, .separation thead th { position: static !important } .stories .zoom { display: none }"
            page.add_style_tag(content=still)
            box = page.locator("#separation").bounding_box()
            assert box is not None
            clip: Any = {"x": box["x"] - MARGIN, "y": box["y"] - MARGIN / 2, "width": box["width"] + 2 * MARGIN,
                         "height": box["height"] + 1.5 * MARGIN}  # fmt: skip
            camera.keep(f"table-{scheme}", page.screenshot(full_page=True, clip=clip))
            cards = page.locator(".story")
            first, last = (cards.nth(place).bounding_box() for place in (0, 2))
            assert first is not None and last is not None
            clip = {"x": first["x"] - MARGIN / 2, "y": first["y"] - MARGIN / 2, "height": first["height"] + MARGIN,
                    "width": last["x"] + last["width"] - first["x"] + MARGIN}  # fmt: skip
            camera.keep(f"stories-{scheme}", page.screenshot(full_page=True, clip=clip))
    with camera.opened((site / "index.html").as_uri(), "desktop", "light") as page:
        page.locator("[data-task=index-lookup][data-model=rnn] a").click()
        camera.keep("evidence", page.screenshot())


def of_the_explorer(camera: Camera, address: str) -> None:
    """The explorer, a broken certificate, the layers and the protocol."""

    def decided(page: Page) -> None:
        page.locator("body[data-look][data-verdict]:not([data-busy]) #phases[data-done]").wait_for()
        page.wait_for_timeout(300)

    camera.everywhere("explorer", f"{address}/{EXPLORER}", decided, taller=360)
    for name, state in (
        ("explorer-refuted", "construction=index-lookup&length=32&gain=3"),
        ("explorer-layers", "construction=associative-recall&length=8&tab=layers"),
        ("explorer-protocol", "construction=index-lookup&length=8&tab=protocol"),
    ):
        with camera.opened(f"{address}/#{state}", "desktop", "light") as page:
            decided(page)
            if "protocol" in name:
                page.locator("#message-all").click()
                page.wait_for_timeout(200)
            # A picture of the whole page moves what stays in place; a window that holds it all does not.
            height = int(page.evaluate("document.documentElement.scrollHeight"))
            page.set_viewport_size({"width": SIZES["desktop"][0], "height": min(height, WHOLE)})
            # What was clicked may have been far below.
            page.evaluate("scrollTo(0, 0)")
            page.wait_for_timeout(200)
            camera.keep(name, page.screenshot())


def main() -> int:
    """Take them all."""
    parser = argparse.ArgumentParser(description="Pictures of the atlas and the explorer for the documentation.")
    parser.add_argument("--out", type=Path, default=Path("docs/screenshots"))
    parser.add_argument("--site", type=Path, default=Path("atlas"), help="a built atlas")
    given = parser.parse_args()
    path = chromium()
    if path is None:
        return _refused(NONE)
    if not (given.site / "index.html").is_file():
        return _refused(f"there is no atlas in {given.site}; run  make atlas  first, or name another with --site")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        camera = Camera(browser, given.out)
        of_the_site(camera, given.site.absolute())
        with running_server(Path(folder) / "runs.sqlite") as address:
            of_the_explorer(camera, address)
        browser.close()
    return 0


def _refused(reason: str) -> int:
    print(reason, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
