"""One headless Chromium for all tests of a run, with separate contexts per test. `headless_shell` is a third faster."""

import atexit
import functools

from playwright.sync_api import expect, sync_playwright

TIMEOUT = 60_000
"""Timeout in milliseconds, long enough for a loaded machine."""
expect.set_options(timeout=TIMEOUT)


@functools.cache
def chromium():
    playwright = sync_playwright().start()
    atexit.register(playwright.stop)
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium-headless-shell", args=["--no-sandbox"])
    atexit.register(browser.close)
    return browser
