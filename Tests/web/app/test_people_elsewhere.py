"""The six people of `test_people`, `test_flows` and `test_inbox` in Firefox and WebKit, with their clicks, keys and the machine's time."""

import contextlib
import time

import test_inbox
from browsing import PASSWORD, RATES, BrowsingTest
from drivers import Firefox, WebKit
from servers import Server
from serving import parley
from test_moderation import Raiders

ENGINES = {"Firefox": Firefox, "WebKit": WebKit}
PHONE, DESKTOP = (390, 844), (1440, 900)
# Whether the service worker has cached the app.
IS_CACHED = """
const done = arguments[arguments.length - 1];
caches.open("state").then((it) => it.match("/state")).then((it) => it?.json())
  .then((it) => done(!!navigator.serviceWorker?.controller && !!it?.now), () => done(false));
"""
IN_VIEW = """
const [words] = arguments;
const row = [...document.querySelectorAll(".inbox-item")].find((it) => it.textContent.includes(words));
const box = row?.getBoundingClientRect();
return !!box && box.top >= 0 && box.bottom <= innerHeight;
"""


class Walker:
    """A browser that counts clicks and keys."""

    def __init__(self, case, name, size=DESKTOP):
        self.case, self.key = case, f"{name}{size[0]}"
        self.stack = contextlib.ExitStack()
        case.addCleanup(self.stack.close)
        self.browser = ENGINES[name](self.stack)
        self.browser.ask("SetWindowRect", "POST", "/window/rect", width=size[0], height=size[1])
        self.clicks = self.keys = 0
        self.began = time.monotonic()

    def open(self, path):
        self.browser.open(self.case.origin + path)

    def sees(self, path):
        return self.browser.find(path)

    def click(self, path):
        self.browser.click(path)
        self.clicks += 1

    def press(self, words, tag="button"):
        self.click(f"//{tag}[contains(normalize-space(.), '{words}') or @aria-label='{words}'][not(@disabled)]")

    def type(self, path, text):
        self.browser.type(path, text)
        self.keys += len(text)

    def fill(self, label, text):
        """Types into the field with a label."""
        self.type(f"//*[@id=//label[starts-with(normalize-space(.), '{label}')]/@for] | //label[starts-with(normalize-space(.), '{label}')]//input", text)

    def write(self, text):
        """Sends a message by the button, as on a phone."""
        self.type("//textarea", text)
        self.click("//form[contains(@class, 'composer')]//button[contains(@class, 'icon-button-send') or contains(normalize-space(.), 'Send') or contains(normalize-space(.), 'Post')][not(@disabled)]")

    def sign_in(self, name):
        self.fill("Username", name)
        self.fill("Password", PASSWORD)
        self.press("Sign in")

    def leave(self, who, clicks):
        """Prints the counts and compares the clicks."""
        print(f"{who} ({self.key}): {self.clicks} clicks, {self.keys} keys, {time.monotonic() - self.began:.1f} s of the machine")
        self.case.assertLessEqual(self.clicks, clicks)
        self.stack.close()


