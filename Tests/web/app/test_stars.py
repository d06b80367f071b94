"""The starred messages: with author and forum, page by page."""

from playwright.sync_api import expect
from test_flows import Village


class Stars(Village):
    def test_starred_messages_are_listed_page_by_page(self):
        page = self.signed_in("ada")
        self.go(page, "/you/stars")
        expect(page.get_by_text("No starred messages.")).to_be_visible()
        for number in range(3):
            said = self.say(f"Recipe {number}")
            self.call("PUT", f"/messages/{said['id']}/actions/star", {}, self.tokens["ada"])
        page.route("**/api/v1/me/actions?*", lambda route: route.continue_(url=route.request.url + "&limit=2"))
        self.go(page, "/you")
        self.go(page, "/you/stars")
        rows = page.locator(".hit")
        expect(rows).to_have_count(2)
        expect(rows.first).to_contain_text("Grace · Garden · ")
        expect(rows.first).to_contain_text("Recipe 2")
        page.get_by_role("button", name="Show more").click()
        expect(rows).to_have_count(3)
        self.assert_accessible(page, "starred messages")
        rows.last.click()
        expect(page.get_by_role("textbox", name="Write a message")).to_be_visible()
