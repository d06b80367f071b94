"""Bots: created by staff, with a token that is shown once, and listed with their owner."""

from playwright.sync_api import expect
from test_flows import Village


class Bots(Village):
    def test_created_with_a_token_that_is_shown_once(self):
        ada = self.signed_in("ada")
        self.go(ada, "/admin")
        ada.get_by_role("link", name="Bots").click()
        expect(ada.get_by_text("No bots yet")).to_be_visible()
        ada.get_by_role("button", name="New bot").click()
        dialog = ada.get_by_role("dialog", name="New bot")
        dialog.get_by_label("Username").fill("ada")
        dialog.get_by_label("Display name").fill("Dice")
        dialog.get_by_role("switch", name="Garden").check()
        dialog.get_by_label("Messages per minute").fill("30")
        self.photograph(ada, "bot-dialog")
        self.assert_accessible(ada, "new bot")
        dialog.get_by_role("button", name="Create bot").click()
        expect(dialog.get_by_role("alert")).to_be_visible()
        dialog.get_by_label("Username").fill("dice")
        dialog.get_by_role("button", name="Create bot").click()

        made = ada.get_by_role("dialog", name="Dice created")
        token = made.get_by_role("textbox", name="Token").input_value()
        self.assertTrue(token.startswith("parley_"))
        expect(made.get_by_role("button", name="Copy")).to_be_visible()
        self.assertEqual(self.call("GET", "/me", token=token)["name"], "dice")
        self.assertEqual(self.call("GET", "/bots/@dice/tokens", token=self.tokens["ada"])["data"][0]["rate_limit"], 30)
        sent = self.call("POST", f"/conversations/{self.garden['room_id']}/messages", {"text": "six"}, token)
        self.assertEqual(sent["text"], "six")
        ada.keyboard.press("Escape")
        row = ada.locator(".user-row", has_text="@dice")
        expect(row).to_contain_text("owner: Ada")
        expect(row).to_contain_text("never used")
        self.photograph(ada, "bots")
        self.assert_accessible(ada, "bots")
        self.assert_fits(ada, "bots")

        self.go(ada, "/admin/audit")
        expect(ada.get_by_text("Ada created the bot Dice")).to_be_visible()

    def test_members_have_no_such_page(self):
        grace = self.signed_in("grace")
        self.go(grace, "/admin/bots")
        expect(grace.get_by_text("This page doesn't exist")).to_be_visible()
