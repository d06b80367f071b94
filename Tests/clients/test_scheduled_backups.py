"""`--backup-every` adds backups to a folder at an interval, tests each one, and `--backup-keep` removes the oldest."""

import json
import os
import re
import subprocess
import tempfile
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from urllib.request import Request, urlopen

from mounting import mounting
from servers import PARLEY
from serving import ServingTest, call, parley

HOUR = 3_600
FORM = "%Y-%m-%dT%H-%M-%SZ"
MADE = r"Scheduled backup .*/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ: "


class ScheduledBackups(ServingTest):
    part = "hosting"

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="parley-")))
        self.backups = self.folder / "backups"

    def names(self):
        return sorted(file.name for file in self.backups.glob("*Z"))

    def run_until(self, line, *arguments, gone=None, folder=None):
        """Serves until the log has the line and, since the oldest backup goes after it, a folder is gone. Returns the log."""
        with self.start(*parley(
                self.folder, "--backup-every", "2", "--backup-to", folder or self.backups, *arguments)) as server:
            for _ in range(600):
                if re.search(line, server.output()) and not (gone and gone.exists()):
                    break
                time.sleep(0.1)
            else:
                self.fail(server.output())
            self.assertEqual(server.stop(), 0)
            return server.output()

    def age(self, hours):
        """Makes the newest backup older."""
        older = (datetime.now(timezone.utc) - timedelta(hours=hours)).strftime(FORM)
        newest = self.backups / self.names()[-1]
        self.rename(newest, older)
        return older

    def rename(self, backup, name):
        """Gives a backup another time, in its manifest, too."""
        file = backup / "parley-backup.json"
        manifest = json.loads(file.read_text())
        manifest["created_at"] = int(datetime.strptime(name, FORM).replace(tzinfo=timezone.utc).timestamp() * 1000)
        file.write_text(json.dumps(manifest, separators=(",", ":")) + "\n")
        sums = backup / "SHA256SUMS"
        digest = subprocess.run(["sha256sum", file], capture_output=True, text=True, check=True).stdout[:64]
        sums.write_text(digest + sums.read_text()[64:])
        backup.rename(self.backups / name)

    def restore(self, operand, name, given=None):
        with (given.open("rb") if given else open(os.devnull, "rb")) as standard_input:
            return subprocess.run(
                [PARLEY, "restore", operand, "--data", self.folder / name], stdin=standard_input, capture_output=True, text=True,
                timeout=60)

    def test_backups_are_made_at_the_interval_tested_and_rotated(self):
        self.run_until("event=restore_test result=passed .*it was restored, verified and deleted", "--backup-keep", "2")
        first, = self.names()
        self.assertEqual((self.backups / first).stat().st_mode & 0o777, 0o700)
        other = self.backups / "by-hand.tar"
        other.write_bytes(b"")
        # A restart within the interval makes none, and tests none again.
        first = self.age(1)
        log = self.run_until("listening on", "--backup-keep", "2")
        self.assertNotIn("Scheduled backup", log)
        # After it there is a second one, then a third one in place of the first.
        first = self.age(5)
        self.run_until(MADE, "--backup-keep", "2")
        self.assertEqual(len(self.names()), 2)
        second = self.age(3)
        self.run_until(MADE, "--backup-keep", "2", gone=self.backups / first)
        self.assertEqual(self.names()[0], second)
        self.assertEqual(len(self.names()), 2)
        self.assertTrue(other.exists())
        restored = self.restore(f"{self.backups}@{second}", "restored")
        self.assertEqual(restored.returncode, 0, restored.stderr)
        self.assertIn(f"Restored {self.backups}/{second} to ", restored.stdout)

    def test_the_last_ones_of_days_weeks_and_months_stay(self):
        self.run_until(MADE)
        now = datetime.now(timezone.utc)
        made, = self.names()
        kept, days = set(), {}
        for age in range(1, 100):
            at = now - timedelta(days=age)
            subprocess.run(["cp", "-r", self.backups / made, self.backups / at.strftime(FORM)], check=True)
            days[at.strftime(FORM)] = at
        self.rename(self.backups / made, (now - timedelta(days=100)).strftime(FORM))
        for count, period in ((3, lambda it: it.date()), (4, lambda it: it.isocalendar()[:2]), (2, lambda it: (it.year, it.month))):
            # The backup of today is the last one of its day, its week and its month.
            seen = {period(now)}
            for name, at in days.items():
                if period(at) not in seen and len(seen) < count:
                    seen.add(period(at))
                    kept.add(name)
        self.run_until(r"Removed \d+ old backups and 0 files", "--backup-keep", "3d,4w,2m")
        self.assertEqual(set(self.names()[:-1]), kept)

    def test_a_wrong_retention_is_refused(self):
        for text in ("0", "7x", "7d,3d", "d"):
            refused = subprocess.run(
                parley(self.folder, "--backup-every", "1", "--backup-keep", text), capture_output=True, text=True, timeout=60)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("such as 7d,4w,6m", refused.stderr)

    def test_backups_of_a_wrong_clock_are_the_oldest(self):
        self.run_until(MADE, "--backup-keep", "2")
        ahead = (datetime.now(timezone.utc) + timedelta(hours=10)).strftime(FORM)
        self.rename(self.backups / self.names()[0], ahead)
        self.run_until(MADE, "--backup-keep", "2")
        self.assertEqual(self.names()[-1], ahead)
        first = (datetime.now(timezone.utc) - timedelta(hours=3)).strftime(FORM)
        self.rename(self.backups / self.names()[0], first)
        self.run_until(MADE, "--backup-keep", "2", gone=self.backups / ahead)
        self.assertEqual(len(self.names()), 2)
        self.assertEqual(self.names()[0], first)

    def test_owners_list_download_and_delete_it(self):
        with self.start(*parley(self.folder)) as self.server:
            code = subprocess.run([PARLEY, "setup", "--data", self.folder / "data"], capture_output=True, text=True, check=True,
                                  timeout=60).stdout.strip().split("/")[-1]
            token = call(self.server, "POST", f"/links/{code}", {"name": "ada", "password": "wool and needles"})["token"]
            for text in (b"wool", b"y", b"x" * 700_000):
                request = Request(f"{self.server.url}/api/v1/files?name=x.txt", method="POST", data=text)
                request.add_header("Content-Type", "text/plain")
                request.add_header("Authorization", f"Bearer {token}")
                with urlopen(request, timeout=60):
                    pass
        with self.start(*parley(self.folder, "--backup-every", "24", "--backup-to", self.backups)) as server:
            deadline = time.monotonic() + 60
            while not (listed := call(server, "GET", "/backups", token=token)["data"]):
                self.assertLess(time.monotonic(), deadline, server.output())
                time.sleep(0.05)
            backup, = listed
            name, = self.names()
            self.assertEqual((backup["name"], backup["scheduled"], backup["created_by"], backup["state"]), (name, True, None, "done"))
            content = f"{server.url}/api/v1/backups/{backup['id']}/content"
            bearer = ("--header", f"Authorization: Bearer {token}")
            downloaded = self.folder / "downloaded.tar"
            self.curl("--fail", *bearer, "--output", downloaded, content)
            self.assertEqual(downloaded.stat().st_size, backup["size"])
            self.assertEqual(self.curl_headers(*bearer, "--header", "If-None-Match: *", content)[0], 304)
            restored = self.restore(downloaded, "restored")
            self.assertEqual(restored.returncode, 0, restored.stderr)
            self.assertIn("3 files, verified", restored.stdout)
            self.assertEqual(self.curl_headers("--request", "DELETE", *bearer, f"{server.url}/api/v1/backups/{backup['id']}")[0], 204)
            self.assertEqual(call(server, "GET", "/backups", token=token)["data"], [])
            # Neither the backup nor a file of it is left.
            self.assertEqual([it.name for it in self.backups.iterdir()], ["owner"])

    def test_a_damaged_backup_fails_its_test(self):
        self.run_until("event=restore_test result=passed")
        later = (datetime.now(timezone.utc) - timedelta(hours=1)).strftime(FORM)
        self.rename(self.backups / self.names()[0], later)
        database = self.backups / later / "parley.db"
        content = bytearray(database.read_bytes())
        content[len(content) // 2] ^= 1
        database.write_bytes(content)
        with self.start(*parley(self.folder, "--backup-every", "2", "--backup-to", self.backups)) as server:
            deadline = time.monotonic() + 60
            while "event=alert code=restore_test level=error" not in server.output():
                self.assertLess(time.monotonic(), deadline, server.output())
                time.sleep(0.1)
            self.assertIn("event=restore_test result=failed", server.output())
            status = subprocess.run([PARLEY, "status", "--data", self.folder / "data"], capture_output=True, text=True, timeout=60)
            self.assertEqual(status.returncode, 2)
            self.assertRegex(status.stdout, "Backup .*, failed its restore test .* ago")
            self.assertRegex(
                status.stdout, "Error: The backup of .* UTC failed its restore test: its entry parley.db has been altered. "
                "Check the disk of --backup-to.")
            seen = json.loads(subprocess.run(
                [PARLEY, "status", "--json", "--data", self.folder / "data"], capture_output=True, text=True, timeout=60).stdout)
            self.assertEqual(seen["last_restore_test"]["result"], "failed")
        refused = self.restore(self.backups, "restored")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("is rejected, and nothing was changed: its entry parley.db has been altered.", refused.stderr)
        self.assertEqual(os.listdir(self.folder / "restored"), ["lock"])

    def test_a_killed_server_leaves_nothing_half(self):
        """A kill at some moment of a backup of many files; the next start makes a whole one."""
        arguments = ("--rate-writing=1000000", "--rate-writing-burst=1000000")
        with self.start(*parley(self.folder, *arguments)) as self.server:
            code = subprocess.run([PARLEY, "setup", "--data", self.folder / "data"], capture_output=True, text=True, check=True,
                                  timeout=60).stdout.strip().split("/")[-1]
            token = call(self.server, "POST", f"/links/{code}", {"name": "ada", "password": "wool and needles"})["token"]
            for number in range(150):
                request = Request(f"{self.server.url}/api/v1/files?name={number}.txt", method="POST", data=f"{number}".encode() * 999)
                request.add_header("Content-Type", "text/plain")
                request.add_header("Authorization", f"Bearer {token}")
                with urlopen(request, timeout=60):
                    pass
        for delay in (0, 0.05, 0.15):
            with self.start(*parley(self.folder, "--backup-every", "2", "--backup-to", self.backups)) as server:
                for _ in range(6_000):
                    if list(self.backups.glob("*")):
                        break
                    time.sleep(0.01)
                time.sleep(delay)
                server.kill()
            for name in self.names():
                self.rename(self.backups / name, (datetime.now(timezone.utc) - timedelta(hours=3)).strftime(FORM))
            for file in (self.backups / "files").glob("*/*/*"):
                digest = subprocess.run(["sha256sum", file], capture_output=True, text=True, check=True).stdout[:64]
                self.assertEqual(digest, file.name)
        self.run_until("event=restore_test result=passed")
        self.assertEqual(list(self.backups.glob("*.part")), [])
        newest = self.backups / self.names()[-1]
        checked = subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=newest, timeout=60)
        self.assertEqual(checked.returncode, 0)
        restored = self.restore(self.backups, "restored")
        self.assertEqual(restored.returncode, 0, restored.stderr)
        self.assertIn("150 files", restored.stdout)

    @mounting
    def test_a_full_disk_keeps_the_backups_that_are_there(self):
        self.backups.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", self.backups], check=True)
        self.addCleanup(lambda: subprocess.run(["umount", "--lazy", self.backups], check=True))
        self.run_until("event=restore_test result=passed")
        before = self.names()
        self.age(3)
        (self.backups / "fill").write_bytes(b"x" * (os.statvfs(self.backups).f_bavail * 4096 - 400_000))
        log = self.run_until("The scheduled backup failed and is tried again in an hour")
        self.assertRegex(log, "event=backup result=failed .*(disk|space)")
        self.assertEqual(len(self.names()), len(before))
        self.assertEqual(list(self.backups.glob("*.part")), [])
        (self.backups / "fill").unlink()
        self.run_until(MADE, "--backup-keep", "2")
        self.assertEqual(len(self.names()), 2)

    def test_an_archive_on_standard_input_is_restored(self):
        data = self.folder / "data"
        with self.start(*parley(self.folder)):
            pass
        archive = self.folder / "backup.tar"
        with archive.open("wb") as file:
            subprocess.run([PARLEY, "backup", "-", "--data", data], stdout=file, check=True, timeout=60)
        restored = self.restore("-", "restored", archive)
        self.assertEqual(restored.returncode, 0, restored.stderr)
        self.assertIn("Restored standard input to ", restored.stdout)
        whole = archive.read_bytes()
        middle = len(whole) // 2
        for content, reason in (
                (whole[:-1], "it is truncated"), (whole + b"x", "it has extra bytes after its end"), (b"", "it is truncated"),
                (b"x" * 2000, "it is not a Parley backup"), (whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1:], "has been altered")):
            archive.write_bytes(content)
            refused = self.restore("-", "empty", archive)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("standard input is rejected, and nothing was changed: ", refused.stderr)
            self.assertIn(reason, refused.stderr)
            self.assertEqual(os.listdir(self.folder / "empty"), ["lock"])

    def test_mistakes_in_the_operand_of_restore_are_named(self):
        self.backups.mkdir()
        for operand, sentence in (
                (self.folder / "nowhere", "The file .*/nowhere does not exist."),
                (self.backups, "is no folder of backups."),
                (f"{self.folder}/nowhere@2026", "nowhere can't be read")):
            refused = self.restore(operand, "restored")
            self.assertEqual(refused.returncode, 2)
            self.assertRegex(refused.stderr, sentence)
            self.assertFalse((self.folder / "restored").exists())
        refused = subprocess.run(
            ["script", "--quiet", "--return", "--command", f"{PARLEY} restore - --data {self.folder}/restored", "/dev/null"],
            capture_output=True, text=True, timeout=60)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("Standard input is a terminal.", refused.stdout)

    def test_the_folder_of_the_site_is_refused(self):
        (self.folder / "data").mkdir()
        for folder, sentence in (
                (self.folder / "data", "is a data folder; backups need a folder of their own."),
                (self.folder / "data" / "files" / "b", "is inside of the folder of uploaded files")):
            refused = subprocess.run(
                parley(self.folder, "--backup-every", "1", "--backup-to", folder), capture_output=True, text=True, timeout=60)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(f"--backup-to can't be used: {folder} {sentence}", refused.stderr)

    def test_the_folder_of_another_site_is_refused(self):
        self.run_until(MADE)
        other = self.folder / "other"
        other.mkdir()
        refused = subprocess.run(
            parley(other, "--backup-every", "1", "--backup-to", self.backups), capture_output=True, text=True, timeout=60)
        self.assertEqual(refused.returncode, 2)
        self.assertIn(
            f"--backup-to can't be used: {self.backups} has the backups of another data folder; remove {self.backups}/owner to take "
            "it over.", refused.stderr)

    def test_a_failure_is_logged(self):
        self.backups.write_bytes(b"not a folder")
        log = self.run_until("The scheduled backup failed and is tried again in an hour")
        self.assertIn(str(self.backups), log)

    def test_a_wrong_interval_is_refused(self):
        refused = subprocess.run(
            parley(self.folder, "--backup-every", "0"), capture_output=True, text=True, timeout=60)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--backup-every takes a number from 1 to 8760", refused.stderr)
