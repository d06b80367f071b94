"""`parley upgrade`: a newer version takes over under load, goes back if it does not run, and later on request; kills at each step."""

import hashlib
import json
import os
import pty
import re
import select
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time
import unittest
from contextlib import closing
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from successive_versions import change, forget_last_migration, give_version, merge_last_migrations
from servers import TOP, Server, free_port
from serving import call

PASSWORD = "wool and needles"
# A file system of its own for /opt, /run, /var/lib and /etc; the programs and the network are those of this machine.
MACHINE = r"""
set -e
mount --make-rprivate /
mount -t tmpfs tmpfs "$FOLDER/changes"
mkdir "$FOLDER/changes/upper" "$FOLDER/changes/work"
mount -t overlay -o "lowerdir=/etc,upperdir=$FOLDER/changes/upper,workdir=$FOLDER/changes/work" overlay /etc
mount -t tmpfs -o "size=$OPT" tmpfs /opt
mount -t tmpfs -o "size=$LIB" tmpfs /var/lib
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system
rm -rf /etc/parley /etc/parley.env
echo 'parley:x:64720:64720::/var/lib/parley:/usr/sbin/nologin' >>/etc/passwd
echo 'parley:x:64720:' >>/etc/group
install -d -m 700 -o parley -g parley /var/lib/parley
cp -R "$FOLDER/old" /opt/parley
mount --bind "$FOLDER/systemctl" /usr/bin/systemctl
echo ready
exec sleep infinity
"""
SYSTEMCTL = r"""#!/bin/sh
# A unit after the flags; a file stands for each active socket.
for unit; do :; done
running() { [ -e /run/process ] && kill -0 "$(cat /run/process)" 2>/dev/null; }
stop() { if running; then kill "$(cat /run/process)"; while running; do sleep 0.02; done; fi; }
start() {
  [ ! -e /run/refuses-start ] || exit 1
  running && return
  PARLEY_DATA=/var/lib/parley setpriv --reuid=parley --regid=parley --clear-groups /opt/parley/bin/parley serve \
    --listen "127.0.0.1:$PORT" --rate-sending 1000000 --rate-sending-burst 1000000 >>"$FOLDER/log" 2>&1 &
  echo $! >/run/process
}
echo "$*" >>"$FOLDER/calls"
case $* in
  start*parley.socket*) touch /run/parley.socket ;;
  stop*parley.socket*) rm -f /run/parley.socket ;;
esac
case $* in
  start*parley.service) start ;;
  stop*parley.service) stop ;;
  "restart parley.service") stop; start ;;
  is-failed*) ! running ;;
  is-active*.socket) [ -e "/run/$unit" ] ;;
  is-active*) running ;;
  is-enabled*) [ "$unit" = parley.socket ] ;;
  show*ExecStart*) echo "{ path=${UNIT_PROGRAM:-/opt/parley/bin/parley} ; argv[]=/opt/parley/bin/parley serve ; ignore_errors=no ; pid=0 }" ;;
  show*Environment*) echo "TZ=UTC PARLEY_DATA=/var/lib/parley" ;;
esac
"""
STEPS = ["Verified the signature", "Unpacked it", "Testing it", "The database is sound", "Installed version", "Restarting the service"]


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300, **options)


