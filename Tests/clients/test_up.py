"""`parley up`: a machine of its own becomes a site, on a terminal and by flags. The programs of systemd are stand-ins."""

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

# A machine: its own network, processes, names, settings and units. Changes of this file system stay in the namespace.
MACHINE = r"""
set -e
ip link set lo up
mount --make-rprivate /
for folder in /etc/parley /etc/systemd/system /run; do mkdir -p $folder; mount -t tmpfs tmpfs $folder; done
mkdir -p /run/systemd/system
printf '127.0.0.1 localhost chat.parley.test\n192.0.2.7 elsewhere.parley.test\n' >"$FOLDER/hosts"
mount --bind "$FOLDER/hosts" /etc/hosts
touch /usr/bin/systemctl
mount --bind "$FOLDER/systemctl" /usr/bin/systemctl
exec "$@"
"""
# Notes its calls. `start` runs the server as the unit does; `stop` ends it.
SYSTEMCTL = r"""#!/bin/sh
echo "$*" >>"$FOLDER/calls"
case $1 in
  start)
    "$PARLEY" serve --config "$FOLDER/parley.conf" $LISTENERS >"$FOLDER/log" 2>&1 &
    echo $! >"$FOLDER/process" ;;
  stop) [ ! -e "$FOLDER/process" ] || { kill "$(cat "$FOLDER/process")"; rm "$FOLDER/process"; } ;;
  is-active) [ -e "$FOLDER/process" ] ;;
esac
"""
TLS = "--listen 127.0.0.1:443 --redirect-listen 127.0.0.1:80"
PLAIN = "--listen 127.0.0.1:8080"


class Machine:
    def __init__(self, case, listeners=TLS, has_systemd=True):
        self.case = case
        self.folder = Path(case.enterContext(tempfile.TemporaryDirectory(prefix="parley-")))
        (self.folder / "systemctl").write_text(SYSTEMCTL)
        (self.folder / "systemctl").chmod(0o755)
        self.conf = self.folder / "parley.conf"
        # No certificate authority answers in this network.
        self.conf.write_text(f"# Comments stay.\ndata = {self.folder}/data\n#acme = no\n")
        self.script = MACHINE if has_systemd else MACHINE.replace("mkdir -p /run/systemd/system\n", "")
        self.environment = {**os.environ, "FOLDER": str(self.folder), "PARLEY": str(PARLEY), "LISTENERS": listeners}

    def command(self, *arguments, before=""):
        script = self.script.replace('exec "$@"', f'{before}\n"$@"; status=$?; systemctl stop; exit $status')
        return ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", script, "sh", PARLEY, "up", *arguments, "--file", self.conf]

    def up(self, *arguments, before="", **options):
        return subprocess.run(
            [str(part) for part in self.command(*arguments, before=before)], env=self.environment, capture_output=True,
            text=True, timeout=120, stdin=subprocess.DEVNULL, **options)

    def log(self):
        path = self.folder / "log"
        return path.read_text() if path.exists() else ""

    def settings(self):
        return [line for line in self.conf.read_text().splitlines() if line and not line.startswith("#")]

    def calls(self):
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []


