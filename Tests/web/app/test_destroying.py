"""Destruction of content by an owner: in the menu of a message and of a user."""

from playwright.sync_api import expect
from test_flows import Village


class Destroying(Village):
    def confirm(self, page, title):
        sheet = page.get_by_role("dialog", name=title)
        sheet.get_by_label("Reason").fill("A letter.")
        sheet.get_by_role("button", name="Delete permanently").click()

    def test_an_owner_destroys_a_message_and_reads_which_copies_have_it(self):
        gone = self.say("chrysanthemum")["id"]
        backup = self.call("POST", "/backups", token=self.tokens["ada"])
        page = self.signed_in("ada")
        self.eventually(page, "done", lambda: self.call("GET", f"/backups/{backup['id']}", token=self.tokens["ada"])["state"])
        self.room(page)
        message = page.locator(f".message[data-id='{gone}']")
        expect(message).to_be_visible()
        other = self.signed_in("lin")
        self.room(other)
        expect(other.locator(f".message[data-id='{gone}']")).to_be_visible()
        message.hover()
        message.get_by_role("button", name="More").click()
        page.get_by_role("menuitem", name="Delete permanently").click()
        self.assert_accessible(page, "destroying")
        self.confirm(page, "Permanently delete this message?")
        copies = page.get_by_role("dialog", name="Permanently deleted.")
        expect(copies.get_by_text(f"backups/{backup['name']}")).to_be_visible()
        for shown in (page, other):
            expect(shown.get_by_text("chrysanthemum")).to_have_count(0)
        self.assertEqual(self.call("GET", f"/messages/{gone}", token=self.tokens["ada"])["deletion"], "erased")

    def test_a_card_loses_its_message_when_the_report_is_not_resolved(self):
        gone = self.say("chrysanthemum")["id"]
        self.call("POST", "/reports", {"message_id": gone, "reason": "Illegal."}, self.tokens["lin"])
        page = self.signed_in("ada")
        self.go(page, "/admin/reports")
        expect(page.get_by_text("chrysanthemum").first).to_be_visible()
        refusal = {"code": "conflict", "title": "", "status": 409}
        page.route("**/api/v1/reports/*", lambda route: route.fulfill(status=409, json=refusal))
        page.get_by_role("button", name="Delete permanently").first.click()
        self.confirm(page, "Permanently delete this message?")
        expect(page.get_by_text("chrysanthemum")).to_have_count(0)

    def test_the_account_of_a_user_is_destroyed(self):
        page = self.signed_in("ada")
        self.go(page, "/u/grace")
        page.get_by_role("main").get_by_role("button", name="More").click()
        page.get_by_role("menuitem", name="Delete permanently").click()
        self.confirm(page, "Permanently delete this account with all messages and files?")
        expect(page.get_by_text("Permanently deleted.").first).to_be_visible()
        audit = self.call("GET", "/audit?kind=user.destroyed", token=self.tokens["ada"])["data"]
        self.assertEqual([it["reason"] for it in audit], ["A letter."])

    def test_others_see_no_way_to_destroy(self):
        gone = self.say("chrysanthemum")["id"]
        self.call("PATCH", "/users/@lin", {"role": "admin", "end_sessions": False}, self.tokens["ada"])
        page = self.signed_in("lin")
        self.room(page)
        message = page.locator(f".message[data-id='{gone}']")
        message.hover()
        message.get_by_role("button", name="More").click()
        expect(page.get_by_role("menuitem", name="Copy").first).to_be_visible()
        expect(page.get_by_role("menuitem", name="Delete permanently")).to_have_count(0)