class Machine(Server):
    """A machine with the service of the old version, as its archive says."""

    def __init__(self, case, opt="1g", lib="1g", old=None):
        self.folder = Path(case.enterContext(tempfile.TemporaryDirectory(prefix="parley-")))
        self.folder.chmod(0o755)
        (self.folder / "changes").mkdir()
        # Links: nothing changes these files.
        shutil.copytree(old or case.old, self.folder / "old", copy_function=os.link)
        (self.folder / "systemctl").write_text(SYSTEMCTL)
        (self.folder / "systemctl").chmod(0o755)
        self.service = free_port()
        self.environment = {"FOLDER": str(self.folder), "PORT": str(self.service), "OPT": opt, "LIB": lib}
        super().__init__(f"clients-{case.id().split('.')[-1]}", "unshare", "--mount", "sh", "-c", MACHINE, env=self.environment, ready="^(ready)$")
        self.url = f"http://127.0.0.1:{self.service}"
        self.token = None
        self.acknowledged = []

    def inside(self, *command):
        return [str(part) for part in ("nsenter", f"--target={self.pid}", "--mount", "--wd=/", *command)]

    def run(self, *command, **environment):
        return run(*self.inside(*command), env={**os.environ, **self.environment, **environment}, stdin=subprocess.DEVNULL)

    def systemctl(self, *arguments):
        return self.run("systemctl", *arguments)

    def parley(self, *arguments):
        return self.run("/opt/parley/bin/parley", *arguments)

    def upgrade(self, *arguments):
        return self.parley("upgrade", *arguments)

    def begin(self):
        self.systemctl("start", "parley.socket", "parley.service")
        self.wait_until_ready()
        code = self.run("setpriv", "--reuid=parley", "--regid=parley", "--clear-groups", "/opt/parley/bin/parley", "setup", "--data",
                        "/var/lib/parley").stdout.strip().split("/")[-1]
        self.token = call(self, "POST", f"/links/{code}", {"name": "ada", "password": PASSWORD})["token"]
        self.room = call(self, "POST", "/forums", {"title": "Knitting", "visibility": "public"}, self.token)["room_id"]
        return self

    def is_ready(self):
        try:
            with urlopen(f"{self.url}/readyz", timeout=10):
                return True
        except OSError:
            return False

    def wait_until_ready(self):
        self.wait_for(self.is_ready)

    def wait_for(self, condition):
        deadline = time.monotonic() + 60
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError((self.folder / "log").read_text()[-2_000:])
            time.sleep(0.02)

    def upload(self, content):
        request = Request(f"{self.url}/api/v1/files?name=rose.txt", content, {
            "Content-Type": "text/plain", "Authorization": f"Bearer {self.token}"})
        with urlopen(request, timeout=10) as answer:
            return json.load(answer)["id"]

    def post(self, text, **more):
        """Whether the server has acknowledged the message."""
        body = json.dumps({"text": text, "client_id": text, **more}).encode()
        request = Request(f"{self.url}/api/v1/conversations/{self.room}/messages", body, {
            "Content-Type": "application/json", "Authorization": f"Bearer {self.token}"})
        try:
            with urlopen(request, timeout=10):
                self.acknowledged.append(text)
                return True
        except (OSError, URLError, HTTPError):
            return False

    def texts(self):
        found, query = [], "?order=asc&limit=100"
        while query:
            page = call(self, "GET", f"/conversations/{self.room}/messages{query}", token=self.token)
            found += [message["text"] for message in page["data"]]
            query = page["next"] and f"?order=asc&limit=100&next={page['next']}"
        return found

    def level(self):
        """The number of migrations of the database."""
        script = "import sqlite3; print(sqlite3.connect('file:/var/lib/parley/parley.db?mode=ro', uri=True).execute('select max(number) from migration').fetchone()[0])"
        return int(self.run("python3", "-c", script).stdout)

    def version(self, folder="/opt/parley"):
        return self.run(f"{folder}/bin/parley", "--version").stdout.split()[-1]

    def exists(self, path):
        return self.run("test", "-e", path).returncode == 0

    def __exit__(self, *failure):
        self.systemctl("stop", "parley.service")
        super().__exit__(*failure)


class Load:
    """Posts messages until the end of the block."""

    def __init__(self, machine, name="m"):
        self.machine, self.name, self.ends = machine, name, threading.Event()

    def work(self):
        number = 0
        while not self.ends.is_set():
            while not self.machine.post(f"{self.name} {number}") and not self.ends.is_set():
                time.sleep(0.02)
            number += 1

    def __enter__(self):
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def __exit__(self, *failure):
        self.ends.set()
        self.thread.join()


