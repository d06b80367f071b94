"""Backups on the administration pages."""

import hashlib
import sqlite3
import subprocess
import tarfile
import time
from contextlib import closing
from pathlib import Path

from browsing import PASSWORD
from playwright.sync_api import expect
from servers import PARLEY, wait_for
from test_flows import Village


class Backups(Village):
    def test_an_owner_creates_downloads_and_deletes_a_backup(self):
        page = self.signed_in("ada", "phone")
        self.go(page, "/admin")
        page.get_by_role("navigation", name="Manage").get_by_role("link", name="Backups").click()
        main = page.get_by_role("main")
        expect(main.get_by_text("No backup yet")).to_be_visible()
        create = main.get_by_role("button", name="Create backup")
        create.click()
        # The row follows the backup without a reload.
        expect(main.get_by_text("Verified")).to_be_visible()
        expect(create).to_be_enabled()
        self.photograph(page, "backups")
        self.assert_accessible(page, "backups")
        self.assert_fits(page, "backups")
        with page.expect_download() as download:
            main.get_by_role("button", name="Download").click()
        with tarfile.open(download.value.path()) as archive:
            self.assertIn("parley.db", archive.getnames())
        self.assertEqual(len(self.call("GET", "/backups", token=self.tokens["ada"])["data"]), 1)

        # An hour later the download asks for a proof.
        with closing(sqlite3.connect(Path(self.folder) / "data" / "parley.db", timeout=30)) as database, database:
            database.execute("update session set proved_at = proved_at - 3600000")
        main.get_by_role("button", name="Download").click()
        sheet = page.get_by_role("dialog", name="Confirm that it's you")
        sheet.get_by_label("Password").fill(PASSWORD)
        with page.expect_download():
            sheet.get_by_role("button", name="Continue").click()

        main.get_by_role("button", name="Delete").click()
        sheet = page.get_by_role("dialog", name="Delete this backup?")
        sheet.get_by_role("button", name="Cancel").click()
        expect(main.get_by_text("Verified")).to_be_visible()
        main.get_by_role("button", name="Delete").click()
        sheet.get_by_role("button", name="Delete").click()
        expect(main.get_by_text("No backup yet")).to_be_visible()
        self.assertEqual(self.call("GET", "/backups", token=self.tokens["ada"])["data"], [])

    def test_a_scheduled_backup_is_listed_downloaded_and_deleted(self):
        # The file of a backup with its sums, as the server writes it; its row is that of a server with --backup-every.
        subprocess.run([PARLEY, "backup", Path(self.folder) / "a.tar", "--data", Path(self.folder) / "data"], check=True, capture_output=True)
        name = "2026-11-20T03-00-00Z"
        folder = Path(self.folder) / "data" / "backups" / name
        folder.mkdir(parents=True)
        with tarfile.open(Path(self.folder) / "a.tar") as archive:
            lines = []
            for entry in archive.getnames():
                content = archive.extractfile(entry).read()
                if entry.startswith("files/"):
                    path = folder.parent / entry
                    path.parent.mkdir(parents=True, exist_ok=True)
                else:
                    path = folder / entry
                if entry != "SHA256SUMS":
                    path.write_bytes(content)
                    lines.append(f"{hashlib.sha256(content).hexdigest()}  {'../' if entry.startswith('files/') else ''}{entry}\n")
        (folder / "SHA256SUMS").write_text("".join(lines))
        with closing(sqlite3.connect(Path(self.folder) / "data" / "parley.db", timeout=30)) as database, database:
            database.execute("insert into backup (id, name, created_by, created_at, finished_at, size) values (999, ?, 0, 1, 1, 5000)", (name,))
        page = self.signed_in("ada")
        self.go(page, "/admin/backups")
        main = page.get_by_role("main")
        expect(main.get_by_text("Scheduled · ")).to_be_visible()
        with page.expect_download() as download:
            main.get_by_role("button", name="Download").click()
        self.assertEqual(download.value.suggested_filename, f"parley-{name}.tar")
        with tarfile.open(download.value.path()) as archive:
            self.assertIn("parley.db", archive.getnames())
        main.get_by_role("button", name="Delete").click()
        page.get_by_role("dialog", name="Delete this backup?").get_by_role("button", name="Delete").click()
        expect(main.get_by_text("No backup yet")).to_be_visible()
        self.assertFalse(folder.exists())

    def test_a_failed_restore_test_is_shown(self):
        now = int(time.time() * 1000)
        with closing(sqlite3.connect(Path(self.folder) / "data" / "parley.db", timeout=30)) as database, database:
            database.execute(
                "insert or replace into setting (name, value) values ('restore_test', ?)",
                (f"{now} {now} failed its entry parley.db has been altered",))
        page = self.signed_in("ada")
        self.go(page, "/admin/backups")
        main = page.get_by_role("main")
        expect(main.get_by_text("failed, its entry parley.db has been altered")).to_be_visible()
        seen = self.call("GET", "/statistics", token=self.tokens["ada"])
        self.assertEqual(seen["last_restore_test"]["result"], "failed")

    def test_a_refused_backup_is_reported(self):
        page = self.signed_in("ada")
        page.route("**/api/v1/backups", lambda route: route.fulfill(
            status=409, json={"code": "conflict", "title": "", "status": 409}) if route.request.method == "POST" else route.continue_())
        self.go(page, "/admin/backups")
        create = page.get_by_role("main").get_by_role("button", name="Create backup")
        create.click()
        expect(page.locator(".toast")).to_be_visible()
        expect(create).to_be_enabled()

    def test_admins_cannot_open_the_backups(self):
        self.call("PATCH", "/users/@lin", {"role": "admin", "end_sessions": False}, self.tokens["ada"])
        page = self.signed_in("lin")
        self.go(page, "/admin")
        expect(page.get_by_role("link", name="Audit log")).to_be_visible()
        expect(page.get_by_role("link", name="Backups")).to_have_count(0)
        self.go(page, "/admin/backups")
        expect(page.get_by_role("button", name="Create backup")).to_have_count(0)


class CopiedBackups(Village):
    options = ("--backup-every", "24", "--backup-hook", "/bin/true")

    def test_the_last_copy_on_another_machine_is_shown(self):
        wait_for(lambda: "last_off_site_at" in self.call("GET", "/statistics", token=self.tokens["ada"]))
        page = self.signed_in("ada")
        self.go(page, "/admin/backups")
        expect(page.get_by_role("main").get_by_text("Last copy on another machine:")).to_be_visible()
