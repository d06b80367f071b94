"""Conversations of the inbox for later: the menu of times, undo, keys, and the user's other device."""

import re
from datetime import datetime, timedelta, timezone

from playwright.sync_api import expect
from test_inbox import Gardeners


class Later(Gardeners):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # Without a common forum a group would be a message request.
        cls("nothing").forum("Tools", "lin")

    def setUp(self):
        super().setUp()
        for conversation in self.later("lin"):
            self.call("DELETE", f"/conversations/{conversation}/later", token=self.tokens["lin"])
        self.call("PUT", "/unread/read", {"up_to": "9007199254740991"}, self.tokens["lin"])

    def later(self, name):
        return {it["conversation_id"]: it["until"] for it in self.call("GET", "/unread", token=self.tokens[name])["later"]}

    def group(self, text):
        group = self.call("POST", "/conversations", {"kind": "group", "title": text, "participants": ["@lin"]}, self.tokens["ada"])
        self.write(group, text)
        return group

    def write(self, conversation, text):
        self.call("POST", f"/conversations/{conversation['id']}/messages", {"text": text}, self.tokens["ada"])

    def test_a_conversation_is_put_off_on_both_devices_and_back(self):
        for size in ("desktop", "phone"):
            with self.subTest(size=size):
                group = self.group(f"Who mends the {size} fence?")
                topic = self.topic(self.forum(f"Fences {size}", "lin"), f"Posts or wire, {size}")
                page = self.signed_in("lin", size)
                other = self.signed_in("lin")
                for it in (page, other):
                    expect(self.row(it, group["title"])).to_be_visible()
                row = self.row(page, group["title"])
                row.get_by_role("button", name="Later").click()
                menu = page.get_by_role("menu", name="Later")
                is_sunday = page.evaluate("new Date().getDay() === 0")
                monday = [] if is_sunday else ["Monday at 08:00"]
                expect(menu.get_by_role("menuitem")).to_have_text(["In 3 hours", "Tomorrow at 08:00", *monday])
                self.photograph(page, f"later-{size}")
                self.assert_accessible(page, "the menu of times")
                menu.get_by_role("menuitem", name="In 3 hours").click()
                for it in (page, other):
                    expect(self.row(it, group["title"])).to_have_count(0)
                    expect(self.row(it, topic["title"])).to_be_visible()
                until = datetime.fromisoformat(self.later("lin")[group["id"]])
                self.assertLess(abs(until - datetime.now(timezone.utc) - timedelta(hours=3)), timedelta(minutes=5))
                # A further message leaves it where it is, a mention does not.
                self.write(group, "The gate, too.")
                notice = page.get_by_role("status").filter(has_text="Back in your inbox")
                notice.get_by_role("button", name="Undo").click()
                for it in (page, other):
                    expect(self.row(it, group["title"])).to_be_visible()
                self.assertEqual(self.later("lin"), {})
                for it in (page, other):
                    it.context.close()
                self.call("PUT", "/unread/read", {"up_to": "9007199254740991"}, self.tokens["lin"])

    def test_a_mention_lists_it_again(self):
        group = self.group("Who has the ladder?")
        page = self.signed_in("lin")
        until = (datetime.now(timezone.utc) + timedelta(hours=1)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.call("PUT", f"/conversations/{group['id']}/later", {"until": until}, self.tokens["lin"])
        expect(self.row(page, group["title"])).to_have_count(0)
        self.write(group, "Nobody?")
        self.write(group, "@lin, do you?")
        expect(self.row(page, group["title"])).to_be_visible()

    def test_it_is_listed_again_at_its_time(self):
        group = self.group("Who cuts the hedge?")
        until = (datetime.now(timezone.utc) + timedelta(seconds=3)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.call("PUT", f"/conversations/{group['id']}/later", {"until": until}, self.tokens["lin"])
        page = self.signed_in("lin")
        expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
        expect(self.row(page, group["title"])).to_be_visible()

    def test_the_keyboard_puts_off_and_moves_on(self):
        titles = [self.group(it)["title"] for it in ("Hoses", "Rakes", "Spades")]
        page = self.signed_in("lin")
        rows = page.locator(".inbox-item").filter(has_text=re.compile("|".join(titles)))
        expect(rows).to_have_count(len(titles))
        rows.nth(0).get_by_role("link").focus()
        page.keyboard.press("h")
        expect(page.get_by_role("menuitem", name="In 3 hours")).to_be_focused()
        page.keyboard.press("Escape")
        expect(rows.nth(0).get_by_role("button", name="Later")).to_be_focused()
        page.keyboard.press("h")
        expect(page.get_by_role("menuitem", name="In 3 hours")).to_be_focused()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(rows).to_have_count(2)
        expect(rows.nth(0).get_by_role("link")).to_be_focused()
        (until,) = self.later("lin").values()
        # 08:00 in the zone of the device.
        self.assertRegex(until, re.compile(r":00:00\.000Z$"))
