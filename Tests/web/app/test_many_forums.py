"""A place with more forums than anybody looks at: they come as one goes down, and the page stays small."""

from playwright.sync_api import expect
from test_flows import Village

COUNT = 230


class ManyForums(Village):
    def test_they_are_drawn_as_one_comes_to_them(self):
        for number in range(COUNT):
            self.call("POST", "/forums", {"title": f"Bed {number:03}", "visibility": "members", "position": number + 1}, self.tokens["ada"])
        page = self.signed_in("lin")
        self.go(page, "/forums")
        tiles = page.locator(".tile")
        expect(tiles).to_have_count(100)
        body = page.locator(".page-body")
        # Not before fewer than fifty lie ahead.
        body.evaluate("it => { it.scrollTop = 10; }")
        self.frames(page)
        expect(tiles).to_have_count(100)
        tiles.nth(70).scroll_into_view_if_needed()
        expect(tiles).to_have_count(200)
        tiles.nth(180).scroll_into_view_if_needed()
        # With the one that everybody begins with.
        expect(tiles).to_have_count(COUNT + 1)
        self.assertLess(page.evaluate("document.querySelector('main').querySelectorAll('*').length"), 3_000)
        # A window that is high enough has more at once, without a scroll.
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
        # As many as before, at the same place.
        expect(tiles).to_have_count(COUNT + 1)
        expect(tiles.nth(200)).to_be_in_viewport()
