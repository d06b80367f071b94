"""Notifications while the app is open in the background: browser notifications and the unread count in the title."""

import re

from browsing import PASSWORD
from playwright.sync_api import expect
from test_flows import Village

# Replaces the browser's notifications, which the system shows outside the page.
NOTICES = """
window.notices = [];
window.Notification = class {
  static permission = "granted";
  constructor(title, { body }) {
    this.entry = { title, body, isOpen: true };
    window.notices.push(this.entry);
  }
  addEventListener() {}
  close() { this.entry.isOpen = false; }
};
// Messages of other tabs about themselves.
window.tabs = [];
window.BroadcastChannel = class extends BroadcastChannel {
  constructor(name) {
    super(name);
    this.addEventListener("message", ({ data }) => data?.kind === "tab" && window.tabs.push(data));
  }
};
"""


class Notices(Village):
    def test_a_notice_about_the_own_account_has_a_lock_and_one_of_another_user_a_face(self):
        self.call("POST", "/me/tokens", {"name": "Script", "scope": "read", "password": PASSWORD}, self.tokens["lin"])
        self.call("POST", "/conversations", {"kind": "direct", "participants": ["@lin"], "distinct": True}, self.tokens["grace"])
        page = self.signed_in("lin")
        rows = page.locator(".inbox-item")
        own, other = rows.filter(has_text="New access token"), rows.filter(has_text="Grace sent you")
        expect(own.locator(".icon-lock")).to_be_visible()
        expect(other.locator(".avatar")).to_be_visible()
        # The titles stand in one column.
        left = [self.box(it.locator(".inbox-row-words"))["x"] for it in (own, other)]
        self.assertAlmostEqual(*left, delta=1)

    def test_they_appear_in_the_background_and_close_when_read_on_any_device(self):
        context = self.context()
        context.add_init_script(NOTICES)
        self.sign_in(context, "ada")
        direct = self.call("POST", "/conversations", {"kind": "direct", "participants": ["@ada"], "distinct": True}, self.tokens["grace"])
        # The message request would count until it is read.
        request = self.call("GET", "/inbox?unread=true", token=self.tokens["ada"])["data"][0]
        self.assertEqual(request["kind"], "request")
        self.call("PUT", "/inbox/read", {"up_to": request["id"]}, self.tokens["ada"])
        page = self.page(context)
        self.open(page)
        expect(page.locator(".page-bar .sign-online")).to_be_visible()
        self.say("In front of your eyes", "grace", direct["id"])
        expect(page).to_have_title(re.compile(r"^\(1\) "))
        self.turn(page, "hidden")
        first = self.say("Are you there?", "grace", direct["id"])
        self.eventually(page, [("Grace", "Are you there?", True)], lambda: self.notices(page))
        # A hidden page gets no animation frames; the title is updated all the same.
        expect(page).to_have_title(re.compile(r"^\(2\) "))
        # A room shows no notification without a mention.
        self.say("Nothing for ada")
        self.say("Something for @ada")
        self.eventually(page, 2, lambda: len(self.notices(page)))
        self.call("PUT", f"/conversations/{direct['id']}/read", {"message_id": first["id"]}, self.tokens["ada"])
        self.eventually(page, [False, True], lambda: [is_open for *_, is_open in self.notices(page)])
        expect(page).to_have_title(re.compile(r"^\(1\) "))
        # A message in view in another tab shows no notification.
        other = self.page(context)
        self.open(other)
        self.eventually(page, True, lambda: self.is_other_in_front(page))
        self.say("You are here", "grace", direct["id"])
        expect(other).to_have_title(re.compile(r"^\(2\) "))
        expect(page).to_have_title(re.compile(r"^\(2\) "))
        self.assertEqual(len(self.notices(page)), 2)
        self.turn(other, "hidden")
        # The tab's state arrives over BroadcastChannel, the message from the server: either may be first.
        self.eventually(page, False, lambda: self.is_other_in_front(page))
        for number, text in enumerate(("And now?", "And then?"), 3):
            self.say(text, "grace", direct["id"])
            self.eventually(page, ("Grace", text, True), lambda: self.notices(page)[-1])
            self.assertEqual(len(self.notices(page)), number)
        self.assertEqual(self.notices(other), [])

    def test_they_are_offered_once_after_the_first_own_message(self):
        context = self.context("phone")
        context.add_init_script("""
            window.Notification = class { static permission = "default"; };
            Notification.requestPermission = async () => (Notification.permission = window.answer ?? "granted");
        """)
        self.sign_in(context, "lin")
        page = self.page(context)
        self.open(page)
        self.room(page)
        offer = page.get_by_role("status").filter(has_text="Get notified when people reply")
        expect(page.get_by_role("textbox", name="Write a message")).to_be_visible()
        expect(offer).to_have_count(0)
        page.get_by_role("textbox", name="Write a message").fill("My first words")
        page.get_by_role("button", name="Send").click()
        expect(offer).to_be_visible()
        self.photograph(page, "offer-notifications-phone")
        self.assert_accessible(page, "the offer of notifications")
        self.assert_fits(page, "the offer of notifications")
        offer.get_by_role("button", name="Turn on").click()
        expect(offer).to_have_count(0)
        self.eventually(page, True, lambda: self.call("GET", "/users/me", token=self.tokens["lin"])["preferences"].get("notices"))
        page.reload()
        self.settle(page)
        page.get_by_role("textbox", name="Write a message").fill("More words")
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".message.is-mine").filter(has_text="More words").locator(".state")).to_have_attribute("title", "Sent")
        expect(offer).to_have_count(0)

    def test_they_keep_to_the_settings_of_notifications(self):
        context = self.context()
        context.add_init_script(NOTICES)
        self.sign_in(context, "lin")
        direct = self.call("POST", "/conversations", {"kind": "direct", "participants": ["@lin"], "distinct": True}, self.tokens["grace"])
        page = self.page(context)
        self.open(page)
        expect(page.locator(".page-bar .sign-online")).to_be_visible()
        self.turn(page, "hidden")
        texts = lambda: [text for _, text, _ in self.notices(page)]
        self.say("One", "grace", direct["id"])
        self.eventually(page, ["One"], texts)
        shown = ["One"]
        all_day = {"from": "00:00", "to": "23:59", "time_zone": "UTC"}
        for held, again in (({"paused": True}, {"paused": False}), ({"snoozed_until": "2027-11-28T00:00:00Z"}, {"snoozed_until": None}),
                            ({"quiet_hours": all_day}, {"quiet_hours": None}), ({"push": {"direct": False}}, {"push": {}})):
            with self.subTest(held=held):
                self.change(page, held)
                self.say(f"Held {held}", "grace", direct["id"])
                # Its notification would come before that of the next one.
                self.change(page, again)
                self.say(f"After {held}", "grace", direct["id"])
                shown.append(f"After {held}")
                self.eventually(page, shown, texts)

    def change(self, page, body):
        with page.expect_response("**/api/v1/me/notifications"):
            self.call("PATCH", "/me/notifications", body, self.tokens["lin"])

    def notices(self, page):
        return [tuple(it.values()) for it in page.evaluate("window.notices")]

    def is_other_in_front(self, page):
        return page.evaluate("window.tabs.at(-1)?.isInFront ?? false")

    def turn(self, page, state):
        page.evaluate("""state => {
            Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
            Object.defineProperty(document, "hidden", { configurable: true, get: () => state === "hidden" });
            window.requestAnimationFrame = () => 0;
            document.dispatchEvent(new Event("visibilitychange"));
        }""", state)
