"""A test case with one daemon and one browser, and helpers for user flows in the app."""

import json
import os
import re
import time
import unittest
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

from axe_playwright_python.base import AXE_SCRIPT
from browsers import TIMEOUT, chromium
from serving import ServingTest, parley

TOP = Path(__file__).resolve().parents[3]
SCREENSHOTS = TOP / ".build" / "screenshots"
SIZES = {"phone": (390, 844), "desktop": (1440, 900)}
PASSWORD = "correct horse battery"
# Tests are faster than users.
RATES = [it for name in ("login", "registration", "sending", "writing") for it in (
    f"--rate-{name}", "10000", f"--rate-{name}-burst", "1000")]
# Only WCAG rules of axe: no best-practice rules, and none that need a manual review.
AXE = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], "resultTypes": ["violations"]}
# Everything is loaded and rendered, and no colour transition is running.
IS_WHOLE = """() => !document.querySelector("main.page :is(.skeleton, [aria-busy='true'])")
  && [...document.images].every((it) => it.complete || it.loading === 'lazy')
  && document.getAnimations().every((it) => it.playState !== 'running' || it.effect.getComputedTiming().endTime === Infinity)"""


# With PARLEY_THOROUGH=1, as in `make soak`, the tests keep screenshots for people, open each page in each variant and send more
# messages. In each run that would take most of the time.
IS_THOROUGH = "PARLEY_THOROUGH" in os.environ


def keep_screenshot(page, name):
    if IS_THOROUGH:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SCREENSHOTS / f"{name}.png")


def spread(names, variants):
    """The names for each variant: each name in one of them, by turns, or in all of them with PARLEY_THOROUGH=1."""
    names, variants = list(names), list(variants)
    return {it: names if IS_THOROUGH else names[number::len(variants)] for number, it in enumerate(variants)}


