"""Four people and their way to what they came for, with their clicks, keys and the machine's time: a newcomer with an invite, a
visitor from a search engine, the moderator of a raid, a member on the train. The owner's first hour is in `test_flows`, a
week away in `test_inbox`."""

import re
import time

from browsing import PASSWORD
from playwright.sync_api import expect
from test_moderation import Raiders
from test_offline import Cached

# A user types this many keys in a second.
KEYS_PER_SECOND = 5


class Counted:
    """Clicks and keys of a page, and the time since."""

    def __init__(self, page):
        self.clicks = self.keys = 0
        self.began = time.monotonic()
        page.expose_function("counted", self.count)
        page.add_init_script("""for (const type of ['click', 'keydown'])
            addEventListener(type, (event) => { if (event.isTrusted) window.counted(type); }, true);""")

    def count(self, type):
        if type == "click":
            self.clicks += 1
        else:
            self.keys += 1

    @property
    def seconds(self):
        return time.monotonic() - self.began

    def tell(self, who):
        print(f"{who}: {self.clicks} clicks, {self.keys} keys, {self.seconds:.1f} s of the machine")


class Newcomer(Raiders):
    def test_from_the_link_to_an_own_message_among_those_of_others(self):
        self.call("PATCH", f"/forums/{self.garden['id']}", {"is_default": True}, self.tokens["ada"])
        self.say("Who has the key to the shed?")
        for size in ("phone", "desktop"):
            name = f"nina{size}"
            page = self.page(self.context(size))
            counted = Counted(page)
            self.open(page, f"/i/{self.invite}")
            # Nothing else is asked for: display name, username, password.
            self.assertEqual(page.locator("form input:not([type=file]):visible").count(), 3)
            page.get_by_label("Display name").press_sequentially(name)
            expect(page.get_by_label("Username", exact=True)).to_have_value(name)
            page.get_by_label("Password").press_sequentially(PASSWORD)
            page.get_by_role("button", name="Accept the rules and create account").click()
            expect(page.locator(".message .bubble").first).to_contain_text("Who has the key")
            field = page.get_by_role("textbox", name="Write a message")
            # A touch on the field opens the keyboard of a phone.
            field.click()
            field.press_sequentially("Hello from the newcomer")
            page.get_by_role("button", name="Send").click()
            expect(page.locator(".message.is-mine .state").last).to_have_attribute("title", "Sent")
            self.assertLessEqual(counted.clicks, 5)
            self.assertLessEqual(counted.seconds + counted.keys / KEYS_PER_SECOND, 60)
            counted.tell(f"the newcomer ({size})")
            page.context.close()


