"""Webhooks: created by staff, with a URL that is shown once, changed, renewed and deleted."""

import json
from urllib.request import Request, urlopen

from playwright.sync_api import expect
from test_flows import Village


class Webhooks(Village):
    def post(self, url, text):
        request = Request(url, data=json.dumps({"text": text}).encode(), headers={"Content-Type": "application/json"})
        with urlopen(request, timeout=60) as answer:
            return answer.read()

    def test_created_with_a_url_that_is_shown_once(self):
        ada = self.signed_in("ada")
        self.go(ada, "/admin")
        ada.get_by_role("link", name="Webhooks", exact=True).click()
        expect(ada.get_by_text("No webhooks yet")).to_be_visible()
        ada.get_by_role("button", name="New webhook").click()
        dialog = ada.get_by_role("dialog", name="New webhook")
        dialog.get_by_role("textbox", name="Name").fill("Builds")
        dialog.get_by_role("combobox", name="Forum").select_option(self.garden["id"])
        expect(dialog.get_by_role("combobox", name="Post to")).to_have_value(self.garden["room_id"])
        self.assert_accessible(ada, "webhooks-new")
        dialog.get_by_role("button", name="Create webhook").click()

        made = ada.get_by_role("dialog", name="Builds created")
        url = made.get_by_role("textbox", name="URL").input_value()
        self.assertEqual(self.post(url, "Build 812 is *green*"), b"ok")
        ada.keyboard.press("Escape")
        row = ada.locator(".user-line", has_text="Builds")
        expect(row).to_contain_text(self.garden["title"])
        self.photograph(ada, "webhooks")
        self.assert_accessible(ada, "webhooks")
        self.assert_fits(ada, "webhooks")

        row.get_by_role("button", name="Edit").click()
        edit = ada.get_by_role("dialog", name="Builds")
        edit.get_by_role("textbox", name="Name").fill("Tests")
        edit.get_by_role("button", name="Save").click()
        row = ada.locator(".user-line", has_text="Tests")
        row.get_by_role("button", name="Edit").click()
        ada.get_by_role("button", name="New URL").click()
        ada.get_by_role("dialog", name="New URL").get_by_role("button", name="New URL").click()
        renewed = ada.get_by_role("textbox", name="URL").input_value()
        self.assertNotEqual(renewed, url)
        self.assertEqual(self.post(renewed, "Again"), b"ok")
        ada.keyboard.press("Escape")

        row.get_by_role("button", name="Edit").click()
        ada.get_by_role("dialog", name="Tests").get_by_role("button", name="Delete").click()
        ada.get_by_role("dialog", name="Delete Tests?").get_by_role("button", name="Delete").click()
        expect(ada.get_by_text("No webhooks yet")).to_be_visible()
        self.go(ada, "/admin/audit")
        expect(ada.get_by_text("Ada deleted a webhook")).to_be_visible()

    def test_members_have_no_such_page(self):
        grace = self.signed_in("grace")
        self.go(grace, "/admin/webhooks")
        expect(grace.get_by_text("This page doesn't exist")).to_be_visible()
