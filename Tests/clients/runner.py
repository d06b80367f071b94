"""Runs all `test_*.py` files of this folder, or the named ones. Prints the slowest classes, the skipped tests and `N passed, N failed`.

Classes with `waits = True` mostly wait for timers of the server. A second process runs them at the same time. Long classes
with `part = "contract"`, or the name of another part of `Tests/run`, belong to it: `--part contract` runs them, and `--part clients` the
classes without one."""

import collections
import re
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SLOWEST = 8
# The names of the parts of `Tests/run`: a class of another part would never run.
PARTS = set(re.findall(r'^    "(\w+)": \[', Path(__file__).parents[1].joinpath("run").read_text(), re.MULTILINE))
ASIDE = "--aside"
PART = "--part"


class TimedResult(unittest.TextTestResult):
    """Adds up the time of each class, with its preparation: from the end of the test before it."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.seconds = collections.Counter()
        self.ended = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        now = time.monotonic()
        self.seconds[unittest.util.strclass(type(test))] += now - self.ended
        self.ended = now


def tests_of(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_of(test)
        else:
            yield test


def run(tests):
    """Runs tests in their order. Returns the numbers of passed and failed ones."""
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=TimedResult).run(unittest.TestSuite(tests))
    print("slowest: " + ", ".join(f"{name} {seconds:.0f} s" for name, seconds in result.seconds.most_common(SLOWEST)))
    for reason, count in collections.Counter(reason for _, reason in result.skipped).items():
        print(f"{count} skipped: {reason}")
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    return max(0, result.testsRun - failed - len(result.skipped)), failed


class Aside:
    """A process that runs tests, with its output in a file: a pipe would fill before it is read."""

    def __init__(self, tests):
        self.count = len(tests)
        self.said = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([sys.executable, __file__, ASIDE, *(it.id() for it in tests)], stdout=self.said)

    def counts(self):
        """Prints the output. Returns the numbers of passed and failed tests; all have failed if the process has."""
        status = self.process.wait()
        self.said.seek(0)
        said = self.said.read()
        print(said, end="")
        last = re.search(r"^(\d+) passed, (\d+) failed\n$", said[-40:], re.MULTILINE)
        return (int(last[1]), int(last[2])) if last and status in (0, 1) else (0, self.count)


def main(names):
    is_aside = names[:1] == [ASIDE]
    part = names[1] if names[:1] == [PART] else None
    loader = unittest.TestLoader()
    if names and not part:
        suite = loader.loadTestsFromNames(names[is_aside:])
    else:
        suite = loader.discover(str(Path(__file__).parent))
    found = [(it, getattr(it, "part", "clients")) for it in tests_of(suite)]
    unknown = {it for _, it in found} - PARTS
    if unknown:
        sys.exit(f"Tests/run has no part {', '.join(sorted(unknown))}")
    tests = [test for test, it in found if part in (None, it)]
    waiting = [] if is_aside else [it for it in tests if getattr(it, "waits", False)]
    if len(waiting) == len(tests):
        waiting = []
    aside = Aside(waiting) if waiting else None
    passed, failed = run([it for it in tests if it not in waiting])
    if aside:
        aside_passed, aside_failed = aside.counts()
        passed, failed = passed + aside_passed, failed + aside_failed
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
