"""One Chromium for all tests of a run: each test has contexts of its own in it."""

import atexit
import functools

from playwright.sync_api import sync_playwright


@functools.cache
def chromium():
    playwright = sync_playwright().start()
    atexit.register(playwright.stop)
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    atexit.register(browser.close)
    return browser
