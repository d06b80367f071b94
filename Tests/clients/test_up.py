"""`parley up`: a machine of its own becomes a site, on a terminal and by flags. The programs of systemd are stand-ins."""

import codecs
import os
import pty
import re
import select
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import qrcode
from servers import PARLEY

# A machine: its own network, processes, names, settings, units and user of the service. Changes of this file system stay in
# the namespace.
MACHINE = r"""
set -e
ip link set lo up
ip address add 198.51.100.7/32 dev lo
echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start
mount --make-rprivate /
mkdir "$FOLDER/changes"
mount -t tmpfs tmpfs "$FOLDER/changes"
mkdir "$FOLDER/changes/upper" "$FOLDER/changes/work"
mount -t overlay -o "lowerdir=/etc,upperdir=$FOLDER/changes/upper,workdir=$FOLDER/changes/work" overlay /etc
for folder in /run /var/lib /srv; do mount -t tmpfs tmpfs $folder; done
mkdir -p /run/systemd/system
rm -rf /etc/parley /etc/parley.env /etc/systemd/system/parley.service.d
printf '127.0.0.1 localhost here.parley.test\n198.51.100.7 chat.parley.test\n192.0.2.7 elsewhere.parley.test\n' >/etc/hosts
echo 'parley:x:64720:64720::/var/lib/parley:/usr/sbin/nologin' >>/etc/passwd
echo 'parley:x:64720:' >>/etc/group
install -d -m 700 -o parley -g parley /var/lib/parley
mount --bind "$FOLDER/systemctl" /usr/bin/systemctl
"""
# Notes its calls. `start` opens the sockets and runs the server as its user, as the units do; `stop` ends the server.
SYSTEMCTL = r"""#!/bin/sh
echo "$*" >>"$FOLDER/calls"
running() { [ -e "$FOLDER/process" ] && kill -0 "$(cat "$FOLDER/process")" 2>/dev/null; }
case $* in
  start*)
    touch "$FOLDER/sockets"
    PARLEY_DATA=/var/lib/parley setpriv --reuid=parley --regid=parley --clear-groups \
      "$PARLEY" serve $LISTENERS >>"$FOLDER/log" 2>&1 &
    echo $! >"$FOLDER/process" ;;
  stop*) if running; then kill "$(cat "$FOLDER/process")"; while running; do sleep 0.05; done; fi ;;
  is-failed*) ! running ;;
  is-active*.socket) [ -e "$FOLDER/sockets" ] ;;
  is-active*) running ;;
  *NeedDaemonReload*) echo no ;;
  *property=Environment*) echo "PARLEY_DATA=/var/lib/parley $EXTRA" ;;
esac
"""
TLS = "--listen [::]:443 --redirect-listen [::]:80"
PLAIN = "--listen 127.0.0.1:8080"
PACKAGED = """# Comments stay.
data = /var/lib/parley
#acme = no
"""


