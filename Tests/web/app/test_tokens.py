"""Contrast of the app's colours: every text on every background, in light and in dark."""

import re
import unittest
from pathlib import Path

PUBLIC = Path(__file__).resolve().parents[3] / "Public"
GROUNDS = ("canvas", "surface", "sunken", "hover", "other", "mention", "accent-soft")

# (text, backgrounds, minimum ratio in light, in dark). WCAG 2.2: 4.5 for text, 3 for borders and icons.
TABLE = (
    ("ink", GROUNDS, 13.9, 10.9),
    ("ink-2", GROUNDS, 6.19, 6.26),
    ("ink-3", ("canvas", "surface", "sunken", "hover"), 4.85, 4.75),
    ("edge", ("canvas", "surface", "sunken"), 3.25, 3.50),
    ("on-accent", ("accent",), 6.39, 5.11),
    ("on-accent", ("accent-hover",), 8.16, 5.92),
    ("accent-ink", GROUNDS, 6.61, 5.78),
    ("ink", ("accent-soft",), 14.3, 10.9),
    ("on-own", ("own",), 6.39, 5.78),
    ("on-own", ("own-deep",), 8.16, 8.16),
    ("on-own-2", ("own",), 4.88, 4.63),
    ("ink", ("other",), 14.5, 12.5),
    ("ink", ("mention",), 15.3, 10.9),
    ("good", ("canvas", "surface", "sunken", "hover", "good-soft"), 4.97, 7.39),
    ("warn", ("canvas", "surface", "sunken", "hover", "warn-soft"), 5.47, 7.75),
    ("bad", ("canvas", "surface", "sunken", "hover", "bad-soft"), 5.49, 5.97),
    ("info", ("canvas", "surface", "sunken", "hover", "info-soft"), 5.50, 7.13),
    ("on-badge", ("badge",), 6.77, 4.98),
    *((f"code-{name}", ("sunken",), 5.48, 5.73) for name in ("keyword", "string", "number", "comment", "type", "function")),
)


def tokens():
    """Name to (light, dark), as `#rrggbb`."""
    text = (PUBLIC / "css" / "tokens.css").read_text()
    pairs = re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", text)
    return {name: (light, dark) for name, light, dark in pairs}


def luminance(colour):
    channels = (int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ratio(one, other):
    bright, dim = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


class Tokens(unittest.TestCase):
    def test_text_has_enough_contrast_on_every_background(self):
        colours = tokens()
        for text, grounds, *lowest in TABLE:
            for theme, minimum in enumerate(lowest):
                found = min(ratio(colours[text][theme], colours[ground][theme]) for ground in grounds)
                with self.subTest(text=text, grounds=grounds, theme=("light", "dark")[theme]):
                    self.assertGreaterEqual(round(found, 2), minimum - 0.05)

    def test_only_the_tokens_name_a_colour(self):
        for file in sorted((PUBLIC / "css").rglob("*.css")):
            if file.name == "tokens.css":
                continue
            with self.subTest(file=file.name):
                text = re.sub(r"/\*.*?\*/", "", file.read_text(), flags=re.DOTALL)
                self.assertEqual(re.findall(r"#[0-9a-fA-F]{3,8}\b|\b(?:rgb|hsl|oklch|color)\(", text), [])

    def test_used_custom_properties_are_defined(self):
        files = sorted((PUBLIC / "css").rglob("*.css"))
        defined = {name for file in files for name in re.findall(r"--([\w-]+):", file.read_text())}
        for file in files:
            with self.subTest(file=file.name):
                self.assertEqual(set(re.findall(r"var\(--([\w-]+)", file.read_text())) - defined, set())


if __name__ == "__main__":
    unittest.main()
