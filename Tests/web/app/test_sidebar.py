"""The user's arrangement of the sidebar: pinned entries, own sections, folds, moves, the order of forums."""

import re

from playwright.sync_api import expect
from test_flows import Village


class Sidebar(Village):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        self = cls("nothing")
        ada = cls.tokens["ada"]
        cls.forums = {title: self.call("POST", "/forums", {"title": title, "visibility": "members", "section": "Inside"}, ada)
                      for title in ("Kitchen", "Books")}
        users = {it["name"]: it["id"] for it in self.call("GET", "/users", token=ada)["data"]}
        cls.group = self.call("POST", "/conversations", {"kind": "group", "title": "Bonfire", "participants": [users["grace"], users["lin"]]}, ada)

    def setUp(self):
        super().setUp()
        for token in self.tokens.values():
            self.call("PATCH", "/users/me", {"preferences": {}}, token)

    def seen(self, page):
        """Sections with their entries, from top to bottom."""
        return page.evaluate("""() => {
            const found = {};
            let last;
            for (const it of document.querySelectorAll(".sidebar-list > :is(.sidebar-section, .sidebar-row)")) {
                if (it.matches(".sidebar-section")) found[last = it.querySelector("h2").textContent] = [];
                else found[last].push(it.querySelector(".one-line").textContent);
            }
            return found;
        }""")

    def entry(self, page, title):
        return page.locator(".sidebar-row", has_text=title)

    def arrange(self, page, title, *verbs):
        """Opens the menu of an entry with the pointer, and presses an item."""
        self.entry(page, title).hover()
        self.entry(page, title).get_by_role("button", name=f"Arrange {title}").click()
        for verb in verbs:
            page.get_by_role("menuitem", name=verb, exact=True).click()

    def kept(self, name):
        return self.call("GET", "/users/me", token=self.tokens[name])["preferences"].get("sidebar")

    def test_pinned_entries_stand_first_on_all_devices(self):
        page, other = self.signed_in("grace"), self.signed_in("grace")
        self.arrange(page, "Books", "Pin")
        wanted = {"Pinned": ["Books"], "Outside": ["Garden"], "Inside": ["Kitchen"], "Messages": ["Bonfire"]}
        for it in (page, other):
            self.eventually(it, wanted, lambda it=it: self.seen(it))
        self.arrange(page, "Bonfire", "Pin")
        # The row moves with the next frame; its button is where the pointer is.
        self.eventually(page, ["Books", "Bonfire"], lambda: self.seen(page).get("Pinned"))
        self.arrange(page, "Bonfire", "Move up")
        self.eventually(other, ["Bonfire", "Books"], lambda: self.seen(other).get("Pinned"))
        page.reload()
        self.settle(page)
        self.eventually(page, ["Bonfire", "Books"], lambda: self.seen(page).get("Pinned"))
        self.photograph(page, "sidebar-desktop-light")
        self.assert_accessible(page, "sidebar")
        # The menu key of the keyboard opens the same menu.
        link = self.entry(page, "Books").get_by_role("link")
        link.focus()
        link.dispatch_event("contextmenu")
        self.photograph(page, "sidebar-menu-light")
        page.get_by_role("menuitem", name="Unpin").press("Enter")
        self.eventually(page, ["Bonfire"], lambda: self.seen(page).get("Pinned"))
        expect(self.entry(page, "Books").get_by_role("link")).to_be_focused()

    def test_a_section_shows_unread_entries_only(self):
        page, other = self.signed_in("grace"), self.signed_in("grace")
        self.call("PUT", f"/forums/{self.forums['Books']['id']}/members/me", {}, self.tokens["grace"])
        self.call("PUT", "/unread/read", {"up_to": "9007199254740991"}, self.tokens["grace"])
        self.eventually(page, ["Kitchen", "Books"], lambda: self.seen(page).get("Inside"))
        menu = page.get_by_role("button", name="Arrange Inside")
        menu.click()
        page.get_by_role("menuitem", name="Show unread only").click()
        for it in (page, other):
            self.eventually(it, [], lambda it=it: self.seen(it).get("Inside"))
        self.assertEqual(self.seen(page)["Outside"], ["Garden"])
        self.say("Who has the atlas?", "lin", self.forums["Books"]["room_id"])
        for it in (page, other):
            self.eventually(it, ["Books"], lambda it=it: self.seen(it).get("Inside"))
        # The open forum stays, also after it was read.
        self.entry(page, "Books").get_by_role("link").click()
        self.go(page, f"/f/{self.forums['Books']['id']}/room")
        expect(page.get_by_text("Who has the atlas?").first).to_be_visible()
        self.eventually(other, [], lambda: self.seen(other).get("Inside"))
        self.assertEqual(self.seen(page)["Inside"], ["Books"])
        page.reload()
        self.settle(page)
        self.eventually(page, ["Books"], lambda: self.seen(page).get("Inside"))
        self.photograph(page, "sidebar-unread-only")
        self.assert_accessible(page, "sidebar with unread entries")
        menu.click()
        page.get_by_role("menuitem", name="Show all").click()
        for it in (page, other):
            self.eventually(it, ["Kitchen", "Books"], lambda it=it: self.seen(it).get("Inside"))

    def test_own_sections_are_made_moved_renamed_and_deleted(self):
        page = self.signed_in("lin")
        for title, entry in (("Friends", "Bonfire"), ("Evenings", "Books")):
            self.arrange(page, entry, "Move to a new section…")
            page.get_by_label("Title of the section").fill(title)
            page.get_by_role("dialog").get_by_role("button", name="Save").click()
            self.eventually(page, [entry], lambda title=title: self.seen(page).get(title))
        self.arrange(page, "Books", "Move to Friends")
        self.eventually(page, {"Friends": ["Bonfire", "Books"], "Evenings": [], "Outside": ["Garden"], "Inside": ["Kitchen"], "Messages": []},
                        lambda: self.seen(page))
        page.get_by_role("button", name="Arrange Evenings").click()
        page.get_by_role("menuitem", name="Move up").click()
        self.eventually(page, ["Evenings", "Friends"], lambda: list(self.seen(page))[:2])
        page.get_by_role("button", name="Arrange Friends").click()
        page.get_by_role("menuitem", name="Rename section").click()
        page.get_by_label("Title of the section").fill("People")
        page.get_by_role("dialog").get_by_role("button", name="Save").click()
        self.eventually(page, ["Bonfire", "Books"], lambda: self.seen(page).get("People"))
        page.get_by_role("button", name="Arrange People").click()
        page.get_by_role("menuitem", name="Delete section").click()
        expect(page.get_by_text("Its forums and conversations stay.")).to_be_visible()
        page.get_by_role("dialog").get_by_role("button", name="Delete section").click()
        self.eventually(page, {"Evenings": [], "Outside": ["Garden"], "Inside": ["Kitchen", "Books"], "Messages": ["Bonfire"]}, lambda: self.seen(page))

    def test_a_folded_section_shows_its_sum(self):
        page = self.signed_in("grace")
        fold = page.get_by_role("button", name="Messages", exact=True)
        expect(fold).to_have_attribute("aria-expanded", "true")
        fold.click()
        expect(fold).to_have_attribute("aria-expanded", "false")
        expect(self.entry(page, "Bonfire")).to_have_count(0)
        expect(fold).to_be_focused()
        for text in ("Wood is dry", "At eight"):
            self.say(text, "ada", self.group["id"])
        expect(page.locator(".sidebar-section", has=fold).locator(".badge")).to_have_text(re.compile("^2"))
        self.eventually(page, ["messages"], lambda: (self.kept("grace") or {}).get("folded"))
        # The rail has no room for its title, but for the sum.
        page.set_viewport_size({"width": 820, "height": 900})
        page.locator("main").focus()
        page.mouse.move(600, 500)
        sums = page.locator(".sidebar-section > .badge")
        expect(fold).to_be_hidden()
        expect(sums).to_be_visible()
        self.assertLessEqual(self.box(sums)["x"] + self.box(sums)["width"], 72)
        page.set_viewport_size({"width": 1440, "height": 900})
        fold.click()
        expect(self.entry(page, "Bonfire").locator(".badge")).to_have_text(re.compile("^2"))

    def test_entries_are_dragged_into_the_lists_of_the_user(self):
        page = self.signed_in("ada")
        self.arrange(page, "Garden", "Pin")
        self.eventually(page, ["Garden"], lambda: self.seen(page).get("Pinned"))
        self.entry(page, "Bonfire").drag_to(self.entry(page, "Garden"))
        self.eventually(page, ["Bonfire", "Garden"], lambda: self.seen(page).get("Pinned"))
        self.entry(page, "Books").drag_to(page.locator(".sidebar-section", has_text="Pinned"))
        self.eventually(page, ["Bonfire", "Garden", "Books"], lambda: self.seen(page).get("Pinned"))
        self.eventually(page, 3, lambda: len((self.kept("ada") or {}).get("pinned", [])))

    def test_a_pressed_or_dragged_entry_stays_while_messages_arrive(self):
        page = self.signed_in("grace")
        self.arrange(page, "Garden", "Pin")
        self.eventually(page, ["Garden"], lambda: self.seen(page).get("Pinned"))
        entry = self.entry(page, "Bonfire")
        link = entry.locator("a").element_handle()
        is_connected = lambda: link.evaluate("it => it.isConnected")
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(300)
        # A drawing that was planned before the press.
        page.evaluate("() => { window.drawings = []; window.frame = requestAnimationFrame; window.requestAnimationFrame = it => drawings.push(it); }")
        self.say("Who has matches?", "ada", self.group["id"])
        self.eventually(page, True, lambda: page.evaluate("drawings.length > 0"))
        box = link.bounding_box()
        page.mouse.move(box["x"] + 40, box["y"] + 10)
        page.mouse.down()
        page.evaluate("() => { window.requestAnimationFrame = frame; for (const it of drawings) it(performance.now()); }")
        self.assertTrue(is_connected(), "the pressed link was removed")
        page.mouse.move(box["x"] + 60, box["y"] + 10)
        self.say("And wood?", "ada", self.group["id"])
        expect(page.locator(".inbox-item").filter(has_text="And wood?")).to_be_visible()
        page.wait_for_timeout(300)
        self.assertTrue(is_connected(), "the dragged link was removed")
        box = self.entry(page, "Garden").bounding_box()
        page.mouse.move(box["x"] + 60, box["y"] + 10, steps=3)
        page.mouse.up()
        self.eventually(page, ["Bonfire", "Garden"], lambda: self.seen(page).get("Pinned"))
        unread = self.call("GET", f"/conversations/{self.group['id']}", token=self.tokens["grace"])["unread_count"]
        expect(entry.locator(".badge")).to_have_text(re.compile(f"^{unread}"))

    def test_forums_may_stand_by_their_newest_activity(self):
        for forum in self.forums.values():
            self.call("PUT", f"/forums/{forum['id']}/members/me", {}, self.tokens["lin"])
        page = self.signed_in("lin")
        self.eventually(page, ["Kitchen", "Books"], lambda: self.seen(page).get("Inside"))
        page.get_by_role("button", name="Arrange Inside").click()
        page.get_by_role("menuitemradio", name="Newest activity first").click()
        self.say("A new shelf", "ada", self.forums["Books"]["room_id"])
        self.eventually(page, ["Books", "Kitchen"], lambda: self.seen(page).get("Inside"))
        self.say("Soup", "ada", self.forums["Kitchen"]["room_id"])
        self.eventually(page, ["Kitchen", "Books"], lambda: self.seen(page).get("Inside"))
        self.go(page, "/forums")
        self.say("And a lamp", "ada", self.forums["Books"]["room_id"])
        self.eventually(page, ["Books", "Kitchen"], lambda: [it for it in page.locator(".tile-title").all_inner_texts() if it != "Garden"])

    def test_another_setting_keeps_the_arrangement(self):
        page = self.signed_in("grace")
        self.go(page, "/you/appearance")
        # The account has the arrangement later than the setting is chosen.
        held = []
        page.route("**/api/**", lambda route: held.append(route) if route.request.method == "PATCH" and not held else route.continue_())
        self.arrange(page, "Books", "Pin")
        self.eventually(page, ["Books"], lambda: self.seen(page).get("Pinned"))
        page.get_by_label("Time format").select_option("24")
        self.eventually(page, 1, lambda: len(held))
        held[0].continue_()
        stored = lambda: self.call("GET", "/users/me", token=self.tokens["grace"])["preferences"]
        self.eventually(page, ("24", 1), lambda: (stored().get("clock"), len(stored().get("sidebar", {}).get("pinned", []))))

    def test_a_setting_of_another_device_stays(self):
        page = self.signed_in("grace")
        self.go(page, "/you/appearance")
        kept = lambda: self.call("GET", "/users/me", token=self.tokens["grace"])["preferences"]
        page.get_by_label("Theme").select_option("dark")
        self.eventually(page, "dark", lambda: kept().get("theme"))
        self.call("PATCH", "/users/me", {"preferences": {**kept(), "theme": "light"}}, self.tokens["grace"])
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(300)
        page.get_by_label("Density").select_option("compact")
        self.eventually(page, "compact", lambda: kept().get("density"))
        self.assertEqual(kept()["theme"], "light")

    def test_a_setting_that_is_chosen_just_before_leaving_holds(self):
        page = self.signed_in("grace")
        self.go(page, "/you/appearance")
        # The request of the page ends with it.
        held = []
        page.route("**/api/v1/users/me", lambda route: held.append(route) if route.request.method == "PATCH" else route.continue_())
        page.get_by_label("Theme").select_option("dark")
        self.eventually(page, 1, lambda: len(held))
        page.unroute_all()
        self.open(page)
        kept = lambda: self.call("GET", "/users/me", token=self.tokens["grace"])["preferences"].get("theme")
        self.eventually(page, "dark", kept)
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        self.eventually(page, None, lambda: page.evaluate("localStorage.getItem('unsaved')"))
        # From then on another device may change it.
        self.call("PATCH", "/users/me", {"preferences": {"theme": "light"}}, self.tokens["grace"])
        expect(page.locator("html")).to_have_attribute("data-theme", "light")

    def test_foreign_preferences_do_no_harm(self):
        self.call("PATCH", "/users/me", {"preferences": {"sidebar": {
            "pinned": "x", "sections": [None, {"title": 3, "items": []}, {"title": "Odd", "items": ["f0", "c0", "zz"]}], "folded": {}}}}, self.tokens["grace"])
        page = self.signed_in("grace")
        self.eventually(page, {"Odd": [], "Outside": ["Garden"], "Inside": ["Kitchen", "Books"], "Messages": ["Bonfire"]}, lambda: self.seen(page))
