"""One headless Chromium for all tests of a run, with separate contexts per test. `headless_shell` is a third faster."""

import atexit
import functools

from playwright.sync_api import expect, sync_playwright

TIMEOUT = 60_000
"""Timeout in milliseconds, long enough for a loaded machine."""
expect.set_options(timeout=TIMEOUT)


@functools.cache
def playwright():
    started = sync_playwright().start()
    atexit.register(started.stop)
    return started


@functools.cache
def chromium(path="/usr/bin/chromium-headless-shell", *arguments):
    browser = playwright().chromium.launch(executable_path=path, args=["--no-sandbox", *arguments])
    atexit.register(browser.close)
    return browser


def notifying_chromium():
    """The whole browser: `headless_shell` shows no notifications. It takes the certificates of the tests."""
    return chromium("/usr/bin/chromium", "--ignore-certificate-errors")