class Visitor(Raiders):
    def test_a_topic_is_read_without_a_script_and_answered_after_signing_in(self):
        topic = self.call("POST", f"/forums/{self.garden['id']}/conversations", {"title": "When to plant out tomatoes", "text": "Is May too early?"}, self.tokens["grace"])
        for number in range(1, 46):
            last = self.say(f"Answer {number}", "lin" if number % 2 else "ada", topic["id"])
        for size in ("phone", "desktop"):
            with self.subTest(size=size):
                self.read(topic, last, size)

    def read(self, topic, last, size):
        address = f"/t/{topic['id']}"
        plain = self.page(self.context(size, java_script_enabled=False))
        plain.goto(self.origin + address)
        expect(plain.get_by_role("heading", level=1)).to_contain_text("When to plant out tomatoes")
        posts = plain.get_by_role("article")
        # Without the answer of the first size.
        expect(posts.nth(45)).to_be_visible()
        expect(posts.first).to_contain_text("Is May too early?")
        expect(posts.nth(45)).to_contain_text("Answer 45")

        page = self.page(self.context(size))
        counted = Counted(page)
        page.goto(f"{self.origin}{address}#m{last['id']}")
        page.get_by_role("link", name=re.compile("Sign in")).first.click()
        self.settle(page)
        page.get_by_label("Username").press_sequentially("grace")
        page.get_by_label("Password").press_sequentially(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        # Back in the topic.
        expect(page.get_by_role("heading", name="When to plant out tomatoes").first).to_be_visible()
        expect(page).to_have_url(re.compile(f"/t/{topic['id']}"))
        field = page.get_by_role("textbox", name="Write a reply")
        field.click()
        field.press_sequentially(f"Thanks from my {size}")
        page.get_by_role("button", name=re.compile("Send|Post")).last.click()
        expect(page.get_by_role("article").filter(has_text=f"Thanks from my {size}")).to_be_visible()
        self.assertLessEqual(counted.clicks, 5)
        counted.tell(f"the visitor ({size})")


class Moderator(Raiders):
    def test_a_raid_of_ten_accounts_is_gone_in_a_minute_and_undone(self):
        for size in ("phone", "desktop"):
            with self.subTest(size=size):
                self.end_raid(size)

    def end_raid(self, size):
        said = []
        for number in range(10):
            token = self.raider(f"raider{size}{number}")
            said += [self.call("POST", f"/conversations/{self.garden['room_id']}/messages", {"text": f"Cheap watches {size} {number}.{post}"}, token)["id"]
                     for post in range(10)]
        for index, message in enumerate(said):
            if index % 10 < 3:
                self.call("POST", "/reports", {"message_id": message, "reason": "Spam"}, self.tokens[("grace", "lin")[index % 2]])
        page = self.page(self.context(size))
        counted = Counted(page)
        self.sign_in(page.context, "ada")
        self.open(page, "/admin/reports")
        cards = page.get_by_role("article", name=re.compile(rf"^Raider{size}\d$"))
        expect(cards).to_have_count(10)
        for left in range(9, -1, -1):
            cards.first.get_by_role("button", name="Remove 10 messages and ban").click()
            page.get_by_role("dialog").get_by_role("button", name="Remove 10 messages and ban").click()
            expect(cards).to_have_count(left)
        # Two presses for each account.
        self.assertEqual(counted.clicks, 20)
        self.assertLessEqual(counted.seconds, 60)
        counted.tell(f"the moderator ({size})")
        self.eventually(page, 0, lambda: self.shown(size))
        page.get_by_role("button", name="Undo").last.click()
        expect(cards).to_have_count(1)
        self.eventually(page, 10, lambda: self.shown(size))

    def shown(self, size):
        page = self.call("GET", f"/conversations/{self.garden['room_id']}/messages?limit=200", token=self.tokens["ada"])
        return sum(f"Cheap watches {size}" in (it.get("text") or "") for it in page["data"])


class OnTheTrain(Cached):
    def test_messages_written_in_the_tunnel_are_sent_once_and_in_order(self):
        for size in ("phone", "desktop"):
            with self.subTest(size=size):
                self.ride(size)

    def ride(self, size):
        self.say(f"The last thing before the tunnel ({size})")
        page = self.cached("grace", size)
        self.room(page)
        expect(page.get_by_text(f"The last thing before the tunnel ({size})")).to_be_visible()
        context = page.context
        context.set_offline(True)
        page.close()
        page = self.page(context)
        counted = Counted(page)
        self.open(page, f"/f/{self.garden['id']}/room")
        expect(page.get_by_text(f"The last thing before the tunnel ({size})")).to_be_visible()
        start = counted.seconds
        written = [f"From the tunnel {size} {number}" for number in range(5)]
        for text in written:
            field = page.get_by_role("textbox", name="Write a message")
            field.click()
            field.press_sequentially(text)
            page.get_by_role("button", name="Send").click()
        expect(page.get_by_text("5 messages will be sent")).to_be_visible()
        context.set_offline(False)
        expect(page.locator(".message.is-mine .state").last).to_have_attribute("title", "Sent")
        self.eventually(page, written, lambda: [it for it in self.texts() if (it or "").startswith(f"From the tunnel {size}")])
        self.assertEqual(counted.clicks, 10)
        print(f"the member on the train ({size}): messages {start:.1f} s after the start without a network")
        counted.tell(f"the member on the train ({size})")
