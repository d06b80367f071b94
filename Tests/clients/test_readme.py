"""The settings tables of the operator's manual match the program."""

import re
import subprocess
import unittest
from pathlib import Path

from servers import PARLEY

README = Path(__file__).resolve().parents[2] / "docker" / "README.md"
SETTING = re.compile(r"^  (--[a-z-]+(?: [A-Z:=]+)?)  +(.+?)(?: \(([^()]*)\))?$", re.MULTILINE)


def rows(text):
    """Table rows, from the help text."""
    found = SETTING.findall(text)
    return [f"| `{flag}` | {(note or '–').removeprefix('default ')} | {meaning} |" for flag, meaning, note in found]


class Readme(unittest.TestCase):
    def test_its_settings_match_the_program(self):
        help_text = subprocess.run([PARLEY, "serve", "--help"], capture_output=True, text=True, check=True).stdout
        table = README.read_text().split("<!-- settings")[1].split("<!-- end of settings")[0]
        expected = rows(help_text)
        self.assertGreater(len(expected), 20)
        stands = [line for line in table.splitlines() if line.startswith("| `--")]
        self.assertEqual(stands, expected, "the README should have these rows:\n" + "\n".join(expected))


if __name__ == "__main__":
    unittest.main()