@unittest.skipIf(os.geteuid() != 0, "only root can mount a file system")
class UpgradeCommand(unittest.TestCase):
    part = "hosting"

    waits = True

    @classmethod
    def setUpClass(cls):
        run(TOP / "Tests/tools/debian", "minisign").check_returncode()
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="parley-")))
        cls.secret, cls.public = cls.make_keys("release")
        cls.architecture = run("dpkg", "--print-architecture").stdout.strip()
        done = run(TOP / "docker/dist", cls.folder / "dist", env={**os.environ, "PUBLIC_KEY": str(cls.public)})
        done.check_returncode()
        archive, = (cls.folder / "dist").glob("*.tar.gz")
        cls.tree = cls.folder / "tree"
        cls.tree.mkdir()
        run("tar", "--extract", "--gzip", f"--file={archive}", f"--directory={cls.tree}", "--strip-components=1").check_returncode()
        merge_last_migrations(cls.tree)
        cls.old = cls.folder / "old"
        shutil.copytree(cls.tree, cls.old)
        cls.old_level = forget_last_migration(cls.old)
        cls.current = run(cls.tree / "bin/parley", "--version").stdout.split()[-1]
        cls.newer = cls.release("9.0.0")

    @classmethod
    def make_keys(cls, name):
        secret, public = cls.folder / f"{name}.key", cls.folder / f"{name}.pub"
        run("minisign", "-G", "-W", "-p", public, "-s", secret).check_returncode()
        return secret, public

    @classmethod
    def release(cls, version, name=None, edit=lambda tree: None, **commands):
        """A signed archive of this build as another version, with files that `edit` has changed."""
        name = name or f"parley-{version}-linux-{cls.architecture}"
        work = Path(tempfile.mkdtemp(dir=cls.folder))
        shutil.copytree(cls.tree, work / name, copy_function=os.link)
        give_version(work / name, version, **commands)
        edit(work / name)
        target = Path(tempfile.mkdtemp(dir=cls.folder)) / f"{name}.tar.gz"
        run("tar", "--create", "--file", target, "--use-compress-program=gzip -1", f"--directory={work}", name).check_returncode()
        shutil.rmtree(work)
        cls.sign(target)
        return target

    @classmethod
    def stub(cls, name, secret=None):
        """A signed file that is refused before it is unpacked."""
        target = Path(tempfile.mkdtemp(dir=cls.folder)) / f"{name}.tar.gz"
        target.write_bytes(name.encode() * 10)
        cls.sign(target, secret)
        return target

    @classmethod
    def sign(cls, file, secret=None):
        run("minisign", "-S", "-s", secret or cls.secret, "-m", file).check_returncode()

    def machine(self, **options):
        return self.enterContext(Machine(self, **options)).begin()

    def check_messages(self, machine):
        self.assertEqual(set(machine.acknowledged) - set(machine.texts()), set())

    def test_a_newer_version_takes_over_under_load_and_goes_back(self):
        machine = self.machine()
        self.assertEqual(machine.level(), self.old_level)
        with Load(machine):
            done = machine.upgrade(self.newer)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        said = [line for line in done.stdout.splitlines() if any(line.startswith(step) for step in STEPS)]
        self.assertEqual(len(said), len(STEPS), done.stdout)
        self.assertRegex(done.stdout, r"The database is sound after 1 migration, with [\d,]+ messages?\.")
        self.assertIn("Version 9.0.0 runs.", done.stdout)
        self.assertEqual((machine.version(), machine.version("/opt/parley.previous")), ("9.0.0", self.current))
        self.assertEqual(machine.level(), self.old_level + 1)
        self.check_messages(machine)
        self.assertFalse(machine.exists("/opt/parley.new") or machine.exists("/opt/parley.new.tar.gz"))
        self.assertFalse(machine.exists("/var/lib/parley/migration.test"))
        # A second run changes nothing.
        again = machine.upgrade(self.newer)
        self.assertEqual((again.returncode, again.stdout.splitlines()[-1]), (0, "Version 9.0.0 is installed already."))

        kept = len(machine.texts())
        for number in range(2):
            self.assertTrue(machine.post(f"later {number}"))
        rose = machine.upload(b"a rose since the upgrade")
        self.assertTrue(machine.post("later 2", attachments=[rose]))
        self.check_question(machine)
        refused = machine.upgrade("--back")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("Standard input is not a terminal. Add --yes", refused.stderr)
        epoch = self.epoch(machine)
        back = machine.upgrade("--back", "--yes")
        self.assertEqual(back.returncode, 0, back.stdout + back.stderr)
        lost = re.search(r"Missing: ([\d,]+) messages since \d{4}-\d\d-\d\d \d\d:\d\d UTC, kept in (\S+/since\.jsonl)\.", back.stdout)
        self.assertTrue(lost, back.stdout)
        self.assertEqual((machine.version(), machine.level()), (self.current, self.old_level))
        self.assertNotEqual(self.epoch(machine), epoch)
        lines = [json.loads(line) for line in machine.run("cat", lost[2]).stdout.splitlines()]
        self.assertEqual(len(lines), int(lost[1].replace(",", "")))
        self.assertEqual([line["text"] for line in lines][-3:], ["later 0", "later 1", "later 2"])
        self.assertEqual({line["author"] for line in lines}, {"ada"})
        self.assertTrue(all(isinstance(line[name], str) for line in lines for name in ("id", "conversation_id", "author_id")))
        # No connection starts the server during the restore.
        calls = (machine.folder / "calls").read_text().splitlines()
        self.assertIn("stop parley.socket parley.service", calls)
        after = calls[len(calls) - calls[::-1].index("stop parley.socket parley.service"):]
        changing = [call for call in after if call.split()[0] in ("start", "stop", "restart", "reset-failed")]
        self.assertEqual(changing, ["reset-failed parley.service", "start parley.socket parley.service"])
        self.assertEqual(set(machine.texts()) | {line["text"] for line in lines}, set(machine.acknowledged))
        self.assertLessEqual(len(machine.texts()), kept)
        file, = lines[-1]["files"]
        self.assertEqual((file["name"], file["sha256"]), ("rose.txt", hashlib.sha256(b"a rose since the upgrade").hexdigest()))
        found = machine.run("find", Path(lost[2]).parent / "files", "-name", f"*{file['sha256'][4:]}").stdout.split()
        self.assertEqual([machine.run("cat", path).stdout for path in found], ["a rose since the upgrade"])
        self.assertTrue(machine.post("after the way back"))
        self.assertEqual(machine.run("sh", "-c", "ls -d /var/lib/parley/parley.db.* /var/lib/parley/replaced-*/parley.db.*").stdout, "")
        owner = machine.run("stat", "--format=%U", "/var/lib/parley/parley.db", Path(lost[2]).parent).stdout.split()
        self.assertEqual(owner, ["parley", "parley"])
        # And forward again, for good.
        self.assertEqual(machine.upgrade(self.newer).returncode, 0)
        self.assertTrue(machine.exists("/var/lib/parley/parley.db.before-migration"))
        self.assertEqual(machine.upgrade("--confirm").returncode, 0)
        for path in ("/opt/parley.previous", "/var/lib/parley/parley.db.before-migration"):
            self.assertFalse(machine.exists(path), path)
        none = machine.upgrade("--back", "--yes")
        self.assertEqual(none.returncode, 2)
        self.assertIn("There is no previous version.", none.stderr)
        self.assertIn("after the way back", machine.texts())

    def check_question(self, machine):
        """On a terminal the command asks, and `n` changes nothing."""
        process, terminal = pty.fork()
        if process == 0:
            command = machine.inside("/opt/parley/bin/parley", "upgrade", "--back")
            os.execvpe(command[0], command, {**os.environ, **machine.environment})
        said = ""
        while "[y/N]" not in said:
            self.assertTrue(select.select([terminal], [], [], 60)[0], said)
            said += os.read(terminal, 65_536).decode()
        self.assertRegex(said, r"\d+ messages since .* will be missing; they stay in .*/replaced-…/since\.jsonl\.\s+Go back from version 9\.0\.0 to ")
        os.write(terminal, b"n\n")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), 2)
        os.close(terminal)
        self.assertEqual(machine.version(), "9.0.0")

    def test_the_way_back_of_the_same_schema_keeps_all_messages(self):
        machine = self.machine(old=self.tree)
        self.assertEqual(machine.upgrade(self.newer).returncode, 0)
        self.assertTrue(machine.post("since"))
        back = machine.upgrade("--back", "--yes")
        self.assertEqual(back.returncode, 0, back.stdout + back.stderr)
        self.assertIn(f"The database stays as it is: version {self.current} can use it.", back.stdout)
        self.assertEqual(machine.version(), self.current)
        # A return that was cut off before the start.
        machine.systemctl("stop", "parley.socket", "parley.service")
        again = machine.upgrade("--back", "--yes")
        self.assertEqual((again.returncode, again.stdout.strip()), (0, f"Version {self.current} runs."), again.stderr)
        self.assertTrue(machine.is_ready() and machine.exists("/run/parley.socket"))
        again = machine.upgrade("--back", "--yes")
        self.assertEqual(again.returncode, 2)
        self.assertIn("has no previous version, but 9.0.0 beside it.", again.stderr)
        self.assertIn("since", machine.texts())

    def test_a_purge_closes_the_way_back(self):
        machine = self.machine()
        self.assertEqual(machine.upgrade(self.newer).returncode, 0)
        self.assertEqual(machine.parley("purge", "--data", "/var/lib/parley").returncode, 0)
        back = machine.upgrade("--back", "--yes")
        self.assertEqual(back.returncode, 2)
        self.assertIn("from before its last migration is gone", back.stderr)
        self.assertEqual(machine.version(), "9.0.0")
        self.assertTrue(machine.is_ready())

    def epoch(self, machine):
        script = "import sqlite3; print(sqlite3.connect('file:/var/lib/parley/parley.db?mode=ro', uri=True).execute(\"select value from setting where name = 'epoch'\").fetchone()[0])"
        return machine.run("python3", "-c", script).stdout.strip()

    def test_killed_at_each_step_the_old_or_the_new_version_runs(self):
        machine = self.machine()
        with Load(machine):
            for step in STEPS:
                with self.subTest(step):
                    self.kill_at(step, machine)
                    machine.wait_until_ready()
                    posted = len(machine.acknowledged)
                    machine.wait_for(lambda: len(machine.acknowledged) > posted)
            # A repetition completes it.
            done = machine.upgrade(self.newer)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        machine.wait_until_ready()
        self.check_messages(machine)
        self.assertEqual((machine.version(), machine.level()), ("9.0.0", self.old_level + 1))
        self.assertEqual(sorted(machine.run("ls", "/opt").stdout.split()), ["parley", "parley.previous"])

    def kill_at(self, step, machine):
        command = machine.inside("/opt/parley/bin/parley", "upgrade", self.newer)
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, **machine.environment})
        for line in process.stdout:
            if line.startswith(step):
                process.send_signal(signal.SIGKILL)
                break
        process.stdout.close()
        self.assertEqual(process.wait(60), -signal.SIGKILL)

    def test_a_version_that_does_not_run_gives_way_to_the_old_one(self):
        migrates = '"$program" migrate --data /var/lib/parley; exit 1'
        for serve in ("exit 1", migrates):
            with self.subTest(serve):
                machine = self.machine()
                with Load(machine):
                    done = machine.upgrade(self.release("9.1.0", serve=serve))
                    self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                    machine.wait_until_ready()
                self.assertIn("Version 9.1.0 did not become ready: the service has ended.", done.stderr)
                self.assertIn(f"Version {self.current} and its database run again.", done.stderr)
                self.assertEqual((machine.version(), machine.level()), (self.current, self.old_level))
                self.check_messages(machine)
                self.assertTrue(machine.exists("/run/parley.socket"))

    # Another program than the installed one accepts messages until a file appears, so the upgrade finds the version not ready.
    STRANGE = ('cp "$program" /run/other; /run/other "$@" --share /opt/parley/share/parley & other=$!; trap "touch /run/end" TERM; '
               "while [ ! -e /run/end ]; do sleep 0.05; done; kill $other; wait $other; exit 1")

    def upgrade_to_a_strange_version(self, **commands):
        """An upgrade to a version that accepts messages and does not become ready."""
        machine = self.machine()
        with Load(machine):
            process = subprocess.Popen(
                machine.inside("/opt/parley/bin/parley", "upgrade", self.release("9.1.0", serve=self.STRANGE, **commands)),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **machine.environment})
            machine.wait_for(lambda: machine.exists("/run/other") and machine.level() == self.old_level + 1)
            posted = len(machine.acknowledged)
            machine.wait_for(lambda: len(machine.acknowledged) > posted + 1)
            machine.run("touch", "/run/end")
            said, failure = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 1, said + failure)
        self.assertIn("Version 9.1.0 did not become ready: the service has ended.", failure)
        self.assertEqual((machine.version(), machine.level()), ("9.1.0", self.old_level + 1))
        machine.run("rm", "-f", "/run/end")
        machine.systemctl("start", "parley.service")
        machine.wait_until_ready()
        self.check_messages(machine)
        return machine, failure

    def test_messages_of_a_failing_version_are_not_dropped(self):
        machine, failure = self.upgrade_to_a_strange_version()
        self.assertRegex(failure, r"It stays installed: [\d,]+ messages and [\d,]+ changes came after its migration\. parley upgrade --back goes back without them")
        # On request it goes back without them, and keeps them.
        back = machine.upgrade("--back", "--yes")
        self.assertEqual(back.returncode, 0, back.stdout + back.stderr)
        self.assertEqual((machine.version(), machine.level()), (self.current, self.old_level))

    def test_a_database_that_can_not_be_compared_stays(self):
        _, failure = self.upgrade_to_a_strange_version(
            migrate='case $* in *--changes*) echo "no comparison" >&2; exit 2 ;; esac; exec "$program" "$@"')
        self.assertIn("It stays installed: The database can't be compared with that of before: exit status 2: no comparison", failure)

    def test_a_fault_after_the_stop_names_both_reasons_and_starts_the_installed_version(self):
        machine = self.machine()
        migrate = 'case $* in *--undo*) echo "no restore" >&2; exit 2 ;; esac; exec "$program" "$@"'
        self.assertEqual(machine.upgrade(self.release("9.1.0", migrate=migrate)).returncode, 0)
        back = machine.upgrade("--back", "--yes")
        self.assertEqual(back.returncode, 2)
        self.assertIn("The database from before the migration can't be put back: exit status 2: no restore", back.stderr)
        self.assertIn("Version 9.1.0 runs.", back.stderr)
        machine.wait_until_ready()
        self.assertTrue(machine.exists("/run/parley.socket"))
        machine.run("touch", "/run/refuses-start")
        back = machine.upgrade("--back", "--yes")
        self.assertEqual(back.returncode, 2)
        self.assertIn("no restore", back.stderr)
        self.assertIn("Version 9.1.0 is installed, and it does not start: systemctl start", back.stderr)
        machine.run("rm", "/run/refuses-start")

    def test_the_way_back_is_named_only_with_its_database(self):
        machine = self.machine()
        removes = '"$program" migrate --data /var/lib/parley; rm -f /var/lib/parley/parley.db.before-migration; exec "$program" "$@"'
        done = machine.upgrade(self.release("9.1.0", serve=removes))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("Version 9.1.0 runs. There is no way back: the copy of the database from before its migration is gone.", done.stdout)

    def test_the_way_back_without_room_does_not_stop_the_service(self):
        machine = self.machine(lib="128m")
        self.assertEqual(machine.upgrade(self.newer).returncode, 0)
        # Less than the margin, and more than a tenth of the disk, which would delete the copy of the database.
        machine.run("sh", "-c", "head -c $(($(df --output=avail -B1 /var/lib | tail -1) - 15000000)) /dev/zero >/var/lib/other")
        stops = (machine.folder / "calls").read_text().count("stop ")
        back = machine.upgrade("--back", "--yes")
        self.assertEqual(back.returncode, 2)
        self.assertRegex(back.stderr, r"The way back needs \d+ MB of /var/lib/parley, and \d+ MB are free\.")
        self.assertEqual((machine.folder / "calls").read_text().count("stop "), stops)
        self.assertEqual(machine.version(), "9.0.0")
        self.assertTrue(machine.is_ready())

    def test_an_unknown_state_of_the_database_stops_the_way_back(self):
        machine = self.machine(old=self.tree)
        self.assertEqual(machine.upgrade(self.newer).returncode, 0)
        stops = (machine.folder / "calls").read_text().count("stop ")
        machine.run("mv", "/opt/parley.previous/share/parley/Migrations", "/opt/parley.previous/share/parley/Moved")
        back = machine.upgrade("--back", "--yes")
        self.assertEqual(back.returncode, 2)
        self.assertIn("can't tell whether it can use the database: exit status 2", back.stderr)
        self.assertEqual((machine.folder / "calls").read_text().count("stop "), stops)
        self.assertEqual(machine.version(), "9.0.0")

    def test_files_of_the_operator_in_the_folder_are_not_replaced(self):
        machine = self.machine()
        for path in ("key.pem", ".hidden", "bin/backup.sh", "share/parley/Public/own.css", "lib/link"):
            with self.subTest(path):
                machine.run("ln", "-s", "/etc/hostname", f"/opt/parley/{path}")
                done = machine.upgrade(self.newer)
                self.assertEqual(done.returncode, 2)
                self.assertIn(f"/opt/parley/{path} is not of the archive, and an upgrade replaces the folder.", done.stderr)
                self.check_unchanged(machine)
                machine.run("rm", f"/opt/parley/{path}")
        machine.run("mkdir", "/opt/parley/data")
        done = machine.run("/opt/parley/bin/parley", "upgrade", self.newer, "--data", "/opt/parley/data", UNIT_PROGRAM="/usr/bin/parley")
        self.assertEqual(done.returncode, 2)
        self.assertIn("The data folder /opt/parley/data is in /opt/parley, which an upgrade replaces.", done.stderr)
        machine.run("rmdir", "/opt/parley/data")
        # The previous version is deleted name by name.
        self.assertEqual(machine.upgrade(self.newer).returncode, 0)
        machine.run("touch", "/opt/parley.previous/key.pem")
        confirmed = machine.upgrade("--confirm")
        self.assertEqual(confirmed.returncode, 2)
        self.assertIn("/opt/parley.previous/key.pem is not of an archive of Parley", confirmed.stderr)
        machine.run("rm", "/opt/parley.previous/key.pem")
        self.assertEqual(machine.upgrade("--confirm").returncode, 0)
        self.assertFalse(machine.exists("/opt/parley.previous"))

    def test_copies_of_units_follow_the_installed_version(self):
        machine = self.machine()
        units = "/etc/systemd/system"
        machine.run("sh", "-c", f"cp /opt/parley/lib/systemd/system/parley* {units}/; echo '# mine' >>{units}/parley.socket")

        def edit(tree):
            for name in ("parley.service", "parley.socket", "parley-https.socket"):
                unit = tree / "lib/systemd/system" / name
                change(unit, unit.read_bytes() + b"# New.\n")

        def contents():
            return [machine.run("cat", f"{units}/{name}").stdout for name in ("parley.service", "parley.socket", "parley-redirect.socket")]

        service, socket, redirect = contents()
        newer = self.release("9.1.0", edit=edit)
        done = machine.upgrade(newer)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"Replaced {units}/parley.service\n", done.stdout)
        self.assertIn(f"{units}/parley.socket has changes of yours. Compare it with /opt/parley/lib/systemd/system/parley.socket", done.stdout)
        self.assertEqual(contents(), [service + "# New.\n", socket, redirect])
        # A repetition completes what was cut off.
        machine.run("cp", "/opt/parley.previous/lib/systemd/system/parley.service", f"{units}/")
        self.assertEqual(machine.upgrade(newer).returncode, 0)
        self.assertEqual(contents()[0], service + "# New.\n")
        calls = (machine.folder / "calls").read_text().splitlines()
        self.assertLess(calls.index("daemon-reload"), calls.index("restart parley.service"))
        self.assertEqual(machine.upgrade("--back", "--yes").returncode, 0)
        self.assertEqual(contents(), [service, socket, redirect])

    def test_the_unit_names_the_data_folder(self):
        machine = self.machine()
        # The folder ./data of another site in the working directory is not that of the service.
        machine.run("mkdir", "-p", "/opt/work/data")
        machine.folder.joinpath("in").write_text('#!/bin/sh\ncd /opt/work && exec /opt/parley/bin/parley "$@"\n')
        done = machine.run("sh", machine.folder / "in", "upgrade", self.newer, "--data", "data")
        self.assertEqual(done.returncode, 2)
        self.assertIn("parley.service uses the data folder /var/lib/parley, not /opt/work/data. Repeat the command without --data.", done.stderr)
        done = machine.run("sh", machine.folder / "in", "upgrade", self.newer)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("Version 9.0.0 runs.", done.stdout)
        self.assertEqual(machine.level(), self.old_level + 1)
        back = machine.run("sh", machine.folder / "in", "upgrade", "--back", "--yes")
        self.assertEqual((back.returncode, machine.level()), (0, self.old_level), back.stdout + back.stderr)

    def test_the_service_of_another_program_is_not_restarted(self):
        machine = self.machine()
        done = machine.run("/opt/parley/bin/parley", "upgrade", self.newer, "--data", "/var/lib/parley", UNIT_PROGRAM="/usr/bin/parley")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("Version 9.0.0 is installed. Restart the server to run it.", done.stdout)
        self.assertNotIn("restart", (machine.folder / "calls").read_text())

    def test_a_closed_terminal_does_not_end_the_restart(self):
        machine = self.machine()
        command = machine.inside("/opt/parley/bin/parley", "upgrade", self.newer)
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**os.environ, **machine.environment}) as process:
            for line in process.stdout:
                if line.startswith("Installed version"):
                    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
                        process.send_signal(number)
                last = line
            self.assertEqual(process.wait(60), 0, last)
        self.assertIn("Version 9.0.0 runs.", last)

    def test_a_return_under_a_lock_refuses_changes(self):
        machine = self.machine()
        self.assertEqual(machine.upgrade(self.newer).returncode, 0)
        self.assertTrue(machine.post("since"))
        machine.systemctl("stop", "parley.socket", "parley.service")
        undo = machine.parley("migrate", "--undo", "--if-unchanged", "--data", "/var/lib/parley")
        self.assertEqual(undo.returncode, 2)
        self.assertRegex(undo.stderr, r"1 message and \d+ changes? came since\. Nothing was changed\.")
        self.assertEqual(machine.level(), self.old_level + 1)
        wrong = machine.parley("migrate", "--changes", "--if-unchanged", "--data", "/var/lib/parley")
        self.assertIn("--if-unchanged needs --undo.", wrong.stderr)

    def test_a_second_run_is_refused(self):
        machine = self.machine()
        held = subprocess.Popen(
            machine.inside("flock", "/opt/.parley.lock", "sh", "-c", "echo held; exec cat"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.assertEqual(held.stdout.readline(), "held\n")
        for arguments in ((self.newer,), ("--back", "--yes"), ("--confirm",)):
            done = machine.upgrade(*arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn("Another parley upgrade runs.", done.stderr)
        held.communicate("")
        self.check_unchanged(machine)

    def test_the_way_back_follows_no_links_of_the_service_user(self):
        machine = self.machine()
        self.assertEqual(machine.upgrade(self.newer).returncode, 0)
        machine.run("mkdir", "-m", "700", "/etc/foreign")
        machine.run("touch", "/etc/foreign/parley.db")
        machine.run("setpriv", "--reuid=parley", "--regid=parley", "--clear-groups", "ln", "-s", "/etc/foreign", "/var/lib/parley/restore.ready")
        back = machine.upgrade("--back", "--yes")
        self.assertEqual(back.returncode, 2)
        self.assertIn("restore.ready is no folder", back.stderr)
        self.assertTrue(machine.exists("/etc/foreign/parley.db"))
        machine.run("rm", "/var/lib/parley/restore.ready")

    def test_a_failed_test_of_the_database_changes_nothing(self):
        machine = self.machine()
        done = machine.upgrade(self.release("9.1.0", migrate='echo "The database would be damaged: x." >&2; exit 1'))
        self.assertEqual(done.returncode, 2)
        self.assertIn("The new version can't use the database, and nothing was changed: exit status 1: The database would be damaged", done.stderr)
        self.check_unchanged(machine)

    def check_unchanged(self, machine):
        self.assertEqual((machine.version(), machine.level()), (self.current, self.old_level))
        self.assertEqual(machine.run("ls", "/opt").stdout.split(), ["parley"])
        self.assertTrue(machine.is_ready())
        self.assertNotIn("restart", (machine.folder / "calls").read_text())

    def test_refusals_name_the_next_step_and_change_nothing(self):
        machine = self.machine()
        other_secret, _ = self.make_keys("other")
        good = f"parley-9.0.0-linux-{self.architecture}"
        flipped = self.stub(good)
        content = bytearray(flipped.read_bytes())
        content[len(content) // 2] ^= 1
        flipped.write_bytes(content)
        unsigned = self.stub(good)
        Path(f"{unsigned}.minisig").unlink()
        changed = self.stub(good)
        signature = Path(f"{changed}.minisig")
        signature.write_text(signature.read_text().replace("file:parley-9.0.0", "file:parley-9.0.1"))
        cut = self.stub(good)
        Path(f"{cut}.minisig").write_text("untrusted comment: x\nAAAA\n")
        summed = self.stub(good)
        (summed.parent / "SHA256SUMS").write_text(f"{'0' * 64}  {summed.name}\n")
        foreign = "s390x"
        lying = self.release("9.0.0", name=f"parley-9.0.2-linux-{self.architecture}")
        for arguments, sentence in (
                ((flipped,), "is wrong: the file is damaged or not from this project"),
                ((changed,), "is wrong: the file is damaged or not from this project"),
                ((self.stub(good, other_secret),), "was made with another key"),
                ((unsigned,), f"has no signature. Download {unsigned.name}.minisig into the same folder"),
                ((cut,), "is no signature of minisign"),
                ((summed,), "has another sum of"),
                ((self.stub(f"parley-0.0.1-linux-{self.architecture}"),), f"has version 0.0.1, and {self.current} is installed. parley upgrade --back"),
                ((self.stub(f"parley-9.0.0-linux-{foreign}"),), f"is for {foreign}, and this machine runs {self.architecture}"),
                ((self.stub("parley-js-9.0.0"),), "is no archive of Parley. Name a file like parley-"),
                ((lying,), "The archive of version 9.0.2 has the program of version 9.0.0"),
                (("/nowhere.tar.gz",), "The file /nowhere.tar.gz does not exist."),
                ((self.newer, "--public-key", "/nowhere.pub"), "The public key /nowhere.pub is missing"),
                ((self.newer, "--data", "/nowhere"), "uses the data folder /var/lib/parley, not /nowhere. Repeat the command without --data."),
                (("--back",), "There is no previous version."),
                (("--back", "--confirm"), "--back and --confirm exclude each other."),
                ((), "parley upgrade needs a FILE.")):
            with self.subTest(sentence):
                done = machine.upgrade(*arguments)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn(sentence, done.stderr)
                self.check_unchanged(machine)
        done = machine.run("setpriv", "--reuid=parley", "--regid=parley", "--clear-groups", "/opt/parley/bin/parley", "upgrade", self.newer)
        self.assertEqual(done.returncode, 2)
        self.assertIn("needs root", done.stderr)

    def test_no_room_changes_nothing(self):
        machine = self.machine(opt="160m")
        done = machine.upgrade(self.newer)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertRegex(done.stderr, r"The new version needs .* of /opt, and .* are free\. Make room")
        self.check_unchanged(machine)
        # The reserve of the server and a file leave no room for copies of the database.
        machine = self.machine(lib="64m")
        machine.run("sh", "-c", "head -c 30000000 /dev/zero >/var/lib/other")
        script = "import sqlite3; c = sqlite3.connect('/var/lib/parley/parley.db'); c.execute(\"insert into setting values ('test', hex(zeroblob(4000000)))\"); c.commit()"
        self.assertEqual(machine.run("python3", "-c", script).returncode, 0)
        done = machine.upgrade(self.newer)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("The test of the migrations needs", done.stderr)
        self.check_unchanged(machine)

    def test_the_program_of_a_build_is_not_replaced(self):
        done = run(TOP / ".build/release/parley", "upgrade", self.newer, "--data", self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("was not installed from an archive or a package", done.stderr)


if __name__ == "__main__":
    unittest.main()
