"""Runs the kinds of tests of the web that are named, or all, and ends with `N passed, N failed`.

`types`: TypeScript reads the library and its comments, and looks for names in the app that nobody has declared. `node`: the `*.test.mjs` of `sdk`, by Node's own runner.
`browser`: the `test_*.py` of `sdk` and `app`. After a kind may stand files: `Tests/web/run node Tests/web/sdk/markup.test.mjs`.
"""

import re
import subprocess
import sys
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

WEB = Path(__file__).resolve().parent
TOP = WEB.parents[1]
FOLDERS = (WEB / "sdk", WEB / "app")


class Timed(unittest.TextTestResult):
    """What takes long is said, so that it is seen when it grows."""

    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.times = []

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        self.times.append((time.monotonic() - self.began, test.id()))


# What the app names and nobody has declared: a name, and what a module does not give.
UNKNOWN = re.compile(r"^.*error TS(?:2304|2305|2552|2724): .*$", re.MULTILINE)


def types(_):
    failed = subprocess.call(["tsc", "--project", WEB / "tsconfig.json"]) != 0
    app = subprocess.run(
        ["tsc", "--allowJs", "--checkJs", "--noEmit", "--target", "es2022", "--module", "es2022", "--lib", "es2022,dom,dom.iterable",
         TOP / "Public/js/app/main.js"], stdout=subprocess.PIPE, text=True)
    unknown = UNKNOWN.findall(app.stdout)
    print(*unknown, sep="\n")
    return int(not failed) + int(not unknown), int(failed) + int(bool(unknown))


def node(files):
    files = files or sorted(map(str, WEB.glob("sdk/*.test.mjs")))
    done = subprocess.run(["node", "--test", *files], cwd=TOP, stdout=subprocess.PIPE, text=True)
    print(done.stdout, flush=True)
    found = re.findall(r"^# (pass|fail|cancelled) (\d+)$", done.stdout, re.MULTILINE)
    counts = {name: int(count) for name, count in found}
    failed = counts.get("fail", 0) + counts.get("cancelled", 0)
    return counts.get("pass", 0), max(failed, int(done.returncode != 0))


def browser(files):
    suite = unittest.TestSuite()
    for folder in FOLDERS:
        sys.path.insert(0, str(folder))
        for file in sorted(folder.glob("test_*.py")):
            if not files or str(file) in [str(TOP / name) for name in files]:
                suite.addTests(unittest.defaultTestLoader.loadTestsFromName(file.stem))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=Timed).run(suite)
    for seconds, test in sorted(result.times, reverse=True)[:8]:
        print(f"{seconds:6.1f} s  {test}")
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    return max(0, result.testsRun - failed - len(result.skipped)), failed


KINDS = {"types": types, "node": node, "browser": browser}


def main(arguments):
    kinds = [name for name in arguments if name in KINDS] or list(KINDS)
    files = [name for name in arguments if name not in KINDS]
    passed = failed = 0
    # The browser leaves a core to what else there is.
    with ThreadPoolExecutor(1) as aside:
        others = [aside.submit(KINDS[name], files) for name in kinds if name != "browser"]
        counts = [browser(files)] if "browser" in kinds else []
        counts += [it.result() for it in others]
    for kind_passed, kind_failed in counts:
        passed += kind_passed
        failed += kind_failed
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


sys.exit(main(sys.argv[1:]))
