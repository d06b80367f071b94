"""Runs all `test_*.py` files of this folder, or the named ones. Prints the slowest classes and `N passed, N failed`."""

import collections
import sys
import time
import unittest
from pathlib import Path

SLOWEST = 8


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


loader = unittest.TestLoader()
if len(sys.argv) > 1:
    suite = loader.loadTestsFromNames(sys.argv[1:])
else:
    suite = loader.discover(str(Path(__file__).parent))
result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=TimedResult).run(suite)
print("slowest: " + ", ".join(f"{name} {seconds:.0f} s" for name, seconds in result.seconds.most_common(SLOWEST)))
failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
print(f"{max(0, result.testsRun - failed - len(result.skipped))} passed, {failed} failed")
sys.exit(1 if failed or not result.testsRun else 0)
