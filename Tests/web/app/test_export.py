"""The archive of the own data in the settings."""

import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

from browsing import PASSWORD
from playwright.sync_api import expect
from test_flows import Village


class Export(Village):
    def test_a_user_creates_downloads_and_deletes_the_archive(self):
        page = self.signed_in("lin", "phone")
        self.go(page, "/you")
        page.get_by_role("link", name="Download your data").click()
        main = page.get_by_role("main")
        main.get_by_role("button", name="Create archive").click()
        # The row follows the export without a reload.
        expect(main.get_by_text("Available until")).to_be_visible()
        self.photograph(page, "export")
        self.assert_accessible(page, "export")
        self.assert_fits(page, "export")

        # An hour later the download asks for a proof.
        with closing(sqlite3.connect(Path(self.folder) / "data" / "parley.db", timeout=30)) as database, database:
            database.execute("update session set proved_at = proved_at - 3600000")
        main.get_by_role("button", name="Download").click()
        sheet = page.get_by_role("dialog", name="Confirm that it's you")
        sheet.get_by_label("Password").fill(PASSWORD)
        with page.expect_download() as download:
            sheet.get_by_role("button", name="Continue").click()
        self.assertRegex(download.value.suggested_filename, r"^parley-export-\d{4}-\d\d-\d\d\.zip$")
        with zipfile.ZipFile(download.value.path()) as archive:
            self.assertIn("index.html", archive.namelist())
            self.assertIn(b'"name":"lin"', archive.read("profile.jsonl"))

        main.get_by_role("button", name="Delete").click()
        expect(main.get_by_text("Available until")).to_have_count(0)
        expect(main.get_by_role("button", name="Create archive")).to_be_enabled()

    def test_a_failed_export_is_reported(self):
        page = self.signed_in("lin")
        page.route("**/api/v1/me/export", lambda route: route.fulfill(
            status=429, json={"code": "rate_limited", "title": "", "status": 429}) if route.request.method == "POST" else route.continue_())
        self.go(page, "/you/export")
        create = page.get_by_role("main").get_by_role("button", name="Create archive")
        create.click()
        expect(page.locator(".toast")).to_be_visible()
        expect(create).to_be_enabled()