class Machine:
    def __init__(self, case, listeners=TLS, has_systemd=True, conf=PACKAGED, mode="root:root 644", extra=""):
        self.folder = Path(case.enterContext(tempfile.TemporaryDirectory(prefix="parley-")))
        (self.folder / "systemctl").write_text(SYSTEMCTL)
        (self.folder / "systemctl").chmod(0o755)
        self.script = MACHINE if has_systemd else MACHINE.replace("mkdir -p /run/systemd/system\n", "")
        if conf is not None:
            (self.folder / "given.conf").write_bytes(conf.encode())
            owner, permissions = mode.split()
            self.script += (f'install -d /etc/parley\ncp "$FOLDER/given.conf" /etc/parley/parley.conf\n'
                            f"chown {owner} /etc/parley/parley.conf\nchmod {permissions} /etc/parley/parley.conf\n")
        self.environment = {
            **os.environ, "FOLDER": str(self.folder), "PARLEY": str(PARLEY), "LISTENERS": listeners, "EXTRA": extra}

    def command(self, *arguments, before="", after=""):
        script = (f'{self.script}\n{before}\nset +e\n"$@"; status=$?\n{after}\nsystemctl stop\n'
                  'stat --format "%U:%G %a" /etc/parley /etc/parley/parley.conf >"$FOLDER/modes"\n'
                  'cp /etc/parley/parley.conf "$FOLDER/"\n'
                  'cp /etc/systemd/system/parley.service.d/backups.conf "$FOLDER/"\nexit $status')
        return ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", script, "sh",
                PARLEY, "up", *arguments]

    def up(self, *arguments, before="", after=""):
        return subprocess.run(
            [str(part) for part in self.command(*arguments, before=before, after=after)], env=self.environment,
            capture_output=True, text=True, timeout=200, stdin=subprocess.DEVNULL)

    def read(self, name):
        path = self.folder / name
        return path.read_text() if path.exists() else ""

    def log(self):
        return self.read("log")

    def settings(self):
        return [line for line in self.read("parley.conf").splitlines() if line and not line.startswith("#")]

    def calls(self, since=""):
        """The calls that change something."""
        calls = self.read("calls").splitlines()
        calls = calls[calls.index(since) + 1:] if since else calls
        return [call for call in calls if not call.startswith(("cat", "is-", "show"))]


