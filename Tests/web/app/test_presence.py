"""Who is here: shown where people stand beside one another, as long as they want it to be."""

import re

from playwright.sync_api import expect
from test_flows import Village


class Presence(Village):
    def direct(self):
        return self.call("POST", "/conversations", {"kind": "direct", "participants": ["@ada"], "distinct": True}, self.tokens["grace"])

    def test_a_direct_conversation_shows_who_comes_and_who_goes(self):
        direct = self.direct()
        self.say("Lunch at one?", "grace", direct["id"])
        pages = {size: self.signed_in("ada", size) for size in ("phone", "desktop")}
        for page in pages.values():
            self.go(page, f"/c/{direct['id']}")
            expect(page.locator(".page-bar-second")).to_have_text("@grace")
        grace = self.page(self.context())
        # A minute elsewhere is over at once.
        grace.add_init_script("const wait = setTimeout; setTimeout = (work, time, ...more) => wait(work, time === 60_000 ? 1 : time, ...more);")
        self.sign_in(grace.context, "grace")
        self.open(grace)
        for size, page in pages.items():
            expect(page.locator(".page-bar-second")).to_have_text("@grace · online")
            self.photograph(page, f"presence-{size}")
            self.assert_accessible(page, "somebody is here")
        self.turn(grace, "hidden")
        for page in pages.values():
            expect(page.locator(".page-bar-second")).to_have_text("@grace · away")
        self.turn(grace, "visible")
        for page in pages.values():
            expect(page.locator(".page-bar-second")).to_have_text("@grace · online")
        grace.context.close()
        for page in pages.values():
            # With its day, where midnight has passed since.
            expect(page.locator(".page-bar-second")).to_have_text(re.compile(r"^@grace · last here (\w+ )?\d\d:\d\d$"))
            # Without a network one knows nothing of anybody.
            page.context.set_offline(True)
            expect(page.get_by_text("Offline. You can read and write.")).to_be_visible()
            expect(page.locator(".page-bar-second")).to_have_text("@grace")

    def test_the_room_of_a_forum_says_how_many_are_here(self):
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

    def turn(self, page, state):
        page.evaluate("""state => {
            Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
            document.dispatchEvent(new Event("visibilitychange"));
        }""", state)

    def test_it_stands_in_lists_of_people_and_on_their_pages(self):
        group = self.call("POST", "/conversations", {"kind": "group", "title": "Shed", "participants": ["@grace", "@lin"]}, self.tokens["ada"])
        direct = self.direct()
        page, grace = self.signed_in("ada"), self.signed_in("grace")
        # In the list at the side, spoken too.
        expect(page.locator(".sidebar").get_by_role("link", name="Grace online")).to_be_visible()
        self.go(page, f"/c/{group['id']}")
        expect(page.locator(".page-bar-second")).to_have_text("3 people · 2 online")
        page.get_by_role("button", name="Details").click()
        panel = page.locator(".panel")
        expect(panel.get_by_role("link").filter(has_text="Grace")).to_contain_text("@grace · online")
        expect(panel.get_by_role("link").filter(has_text="@lin")).not_to_contain_text("online")
        self.photograph(page, "presence-people")
        self.assert_accessible(page, "people, and who is here")
        self.go(page, "/messages")
        expect(page.get_by_role("main").get_by_role("link", name=re.compile("Grace online"))).to_be_visible()
        self.go(page, "/u/grace")
        expect(page.locator(".person")).to_contain_text("@grace · online")
        # Whoever does not want to be seen is seen by nobody, and no longer than they say so.
        self.go(grace, "/you/privacy")
        shown = grace.get_by_role("switch", name="Show when I am here")
        expect(shown).to_be_checked()
        shown.click()
        expect(page.locator(".person")).not_to_contain_text("online")
        expect(page.locator(".presence")).to_have_count(0)
        fresh = self.signed_in("lin")
        self.go(fresh, "/u/ada")
        expect(fresh.locator(".person")).to_contain_text("@ada · Owner · online")
        self.go(fresh, "/u/grace")
        expect(fresh.locator(".person")).to_contain_text("@grace")
        expect(fresh.locator(".person")).not_to_contain_text("online")
        # Nor is it told when they were here last, on the page or by the server, when they go.
        grace.context.close()
        expect(page.locator(".person")).not_to_contain_text("last here")
        grace = self.signed_in("grace")
        lin = self.call("GET", "/users/@grace", token=self.tokens["lin"])
        self.assertIsNone(lin.get("last_seen_at"))
        self.go(grace, "/you/privacy")
        shown = grace.get_by_role("switch", name="Show when I am here")
        expect(shown).not_to_be_checked()
        expect(fresh.locator(".person")).not_to_contain_text("last here")
        shown.click()
        expect(page.locator(".person")).to_contain_text("@grace · online")
        expect(fresh.locator(".person")).to_contain_text("@grace · online")
        self.go(page, f"/c/{direct['id']}")
        expect(page.locator(".page-bar-second")).to_have_text("@grace · online")

    def test_a_second_tab_knows_it_too_and_keeps_one_here(self):
        page = self.signed_in("ada")
        first = self.signed_in("grace")
        other = self.page(first.context)
        self.open(other, "/u/ada")
        expect(other.locator(".person")).to_contain_text("online")
        self.go(page, "/u/grace")
        expect(page.locator(".person")).to_contain_text("@grace · online")
        # The tab with the connection goes; the other takes over, hears who leaves, and keeps grace here meanwhile.
        lin = self.signed_in("lin")
        self.go(lin, "/u/grace")
        expect(lin.locator(".person")).to_contain_text("@grace · online")
        first.close()
        self.call("PATCH", "/settings", {"name": "The Orchard"}, self.tokens["ada"])
        expect(other.locator(".sidebar-head")).to_contain_text("The Orchard")
        page.context.close()
        expect(other.locator(".person")).to_contain_text("last here")
        expect(lin.locator(".person")).to_contain_text("@grace · online")
