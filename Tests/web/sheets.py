"""Makes contact sheets of the screenshots that the browser tests keep in `.build/screenshots`: `sheet-*.png` there.

After `PARLEY_THOROUGH=1 Tests/web/run browser`: `Tests/web/run sheets`.
"""

import base64
from pathlib import Path

from browsers import chromium

SCREENSHOTS = Path(__file__).resolve().parents[2] / ".build" / "screenshots"
SCREENS = ("inbox", "forums", "topics", "room", "topic", "new-topic", "direct", "search", "user", "appearance", "settings", "reports")
IN_ARABIC = SCREENS[:6]
# Name of a sheet: columns, the width of a picture in pixels.
SIZES = {"phone": (6, 260), "desktop": (3, 620)}
STYLE = """
    body { display: grid; gap: 12px; margin: 12px; background: #888; font: 13px sans-serif; }
    figure { margin: 0; background: #fff; }
    img { display: block; width: 100%; }
    figcaption { padding: 4px 8px; }
"""


def sheet(page, names, columns, width):
    """Shows the screenshots that exist, and returns the names of the others."""
    missing = [name for name in names if not (SCREENSHOTS / f"{name}.png").exists()]
    figures = "".join(
        f'<figure><img src="data:image/png;base64,{base64.b64encode((SCREENSHOTS / f"{name}.png").read_bytes()).decode()}"><figcaption>{name}</figcaption></figure>'
        for name in names if name not in missing)
    page.set_content(f"<style>{STYLE} body {{ grid-template-columns: repeat({columns}, {width}px); width: max-content; }}</style>{figures}")
    page.wait_for_function("[...document.images].every((it) => it.complete)")
    return missing


def main():
    browser = chromium()
    page = browser.new_page()
    missing = []
    for size, (columns, width) in SIZES.items():
        page.set_viewport_size({"width": columns * (width + 12) + 12, "height": 800})
        sheets = {f"{size}-{theme}": [f"{name}-{size}-{theme}" for name in SCREENS] for theme in ("light", "dark")}
        sheets |= {f"{size}-ar-{theme}": [f"ar-{name}-{size}-{theme}" for name in IN_ARABIC] for theme in ("light", "dark")}
        for name, pictures in sheets.items():
            missing += sheet(page, pictures, columns, width)
            page.screenshot(path=SCREENSHOTS / f"sheet-{name}.png", full_page=True)
            print(SCREENSHOTS / f"sheet-{name}.png")
    if missing:
        print("missing:", *missing)
    return not missing
