"""Presence of other users, and the setting that hides it."""

import re

from playwright.sync_api import expect
from test_flows import Village


class Presence(Village):
    def direct(self):
        return self.call("POST", "/conversations", {"kind": "direct", "participants": ["@ada"], "distinct": True}, self.tokens["grace"])

    def test_a_direct_conversation_shows_the_presence_of_the_other_user(self):
        direct = self.direct()
        self.say("Lunch at one?", "grace", direct["id"])
        pages = {size: self.signed_in("ada", size) for size in ("phone", "desktop")}
        for page in pages.values():
            self.go(page, f"/c/{direct['id']}")
            expect(page.locator(".page-bar-second")).to_have_text("@grace")
        grace = self.page(self.context())
        # The one-minute away timer fires at once.
        grace.add_init_script("const wait = setTimeout; setTimeout = (work, time, ...more) => wait(work, time === 60_000 ? 1 : time, ...more);")
        self.sign_in(grace.context, "grace")
        self.open(grace)
        for size, page in pages.items():
            expect(page.locator(".page-bar-second")).to_have_text("@grace · online")
            self.photograph(page, f"presence-{size}")
            self.assert_accessible(page, "presence in a direct conversation")
        self.turn(grace, "hidden")
        for page in pages.values():
            expect(page.locator(".page-bar-second")).to_have_text("@grace · away")
        self.turn(grace, "visible")
        for page in pages.values():
            expect(page.locator(".page-bar-second")).to_have_text("@grace · online")
        grace.context.close()
        for page in pages.values():
            # With the weekday if midnight has passed since.
            expect(page.locator(".page-bar-second")).to_have_text(re.compile(r"^@grace · last seen (\w+ )?\d\d:\d\d$"))
            # Offline, presence is unknown.
            page.context.set_offline(True)
            expect(page.get_by_text("You're offline. You can still read and write.")).to_be_visible()
            expect(page.locator(".page-bar-second")).to_have_text("@grace")

    def test_a_room_shows_its_number_of_users_online(self):
        shed = self.call("POST", "/forums", {"title": "Shed", "visibility": "members", "description": "Tools"}, self.tokens["ada"])
        for name in ("grace", "lin"):
            self.call("PUT", f"/forums/{shed['id']}/members/@{name}", {}, self.tokens["ada"])
        pages = {size: self.signed_in("ada", size) for size in ("phone", "desktop")}
        for page in pages.values():
            self.go(page, f"/f/{shed['id']}/room")
            expect(page.locator(".page-bar-second")).to_have_text("3 people")
        grace = self.signed_in("grace")
        for size, page in pages.items():
            expect(page.locator(".page-bar-second")).to_have_text("3 people · 2 online")
            self.photograph(page, f"presence-room-{size}")
        grace.context.close()
        for page in pages.values():
            expect(page.locator(".page-bar-second")).to_have_text("3 people")
            page.get_by_role("link", name="Topics").click()
            expect(page.locator(".page-bar-second")).to_have_text("Tools")

    def test_a_room_counts_a_member_that_joins_by_writing(self):
        barn = self.call("POST", "/forums", {"title": "Barn", "visibility": "members"}, self.tokens["ada"])
        pages = {name: self.signed_in(name) for name in ("ada", "lin")}
        for page in pages.values():
            self.go(page, f"/f/{barn['id']}/room")
            expect(page.locator(".page-bar-second")).to_have_text("1 person")
        field = pages["lin"].get_by_placeholder("Write to join Barn")
        field.fill("Who has hay?")
        field.press("Enter")
        for page in pages.values():
            expect(page.locator(".page-bar-second")).to_have_text("2 people · 2 online")

    def test_typing_is_shown_until_the_message_arrives(self):
        pages = {name: self.signed_in(name) for name in ("ada", "grace")}
        for page in pages.values():
            self.room(page)
            expect(page.locator(".page-bar .sign-online")).to_be_visible()
        typing = pages["ada"].locator(".typing-slot")
        field = pages["grace"].get_by_role("textbox", name="Write a message")
        field.press_sequentially("The gate")
        expect(typing).to_have_text("Grace is typing")
        expect(pages["grace"].locator(".typing-slot")).to_have_text("")
        field.press("Enter")
        expect(pages["ada"].locator(".bubble").filter(has_text="The gate")).to_be_visible()
        expect(typing).to_have_text("")

    def turn(self, page, state):
        page.evaluate("""state => {
            Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
            document.dispatchEvent(new Event("visibilitychange"));
        }""", state)

    def test_it_is_shown_in_user_lists_and_on_user_pages(self):
        group = self.call("POST", "/conversations", {"kind": "group", "title": "Shed", "participants": ["@grace", "@lin"]}, self.tokens["ada"])
        direct = self.direct()
        page, grace = self.signed_in("ada"), self.signed_in("grace")
        # In the sidebar, also for screen readers.
        expect(page.locator(".sidebar").get_by_role("link", name="Grace online")).to_be_visible()
        self.go(page, f"/c/{group['id']}")
        expect(page.locator(".page-bar-second")).to_have_text("3 people · 2 online")
        page.get_by_role("button", name="Details").click()
        panel = page.locator(".panel")
        expect(panel.get_by_role("link").filter(has_text="Grace")).to_contain_text("@grace · online")
        expect(panel.get_by_role("link").filter(has_text="@lin")).not_to_contain_text("online")
        self.photograph(page, "presence-people")
        self.assert_accessible(page, "users and their presence")
        self.go(page, "/messages")
        expect(page.get_by_role("main").get_by_role("link", name=re.compile("Grace online"))).to_be_visible()
        self.go(page, "/u/grace")
        expect(page.locator(".user")).to_contain_text("@grace · online")
        # With presence hidden, the user is shown as online to no other user.
        self.go(grace, "/you/privacy")
        shown = grace.get_by_role("switch", name="Show when I'm online")
        expect(shown).to_be_checked()
        shown.click()
        expect(page.locator(".user")).not_to_contain_text("online")
        expect(page.locator(".presence")).to_have_count(0)
        fresh = self.signed_in("lin")
        self.go(fresh, "/u/ada")
        expect(fresh.locator(".user")).to_contain_text("@ada · Owner · online")
        self.go(fresh, "/u/grace")
        expect(fresh.locator(".user")).to_contain_text("@grace")
        expect(fresh.locator(".user")).not_to_contain_text("online")
        # The time of the last visit is hidden too, in the page and by the server.
        grace.context.close()
        expect(page.locator(".user")).not_to_contain_text("last seen")
        grace = self.signed_in("grace")
        lin = self.call("GET", "/users/@grace", token=self.tokens["lin"])
        self.assertIsNone(lin.get("last_seen_at"))
        self.go(grace, "/you/privacy")
        shown = grace.get_by_role("switch", name="Show when I'm online")
        expect(shown).not_to_be_checked()
        expect(fresh.locator(".user")).not_to_contain_text("last seen")
        shown.click()
        expect(page.locator(".user")).to_contain_text("@grace · online")
        expect(fresh.locator(".user")).to_contain_text("@grace · online")
        self.go(page, f"/c/{direct['id']}")
        expect(page.locator(".page-bar-second")).to_have_text("@grace · online")

    def test_a_second_tab_shows_presence_and_keeps_the_user_online(self):
        page = self.signed_in("ada")
        first = self.signed_in("grace")
        other = self.page(first.context)
        self.open(other, "/u/ada")
        expect(other.locator(".user")).to_contain_text("online")
        self.go(page, "/u/grace")
        expect(page.locator(".user")).to_contain_text("@grace · online")
        # The leader tab closes; the other takes over, gets presence events, and keeps grace online meanwhile.
        lin = self.signed_in("lin")
        self.go(lin, "/u/grace")
        expect(lin.locator(".user")).to_contain_text("@grace · online")
        first.close()
        self.call("PATCH", "/settings", {"name": "The Orchard"}, self.tokens["ada"])
        expect(other.locator(".sidebar-head")).to_contain_text("The Orchard")
        # Its own connection has listed who is online: of a user who left before, it would know nothing.
        expect(other.locator(".user")).to_contain_text("online")
        page.context.close()
        expect(other.locator(".user")).to_contain_text("last seen")
        expect(lin.locator(".user")).to_contain_text("@grace · online")
