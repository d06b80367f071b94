"""The commands of the README work: its tour of the API, and its section about the command line."""

import os
import re
import subprocess
import unittest
from pathlib import Path

from servers import PARLEY, TOP, VENV_PYTHON
from serving import ServingTest, call, parley

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


SECTION = re.compile(r"^## Command line\n(.*?)^## ", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PASSWORD = "wool and needles"
# `tail` prints events until a signal ends it. Status 124 means that the time has ended it.
COMMANDS = """set -euo pipefail
trap 'echo "failed: $BASH_COMMAND" >&2' ERR
parley() {
  if [ "$1" = tail ]; then command timeout 3 parley "$@" || [ $? = 124 ]; else command parley "$@"; fi
}
"""


class CommandLine(ServingTest):
    def test_every_command_works(self):
        section = SECTION.search((TOP / "README.md").read_text())[1]
        commands, requests = FENCE.findall(section)
        folder = Path(self.folder)
        (folder / "menu.pdf").write_bytes(b"%PDF-1.4\n%%EOF\n")
        server = self.enterContext(self.start(*parley(folder)))

        def operate(*arguments, given=""):
            return subprocess.run([PARLEY, *arguments, "--data", folder / "data"], input=given, capture_output=True, text=True,
                                  timeout=60, check=True).stdout.strip()

        operate("user", "create", "ada", "--role", "owner", "--password-stdin", given=PASSWORD + "\n")
        operate("user", "create", "grace", "--password-stdin", given="needles and wool\n")
        token = operate("token", "ada", "--scope", "admin")
        room = call(server, "POST", "/forums", {"title": "garden", "visibility": "public"}, token)["room_id"]
        first, second = (call(server, "POST", f"/conversations/{room}/messages", {"text": f"A pizza party on {day}"}, token)["id"]
                         for day in ("Monday", "Tuesday"))
        values = {"https://chat.example.org": server.url, "1234": first, "1235": second, "/conversations/12/": f"/conversations/{room}/"}
        for value in values:
            self.assertIn(value, section)
        pattern = re.compile("|".join(map(re.escape, sorted(values, key=len, reverse=True))))
        sign_in = next(line for line in commands.splitlines() if line.startswith("parley login"))

        def play(lines):
            environment = {name: value for name, value in os.environ.items() if not name.startswith(("PARLEY", "XDG"))}
            done = subprocess.run(
                ["bash", "-c", COMMANDS + pattern.sub(lambda found: values[found[0]], lines)], input=PASSWORD + "\n", cwd=folder,
                capture_output=True, text=True, timeout=120,
                env={**environment, "HOME": str(folder), "PATH": f"{PARLEY.parent}:{os.environ['PATH']}"})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return done.stdout

        play(commands)
        texts = [it.get("text") for it in call(server, "GET", f"/conversations/{room}/messages", token=token)["data"]]
        self.assertIn("Pizza party!", texts)
        play(sign_in + "\n" + requests)
        created = [it for it in call(server, "GET", "/forums", token=token)["data"] if it["title"] == "Garden"]
        self.assertEqual([(it["visibility"], it["slow_seconds"]) for it in created], [("public", 30)])


if __name__ == "__main__":
    unittest.main()
