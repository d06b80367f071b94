"""The commands in the README's tour work, line by line."""

import os
import re
import subprocess
import unittest
from pathlib import Path

from servers import PARLEY, TOP, VENV_PYTHON
from serving import ServingTest, parley

TOUR = re.compile(r"^```sh tour\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A line that fails, or that gets a response without a 2xx status, ends the tour and is printed.
RULES = """set -euo pipefail
curl() { command curl --fail-with-body --max-time 20 "$@"; }
trap 'echo "failed: $BASH_COMMAND" >&2' ERR
"""


class Tour(ServingTest):
    def test_every_line_works(self):
        tour = TOUR.search((TOP / "README.md").read_text())[1]
        with self.start(*parley(self.folder)) as server:
            done = subprocess.run(
                ["bash", "-c", RULES + tour.replace("http://localhost:8080", server.url)],
                env={**os.environ, "PATH": f"{PARLEY.parent}:{VENV_PYTHON.parent}:{os.environ['PATH']}",
                     "PARLEY_DATA": str(Path(self.folder) / "data")},
                capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            listed = done.stdout.splitlines()[-3:]
            self.assertEqual([line.split()[:3] for line in listed],
                             [["NAME", "ROLE", "STATE"], ["ada", "owner", "active"], ["grace", "member", "active"]])


if __name__ == "__main__":
    unittest.main()
