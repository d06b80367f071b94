"""Tests that mount file systems. Without root, they run in a user namespace of their own."""

import functools
import os
import subprocess
import sys
import unittest
from pathlib import Path

NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"]
RUNNER = Path(__file__).parent / "runner.py"


def play(test):
    """Runs one test as the root of a namespace."""
    if subprocess.run([*NAMESPACE, "true"], capture_output=True).returncode != 0:
        test.skipTest("only root can mount a file system, and user namespaces are off")
    done = subprocess.run(
        [*NAMESPACE, sys.executable, RUNNER, "--aside", test.id()], capture_output=True, text=True, timeout=600)
    test.assertEqual(done.returncode, 0, done.stdout + done.stderr)


def mounting(test):
    """For a test method that mounts."""

    @functools.wraps(test)
    def wrapped(self):
        if os.geteuid() == 0:
            test(self)
        else:
            play(self)

    return wrapped


class MountingTest(unittest.TestCase):
    """For a class whose tests all mount, in `setUp` also."""

    def run(self, result=None):
        if os.geteuid() == 0:
            return super().run(result)
        return Elsewhere(self).run(result)


class Elsewhere(unittest.TestCase):
    """Plays a test in a namespace, under its name."""

    def __init__(self, test):
        super().__init__("play")
        self.test = test

    def play(self):
        play(self.test)

    def id(self):
        return self.test.id()

    __str__ = id
