"""Imported users: staff hand an account over to the person that it is of."""

import sqlite3
from contextlib import closing
from pathlib import Path

from browsing import PASSWORD
from playwright.sync_api import expect
from test_flows import Village


class HandingOver(Village):
    def test_a_link_gives_an_imported_account_to_its_person(self):
        with closing(sqlite3.connect(Path(self.folder) / "data" / "parley.db", timeout=30)) as database, database:
            database.execute("update account set imported = 1, password = null where name = 'grace'")
        page = self.signed_in("ada")
        self.go(page, "/u/grace")
        page.get_by_role("main").get_by_role("button", name="More").click()
        expect(page.get_by_role("menuitem", name="Create password reset link")).to_have_count(0)
        page.get_by_role("menuitem", name="Hand over imported account").click()
        sheet = page.get_by_role("dialog", name="Hand over imported account")
        link = sheet.get_by_label("Invite link").input_value()
        made = self.call("POST", "/users", {"invite": link.rsplit("/", 1)[1], "password": PASSWORD, "accept_rules": True})
        self.assertEqual(self.call("GET", "/me", token=made["token"])["name"], "grace")
