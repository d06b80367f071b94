"""A site with many forums: they load while scrolling, and the page stays small."""

import re

from playwright.sync_api import expect
from test_flows import Village

COUNT = 230


class ManyForums(Village):
    def test_forums_are_rendered_while_scrolling(self):
        for number in range(COUNT):
            made = self.call("POST", "/forums", {"title": f"Bed {number:03}", "visibility": "members", "position": number + 1}, self.tokens["ada"])
            if number == 3:
                joined = made
                self.call("PUT", f"/forums/{made['id']}/members/me", {}, self.tokens["lin"])
                self.say("What is new", "ada", made["room_id"])
        page = self.signed_in("lin")
        self.check_sidebar(page)
        self.go(page, "/forums")
        tiles = page.locator(".tile")
        expect(tiles).to_have_count(100)
        body = page.locator(".page-body")
        # Not before fewer than fifty are below.
        body.evaluate("it => { it.scrollTop = 10; }")
        self.frames(page)
        expect(tiles).to_have_count(100)
        # A changed forum replaces its own tile alone: a press on another one is not lost.
        other = tiles.nth(20).element_handle()
        self.call("PATCH", f"/forums/{joined['id']}", {"title": "Herbs"}, self.tokens["ada"])
        expect(tiles.filter(has_text="Herbs")).to_be_visible()
        self.assertTrue(other.evaluate("it => it.isConnected"))
        self.call("PATCH", f"/forums/{joined['id']}", {"title": joined["title"]}, self.tokens["ada"])
        tiles.nth(70).scroll_into_view_if_needed()
        expect(tiles).to_have_count(200)
        tiles.nth(180).scroll_into_view_if_needed()
        # Plus the forum that every site starts with.
        expect(tiles).to_have_count(COUNT + 1)
        self.assertLess(page.evaluate("document.querySelector('main').querySelectorAll('*').length"), 3_800)
        # A taller window loads more at once, without scrolling.
        self.go(page, "/")
        page.set_viewport_size({"width": 1280, "height": 5_000})
        self.go(page, "/forums")
        expect(tiles).to_have_count(200)
        page.set_viewport_size({"width": 1280, "height": 800})
        self.go(page, "/")
        self.go(page, "/forums")
        expect(tiles).to_have_count(100)
        page.set_viewport_size({"width": 1280, "height": 5_000})
        expect(tiles).to_have_count(200)
        page.set_viewport_size({"width": 1280, "height": 800})
        tiles.nth(180).scroll_into_view_if_needed()
        expect(tiles).to_have_count(COUNT + 1)
        tiles.nth(200).click()
        expect(page.get_by_role("link", name="Topics")).to_be_visible()
        page.go_back()
        # The list has as many tiles as before, at the same scroll position.
        expect(tiles).to_have_count(COUNT + 1)
        expect(tiles.nth(200)).to_be_in_viewport()

    def check_sidebar(self, page):
        """The sidebar lists relevant forums in the admins' order and a link to all; shortcuts step through them."""
        side = page.locator(".sidebar")
        beds = side.get_by_role("link", name=re.compile(r"^Bed \d"))
        expect(beds.first.locator(".one-line")).to_have_text("Bed 003")
        # Forums with unread messages, and the 49 most recently active.
        expect(beds).to_have_count(50)
        expect(beds.last.locator(".one-line")).to_have_text(f"Bed {COUNT - 1}")
        self.assertLess(page.evaluate("document.querySelectorAll('*').length"), 1_000)
        page.keyboard.press("Control+k")
        expect(page.get_by_role("combobox", name="Command menu")).to_be_focused()
        page.keyboard.type("Bed 100")
        expect(page.get_by_role("option", selected=True)).to_contain_text("Bed 100")
        page.keyboard.press("Enter")
        # The current forum is listed too.
        expect(side.get_by_role("link", name="Bed 100")).to_have_attribute("aria-current", "page")
        expect(beds).to_have_count(50)
        page.keyboard.press("Alt+ArrowUp")
        expect(page.get_by_role("heading", name="Bed 003", level=1)).to_be_visible()
        side.get_by_role("link", name=f"All {COUNT + 1} forums").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Forums", level=1)).to_be_visible()
        self.go(page, "/")
