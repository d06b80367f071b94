"""User flows in the app, on a phone and a desktop, against the daemon."""

import re
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from browsing import PASSWORD, TOP, BrowsingTest
from playwright.sync_api import expect


class FirstHour(BrowsingTest):
    def test_from_an_empty_folder_to_ten_users_in_a_chat(self):
        began = time.monotonic()
        owner = self.page(self.context())
        self.record(owner)
        clicks = []
        owner.expose_function("clicked", lambda: clicks.append(1))
        owner.add_init_script("addEventListener('click', (event) => { if (event.isTrusted) window.clicked(); }, true);")
        self.open(owner, f"/setup/{self.set_up_code()}")
        owner.get_by_label("Community name").fill("The Allotment")
        owner.locator("input[type=file]").set_input_files(TOP / "Public/icon-touch.png")
        owner.get_by_role("slider").fill("150")
        self.photograph(owner, "first-run-1")
        owner.get_by_role("button", name="Continue").click()
        owner.get_by_label("Display name").fill("Ada Lovelace")
        expect(owner.get_by_label("Username", exact=True)).to_have_value("ada")
        owner.get_by_label("Password").fill(PASSWORD)
        owner.get_by_role("button", name="Continue").click()
        self.assertEqual(owner.get_by_label("Description of forum 1").input_value(), "Say hello and get to know each other.")
        link = owner.get_by_role("textbox", name="Invite link")
        expect(link).to_have_value(re.compile("/i/"))
        expect(owner.get_by_role("img", name="QR code for the invite link")).to_be_visible()
        self.photograph(owner, "first-run-3")
        address = link.input_value()
        owner.get_by_role("button", name="Create community").click()
        field = owner.get_by_role("textbox", name="Write a message")
        expect(field).to_be_focused()
        expect(owner.get_by_text("No messages yet. Say hello.")).to_be_visible()
        expect(owner.locator(".empty").get_by_role("link", name="Invite people")).to_have_attribute("href", "/admin/invites")
        steps = owner.get_by_role("region", name="First steps")
        expect(steps.get_by_role("link", name="Invite people")).to_be_visible()
        expect(steps.get_by_role("textbox", name="Invite link")).to_have_value(address)
        steps.get_by_role("button", name="Copy").click()
        self.assertEqual(owner.evaluate("navigator.clipboard.readText()"), address)
        steps.get_by_text("QR code for the invite link").click()
        expect(steps.get_by_role("img", name="QR code for the invite link")).to_be_visible()
        self.assertEqual(owner.evaluate("fetch('/api/v1/settings').then((it) => it.json()).then((it) => [it.hue, !!it.icon_file])"), [150, True])
        expect(steps.get_by_role("link", name="Turn on notifications")).to_have_attribute("href", "/you/notifications")
        steps.get_by_role("button", name="Make the first backup").click()
        expect(steps.get_by_role("listitem").filter(has_text="backup").get_by_role("img", name="Done")).to_be_visible()
        self.photograph(owner, "first-run-room")
        field.press_sequentially("Welcome, everyone")
        field.press("Enter")
        expect(owner.locator(".message.is-mine .bubble")).to_contain_text("Welcome, everyone")
        for title in ("Off topic", "Questions"):
            owner.locator(".sidebar").get_by_role("link", name=title).click()
            # Until the new page is ready, the previous page has a room, too.
            expect(owner.get_by_role("heading", name=title, level=1)).to_be_visible()
            owner.get_by_role("link", name="Room").click()
            expect(owner.get_by_role("heading", name=title, level=1)).to_be_visible()
            expect(field).to_be_focused()
            field.press_sequentially(f"{title} go here")
            field.press("Enter")
            expect(owner.locator(".message.is-mine .bubble")).to_contain_text(f"{title} go here")

        for number in range(10):
            guest = self.page(self.context("phone" if number % 2 else "desktop"))
            guest.goto(address)
            guest.get_by_label("Display name").fill(f"Guest {number}")
            guest.get_by_label("Username", exact=True).fill(f"guest{number}")
            guest.get_by_label("Password").fill(PASSWORD)
            guest.get_by_role("button", name="Create account").click()
            # In the liveliest default room, which is not the newest, as a member of all three forums.
            expect(guest.get_by_text(re.compile("Welcome to The Allotment. You've joined .*Hello"))).to_be_visible()
            expect(guest.locator(".banner").get_by_role("link", name="Notifications")).to_have_attribute("href", "/you/notifications")
            expect(guest.locator(".message .bubble").first).to_contain_text(re.compile("Questions go here|is here"))
            field = guest.get_by_role("textbox", name="Write a message")
            if not number % 2:
                expect(field).to_be_focused()
            field.fill(f"Guest {number} is here")
            guest.get_by_role("button", name="Send").click()
            expect(guest.locator(".message.is-mine .state")).to_have_attribute("title", "Sent")
            expect(owner.get_by_text(f"Guest {number} is here")).to_be_visible()
        owner.locator(".sidebar").get_by_role("link", name="Hello").click()
        expect(steps.get_by_role("listitem").filter(has_text="Invite people").get_by_role("img", name="Done")).to_be_visible()
        forums = self.call("GET", "/forums", token=self.call("POST", "/sessions", {"name": "guest1", "password": PASSWORD})["token"])["data"]
        self.assertEqual([it["role"] for it in forums], ["member"] * 3)
        self.assertEqual([it["is_default"] for it in forums], [True] * 3)
        self.assertLessEqual(len(clicks), 25)
        print(f"the first hour: {time.monotonic() - began:.1f} s, {len(clicks)} clicks by the owner")

    def test_the_setup_link_works_once(self):
        code = self.set_up_code()
        page = self.page(self.context())
        if page.request.get(f"{self.origin}/api/v1/links/{code}").ok:
            self.create_users("ada")
        self.open(page, f"/setup/{code}")
        expect(page.get_by_text("This page doesn't exist, or you don't have access to it.")).to_be_visible()


