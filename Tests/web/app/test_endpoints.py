"""Outgoing webhooks: created by staff with a secret that is shown once, disabled, renewed and deleted."""

import re

from playwright.sync_api import expect
from test_flows import Village

URL = "https://hooks.example.org/parley?key=wool"


class Endpoints(Village):
    def tearDown(self):
        for it in self.call("GET", "/webhook-endpoints", token=self.tokens["ada"])["data"]:
            self.call("DELETE", f"/webhook-endpoints/{it['id']}", token=self.tokens["ada"])
        super().tearDown()

    def opened(self, **more):
        ada = self.signed_in("ada", **more)
        self.go(ada, "/admin/endpoints")
        return ada

    def create(self, page, url=URL):
        page.get_by_role("button", name="New outgoing webhook").click()
        dialog = page.get_by_role("dialog", name="New outgoing webhook")
        dialog.get_by_role("textbox", name="Name").fill("Index")
        dialog.get_by_role("textbox", name="URL").fill(url)
        dialog.get_by_role("combobox", name="Events of").select_option(f"forum:{self.garden['id']}/messages")
        dialog.get_by_role("button", name="Create outgoing webhook").click()
        return dialog

    def test_created_with_a_secret_that_is_shown_once(self):
        ada = self.opened()
        expect(ada.get_by_text("No outgoing webhooks yet")).to_be_visible()
        self.create(ada)
        made = ada.get_by_role("dialog", name="Index created")
        secret = made.get_by_role("textbox", name="Secret").input_value()
        self.assertRegex(secret, r"\Awhsec_[A-Za-z0-9+/=]{44}\Z")
        self.assert_accessible(ada, "endpoints-secret")
        ada.keyboard.press("Escape")
        row = ada.locator(".setting-row", has_text="Index")
        expect(row).to_contain_text(URL)
        self.assertNotIn(secret, ada.content())
        self.assert_accessible(ada, "endpoints")
        self.assert_fits(ada, "endpoints")

        row.get_by_role("button", name="Edit").click()
        edit = ada.get_by_role("dialog", name="Index")
        edit.get_by_role("button", name="Deliveries").click()
        expect(ada.get_by_role("dialog", name="Deliveries").get_by_text("No deliveries yet")).to_be_visible()
        ada.keyboard.press("Escape")
        # The words beside the switch take the press.
        edit.get_by_text("Sends events").click()
        edit.get_by_role("button", name="Save").click()
        expect(row).to_contain_text("turned off")
        row.get_by_role("button", name="Edit").click()
        edit.get_by_text("Sends events").click()
        edit.get_by_role("button", name="Save").click()
        expect(row).not_to_contain_text("turned off")

        row.get_by_role("button", name="Edit").click()
        edit.get_by_role("button", name="New secret").click()
        ada.get_by_role("dialog", name="New secret").get_by_role("button", name="New secret").click()
        renewed = ada.get_by_role("textbox", name="Secret")
        expect(renewed).to_have_value(re.compile("whsec_"))
        self.assertNotEqual(renewed.input_value(), secret)
        ada.keyboard.press("Escape")

        row.get_by_role("button", name="Edit").click()
        edit.get_by_role("button", name="Delete").click()
        ada.get_by_role("dialog", name="Delete Index?").get_by_role("button", name="Delete").click()
        expect(ada.get_by_text("No outgoing webhooks yet")).to_be_visible()

    def test_a_url_of_the_own_network_is_refused(self):
        ada = self.opened()
        dialog = self.create(ada, "https://10.0.0.7/hook")
        expect(dialog.get_by_role("alert")).to_have_text("Enter a link that starts with https:// and leads to a public address.")
        expect(dialog.get_by_role("textbox", name="URL")).to_have_value("https://10.0.0.7/hook")

    def test_in_german_on_a_phone(self):
        body = {"name": "Index", "url": URL, "topics": [f"forum:{self.garden['id']}/messages"]}
        self.call("POST", "/webhook-endpoints", body, self.tokens["ada"])
        ada = self.opened(size="phone", locale="de-DE")
        expect(ada.get_by_role("button", name="Neuer ausgehender Webhook")).to_be_visible()
        expect(ada.locator(".setting-row", has_text="Index")).to_contain_text(URL)
        self.assert_fits(ada, "endpoints-de")
        self.assert_accessible(ada, "endpoints-de")

    def test_members_have_no_such_page(self):
        grace = self.signed_in("grace")
        self.go(grace, "/admin/endpoints")
        expect(grace.get_by_text("This page doesn't exist")).to_be_visible()
