"""`--backup-every` makes backups at an interval, and `--backup-keep` removes the oldest."""

import os
import re
import subprocess
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

from servers import PARLEY
from serving import ServingTest, parley

HOUR = 3_600


class ScheduledBackups(ServingTest):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="parley-")))
        self.backups = self.folder / "backups"

    def names(self):
        return sorted(file.name for file in self.backups.glob("*.tar"))

    def run_until(self, line, *arguments, gone=None):
        """Serves until the log has the line and, since the oldest backup goes after it, a file is gone. Returns the log."""
        with self.start(*parley(
                self.folder, "--backup-every", "2", "--backup-to", self.backups, *arguments)) as server:
            for _ in range(600):
                if re.search(line, server.output()) and not (gone and gone.exists()):
                    break
                time.sleep(0.1)
            else:
                self.fail(server.output())
            self.assertEqual(server.stop(), 0)
            return server.output()

    def age(self, hours):
        """Makes the newest backup older, by its file and its name."""
        newest = self.backups / self.names()[-1]
        older = self.backups / f"scheduled-2026-01-0{len(self.names())}T00-00-00Z.tar"
        newest.rename(older)
        made = time.time() - hours * HOUR
        os.utime(older, (made, made))
        return older.name

    def test_backups_are_made_at_the_interval_and_rotated(self):
        self.run_until(r"Scheduled backup .*scheduled-.*\.tar: 0 messages, 0 files, verified", "--backup-keep", "2")
        first, = self.names()
        self.assertRegex(first, r"^scheduled-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.tar$")
        self.assertEqual((self.backups / first).stat().st_mode & 0o777, 0o600)
        other = self.backups / "by-hand.tar"
        other.write_bytes(b"")
        # A restart within the interval makes none.
        first = self.age(1)
        log = self.run_until("listening on", "--backup-keep", "2")
        self.assertNotIn("Scheduled backup", log)
        self.assertEqual(self.names(), ["by-hand.tar", first])
        # After it there is a second one, then a third one in place of the first.
        first = self.age(3)
        self.run_until("Scheduled backup", "--backup-keep", "2")
        self.assertEqual(len(self.names()), 3)
        second = self.age(3)
        self.run_until("Scheduled backup", "--backup-keep", "2", gone=self.backups / first)
        names = self.names()
        self.assertEqual(len(names), 3)
        self.assertNotIn(first, names)
        self.assertEqual(names[:2], ["by-hand.tar", second])
        restored = subprocess.run(
            [PARLEY, "restore", self.backups / names[-1], "--data", self.folder / "restored"], capture_output=True,
            text=True, timeout=60)
        self.assertEqual(restored.returncode, 0, restored.stderr)

    def test_the_last_ones_of_days_weeks_and_months_stay(self):
        self.backups.mkdir()
        now = time.time()
        days = {}
        for age in range(1, 100):
            at = datetime.fromtimestamp(now - age * 86_400, timezone.utc)
            name = at.strftime("scheduled-%Y-%m-%dT%H-%M-%SZ.tar")
            (self.backups / name).write_bytes(b"")
            os.utime(self.backups / name, (at.timestamp(),) * 2)
            days[name] = at
        kept, newest = set(), datetime.fromtimestamp(now, timezone.utc)
        for count, period in ((3, lambda it: it.date()), (4, lambda it: it.isocalendar()[:2]), (2, lambda it: (it.year, it.month))):
            # The backup of today is the last one of its day, its week and its month.
            seen = {period(newest)}
            for name, at in days.items():
                if period(at) not in seen and len(seen) < count:
                    seen.add(period(at))
                    kept.add(name)
        self.run_until("Scheduled backup", "--backup-keep", "3d,4w,2m", gone=self.backups / max(set(days) - kept))
        for _ in range(100):
            if len(self.names()) == len(kept) + 1:
                break
            time.sleep(0.1)
        self.assertEqual(set(self.names()) - kept, {self.names()[-1]})
        self.assertEqual(kept - set(self.names()), set())

    def test_a_wrong_retention_is_refused(self):
        for text in ("0", "7x", "7d,3d", "d"):
            refused = subprocess.run(
                parley(self.folder, "--backup-every", "1", "--backup-keep", text), capture_output=True, text=True, timeout=60)
            self.assertEqual(refused.returncode, 2)
            self.assertIn("such as 7d,4w,6m", refused.stderr)

    def test_parts_of_a_killed_process_and_files_of_a_wrong_clock_go(self):
        self.backups.mkdir()
        for suffix in (".part", ".part.db", ".part.db.part"):
            (self.backups / f"scheduled-2026-01-01T00-00-00Z.tar{suffix}").write_bytes(b"")
        ahead = self.backups / "scheduled-2099-01-01T00-00-00Z.tar"
        ahead.write_bytes(b"")
        os.utime(ahead, (time.time() + 10 * HOUR,) * 2)
        self.run_until("Scheduled backup", "--backup-keep", "2")
        first, = set(self.names()) - {ahead.name}
        self.assertTrue(ahead.exists())
        log = self.run_until("listening on", "--backup-keep", "2")
        self.assertNotIn("Scheduled backup", log)
        # The name of a backup is its second, so the first one gets an earlier name.
        older = self.backups / "scheduled-2026-01-02T00-00-00Z.tar"
        (self.backups / first).rename(older)
        first = older.name
        os.utime(older, (time.time() - 3 * HOUR,) * 2)
        self.run_until("Scheduled backup", "--backup-keep", "2", gone=ahead)
        self.assertEqual(len(self.names()), 2)
        self.assertIn(first, self.names())
        self.assertFalse(ahead.exists())

    def test_a_failure_is_logged(self):
        self.backups.write_bytes(b"not a folder")
        log = self.run_until("The scheduled backup failed and is tried again in an hour")
        self.assertIn(str(self.backups), log)

    def test_a_wrong_interval_is_refused(self):
        refused = subprocess.run(
            parley(self.folder, "--backup-every", "0"), capture_output=True, text=True, timeout=60)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--backup-every takes a number from 1 to 8760", refused.stderr)
