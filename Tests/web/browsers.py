"""One Chromium for all tests of a run: each test has contexts of its own in it. It is the one without windows, which takes a third less time."""

import atexit
import functools

from playwright.sync_api import expect, sync_playwright

PATIENCE = 60_000
"""What a test waits for at most, in milliseconds: a machine may have much else to do."""
expect.set_options(timeout=PATIENCE)


@functools.cache
def chromium():
    playwright = sync_playwright().start()
    atexit.register(playwright.stop)
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium-headless-shell", args=["--no-sandbox"])
    atexit.register(browser.close)
    return browser
