"""Groups: made by staff, chosen by members, mentioned, and let into forums."""

from playwright.sync_api import expect
from test_flows import Village


class Groups(Village):
    def test_made_chosen_mentioned_and_let_in(self):
        ada = self.signed_in("ada")
        self.go(ada, "/admin")
        ada.get_by_role("link", name="Groups").click()
        expect(ada.get_by_text("No groups yet")).to_be_visible()
        ada.get_by_role("button", name="New group").click()
        dialog = ada.get_by_role("dialog", name="New group")
        dialog.get_by_label("Name").fill("ada")
        dialog.get_by_role("switch", name="Open to everyone").check()
        dialog.get_by_label("Who can mention it").select_option("users")
        self.photograph(ada, "group-dialog")
        self.assert_accessible(ada, "new group")
        dialog.get_by_role("button", name="Create group").click()
        expect(dialog.get_by_role("alert")).to_be_visible()
        dialog.get_by_label("Name").fill("growers")
        dialog.get_by_role("button", name="Create group").click()
        row = ada.get_by_role("button", name="growers")
        row.click()
        dialog = ada.get_by_role("dialog", name="growers")
        expect(dialog.get_by_text("No members yet")).to_be_visible()
        dialog.get_by_label("Username").fill("@lin")
        dialog.get_by_role("button", name="Add member").click()
        expect(dialog.locator(".user-row", has_text="@lin")).to_be_visible()
        self.photograph(ada, "group-members")
        self.assert_accessible(ada, "group")
        dialog.get_by_role("button", name="Remove Lin").click()
        expect(dialog.get_by_text("No members yet")).to_be_visible()
        ada.keyboard.press("Escape")
        self.assert_fits(ada, "groups")

        grace = self.signed_in("grace")
        self.go(grace, "/you/groups")
        grace.get_by_role("button", name="Join growers").click()
        expect(grace.get_by_text("You’re a member")).to_be_visible()
        self.photograph(grace, "group-directory")
        self.assert_accessible(grace, "directory of groups")
        self.go(grace, "/u/grace")
        expect(grace.locator(".group-badge")).to_contain_text("growers")

        self.go(ada, "/forums/new")
        ada.get_by_label("Title").fill("Seed bank")
        ada.get_by_label("Who can read it").select_option("private")
        ada.get_by_label("growers").select_option("write")
        self.photograph(ada, "forum-groups")
        self.assert_accessible(ada, "groups of a forum")
        ada.get_by_role("button", name="Create forum").click()
        expect(ada.get_by_role("heading", name="Seed bank")).to_be_visible()
        self.go(grace, "/forums")
        grace.get_by_role("link", name="Seed bank").first.click()
        expect(grace.get_by_role("heading", name="Seed bank")).to_be_visible()
        expect(grace.get_by_role("button", name="Join", exact=True)).to_be_hidden()

        field = ada.get_by_role("textbox").last
        field.fill("seeds for @gro")
        ada.get_by_role("option", name="growers").click()
        expect(field).to_have_value("seeds for @growers ")
        ada.keyboard.press("Enter")
        expect(ada.locator("a.mention", has_text="@growers").first).to_have_attribute("href", "/you/groups")
        expect(grace.get_by_role("link", name="Inbox 1 for you").first).to_be_visible()
        inbox = self.call("GET", "/inbox", token=self.tokens["grace"])["data"]
        self.assertEqual([it["kind"] for it in inbox if it["kind"] != "sign_in"], ["mention"])
        self.go(grace, "/")
        expect(grace.get_by_role("main")).to_contain_text("seeds for @growers")
        self.photograph(grace, "group-mention")

        # A member may let in only the member's own groups.
        self.go(grace, "/forums/new")
        expect(grace.get_by_label("growers")).to_be_visible()
        lin = self.signed_in("lin")
        self.go(lin, "/forums/new")
        expect(lin.get_by_label("Who can read it")).to_be_visible()
        expect(lin.get_by_label("growers")).to_have_count(0)