class InterruptedSetUp(BrowsingTest):
    def test_an_interrupted_set_up_is_continued(self):
        owner = self.page(self.context())
        self.open(owner, f"/setup/{self.set_up_code()}")
        owner.get_by_label("Community name").fill("The Allotment")
        owner.get_by_role("button", name="Continue").click()
        owner.get_by_label("Display name").fill("Ada Lovelace")
        owner.get_by_label("Password").fill(PASSWORD)
        owner.get_by_role("button", name="Continue").click()
        expect(owner.get_by_label("Description of forum 1")).to_be_visible()
        link = owner.get_by_role("textbox", name="Invite link")
        expect(link).to_have_value(re.compile("/i/"))
        first = link.input_value()
        owner.reload()
        self.settle(owner)
        # No second invite.
        expect(link).to_have_value(first)
        owner.get_by_label("Forum 2", exact=True).fill("")
        owner.get_by_label("Forum 3", exact=True).fill("")
        owner.get_by_role("button", name="Create community").click()
        expect(owner.get_by_role("textbox", name="Write a message")).to_be_visible()
        # With forums there is nothing left to set up.
        self.open(owner, f"/setup/{self.set_up_code()}")
        expect(owner.get_by_role("heading", name="Inbox")).to_be_visible()


class FirstSteps(BrowsingTest):
    def test_a_failed_request_is_retried(self):
        token = self.create_users("ada")["ada"]
        self.call("PATCH", "/users/me", {"preferences": {"first_steps": True}}, token)
        forum = self.call("POST", "/forums", {"title": "Garden"}, token)
        context = self.context()
        self.sign_in(context, "ada")
        page = self.page(context)
        failures = []

        def fail(route):
            failures.append(1)
            if len(failures) > 4:
                return route.continue_()
            return route.fulfill(status=503, headers={"retry-after": "1"}, content_type="application/problem+json", body='{"code": "unavailable"}')

        page.route("**/api/v1/backups*", fail)
        self.open(page, f"/f/{forum['id']}-garden/room")
        expect(page.get_by_role("region", name="First steps")).to_be_visible()
        self.assertGreater(len(failures), 4)