class BrowsingTest(ServingTest):
    """The tests of the class share a server and a browser; each has its own contexts, closed at its end."""

    options = ()
    listen = "127.0.0.1:0"
    axe = AXE

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.prepare()
        cls.server = cls.enterClassContext(cls.start(*parley(cls.folder, *RATES, *cls.options, listen=cls.listen)))
        cls.origin = f"http://127.0.0.1:{cls.server.port}"
        cls.browser = chromium()
        cls.cookies = {}

    @classmethod
    def prepare(cls):
        """Fills the data folder and sets the options before the server starts; empty by default."""

    def setUp(self):
        self.faults = []
        self.contexts = []

    def tearDown(self):
        for context in self.contexts:
            context.close()
        self.assertEqual(self.faults, [], "errors in the browser console")

    def context(self, size="desktop", scheme="light", **more):
        width, height = SIZES[size]
        is_phone = size == "phone"
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, has_touch=is_phone, is_mobile=is_phone,
            permissions=["clipboard-read", "clipboard-write"],
            **{"reduced_motion": "reduce", "service_workers": "block", "locale": "en-GB", **more})
        context.set_default_timeout(TIMEOUT)
        self.contexts.append(context)
        return context

    def page(self, context):
        page = context.new_page()
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda message: self.heard(message))
        return page

    def record(self, page):
        """Prints the page's requests to the API if the test fails."""
        began, lines = time.monotonic(), []
        note = lambda request, result: "/api/" in request.url and lines.append(
            f"{time.monotonic() - began:6.1f} s {request.method} {request.url.removeprefix(self.origin)} {result}")
        page.on("request", lambda request: note(request, "is sent"))
        page.on("response", lambda response: note(response.request, response.status))
        page.on("requestfailed", lambda request: note(request, request.failure))
        self.addCleanup(lambda: self._outcome.success or print(*lines, sep="\n"))

    def heard(self, message):
        """Records console errors: CSP violations and exceptions, not failed requests and connections."""
        if message.type == "error" and not re.search("Failed to load resource|WebSocket connection to", message.text):
            at = message.location
            self.faults.append(f"{message.text} ({at['url']}:{at['lineNumber']}, {message.page.url})")

    def open(self, page, path="/"):
        page.goto(self.origin + path)
        self.settle(page)

    def settle(self, page):
        page.wait_for_selector("body[data-ready]")

    def go(self, page, path):
        """Navigates like a click on a link."""
        page.evaluate("""path => {
            delete document.body.dataset.ready;
            const link = document.createElement("a");
            link.href = path;
            document.body.append(link);
            link.click();
            link.remove();
        }""", path)
        self.settle(page)

    # Rendering takes time: these helpers poll.

    def eventually(self, page, wanted, look):
        """Polls until `look` returns `wanted`, while the browser handles events."""
        deadline = time.monotonic() + TIMEOUT / 1_000
        while (found := look()) != wanted and time.monotonic() < deadline:
            page.wait_for_timeout(50)
        self.assertEqual(found, wanted)

    def box(self, locator):
        """The bounding box; polls, since an element that is being replaced has none."""
        deadline = time.monotonic() + TIMEOUT / 1_000
        while not (found := locator.bounding_box()) and time.monotonic() < deadline:
            locator.page.wait_for_timeout(50)
        self.assertIsNotNone(found, f"{locator} is not visible")
        return found

    def assert_above(self, one, other):
        self.eventually(one.page, True, lambda: self.box(one)["y"] < self.box(other)["y"])

    def frames(self, page):
        """Waits for two animation frames, so that all changes are painted."""
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    # Users and content, created through the API.

    def call(self, method, path, body=None, token=None):
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
        data = None if body is None else json.dumps(body)
        with closing(HTTPConnection("127.0.0.1", self.server.port, timeout=TIMEOUT / 1_000)) as line:
            line.request(method, f"/api/v1{path}", data, headers)
            answer = line.getresponse()
            said = answer.read()
        self.assertLess(answer.status, 300, said)
        return json.loads(said) if said else None

    def set_up_code(self):
        return re.search(r"/setup/(\w+)", self.server.output())[1]

    def create_users(self, *names):
        """Creates users, the first as owner. Returns their tokens by name."""
        owner, *others = names
        tokens = {owner: self.call("POST", f"/links/{self.set_up_code()}", {"name": owner, "display_name": owner.title(), "password": PASSWORD})["token"]}
        # No probation: tests post more in a minute than users in a week.
        self.call("PATCH", "/settings", {"newcomers": {"days": 0, "messages": 0}}, tokens[owner])
        invite = self.call("POST", "/invites", {}, tokens[owner])["code"]
        for name in others:
            tokens[name] = self.call("POST", "/users", {
                "name": name, "display_name": name.title(), "password": PASSWORD, "invite": invite, "accept_rules": True})["token"]
        return tokens

    def sign_in(self, context, name, anew=False):
        """Signs in through the API. Password hashing is slow by design: cookies are reused, unless `anew`."""
        if name in self.cookies and not anew:
            context.add_cookies(self.cookies[name])
            return
        answer = context.request.post(
            f"{self.origin}/api/v1/sessions", data={"name": name, "password": PASSWORD, "cookie": True}, headers={"Origin": self.origin})
        self.assertEqual(answer.status, 201, answer.text())
        # The notice of a new device would count in every inbox. Reading it reads older entries, too, so it may be the only one.
        headers = {"Origin": self.origin}
        unread = context.request.get(f"{self.origin}/api/v1/inbox?unread=true", headers=headers).json()["data"]
        if unread and {it["kind"] for it in unread} == {"sign_in"}:
            context.request.put(f"{self.origin}/api/v1/inbox/read", data={"up_to": unread[0]["id"]}, headers=headers)
        if not anew:
            self.cookies[name] = context.cookies()

    # Checks.

    def photograph(self, page, name):
        self.frames(page)
        page.wait_for_function(IS_WHOLE)
        keep_screenshot(page, name)

    def assert_accessible(self, page, name, rules=None):
        """Checks with all rules of `AXE`, or with `rules`."""
        if not page.evaluate("!!window.axe"):
            page.evaluate(AXE_SCRIPT)
        found = page.evaluate("options => axe.run(document, options)", {**self.axe, "runOnly": rules or self.axe["runOnly"]})["violations"]
        faults = [f"{it['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:200]}" for it in found for node in it["nodes"][:3]]
        self.assertEqual("\n".join(faults), "", name)

    def assert_pictured(self, page, name):
        broken = page.evaluate("[...document.images].filter((it) => it.complete && !it.naturalWidth).map((it) => it.src)")
        self.assertEqual(broken, [], f"{name} has broken images")

    def assert_fits(self, page, name):
        """Neither the window nor the body of the page scrolls sideways."""
        wide = page.evaluate("""() => [document.documentElement, ...document.querySelectorAll('.page-body')]
            .filter((it) => it.scrollWidth > it.clientWidth)
            .flatMap((body) => {
                const { left, right } = body.getBoundingClientRect();
                const isOutside = (rect) => rect.width > 0 && (rect.right > right + 1 || rect.left < left - 1);
                const outside = [...body.querySelectorAll('body *')].filter((it) => isOutside(it.getBoundingClientRect()));
                return (outside.length ? outside : [body]).slice(0, 5).map((it) => it.outerHTML.slice(0, 160));
            })""")
        self.assertEqual(wide, [], f"{name} is wider than its window")


if __name__ == "__main__":
    unittest.main()
