"""The order of forums and sections, set by admins for all users."""

from playwright.sync_api import expect
from test_flows import Village


class Arranging(Village):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        self = cls("nothing")
        for title, section in (("Bees", "Outside"), ("Kitchen", "Inside"), ("Books", "Inside")):
            self.call("POST", "/forums", {"title": title, "visibility": "members", "section": section}, cls.tokens["ada"])

    def seen(self, page):
        """The sidebar of another user: sections and forums, from top to bottom."""
        return page.evaluate("""() => {
            const found = [];
            for (const it of document.querySelectorAll(".sidebar-list > *")) {
                if (it.matches(".sidebar-section")) found.push([it.querySelector("h2").textContent]);
                else if (it.querySelector("a[href^='/f/']")) found.at(-1).push(it.querySelector(".one-line").textContent);
            }
            return found.filter((it) => it.length > 1);
        }""")

    def test_moved_forums_and_sections_are_visible_to_all_users(self):
        page, other = self.signed_in("ada"), self.signed_in("lin")
        self.eventually(other, [["Outside", "Garden", "Bees"], ["Inside", "Kitchen", "Books"]], lambda: self.seen(other))
        self.go(page, "/forums")
        page.get_by_role("button", name="Reorder forums").click()
        expect(page.get_by_role("heading", name="Reorder forums")).to_be_visible()
        self.photograph(page, "arrange-desktop")
        self.assert_accessible(page, "order")

        up = page.get_by_role("button", name="Move Books up")
        up.focus()
        up.press("Enter")
        self.eventually(other, [["Outside", "Garden", "Bees"], ["Inside", "Books", "Kitchen"]], lambda: self.seen(other))
        # At the top, "Move up" is disabled: the focus stays with the forum.
        expect(page.get_by_role("button", name="Move Books down")).to_be_focused()
        # Forums that do not move keep their position, and no request is sent for them.
        patches = []
        page.on("request", lambda it: it.method == "PATCH" and patches.append(it.url))
        page.get_by_role("button", name="Move Books down").click()
        self.eventually(other, [["Outside", "Garden", "Bees"], ["Inside", "Kitchen", "Books"]], lambda: self.seen(other))
        self.assertEqual(len(patches), 1)
        page.get_by_role("button", name="Move Books up").click()
        self.eventually(other, [["Outside", "Garden", "Bees"], ["Inside", "Books", "Kitchen"]], lambda: self.seen(other))
        page.get_by_role("button", name="Move Inside up").click()
        self.eventually(other, [["Inside", "Books", "Kitchen"], ["Outside", "Garden", "Bees"]], lambda: self.seen(other))
        page.get_by_role("button", name="Section for Bees").click()
        page.get_by_role("menuitem", name="Inside").click()
        self.eventually(other, [["Inside", "Books", "Kitchen", "Bees"], ["Outside", "Garden"]], lambda: self.seen(other))
        page.get_by_role("button", name="Section for Kitchen").click()
        page.get_by_role("menuitem", name="New section").click()
        page.get_by_role("dialog").get_by_label("Section").fill("Upstairs")
        page.get_by_role("dialog").get_by_role("button", name="Save").click()
        page.get_by_role("button", name="Rename Outside").click()
        page.get_by_role("dialog").get_by_label("Section").fill("Outdoors")
        page.get_by_role("dialog").get_by_role("button", name="Save").click()
        wanted = [["Inside", "Books", "Bees"], ["Outdoors", "Garden"], ["Upstairs", "Kitchen"]]
        self.eventually(other, wanted, lambda: self.seen(other))
        self.eventually(page, wanted, lambda: self.seen(page))
        self.open(page, "/admin/forums")
        self.eventually(page, wanted, lambda: self.seen(page))

    def test_a_failed_move_is_undone_and_the_next_move_works(self):
        page = self.signed_in("ada")
        self.go(page, "/admin/forums")
        first = page.locator(".arrange-forum .one-line").first
        title = first.text_content()
        down = page.get_by_role("button", name=f"Move {title} down", exact=True)
        # The change and the reload both fail.
        page.route("**/api/v1/forums*", lambda route: route.abort())
        page.route("**/api/v1/forums/*", lambda route: route.abort())
        down.click()
        expect(page.locator(".toast")).to_be_visible()
        expect(first).to_have_text(title)
        page.unroute_all()
        down.click()
        expect(first).not_to_have_text(title)
        wanted = page.locator(".arrange-forum .one-line").all_text_contents()
        self.eventually(page, wanted, lambda: [it for _, *forums in self.seen(page) for it in forums])
        # The other tests start with the first order.
        page.get_by_role("button", name=f"Move {title} up", exact=True).click()
        expect(first).to_have_text(title)
        wanted = page.locator(".arrange-forum .one-line").all_text_contents()
        self.eventually(page, wanted, lambda: [it for _, *forums in self.seen(page) for it in forums])

    def test_it_fits_a_phone_and_is_hidden_from_members(self):
        page = self.signed_in("ada", "phone")
        self.go(page, "/admin/forums")
        expect(page.get_by_role("button", name="Move Garden up")).to_be_visible()
        self.photograph(page, "arrange-phone")
        self.assert_accessible(page, "order, on a phone")
        self.assert_fits(page, "order")
        other = self.signed_in("lin")
        self.go(other, "/forums")
        expect(other.get_by_role("button", name="Reorder forums")).to_have_count(0)
