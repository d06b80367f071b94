"""Runs the named kinds of web tests, or all, and ends with `N passed, N failed`.

`types`: TypeScript checks the library with its JSDoc types, their use (`sdk/types.ts`), and the app for undeclared names. `node`: the `*.test.mjs`
of `sdk`, in Node's test runner. `browser`: the `test_*.py` of `sdk` and `app`, two classes at a time. Files may follow
a kind: `Tests/web/run node Tests/web/sdk/markup.test.mjs`.

A run of all browser tests takes longer than all other tests together. So a run without named files has every second class, by
turns with each commit; with PARLEY_THOROUGH=1, as in `make soak`, it has all.
"""

import ast
import atexit
import contextlib
import importlib
import io
import multiprocessing
import multiprocessing.util
import os
import re
import signal
import subprocess
import sys
import time
import unittest
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from pathlib import Path

WEB = Path(__file__).resolve().parent
TOP = WEB.parents[1]
FOLDERS = (WEB / "sdk", WEB / "app")
# Seconds for the tests of a class. Playwright waits for a promise of a page without a limit of its own.
MAX_CLASS_TIME = 600


class Timed(unittest.TextTestResult):
    """Records the time of each test, to print the slowest."""

    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.times = []

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        self.times.append((time.monotonic() - self.began, test.id()))


# Undeclared names, and imports that a module does not export.
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
    """Runs two classes at a time, in two processes with a browser each, which mostly wait for their browsers."""
    classes = []
    for folder in FOLDERS:
        for file in sorted(folder.glob("test_*.py")):
            if not files or str(file) in [str(TOP / name) for name in files]:
                classes += [(file.stem, name) for name in classes_of(file)]
    if not files and "PARLEY_THOROUGH" not in os.environ:
        turn = commit_count() % 2
        classes = classes[turn::2]
        print(f"browser: half {turn + 1} of 2, {len(classes)} classes; all of them: PARLEY_THOROUGH=1 Tests/web/run browser", flush=True)
    passed = failed = 0
    times = []
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn"), initializer=end_with) as pool:
        for done in as_completed([pool.submit(run_class, *it) for it in classes]):
            said, class_passed, class_failed, class_times = done.result()
            print(said, flush=True)
            passed += class_passed
            failed += class_failed
            times += class_times
    for seconds, test in sorted(times, reverse=True)[:12]:
        print(f"{seconds:6.1f} s  {test}")
    return passed, failed


def commit_count():
    """The number of commits, 0 without git."""
    said = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=TOP, capture_output=True, text=True).stdout
    return int(said or 0)


def classes_of(file):
    """Classes with tests of their own; the others are base classes."""
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.ClassDef) and any(getattr(it, "name", "").startswith("test_") for it in node.body):
            yield node.name


def end_with():
    """Closes the browser at the end of a pool process, which does not run `atexit` handlers."""
    multiprocessing.util.Finalize(None, atexit._run_exitfuncs, exitpriority=1)
    sys.path[:0] = map(str, FOLDERS)


def time_out(*_):
    raise TimeoutError(f"the class took more than {MAX_CLASS_TIME} s")


def run_class(module, name):
    began = time.monotonic()
    signal.signal(signal.SIGALRM, time_out)
    signal.alarm(MAX_CLASS_TIME)
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(getattr(importlib.import_module(module), name))
    with io.StringIO() as said, contextlib.redirect_stdout(said):
        result = unittest.TextTestRunner(stream=said, verbosity=2, resultclass=Timed).run(suite)
        signal.alarm(0)
        times = [*result.times, (time.monotonic() - began - sum(it for it, _ in result.times), f"{module}.{name}: set-up and tear-down")]
        failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
        return said.getvalue(), max(0, result.testsRun - failed - len(result.skipped)), failed, times


KINDS = {"types": types, "node": node, "browser": browser}


def make_sheets():
    """Contact sheets of the screenshots."""
    import sheets
    return 0 if sheets.main() else 1


def main(arguments):
    if arguments == ["sheets"]:
        return make_sheets()
    kinds = [name for name in arguments if name in KINDS] or list(KINDS)
    files = [name for name in arguments if name not in KINDS]
    passed = failed = 0
    # One thread for the other kinds leaves CPU time to the browsers.
    with ThreadPoolExecutor(1) as aside:
        others = [aside.submit(KINDS[name], files) for name in kinds if name != "browser"]
        counts = [browser(files)] if "browser" in kinds else []
        counts += [it.result() for it in others]
    for kind_passed, kind_failed in counts:
        passed += kind_passed
        failed += kind_failed
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