class People(Raiders):
    def each(self, walk, size=DESKTOP):
        """Each browser in one size: WebKit in that of a phone, Firefox in the usual one."""
        for name, size in (("Firefox", size), ("WebKit", PHONE)):
            with self.subTest(browser=name, size=size):
                walk(Walker(self, name, size))

    def test_a_newcomer_with_an_invite(self):
        self.call("PATCH", f"/forums/{self.garden['id']}", {"is_default": True}, self.tokens["ada"])
        self.say("Who has the key to the shed?")

        def walk(walker):
            walker.open(f"/i/{self.invite}")
            walker.fill("Display name", f"nina{walker.key}")
            walker.fill("Password", PASSWORD)
            walker.press("Accept the rules and create account")
            walker.sees("//article[contains(., 'Who has the key')]")
            walker.write(f"Hello from {walker.key}")
            walker.sees(f"//article[contains(., 'Hello from {walker.key}')]//*[@title='Sent']")
            walker.leave("the newcomer", 5)

        self.each(walk, PHONE)

    def test_a_visitor_from_a_search_engine(self):
        topic = self.call("POST", f"/forums/{self.garden['id']}/conversations", {"title": "When to plant out tomatoes", "text": "Is May too early?"}, self.tokens["grace"])

        def walk(walker):
            walker.open(f"/t/{topic['id']}")
            walker.sees("//article[contains(., 'Is May too early?')]")
            walker.press("Sign in", "a")
            walker.sign_in("grace")
            walker.sees("//h1[contains(., 'When to plant out tomatoes')] | //h2[contains(., 'When to plant out tomatoes')]")
            walker.write(f"Thanks from {walker.key}")
            walker.sees(f"//article[contains(., 'Thanks from {walker.key}')]")
            walker.leave("the visitor", 5)

        self.each(walk, PHONE)

    def test_the_moderator_of_a_raid(self):
        def walk(walker):
            names = [f"raider{walker.key.lower()}{number}" for number in range(3)]
            for name in names:
                said = self.call("POST", f"/conversations/{self.garden['room_id']}/messages", {"text": "Cheap watches"}, self.raider(name))
                self.call("POST", "/reports", {"message_id": said["id"], "reason": "Spam"}, self.tokens["grace"])
            walker.open("/sign-in?back=/admin/reports")
            walker.sign_in("ada")
            for name in names:
                card = f"//article[@aria-label='{name.title()}']"
                walker.click(f"{card}//button[contains(., 'and ban')]")
                walker.click("//dialog//button[contains(., 'and ban')]")
                walker.browser.until(lambda card=card: not walker.browser._found(card), f"no {card}")
            walker.sees("//*[contains(., 'No open reports.')]")
            walker.leave("the moderator", 1 + 2 * len(names))

        self.each(walk)

    def test_messages_from_the_tunnel(self):
        def walk(walker):
            walker.open(f"/sign-in?back=/f/{self.garden['id']}/room")
            walker.sign_in("grace")
            before = f"Before the tunnel of {walker.key}"
            self.say(before)
            walker.sees(f"//article[contains(., '{before}')]")
            walker.browser.until(lambda: walker.browser.call(IS_CACHED), "a cached app")
            self.server.stop()
            written = [f"{walker.key} in the tunnel {number}" for number in range(3)]
            walker.open(f"/f/{self.garden['id']}/room")
            walker.sees(f"//article[contains(., '{before}')]")
            for text in written:
                walker.write(text)
            walker.sees("//*[contains(., '3 messages will be sent')]")
            type(self).server = self.enterClassContext(Server(
                "clients-People", *parley(self.folder, *RATES, *self.options, listen=f"127.0.0.1:{self.server.port}")))
            walker.sees(f"//article[contains(., '{written[-1]}')]//*[@title='Sent']")
            found = self.call("GET", f"/conversations/{self.garden['room_id']}/messages?order=asc&limit=200", token=self.tokens["ada"])["data"]
            self.assertEqual([it["text"] for it in found if (it.get("text") or "") in written], written)
            walker.leave("the member on the train", 5)

        self.each(walk)


class Owner(BrowsingTest):
    """A site of its own for each browser."""

    engine, size = "Firefox", DESKTOP

    def test_the_first_hour(self):
        walker = Walker(self, self.engine, self.size)
        walker.open(f"/setup/{self.set_up_code()}")
        walker.fill("Community name", "The Allotment")
        walker.press("Continue")
        walker.fill("Display name", "Ada Lovelace")
        walker.fill("Password", PASSWORD)
        walker.press("Continue")
        walker.sees("//*[@role='img' and @aria-label='QR code for the invite link']")
        walker.press("Create community")
        walker.sees("//*[contains(., 'No messages yet. Say hello.')]")
        walker.press("Make the first backup")
        walker.write("Welcome, everyone")
        walker.sees("//article[contains(., 'Welcome, everyone')]//*[@title='Sent']")
        walker.leave("the owner", 25)


class OwnerOnAPhone(Owner):
    engine, size = "WebKit", PHONE


class Returned(test_inbox.WeekAway):
    """A member who comes back after a week."""

    test_one_response_has_all_unread_items = test_the_inbox_shows_it_without_scrolling_and_clears_the_rest = None

    def test_the_main_parts_are_in_view(self):
        for name, size in (("Firefox", DESKTOP), ("WebKit", PHONE)):
            with self.subTest(browser=name, size=size):
                walker = Walker(self, name, size)
                walker.open("/sign-in")
                walker.sign_in("grace")
                for words in self.matter:
                    walker.browser.until(lambda words=words: walker.browser.run(IN_VIEW, words), f"{words} in view")
                walker.leave("a week away", 1)
