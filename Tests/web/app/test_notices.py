"""What calls somebody who has the app open and does not look at it: a notice, and a number in the title."""

import re

from playwright.sync_api import expect
from test_flows import Village

# A browser's own are shown by the system, where no test can look.
NOTICES = """
window.notices = [];
window.Notification = class {
  static permission = "granted";
  constructor(title, { body }) {
    this.told = { title, body, isOpen: true };
    window.notices.push(this.told);
  }
  addEventListener() {}
  close() { this.told.isOpen = false; }
};
"""


class Notices(Village):
    def test_they_come_while_nobody_looks_and_go_when_it_is_read_anywhere(self):
        direct = self.call("POST", "/conversations", {"kind": "direct", "participants": ["@ada"], "distinct": True}, self.tokens["grace"])
        context = self.context()
        context.add_init_script(NOTICES)
        self.sign_in(context, "ada")
        page = self.page(context)
        self.open(page)
        expect(page.locator(".sidebar .sign-online")).to_be_visible()
        self.say("In front of your eyes", "grace", direct["id"])
        expect(page).to_have_title(re.compile(r"^\(1\) "))
        self.turn(page, "hidden")
        first = self.say("Are you there?", "grace", direct["id"])
        self.eventually(page, [("Grace", "Are you there?", True)], lambda: self.told(page))
        # Nobody sees it, and it gets no pictures to draw in: the title counts all the same.
        expect(page).to_have_title(re.compile(r"^\(2\) "))
        # A room is quiet, until somebody is named in it.
        self.say("Nothing for ada")
        self.say("Something for @ada")
        self.eventually(page, 2, lambda: len(self.told(page)))
        self.call("PUT", f"/conversations/{direct['id']}/read", {"message_id": first["id"]}, self.tokens["ada"])
        self.eventually(page, [False, True], lambda: [is_open for *_, is_open in self.told(page)])
        expect(page).to_have_title(re.compile(r"^\(1\) "))
        # Another tab is in front: there it is seen.
        other = self.page(context)
        self.open(other)
        # It has told the first by now.
        page.wait_for_timeout(500)
        self.say("You are here", "grace", direct["id"])
        expect(other).to_have_title(re.compile(r"^\(2\) "))
        expect(page).to_have_title(re.compile(r"^\(2\) "))
        self.assertEqual(len(self.told(page)), 2)
        self.turn(other, "hidden")
        # That nobody looks any more comes from tab to tab, what is said from the server: either may be there first.
        for _ in range(100):
            self.say("And now?", "grace", direct["id"])
            page.wait_for_timeout(300)
            if len(self.told(page)) > 2:
                break
        self.assertIn(("Grace", "And now?", True), self.told(page))
        told = len(self.told(page))
        self.say("And then?", "grace", direct["id"])
        self.eventually(page, ("Grace", "And then?", True), lambda: self.told(page)[-1])
        self.assertEqual(len(self.told(page)), told + 1)
        self.assertEqual(self.told(other), [])

    def told(self, page):
        return [tuple(it.values()) for it in page.evaluate("window.notices")]

    def turn(self, page, state):
        page.evaluate("""state => {
            Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
            Object.defineProperty(document, "hidden", { configurable: true, get: () => state === "hidden" });
            window.requestAnimationFrame = () => 0;
            document.dispatchEvent(new Event("visibilitychange"));
        }""", state)
