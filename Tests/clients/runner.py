"""Runs all `test_*.py` files of this folder, or the named ones. Ends with `N passed, N failed`."""

import sys
import unittest
from pathlib import Path

loader = unittest.TestLoader()
if len(sys.argv) > 1:
    suite = loader.loadTestsFromNames(sys.argv[1:])
else:
    suite = loader.discover(str(Path(__file__).parent))
result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
print(f"{max(0, result.testsRun - failed - len(result.skipped))} passed, {failed} failed")
sys.exit(1 if failed or not result.testsRun else 0)