class Village(BrowsingTest):
    """A site with three users and a forum."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        self = cls("nothing")
        cls.tokens = self.create_users("ada", "grace", "lin")
        ada = cls.tokens["ada"]
        self.call("PATCH", "/settings", {"name": "The Allotment", "rules": "Be kind."}, ada)
        cls.garden = self.call("POST", "/forums", {"title": "Garden", "description": "Beds and seeds", "visibility": "public", "section": "Outside"}, ada)
        cls.invite = self.call("POST", "/invites", {}, ada)["code"]

    def nothing(self):
        """An empty test, so that `setUpClass` may call instance methods."""

    def say(self, text, who="grace", conversation=None, **more):
        conversation = conversation or self.garden["room_id"]
        return self.call("POST", f"/conversations/{conversation}/messages", {"text": text, **more}, self.tokens[who])

    def signed_in(self, name, size="desktop", anew=False, **more):
        context = self.context(size, **more)
        self.sign_in(context, name, anew)
        page = self.page(context)
        self.open(page)
        return page

    def room(self, page):
        self.go(page, f"/f/{self.garden['id']}-garden/room")

    def write(self, page, text):
        field = page.get_by_role("textbox", name="Write a message")
        field.fill(text)
        field.press("Enter")
        return page.locator(".message.is-mine .bubble").filter(has_text=text).last


# The number of rows in each table of the caches on disk.
ROWS = """async () => {
  const { browserStore } = await import('/js/parley/parley.js');
  const counts = {};
  for (const { name } of await indexedDB.databases()) {
    const store = await browserStore(name);
    for (const table of ['conversations', 'sealed', 'files']) counts[table] = (counts[table] ?? 0) + (await store.list(table)).length;
    store.close();
  }
  return counts;
}"""

# The users of the locked caches on disk.
LOCKED = """async () => {
  const { browserStore } = await import('/js/parley/parley.js');
  const users = [];
  for (const { name } of await indexedDB.databases()) {
    const store = await browserStore(name);
    users.push((await store.get('site', 'locked'))?.value ?? null);
    store.close();
  }
  return users;
}"""

# The number of rows in each table that has any, by the user of the cache on disk.
COPIES = """async () => {
  const { browserStore } = await import('/js/parley/parley.js');
  const { tables } = await import('/js/parley/store.js');
  const copies = {};
  for (const { name } of await indexedDB.databases()) {
    const store = await browserStore(name);
    const counts = copies[name.split(' ').pop()] = {};
    for (const table of Object.keys(tables)) {
      const { length } = await store.list(table);
      if (length) counts[table] = length;
    }
    store.close();
  }
  return copies;
}"""


class SigningIn(Village):
    def test_a_wrong_password_shows_an_error_above_the_name(self):
        page = self.page(self.context("phone"))
        self.open(page, "/sign-in")
        page.get_by_label("Username").fill("grace")
        page.get_by_label("Password").fill("not it at all")
        page.get_by_role("button", name="Sign in").click()
        fault = page.get_by_role("alert")
        expect(fault).to_have_text("Wrong username or password.")
        self.assert_above(fault, page.get_by_label("Username"))
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", name="Inbox")).to_be_visible()

    def test_signing_in_returns_to_the_requested_page(self):
        page = self.page(self.context())
        self.open(page, "/messages")
        page.get_by_label("Username").fill("grace")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", name="Messages").first).to_be_visible()

    def test_long_rules_are_folded_until_they_are_read(self):
        ada = self.tokens["ada"]
        self.call("PATCH", "/settings", {"rules": "\n\n".join(f"Rule {n}: close the gate." for n in range(1, 20))}, ada)
        self.addCleanup(self.call, "PATCH", "/settings", {"rules": "Be kind."}, ada)
        page = self.page(self.context("phone"))
        self.open(page, f"/i/{self.invite}")
        expect(page.get_by_label("Display name")).to_be_in_viewport()
        self.assert_accessible(page, "folded rules")
        page.get_by_role("button", name="Read all").click()
        expect(page.get_by_role("button", name="Read all")).to_have_count(0)
        page.get_by_text("Rule 19: close the gate.").scroll_into_view_if_needed()
        expect(page.get_by_text("Rule 19: close the gate.")).to_be_in_viewport(ratio=1)
        self.assert_above(page.get_by_text("Rule 19: close the gate."), page.get_by_label("Display name"))

    def test_an_invite_shows_the_inviter_and_the_rules_before_any_field(self):
        page = self.page(self.context("phone"))
        self.open(page, f"/i/{self.invite}")
        expect(page.get_by_text("Ada invited you to The Allotment.")).to_be_visible()
        self.assert_above(page.get_by_text("Be kind."), page.get_by_label("Display name"))
        expect(page.get_by_role("button", name="Read all")).to_have_count(0)
        page.get_by_label("Display name").fill("Katherine")
        page.get_by_label("Username", exact=True).fill("grace")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Accept the rules and create account").click()
        expect(page.get_by_role("alert")).to_have_text("This username is taken.")
        page.get_by_label("Username", exact=True).fill("katherine")
        page.get_by_role("button", name="Accept the rules and create account").click()
        expect(page.get_by_role("heading", name="Inbox")).to_be_visible()

    def test_the_username_of_a_name_keeps_letters_with_accents(self):
        page = self.page(self.context())
        self.open(page, f"/i/{self.invite}")
        for display, name in (("Zoë Weiß", "zoe"), ("Émile", "emile"), ("Ñandú", "nandu")):
            page.get_by_label("Display name").fill(display)
            expect(page.get_by_label("Username", exact=True)).to_have_value(name)

    def test_a_visitor_makes_no_request_that_fails(self):
        page = self.page(self.context())
        failed = []
        page.on("response", lambda it: it.status >= 400 and failed.append(it.url))
        self.open(page, "/sign-in")
        expect(page.get_by_label("Username")).to_be_visible()
        self.assertEqual(failed, [])

    def test_signing_out_erases_all_data_on_the_device(self):
        page = self.signed_in("lin", anew=True)
        self.room(page)
        self.go(page, "/you")
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("link", name="Sign in")).to_be_visible()
        self.eventually(page, 0, lambda: page.evaluate("indexedDB.databases().then((all) => all.length + localStorage.length)"))

    def test_a_ban_and_an_erasure_erase_the_copy(self):
        invite = self.call("POST", "/invites", {}, self.tokens["ada"])["code"]
        for name, method, path in (("banned", "PUT", "/users/@banned/ban"), ("erased", "DELETE", "/users/@erased")):
            with self.subTest(name=name):
                made = self.call("POST", "/users", {"name": name, "password": PASSWORD, "invite": invite, "accept_rules": True})
                self.call("PUT", f"/forums/{self.garden['id']}/members/me", {}, made["token"])
                page = self.signed_in(name)
                self.room(page)
                page.get_by_role("textbox", name="Write a message").fill("Half a thought")
                self.eventually(page, True, lambda: page.evaluate(ROWS).get("conversations", 0) > 0)
                # A sign-in is the proof that a deletion needs.
                ada = self.call("POST", "/sessions", {"name": "ada", "password": PASSWORD})["token"]
                self.call(method, path, {"reason": "Rude."}, ada)
                expect(page.get_by_role("textbox", name="Write a message")).to_have_count(0)
                self.eventually(page, {"conversations": 0, "files": 0}, lambda: {
                    key: page.evaluate(ROWS).get(key, 0) for key in ("conversations", "files")})
                self.faults[:] = [it for it in self.faults if "unauthenticated" not in it and "session_ended" not in it]
                page.context.close()

    def test_a_draft_waits_for_its_user_after_signing_out(self):
        page = self.signed_in("lin", anew=True)
        self.room(page)
        page.get_by_role("textbox", name="Write a message").fill("Half a thought")
        page.locator("input[type=file]").set_input_files({"name": "plan.txt", "mimeType": "text/plain", "buffer": b"two beds"})
        self.eventually(page, 1, lambda: page.evaluate(ROWS)["files"])
        self.go(page, "/you")
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("link", name="Sign in")).to_be_visible()
        self.eventually(page, {"conversations": 0, "sealed": 1, "files": 0}, lambda: page.evaluate(ROWS))
        self.go(page, "/sign-in")
        page.get_by_label("Username").fill("lin")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
        self.eventually(page, 0, lambda: page.evaluate(ROWS)["sealed"])
        self.room(page)
        expect(page.get_by_role("textbox", name="Write a message")).to_have_value("Half a thought")
        expect(page.locator(".composer-files")).to_contain_text("plan.txt")

    def test_an_unsent_message_waits_for_its_user_after_the_end_of_the_session(self):
        # A session that expires locks the copy; a revoked one erases it, also while the device is offline.
        for way in ("expired", "revoked offline", "revoked online"):
            with self.subTest(way=way):
                page = self.signed_in("lin", anew=True)
                self.room(page)
                text = f"Said as the session was {way}"
                refuse = lambda route: route.abort() if route.request.method == "POST" else route.fallback()
                # A route of the page ends with it, and the closing page could still send.
                page.context.route("**/messages", refuse)
                self.write(page, text)
                expect(page.locator(".message.is-mine").filter(has_text=text)).to_be_visible()
                if way != "revoked online":
                    page.close()
                newest = max(self.call("GET", "/sessions", token=self.tokens["lin"])["data"], key=lambda it: int(it["id"]))
                if way == "expired":
                    with closing(sqlite3.connect(Path(self.folder) / "data" / "parley.db", timeout=30)) as database, database:
                        database.execute("update session set expires_at = 1 where id = ?", (int(newest["id"]),))
                else:
                    self.call("DELETE", f"/sessions/{newest['id']}", token=self.tokens["lin"])
                if way != "revoked online":
                    page = self.page(page.context)
                    self.open(page)
                expect(page.get_by_role("link", name="Sign in")).to_be_visible()
                page.context.unroute_all()
                # On disk are only the sealed message, or a locked copy.
                stays = "conversations" if way == "expired" else "sealed"
                self.eventually(page, True, lambda: (rows := page.evaluate(ROWS)).get(stays, 0) > 0 or rows)
                self.assertEqual(page.evaluate(ROWS).get("conversations", 0) > 0, way == "expired")
                lin = self.call("GET", "/users/@lin", token=self.tokens["ada"])["id"]
                locked = [lin if way == "expired" else None]
                self.eventually(page, locked, lambda locked=locked: page.evaluate(LOCKED))
                expect(page.get_by_text(text)).to_have_count(0)
                # Requests that were on their way are refused.
                self.faults[:] = [it for it in self.faults if "unauthenticated" not in it and "session_ended" not in it]

                self.go(page, "/sign-in")
                page.get_by_label("Username").fill("lin")
                page.get_by_label("Password").fill(PASSWORD)
                page.get_by_role("button", name="Sign in").click()
                expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
                self.room(page)
                expect(page.locator(".message.is-mine").filter(has_text=text).locator(".state")).to_have_attribute("title", "Sent")
                self.assertEqual(page.evaluate(ROWS).get("sealed", 0), 0)

    def test_an_unsent_message_is_sealed_while_another_user_is_signed_in(self):
        lin, grace = (self.call("GET", "/users/me", token=self.tokens[name])["id"] for name in ("lin", "grace"))
        page = self.signed_in("lin", anew=True)
        self.room(page)
        text = "Said before grace used the device"
        refuse = lambda route: route.abort() if route.request.method == "POST" else route.fallback()
        page.route("**/messages", refuse)
        self.write(page, text)
        unsent = page.locator(".message").filter(has_text=text)
        expect(unsent).to_be_visible()
        self.eventually(page, True, lambda: {"conversations", "outbox"} <= page.evaluate(COPIES)[lin].keys())
        # Without signing out: the cookie of the browser is another user's.
        self.sign_in(page.context, "grace", anew=True)
        page.reload()
        self.settle(page)
        self.eventually(page, {"sealed": 1}, lambda: page.evaluate(COPIES).get(lin))
        page.unroute_all()
        self.room(page)
        expect(self.write(page, "Said by grace").locator(".state")).to_have_attribute("title", "Sent")
        expect(unsent).to_have_count(0)
        self.assertEqual(page.evaluate(COPIES)[lin], {"sealed": 1})
        self.assertEqual(self.authors(text), [])

        self.sign_in(page.context, "lin", anew=True)
        page.reload()
        self.settle(page)
        self.room(page)
        expect(unsent.locator(".state")).to_have_attribute("title", "Sent")
        self.assertEqual(self.authors(text), [lin])
        self.eventually(page, [lin], lambda: list(page.evaluate(COPIES)))
        self.assertNotIn("sealed", page.evaluate(COPIES)[lin])
        # Requests that were on their way are refused.
        self.faults[:] = [it for it in self.faults if "unauthenticated" not in it and "session_ended" not in it]

    def authors(self, text):
        """The authors of the messages with this text."""
        page = self.call("GET", f"/conversations/{self.garden['room_id']}/messages", token=self.tokens["ada"])
        return [it["author_id"] for it in page["data"] if it.get("text") == text]


class Talking(Village):
    def test_two_browsers_talk(self):
        for size in ("desktop", "phone"):
            with self.subTest(size=size):
                ada, grace = self.signed_in("ada", size), self.signed_in("grace", size)
                self.room(ada)
                self.room(grace)
                sent = self.write(ada, f"Hello from a {size}")
                expect(sent).to_be_visible()
                expect(sent.locator(".state")).to_have_attribute("title", "Sent")
                expect(grace.get_by_text(f"Hello from a {size}")).to_be_visible()
                self.write(grace, f"And hello back to the {size}")
                expect(ada.get_by_text(f"And hello back to the {size}")).to_be_visible()

    def test_reply_edit_react_and_delete(self):
        self.say("Who has the key?")
        page = self.signed_in("ada")
        self.room(page)
        theirs = page.locator(".message").filter(has_text="Who has the key?").last
        theirs.hover()
        theirs.get_by_role("button", name="Reply").click()
        expect(page.get_by_text("Replying to Grace")).to_be_visible()
        self.write(page, "I have it")
        mine = page.locator(".message.is-mine").filter(has_text="I have it").last
        expect(mine.locator(".quote")).to_contain_text("Who has the key?")
        expect(mine.locator(".state")).to_have_attribute("title", "Sent")

        field = page.get_by_role("textbox", name="Write a message")
        field.press("ArrowUp")
        expect(field).to_have_value("I have it")
        field.fill("I had it")
        field.press("Enter")
        mine = page.locator(".message.is-mine").filter(has_text="I had it").last
        expect(mine).to_contain_text("edited")

        theirs.hover()
        theirs.get_by_role("button", name="React", exact=True).click()
        page.get_by_role("dialog").get_by_text("🎉").first.click()
        expect(theirs.get_by_role("button", name="🎉, 1 person")).to_have_attribute("aria-pressed", "true")

        mine.hover()
        mine.get_by_role("button", name="More").click()
        page.get_by_role("menuitem", name="Delete message").click()
        expect(page.get_by_text("Deleted by its author").last).to_be_visible()

    def test_the_text_of_a_refused_edit_can_be_copied(self):
        page = self.signed_in("grace")
        self.room(page)
        sent = self.write(page, "Meet at the old gate")
        expect(sent.locator(".state")).to_have_attribute("title", "Sent")
        message = self.call("GET", f"/conversations/{self.garden['room_id']}/messages?limit=1", token=self.tokens["grace"])["data"][0]

        def removed_before(route):
            self.call("POST", f"/messages/{message['id']}/remove", {}, self.tokens["ada"])
            route.continue_()

        page.route(f"**/api/v1/messages/{message['id']}", removed_before)
        field = page.get_by_role("textbox", name="Write a message")
        field.press("ArrowUp")
        field.fill("Meet at the new gate")
        field.press("Enter")
        page.locator(".toast").get_by_role("button", name="Copy").click()
        self.assertEqual(page.evaluate("navigator.clipboard.readText()"), "Meet at the new gate")

    def test_a_deletion_is_undone_in_all_tabs_or_sent_after_a_while(self):
        said = self.say("I take that back", "ada")
        deleted = lambda: self.call("GET", f"/messages/{said['id']}", token=self.tokens["grace"])["deleted"]
        page = self.signed_in("ada")
        self.room(page)
        other = self.page(page.context)
        self.open(other, f"/f/{self.garden['id']}-garden/room")
        requests = []
        page.context.on("request", lambda it: requests.append(it.method) if it.method == "DELETE" else None)

        def delete():
            mine = page.locator(f".message[data-id='{said['id']}']")
            mine.hover()
            mine.get_by_role("button", name="More").click()
            page.get_by_role("menuitem", name="Delete message").click()
            expect(page.locator(".toast")).to_contain_text("Message deleted.")
            for tab in (page, other):
                expect(tab.locator(f"[data-id='{said['id']}']")).to_have_text(re.compile("Deleted by its author"))

        delete()
        page.locator(".toast").get_by_role("button", name="Undo").click()
        for tab in (page, other):
            expect(tab.locator(f"[data-id='{said['id']}']")).to_contain_text("I take that back")
        self.assertFalse(deleted())
        delete()
        self.assertEqual((requests, deleted()), ([], False))
        # The notice leaves with the page of another conversation, too.
        self.go(page, "/forums")
        expect(page.locator(".toast")).to_have_count(0)
        self.eventually(page, True, deleted)
        expect(other.locator(f"[data-id='{said['id']}']")).to_have_text(re.compile("Deleted by its author"))
        page.context.close()

    def test_a_deletion_is_sent_when_its_page_is_left(self):
        for way in ("reload", "close", "sign out"):
            with self.subTest(way=way):
                said = self.say(f"Gone after a {way}", "ada")
                page = self.signed_in("ada", anew=True)
                self.room(page)
                mine = page.locator(f".message[data-id='{said['id']}']")
                mine.hover()
                mine.get_by_role("button", name="More").click()
                page.get_by_role("menuitem", name="Delete message").click()
                expect(page.locator(".toast")).to_contain_text("Message deleted.")
                look = self.page(self.context())
                if way == "reload":
                    page.reload()
                    self.settle(page)
                    expect(page.locator(f"[data-id='{said['id']}']")).to_have_text(re.compile("Deleted by its author"))
                elif way == "close":
                    page.close()
                else:
                    self.go(page, "/you")
                    page.get_by_role("button", name="Sign out").click()
                    expect(page.get_by_role("link", name="Sign in").first).to_be_visible()
                began = time.monotonic()
                self.eventually(look, True, lambda said=said: self.call("GET", f"/messages/{said['id']}", token=self.tokens["grace"])["deleted"])
                self.assertLess(time.monotonic() - began, 6)

    def test_a_topic_is_started_read_and_answered(self):
        page = self.signed_in("grace")
        self.go(page, f"/f/{self.garden['id']}/topics")
        page.get_by_role("button", name="New topic").first.click()
        page.get_by_label("Title").fill("Which tomatoes?")
        text = page.get_by_role("textbox", name="Write your post")
        text.fill("I have **two** metres.")
        text.press("Control+Enter")
        expect(page.get_by_role("heading", name="Which tomatoes?").first).to_be_visible()
        expect(page.locator(".post strong")).to_have_text("two")
        answer = page.get_by_role("textbox", name="Write a reply")
        answer.fill("Small ones.")
        answer.press("Enter")
        expect(answer).to_have_value("Small ones.\n")
        answer.press("Control+Enter")
        expect(page.locator(".post")).to_have_count(2)

    def test_a_message_is_turned_into_a_topic(self):
        said = self.say("Slugs are back, what now?")
        self.say("Beer traps", "lin", reply_to=said["id"])
        page = self.signed_in("grace")
        self.room(page)
        message = page.locator(".message").filter(has_text="Slugs are back").first
        message.hover()
        message.get_by_role("button", name="More").click()
        page.get_by_role("menuitem", name="Turn into a topic").click()
        page.get_by_role("dialog").get_by_label("Title").fill("Slugs")
        page.get_by_role("dialog").get_by_role("button", name="Create topic").click()
        expect(page.get_by_role("heading", name="Slugs").first).to_be_visible()
        expect(page.locator(".post")).to_have_count(2)
        self.go(page, f"/m/{said['id']}")
        expect(page.locator(".post").filter(has_text="Slugs are back").first).to_be_visible()

    def test_users_are_found_and_get_direct_messages(self):
        page = self.signed_in("lin", "phone")
        self.go(page, "/messages/new")
        page.get_by_label("Find people").fill("gra")
        page.get_by_role("button", name=re.compile("Grace")).click()
        page.get_by_role("button", name="Start conversation").click()
        self.write(page, "Lunch at one?")
        grace = self.signed_in("grace")
        expect(grace.get_by_text("Lunch at one?").first).to_be_visible()

    def test_a_new_direct_message_is_shown_as_read_when_it_is_answered(self):
        page = self.signed_in("lin", anew=True)
        self.go(page, "/messages/new")
        page.get_by_label("Find people").fill("ada")
        page.get_by_role("button", name=re.compile("Ada")).click()
        page.get_by_role("button", name="Start conversation").click()
        bubble = self.write(page, "Lunch at two?")
        expect(bubble.locator(".state")).to_have_attribute("title", "Sent")
        direct = re.search(r"/c/(\d+)", page.url)[1]
        ada = self.signed_in("ada", anew=True)
        self.go(ada, f"/c/{direct}")
        ada.get_by_role("button", name="Accept").click()
        self.write(ada, "Fine with me")
        expect(page.locator(".message .bubble").filter(has_text="Fine with me")).to_be_visible()
        expect(bubble.locator(".state")).to_have_attribute("title", "Read by everyone")

    def test_a_draft_is_kept(self):
        page = self.signed_in("ada")
        self.room(page)
        page.get_by_role("textbox", name="Write a message").fill("Half a thought")
        self.go(page, "/forums")
        self.room(page)
        expect(page.get_by_role("textbox", name="Write a message")).to_have_value("Half a thought")
        page.get_by_role("textbox", name="Write a message").fill("")

    def test_a_draft_keeps_its_files(self):
        page = self.signed_in("ada")
        self.room(page)
        page.locator("input[type=file]").set_input_files([
            {"name": "plan.txt", "mimeType": "text/plain", "buffer": b"two beds"}, {"name": "list.txt", "mimeType": "text/plain", "buffer": b"seeds"}])
        files = page.locator(".composer-files")
        expect(files).to_contain_text("list.txt")
        self.go(page, "/forums")
        self.room(page)
        expect(files).to_contain_text("plan.txt")
        files.get_by_role("button").last.click()
        expect(files).not_to_contain_text("list.txt")
        self.eventually(page, 1, lambda: page.evaluate(ROWS)["files"])
        page.reload()
        self.settle(page)
        expect(files).to_contain_text("plan.txt")
        expect(files).not_to_contain_text("list.txt")
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".message.is-mine .attachment")).to_contain_text("plan.txt")
        expect(page.locator(".message.is-mine .state").last).to_have_attribute("title", "Sent")
        self.eventually(page, 0, lambda: page.evaluate(ROWS)["files"])
        page.reload()
        self.settle(page)
        expect(page.get_by_role("textbox", name="Write a message")).to_be_visible()
        expect(files).not_to_contain_text("plan.txt")

    def test_names_and_emoji_are_completed(self):
        for text in ("Plant #tomatoes", "Water the #tomatoes", "A #tool is missing"):
            self.say(text)
        page = self.signed_in("ada")
        self.room(page)
        field = page.get_by_role("textbox", name="Write a message")
        field.press_sequentially("Hi @gra")
        expect(page.get_by_role("option")).to_have_count(1)
        expect(page.get_by_role("option")).to_contain_text("Grace")
        field.press("Enter")
        expect(field).to_have_value("Hi @grace ")
        field.press_sequentially(":tad")
        expect(page.get_by_role("option", name=re.compile("tada"))).to_be_visible()
        field.press("Tab")
        expect(field).to_have_value("Hi @grace 🎉 ")
        # Hashtags in use on the site, the most frequent first.
        expect(page.get_by_text("A #tool is missing").last).to_be_visible()
        field.press_sequentially("#to")
        expect(page.get_by_role("option")).to_have_text(["#tomatoes", "#tool"])
        # The word is not replaced before an option is chosen.
        expect(page.get_by_role("option", selected=True)).to_have_count(0)
        field.press("ArrowUp")
        expect(page.get_by_role("option", selected=True)).to_have_text("#tool")
        field.press("ArrowDown")
        field.press("Enter")
        expect(field).to_have_value("Hi @grace 🎉 #tomatoes ")
        field.press_sequentially("#too")
        expect(page.get_by_role("option")).to_have_text(["#tool"])
        field.press("Tab")
        expect(field).to_have_value("Hi @grace 🎉 #tomatoes #tool ")
        field.press_sequentially("#to")
        expect(page.get_by_role("option")).to_have_text(["#tomatoes", "#tool"])
        field.press("Enter")
        expect(field).to_have_value("")
        expect(page.get_by_role("option")).to_have_count(0)
        expect(page.locator(".message.is-mine").filter(has_text="#tool #to")).to_be_visible()

    def test_the_header_shows_the_connection_state(self):
        for width in (390, 820, 1440):
            page = self.signed_in("ada", "phone" if width == 390 else "desktop")
            page.set_viewport_size({"width": width, "height": 844})
            self.assert_connection_shown(page, width)

    def assert_connection_shown(self, page, width):
        for address in ("/forums", f"/f/{self.garden['id']}/room"):
            self.go(page, address)
            sign = page.locator(".page-bar .sign")
            box = self.box(sign)
            self.assertGreater(box["x"] + box["width"], width - 40)
            self.assertLess(box["y"], 60)
            expect(sign).to_have_attribute("title", "Connected")
            page.context.set_offline(True)
            expect(sign).to_have_attribute("title", "Offline")
            page.context.set_offline(False)
            expect(sign).to_have_attribute("title", "Connected")

    def test_search_is_on_every_phone_page(self):
        page = self.signed_in("ada", "phone")
        cellar = self.call("POST", "/forums", {"title": "Cellar", "visibility": "members"}, self.tokens["ada"])
        self.call("PATCH", f"/forums/{cellar['id']}", {"call_url": "https://meet.example.org/cellar"}, self.tokens["ada"])
        forum = f"/f/{cellar['id']}"
        topic = self.call("POST", f"/forums/{cellar['id']}/conversations", {"title": "A topic with a long title", "text": "Wine"}, self.tokens["ada"])
        direct = self.call("POST", "/conversations", {"kind": "direct", "participants": ["@lin"], "distinct": True}, self.tokens["ada"])
        for address in ("/", "/forums", "/messages", "/you", "/you/profile", f"{forum}/topics", f"{forum}/room", f"{forum}/about", f"/t/{topic['id']}", f"/c/{direct['id']}"):
            self.go(page, address)
            with self.subTest(address):
                bar = page.locator(".page-bar")
                expect(bar.get_by_role("link", name="Search")).to_be_visible()
                self.assert_fits(page, address)
                # The title keeps a place beside the buttons.
                self.assertGreater(self.box(bar.locator(".page-bar-words"))["width"], 60)
        # The search may be narrowed to the conversation or forum of the page.
        page.locator(".page-bar").get_by_role("link", name="Search").click()
        expect(page.get_by_role("button", name="in Lin")).to_have_attribute("aria-pressed", "true")
        self.go(page, f"{forum}/topics")
        page.locator(".page-bar").get_by_role("link", name="Search").click()
        expect(page.get_by_role("button", name="in Cellar")).to_have_attribute("aria-pressed", "false")
        expect(page.locator(".page-bar").get_by_role("link", name="Search")).to_have_count(0)

    def test_an_outdated_app_explains_why_it_cannot_write(self):
        context = self.context()
        self.sign_in(context, "ada")
        page = self.page(context)
        page.route("**/api/v1/server", lambda route: route.fulfill(json={**route.fetch().json(), "min_client": "99.0.0"}))
        self.open(page, f"/f/{self.garden['id']}/room")
        expect(page.get_by_text("This version of the app is too old for the server.")).to_be_visible()
        expect(page.get_by_role("textbox", name="Write a message")).to_have_count(0)

    def test_a_message_written_offline_is_sent_later(self):
        page = self.signed_in("ada")
        self.room(page)
        page.context.set_offline(True)
        sent = self.write(page, "Written on the train")
        expect(sent.locator(".state")).to_have_attribute("title", "Sending when online")
        page.context.set_offline(False)
        expect(sent.locator(".state")).to_have_attribute("title", "Sent")
        page_ = self.call("GET", f"/conversations/{self.garden['room_id']}/messages?limit=50", token=self.tokens["ada"])
        self.assertEqual(sum(it.get("text") == "Written on the train" for it in page_["data"]), 1)


    def test_a_sign_in_shows_no_line_of_missed_messages(self):
        context = self.context()
        self.sign_in(context, "ada")
        page = self.page(context)
        page.add_init_script("""
            new MutationObserver(() => { window.hasBackLine ||= !!document.querySelector(".back-line"); })
                .observe(document, { childList: true, subtree: true });
        """)
        self.open(page)
        self.room(page)
        sent = self.write(page, "I was here all the time")
        expect(sent.locator(".state")).to_have_attribute("title", "Sent")
        self.assertFalse(page.evaluate("!!window.hasBackLine"))


class LongRoom(Village):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        self = cls("nothing")
        for number in range(1, 301):
            self.say(f"Line {number}", ("grace", "lin")[number // 3 % 2])

    def top(self, page):
        return page.evaluate("""() => {
            const stream = document.querySelector(".stream");
            const top = stream.getBoundingClientRect().top;
            for (const it of stream.querySelectorAll("[data-id]")) {
                const box = it.getBoundingClientRect();
                if (box.bottom > top) return [it.querySelector(".bubble")?.firstChild.textContent, Math.round(box.top - top)];
            }
        }""")

    def test_older_messages_load_without_a_jump_and_the_page_stays_small(self):
        page = self.signed_in("ada")
        self.room(page)
        deadline = time.monotonic() + 60
        while not page.get_by_text("Line 1", exact=True).count() and time.monotonic() < deadline:
            # Another position each time, or the browser would fire no scroll event.
            page.locator(".stream").evaluate("it => { it.scrollTop = it.scrollTop === 500 ? 499 : 500; }")
            before = self.top(page)
            self.frames(page)
            page.wait_for_selector(".feed[aria-busy=false]")
            after = self.top(page)
            self.assertEqual(before[0], after[0], "the visible message has changed")
            self.assertLessEqual(abs(before[1] - after[1]), 1)
        self.assertLess(page.evaluate("document.querySelectorAll('*').length"), 3_000)
        expect(page.get_by_text("Line 1", exact=True)).to_be_attached()

    def test_it_opens_at_the_first_unread(self):
        lin = self.signed_in("lin")
        self.call("PUT", f"/conversations/{self.garden['room_id']}/read", {"message_id": self.say("The last that lin has read", "lin")["id"]}, self.tokens["lin"])
        for number in range(10):
            self.say(f"Unread {number}")
        self.open(lin)
        self.room(lin)
        expect(lin.locator(".new-line")).to_be_visible()
        expect(lin.get_by_text("Unread 0")).to_be_in_viewport()

    def test_new_messages_do_not_scroll_while_reading_above(self):
        page = self.signed_in("ada")
        self.room(page)
        newest = self.call("GET", f"/conversations/{self.garden['room_id']}/messages?limit=1", token=self.tokens["ada"])["data"][0]
        last = page.locator(f".stream [data-id='{newest['id']}']")
        deadline = time.monotonic() + 60
        while not last.count() and time.monotonic() < deadline:
            page.locator(".stream").evaluate("it => { it.scrollTop -= 1; it.scrollTop = it.scrollHeight; }")
            self.frames(page)
            page.wait_for_selector(".feed[aria-busy=false]")
        page.evaluate("document.querySelector('.stream').scrollTop = document.querySelector('.stream').scrollHeight")
        self.frames(page)
        page.evaluate("document.querySelector('.stream').scrollTop -= 900")
        # A new message arrived: the button to the newest appears.
        expect(page.locator(".pill")).to_contain_text("Jump to latest")
        before = self.top(page)
        self.say("News while reading above")
        expect(page.locator(".pill")).to_contain_text("new")
        self.assertEqual(self.top(page), before)
        page.locator(".pill").click()
        expect(page.get_by_text("News while reading above")).to_be_in_viewport()

    def test_a_link_opens_its_message_in_context(self):
        page = self.signed_in("ada")
        first = self.call("GET", f"/conversations/{self.garden['room_id']}/messages?order=asc&limit=100", token=self.tokens["ada"])["data"]
        wanted = next(it for it in first if it["text"] == "Line 40")
        # From another page and from the room itself: the linked view loads more messages.
        for start in (lambda: None, lambda: self.room(page)):
            start()
            self.go(page, f"/m/{wanted['id']}")
            expect(page.get_by_text("Line 40", exact=True)).to_be_in_viewport()
            expect(page.locator("article:focus")).to_contain_text("Line 40")
            stream = page.locator(".stream")
            self.eventually(page, 1, lambda: stream.evaluate("it => { it.scrollTop = it.scrollTop ? 0 : 1; }") or page.get_by_text("Line 1", exact=True).count())
        self.room(page)
        said = self.say("Is anybody here?")
        self.go(page, f"/m/{said['id']}")
        self.say("Yes, I am")
        expect(page.get_by_text("Yes, I am")).to_be_visible()
