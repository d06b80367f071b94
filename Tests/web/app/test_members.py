"""The list of members: found by name, by group, and opened."""

from playwright.sync_api import expect
from test_flows import Village


class Members(Village):
    def test_members_are_found_by_name_and_by_group(self):
        group = self.call("POST", "/groups", {"name": "pruners", "hue": 140, "self_chosen": True}, self.tokens["ada"])
        self.call("PUT", f"/groups/{group['id']}/members/me", {}, self.tokens["lin"])
        for size in ("desktop", "phone"):
            with self.subTest(size=size):
                page = self.signed_in("grace", size)
                self.go(page, "/messages")
                page.get_by_role("button", name="Members").click()
                rows = page.locator(".user-row")
                for name in ("@ada", "@grace", "@lin"):
                    expect(rows.filter(has_text=name)).to_be_visible()
                expect(rows.filter(has_text="@lin").locator(".group-badge")).to_contain_text("pruners")
                self.photograph(page, f"members-{size}")
                self.assert_accessible(page, f"members on the {size}")
                self.assert_fits(page, "members")
                page.get_by_label("Find members").fill("li")
                expect(rows).to_have_count(1)
                page.get_by_label("Find members").fill("nobody-here")
                expect(page.get_by_text("No members found.")).to_be_visible()
                page.get_by_label("Group").select_option("pruners")
                expect(rows).to_have_count(1)
                expect(page.get_by_label("Find members")).to_have_value("")
                rows.click()
                expect(page.get_by_role("heading", name="Lin").first).to_be_visible()
                page.context.close()

    def test_a_long_list_is_paged(self):
        page = self.signed_in("ada")
        asked = []
        page.route("**/api/v1/users?*", lambda route: (asked.append(route.request.url), route.continue_(
            url=route.request.url.replace("limit=50", "limit=2")))[1])
        self.go(page, "/members")
        rows = page.locator(".page-body .user-row")
        expect(rows).to_have_count(2)
        page.get_by_role("button", name="Show more").click()
        self.eventually(page, True, lambda: rows.count() > 2)
        self.assertIn("next=", asked[-1])
