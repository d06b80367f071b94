"""Contact addresses: users with this setting are found by an address that another user knows."""

import re

from playwright.sync_api import expect
from test_flows import Village


class Addresses(Village):
    def test_a_user_is_found_by_their_contact_address(self):
        self.call("PATCH", "/settings", {"discovery": True}, self.tokens["ada"])
        grace = self.signed_in("grace", "phone")
        self.go(grace, "/you/privacy")
        found = grace.get_by_role("switch", name="Let people find me by email or phone")
        if not found.is_checked():
            found.click()
        expect(found).to_be_checked()
        own = grace.get_by_label("Email addresses and phone numbers")
        own.fill("grace@example.org\nnot an address")
        grace.get_by_role("button", name="Save addresses").click()
        expect(grace.get_by_role("alert").filter(has_text="not an address is not an email address")).to_be_visible()
        own.fill("grace@example.org\n+49 30 1234567")
        grace.get_by_role("button", name="Save addresses").click()
        expect(grace.get_by_text("2 addresses saved.")).to_be_visible()
        # Saved addresses are not shown again.
        expect(own).to_have_value("")
        self.photograph(grace, "addresses-phone")
        self.assert_accessible(grace, "addresses")
        self.assert_fits(grace, "addresses")
        # An empty field removes no addresses without confirmation.
        patches = []
        grace.on("request", lambda it: patches.append(it) if it.method == "PATCH" else None)
        grace.get_by_role("button", name="Save addresses").click()
        grace.get_by_role("dialog", name="Remove all addresses").get_by_role("button", name="Cancel").click()
        expect(grace.get_by_role("dialog")).to_have_count(0)
        self.assertEqual(patches, [])

        lin = self.signed_in("lin")
        self.go(lin, "/messages/new")
        lin.get_by_label("Find people").fill("nobody@example.org")
        lin.get_by_role("button", name="Find by email or phone").click()
        expect(lin.get_by_text("Nobody can be found by that address.")).to_be_visible()
        lin.get_by_label("Find people").fill("Grace@Example.org")
        lin.get_by_role("button", name="Find by email or phone").click()
        expect(lin.get_by_role("button", name=re.compile("Grace"))).to_be_visible()
        self.photograph(lin, "addresses-found")
        self.assert_accessible(lin, "a user found by an address")
        lin.get_by_role("button", name="Start conversation").click()
        expect(lin.get_by_role("heading", name="Grace", level=1)).to_be_visible()

        grace.get_by_role("button", name="Save addresses").click()
        grace.get_by_role("dialog").get_by_role("button", name="Remove all addresses").click()
        expect(grace.get_by_text("0 addresses saved.")).to_be_visible()
        self.assertEqual([it.post_data_json for it in patches], [{"addresses": []}])

    def test_a_site_without_contact_addresses_has_no_field(self):
        self.call("PATCH", "/settings", {"discovery": False}, self.tokens["ada"])
        page = self.signed_in("grace")
        self.go(page, "/you/privacy")
        expect(page.get_by_role("switch", name="Show when I'm online")).to_be_visible()
        expect(page.get_by_label("Email addresses and phone numbers")).to_have_count(0)
