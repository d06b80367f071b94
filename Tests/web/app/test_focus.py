"""The focus after navigation, and after an action on a row of a list: it stays at the row, or goes to the next one."""

from playwright.sync_api import expect
from test_flows import Village


class Focus(Village):
    def focused(self, page):
        return page.evaluate("document.activeElement.getAttribute('aria-label') || document.activeElement.textContent")

    def rows(self, page):
        """The number of rows, and which of them has the focus."""
        return page.evaluate("""() => {
            const rows = [...document.querySelectorAll(".setting-row")];
            return [rows.length, rows.findIndex((it) => it.contains(document.activeElement))];
        }""")

    def test_navigation_moves_it_to_the_title(self):
        page = self.signed_in("ada")
        for address, title in (("/forums", "Forums"), ("/you/appearance", "Appearance and shortcuts"), ("/", "Inbox")):
            with self.subTest(address=address):
                self.go(page, address)
                expect(page.get_by_role("heading", name=title, level=1)).to_be_focused()
        # A room has no composer to focus on a phone, or its keyboard would cover the messages.
        phone = self.signed_in("grace", "phone")
        phone.locator(".bottom-bar").get_by_role("link", name="Forums").tap()
        phone.get_by_role("main").get_by_role("link", name="Garden").first.tap()
        phone.get_by_role("link", name="Room").tap()
        expect(phone.get_by_role("form", name="Write a message")).to_be_visible()
        expect(phone.get_by_role("heading", name="Garden", level=1)).to_be_focused()

    def test_it_goes_to_the_row_after_a_removed_one(self):
        ada = self.tokens["ada"]
        before = len(self.call("GET", "/invites", token=ada)["data"])
        for _ in range(3):
            self.call("POST", "/invites", {}, ada)
        for name in ("Kettle", "Lamp", "Rake"):
            self.call("POST", "/me/tokens", {"name": name, "scope": "read"}, ada)
        page = self.signed_in("ada")
        for address, n in (("/admin/invites", before + 3), ("/you/tokens", 3)):
            with self.subTest(address=address):
                self.go(page, address)
                row = page.locator(".setting-row").nth(1)
                row.get_by_role("button", name="Revoke").focus()
                page.keyboard.press("Enter")
                self.eventually(page, [n - 1, 1], lambda: self.rows(page))
                self.assertEqual(self.focused(page), "Revoke")
                # After the last row, the one before it.
                page.locator(".setting-row").last.get_by_role("button", name="Revoke").focus()
                page.keyboard.press("Enter")
                self.eventually(page, n - 2, lambda: self.rows(page)[0])
                self.assertNotEqual(page.evaluate("document.activeElement.tagName"), "BODY")

    def test_it_stays_at_a_row_that_is_drawn_again(self):
        ada = self.tokens["ada"]
        group = self.call("POST", "/groups", {"name": "growers", "self_chosen": True}, ada)
        self.call("PUT", f"/groups/{group['id']}/members/@lin", None, ada)
        self.call("PUT", f"/groups/{group['id']}/members/@grace", None, ada)
        page = self.signed_in("ada")
        self.go(page, "/you/groups")
        page.get_by_role("button", name="Join growers").focus()
        page.keyboard.press("Enter")
        self.eventually(page, "Leave growers", lambda: self.focused(page))
        page.keyboard.press("Enter")
        self.eventually(page, "Join growers", lambda: self.focused(page))
        # After a dialog.
        self.go(page, "/admin/groups")
        row = page.get_by_role("main").get_by_role("button", name="growers")
        row.focus()
        page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog", name="growers")
        dialog.get_by_role("button", name="Remove Grace").focus()
        page.keyboard.press("Enter")
        self.eventually(page, "Remove Lin", lambda: self.focused(page))
        dialog.get_by_label("Name", exact=True).fill("weeders")
        dialog.get_by_label("Name", exact=True).press("Enter")
        expect(dialog).to_have_count(0)
        expect(page.get_by_role("main").get_by_role("button", name="weeders")).to_be_focused()