@unittest.skipIf(os.geteuid() != 0, "only root can make a network")
class Up(unittest.TestCase):
    part = "hosting"

    waits = True

    def test_a_site_with_its_own_certificates(self):
        machine = Machine(self)
        done = machine.up("chat.parley.test", "--yes", "--acme-email", "owner@parley.test")
        self.assertEqual(done.returncode, 0, done.stderr + machine.log())
        self.assertEqual(machine.settings(), [
            "data = /var/lib/parley", "acme = yes", "public-url = https://chat.parley.test",
            "acme-email = owner@parley.test", "backup-every = 24"])
        self.assertIn("# Comments stay.", machine.read("parley.conf"))
        self.assertRegex(done.stdout, r"Open this link.*\n\n  https://chat\.parley\.test/setup/\w+\n")
        self.assertNotIn("█", done.stdout)
        self.assertIn("Keep copies of secrets.key and site.key of /var/lib/parley apart from the backups", done.stdout)
        # No certificate authority answers in this network.
        self.assertIn("The certificate is not there yet", done.stderr)
        self.assertIn("can't be reached", done.stderr)
        self.assertEqual(machine.calls(), [
            "daemon-reload", "disable --now parley.socket",
            "enable parley-https.socket parley-redirect.socket parley.service", "stop parley.service",
            "start parley-https.socket parley-redirect.socket parley.service", "stop"])

    def test_a_machine_without_a_settings_file_gets_one_that_the_service_reads(self):
        machine = Machine(self, conf=None)
        done = machine.up("chat.parley.test", "--yes")
        self.assertEqual(done.returncode, 0, done.stderr + machine.log())
        self.assertEqual(machine.read("modes").splitlines(), ["root:root 755", "root:root 644"])
        self.assertIn("https://chat.parley.test/setup/", done.stdout)

    def test_a_file_keeps_its_owner_and_a_restricted_one_is_never_skipped(self):
        machine = Machine(self, mode="root:parley 640")
        done = machine.up("chat.parley.test", "--yes")
        self.assertEqual(done.returncode, 0, done.stderr + machine.log())
        self.assertEqual(machine.read("modes").splitlines()[1], "root:parley 640")
        closed = Machine(self)
        closed.up("chat.parley.test", "--yes", before="chmod 700 /etc/parley")
        self.assertIn("Can't read /etc/parley/parley.conf: Permission denied", closed.log())

    def test_a_second_run_changes_nothing(self):
        machine = Machine(self, conf=PACKAGED + "backup-every = 6\npublic-url = https://old.parley.test, https://chat.parley.test\n")
        again = ('"$@" --acme-email owner@parley.test --backup-to /srv/backups/parley >/dev/null || exit 9; '
                 'cp /etc/parley/parley.conf "$FOLDER/first.conf"; echo again >>"$FOLDER/calls"')
        done = machine.up("chat.parley.test", "--yes", before=again)
        self.assertEqual(done.returncode, 0, done.stderr + machine.log())
        self.assertIn("The settings and the service are as they should be.", done.stdout)
        self.assertEqual(machine.read("parley.conf"), machine.read("first.conf"))
        for line in ("backup-every = 6", "backup-to = /srv/backups/parley", "acme-email = owner@parley.test",
                     "public-url = https://old.parley.test, https://chat.parley.test"):
            self.assertIn(line, machine.settings())
        self.assertEqual(machine.calls("again"), ["stop"])
        self.assertEqual(machine.read("backups.conf"), '# Written by parley up.\n[Service]\nReadWritePaths="-/srv/backups/parley"\n')

    def test_a_run_that_was_cut_off_is_completed(self):
        # The file is written, and the service still has the settings of before.
        machine = Machine(self)
        changed = ('"$@" >/dev/null || exit 9; sed -i "s/^backup-every.*/backup-every = 12/" /etc/parley/parley.conf; '
                   'echo again >>"$FOLDER/calls"')
        done = machine.up("chat.parley.test", "--yes", before=changed)
        self.assertEqual(done.returncode, 0, done.stderr + machine.log())
        self.assertIn("start parley-https.socket parley-redirect.socket parley.service", machine.calls("again"))
        # The service has failed, while systemd holds the ports.
        failed = Machine(self)
        held = ('touch "$FOLDER/sockets"; python3 -m http.server --bind :: 443 >/dev/null 2>&1 & holder=$!; sleep 1; '
                '(sleep 2; kill $holder) &')
        done = failed.up("chat.parley.test", "--yes", before=held)
        self.assertNotIn("is not free", done.stderr)

    def test_a_site_behind_a_proxy(self):
        machine = Machine(self, PLAIN)
        # A process with the name of the proxy.
        nginx = 'cp /bin/sleep "$FOLDER/nginx"; "$FOLDER/nginx" 100 & sleep 0.1'
        done = machine.up("chat.parley.test", "--yes", before=nginx)
        self.assertEqual(done.returncode, 0, done.stderr + machine.log())
        self.assertEqual(machine.settings(), [
            "data = /var/lib/parley", "public-url = https://chat.parley.test", "trusted-proxy = 127.0.0.1/32",
            "backup-every = 24"])
        self.assertIn("proxy_pass http://127.0.0.1:8080;", done.stdout)
        self.assertIn("enable parley.socket parley.service", machine.calls())

    def test_the_questions_of_a_terminal_and_a_code_that_a_phone_reads(self):
        machine = Machine(self)
        said, status, keys = self.on_terminal(machine, [
            ("Certificates:", ""), ("Mail address", "nobody"), ("Mail address", "owner@parley.test"), ("Folder for nightly", "")])
        self.assertEqual(status, 0, said + machine.log())
        self.assertIn('"nobody" is no answer.', said)
        self.assertLessEqual(keys, 60)
        link = re.search(r"https://chat\.parley\.test/setup/\w+", said)[0]
        rows = [line for line in re.findall(r"\x1b\[97;40m([ ▀▄█]+)\x1b\[0m", said)]
        bits = []
        for row in rows:
            bits.append(["▀█".find(cell) < 0 for cell in row])
            bits.append(["▄█".find(cell) < 0 for cell in row])
        size = len(bits[0])
        code = [row[4:size - 4] for row in bits[4:size - 4]]
        expected = qrcode.QRCode(
            version=(len(code) - 17) // 4, error_correction=qrcode.ERROR_CORRECT_L, mask_pattern=0, border=0)
        expected.add_data(qrcode.util.QRData(link.encode(), mode=qrcode.util.MODE_8BIT_BYTE))
        self.assertEqual(code, [[bool(cell) for cell in row] for row in expected.get_matrix()])

    def on_terminal(self, machine, answers):
        """Runs the command on a terminal. Returns the output, the exit status and the number of keys."""
        process, terminal = pty.fork()
        if process == 0:
            command = [str(part) for part in machine.command("chat.parley.test")]
            os.execvpe(command[0], command, {**machine.environment, "TERM": "xterm"})
        # A read may end within a character.
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        said, keys, deadline, answered = "", 0, time.monotonic() + 100, 0
        while time.monotonic() < deadline:
            if not select.select([terminal], [], [], 1)[0]:
                continue
            try:
                part = os.read(terminal, 65_536)
            except OSError:
                break
            if not part:
                break
            said += decoder.decode(part)
            if answers and answers[0][0] in said[answered:] and said.endswith("]: "):
                text = answers.pop(0)[1] + "\n"
                answered = len(said)
                keys += len(text)
                os.write(terminal, text.encode())
        os.close(terminal)
        return said, os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), keys

    def test_refusals_change_nothing(self):
        listening = "python3 -m http.server --bind :: 443 >/dev/null 2>&1 & sleep 1"
        for arguments, before, sentence in (
                (("192.0.2.7", "--yes"), "", "192.0.2.7 is an address"),
                (("chat", "--yes"), "", "is not a name of the DNS"),
                (("elsewhere.parley.test", "--yes"), "", "leads to 192.0.2.7, which is no address of this machine"),
                (("here.parley.test", "--yes"), "", "only here, by /etc/hosts"),
                (("unknown.parley.test", "--yes"), "", "has no address. Add an A or AAAA record"),
                (("chat.parley.test", "--yes"), listening, "Port 443 is not free"),
                (("chat.parley.test",), "", "Standard input is not a terminal. Add --yes"),
                (("chat.parley.test", "--yes", "--tls", "both"), "", '--tls can\'t be "both"'),
                (("chat.parley.test", "--yes", "--acme-email", "nobody"), "", '--acme-email can\'t be "nobody"'),
                (("chat.parley.test", "--yes", "--backup-to", "backups"), "", '--backup-to can\'t be "backups"'),
                (("chat.parley.test", "--yes", "--backup-to", "/home/backups"), "", "The service can't see /home."),
                (("chat.parley.test", "--yes", "--backup-to", "/srv/backups"), "mkdir /srv/backups", "belongs to another user than parley"),
                (("chat.parley.test", "--yes"), "echo PARLEY_PUBLIC_URL=https://a.example >/etc/parley.env",
                 "/etc/parley.env sets PARLEY_PUBLIC_URL"),
                (("chat.parley.test", "--yes"), "export EXTRA=PARLEY_TLS_CERTIFICATE=/x", "A drop-in of parley.service sets PARLEY_TLS_CERTIFICATE"),
                (("chat.parley.test", "--yes"), "echo 'loops = 9999' >>/etc/parley/parley.conf", "loops takes a number from 1 to 256")):
            with self.subTest(sentence):
                machine = Machine(self)
                keep = f'{before}\ncp /etc/parley/parley.conf "$FOLDER/first.conf"; stat --format %U /srv/* >"$FOLDER/owners" 2>/dev/null'
                done = machine.up(*arguments, before=keep + " || true")
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn(sentence, done.stderr)
                self.assertEqual(machine.read("parley.conf"), machine.read("first.conf"))
                self.assertEqual(machine.calls(), ["stop"])

    def test_a_machine_without_systemd_gets_the_command(self):
        machine = Machine(self, has_systemd=False)
        done = machine.up("chat.parley.test", "--yes")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("parley serve --listen '[::]:443' --redirect-listen '[::]:80'", done.stdout)
        self.assertIn("acme = yes", machine.settings())

    def test_only_root_may(self):
        done = subprocess.run(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", PARLEY, "up", "chat.parley.test"],
            capture_output=True, text=True, cwd="/")
        self.assertEqual(done.returncode, 2)
        self.assertIn("needs root", done.stderr)


if __name__ == "__main__":
    unittest.main()