@unittest.skipIf(os.geteuid() != 0, "only root can make a network")
class Up(unittest.TestCase):
    def test_a_site_with_its_own_certificates(self):
        machine = Machine(self)
        done = machine.up("chat.parley.test", "--yes", "--acme-email", "owner@parley.test")
        self.assertEqual(done.returncode, 0, done.stderr + machine.log())
        self.assertEqual(machine.settings(), [
            f"data = {machine.folder}/data", "acme = yes", "public-url = https://chat.parley.test",
            "acme-email = owner@parley.test", "backup-every = 24"])
        self.assertIn("# Comments stay.", machine.conf.read_text())
        self.assertRegex(done.stdout, r"Open this link.*\n\n  https://chat\.parley\.test/setup/\w+\n")
        self.assertNotIn("█", done.stdout)
        calls = [call for call in machine.calls() if not call.startswith(("cat", "is-active"))]
        self.assertEqual(calls, [
            "daemon-reload", "disable --now parley.socket",
            "enable parley-https.socket parley-redirect.socket parley.service", "stop parley.service",
            "start parley-https.socket parley-redirect.socket parley.service", "stop"])

    def test_a_second_run_changes_nothing(self):
        machine = Machine(self)
        again = ' "$@" >/dev/null; before=$(md5sum <"$FOLDER/parley.conf"); echo again >>"$FOLDER/calls"'
        done = machine.up("chat.parley.test", "--yes", before=again)
        self.assertEqual(done.returncode, 0, done.stderr + machine.log())
        self.assertIn("The settings and the service are as they should be.", done.stdout)
        self.assertNotIn("Wrote", done.stdout)
        later = machine.calls()[machine.calls().index("again") + 1:]
        self.assertEqual([call for call in later if not call.startswith(("cat", "is-active"))], ["stop"])

    def test_a_site_behind_a_proxy(self):
        machine = Machine(self, PLAIN)
        # A process with the name of the proxy.
        nginx = 'cp /bin/sleep "$FOLDER/nginx"; "$FOLDER/nginx" 100 & sleep 0.1'
        backups = machine.folder / "backups"
        done = machine.up("chat.parley.test", "--yes", "--backup-to", backups, before=nginx)
        self.assertEqual(done.returncode, 0, done.stderr + machine.log())
        self.assertEqual(machine.settings(), [
            f"data = {machine.folder}/data", "public-url = https://chat.parley.test", "trusted-proxy = 127.0.0.1/32",
            "backup-every = 24", f"backup-to = {backups}"])
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
            said += part.decode(errors="replace")
            if answers and answers[0][0] in said[answered:] and said.endswith("]: "):
                text = answers.pop(0)[1] + "\n"
                answered = len(said)
                keys += len(text)
                os.write(terminal, text.encode())
        os.close(terminal)
        return said, os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), keys

    def test_refusals_change_nothing(self):
        listening = "python3 -m http.server --bind 127.0.0.1 443 >/dev/null 2>&1 & " \
                    "for _ in $(seq 100); do (exec 3<>/dev/tcp/127.0.0.1/443) 2>/dev/null && break; sleep 0.05; done; sleep 0.3"
        for arguments, before, sentence in (
                (("192.0.2.7", "--yes"), "", "192.0.2.7 is an address"),
                (("chat", "--yes"), "", "is not a name of the DNS"),
                (("elsewhere.parley.test", "--yes"), "", "leads to 192.0.2.7, which is no address of this machine"),
                (("unknown.parley.test", "--yes"), "", "has no address. Add an A or AAAA record"),
                (("chat.parley.test", "--yes"), listening, "Port 443 is not free"),
                (("chat.parley.test",), "", "Standard input is not a terminal. Add --yes"),
                (("chat.parley.test", "--yes", "--tls", "both"), "", '--tls can\'t be "both"'),
                (("chat.parley.test", "--yes", "--acme-email", "nobody"), "", '--acme-email can\'t be "nobody"'),
                (("chat.parley.test", "--yes", "--backup-to", "backups"), "", '--backup-to can\'t be "backups"')):
            with self.subTest(sentence):
                machine = Machine(self)
                before_text = machine.conf.read_text()
                done = machine.up(*arguments, before=before)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn(sentence, done.stderr)
                self.assertEqual(machine.conf.read_text(), before_text)
                self.assertEqual([call for call in machine.calls() if not call.startswith(("cat", "is-active", "stop"))], [])

    def test_a_machine_without_systemd_gets_the_command(self):
        machine = Machine(self, has_systemd=False)
        done = machine.up("chat.parley.test", "--yes")
        self.assertEqual(done.returncode, 0, done.stderr + machine.log())
        self.assertIn(f"parley serve --config {machine.conf} --listen '[::]:443' --redirect-listen '[::]:80'", done.stdout)
        self.assertIn("acme = yes", machine.settings())

    def test_only_root_may(self):
        done = subprocess.run(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", PARLEY, "up", "chat.parley.test"],
            capture_output=True, text=True, cwd="/")
        self.assertEqual(done.returncode, 2)
        self.assertIn("needs root", done.stderr)


if __name__ == "__main__":
    unittest.main()
