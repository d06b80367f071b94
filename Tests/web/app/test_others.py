"""The main flows in Firefox and in WebKit, the engine of every browser on an iPhone."""

import contextlib

from browsing import PASSWORD
from drivers import Firefox, WebKit
from test_flows import Village


class Others(Village):
    def labelled(self, words):
        return f"//*[@id=//label[starts-with(normalize-space(.), '{words}')]/@for] | //label[starts-with(normalize-space(.), '{words}')]//input"

    def enter(self, browser):
        browser.ask("SetWindowRect", "POST", "/window/rect", width=1280, height=860)
        browser.open(f"{self.origin}/sign-in")
        browser.type(self.labelled("Username"), "ada")
        browser.type(self.labelled("Password"), PASSWORD)
        browser.click("//button[contains(., 'Sign in')]")
        browser.find("//h1[.='Inbox']")

    def walk(self, browser, name):
        self.say(f"Welcome to {name}")
        self.enter(browser)

        browser.click("//a[contains(@class, 'sidebar-link')][contains(., 'Garden')]")
        # Its unread count may follow.
        browser.click("//nav//a[starts-with(normalize-space(.), 'Room')]")
        browser.find(f"//article[contains(., 'Welcome to {name}')]")
        browser.type("//textarea", f"Hello from {name}")
        browser.type("//textarea", "\ue007")
        browser.find(f"//article[contains(., 'Hello from {name}')]//*[@title='Sent']")
        self.say(f"And to you, {name}")
        browser.find(f"//article[contains(., 'And to you, {name}')]")

        topic = self.call("POST", f"/forums/{self.garden['id']}/conversations", {
            "title": f"Seen in {name}", "text": "It has **bold** words."}, self.tokens["grace"])
        browser.open(f"{self.origin}/t/{topic['id']}")
        browser.find("//article//strong[.='bold']")
        browser.open(f"{self.origin}/search?q={name}")
        browser.find("//a[contains(@class, 'hit')]")
        browser.run("document.body.dataset.seen = getComputedStyle(document.body).backgroundColor")
        self.assertEqual(browser.run("return document.body.dataset.seen"), "rgb(251, 250, 248)")

        # A user in another browser signs in and leaves.
        with contextlib.closing(self.signed_in("grace").context):
            browser.open(f"{self.origin}/u/grace")
            browser.find("//p[contains(., '@grace · online')]")
        browser.find("//p[contains(., '@grace · last seen')]")
        browser.open(f"{self.origin}/you")
        browser.click("//button[contains(., 'Sign out')]")
        browser.find("//a[.='Sign in']")

    def test_firefox(self):
        with contextlib.ExitStack() as stack:
            self.walk(Firefox(stack), "Firefox")

    def test_webkit(self):
        with contextlib.ExitStack() as stack:
            self.walk(WebKit(stack), "WebKit")

    def test_webkit_keeps_its_database_if_pages_are_left_during_transactions(self):
        with contextlib.ExitStack() as stack:
            browser = WebKit(stack)
            self.enter(browser)
            for number in range(12):
                self.say(f"Note {number}")
                browser.open(f"{self.origin}/u/grace")
                self.assertFalse(browser.has_stuck_database(), f"after {number + 1} pages")
