"""Tombstones of deleted messages, and the setting that hides them."""

from playwright.sync_api import expect
from test_flows import Village


class WithoutTombstones(Village):
    def test_tombstones_can_be_hidden(self):
        first, gone, last = (self.say(text)["id"] for text in ("Before it", "It", "After it"))
        self.call("DELETE", f"/messages/{gone}", token=self.tokens["grace"])
        page = self.signed_in("ada")
        self.room(page)
        expect(page.get_by_text("Deleted by its author")).to_be_visible()
        self.go(page, "/you/appearance")
        with page.expect_response(lambda it: it.request.method == "PATCH" and it.ok):
            page.get_by_role("switch", name="Show deleted messages").uncheck()
        self.eventually(page, False, lambda: self.call("GET", "/users/me", token=self.tokens["ada"])["preferences"].get("tombstones"))
        self.room(page)
        for id in (first, last):
            expect(page.locator(f".message[data-id='{id}']")).to_be_visible()
        expect(page.get_by_text("Deleted by its author")).to_have_count(0)
