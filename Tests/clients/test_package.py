"""The Debian package: its bytes and files, and its life on a machine from the installation to the purge."""

import os
import re
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from successive_versions import change_version, forget_last_migration, merge_last_migrations, migrations
from servers import TOP, Server, free_port
from serving import call

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
FILES = """
/etc/parley/parley.conf
/usr/bin/parley
/usr/lib/systemd/system/parley-https.socket
/usr/lib/systemd/system/parley-redirect.socket
/usr/lib/systemd/system/parley.service
/usr/lib/systemd/system/parley.socket
/usr/lib/sysusers.d/parley.conf
/usr/lib/tmpfiles.d/parley.conf
/usr/share/bash-completion/completions/parley
/usr/share/doc/parley/README.md.gz
/usr/share/doc/parley/changelog.gz
/usr/share/doc/parley/copyright
/usr/share/fish/vendor_completions.d/parley.fish
/usr/share/man/man1/parley.1.gz
/usr/share/man/man5/parley.conf.5.gz
/usr/share/parley/Migrations
/usr/share/parley/Public
/usr/share/parley/certbot-hook
/usr/share/parley/fail2ban/filter.d/parley.conf
/usr/share/parley/fail2ban/jail.d/parley.conf
/usr/share/parley/parley-tls.conf
/usr/share/zsh/vendor-completions/_parley
""".split()
MACHINE = """
mount -t tmpfs tmpfs "$1" && mkdir "$1/upper" "$1/work" "$1/root" &&
mount -t overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" overlay "$1/root" &&
mount -t proc proc "$1/root/proc" && mount --rbind /dev "$1/root/dev" && mount -t tmpfs tmpfs "$1/root/run" &&
cp "$2" "$1/root/run/parley.deb" && echo ready && exec sleep infinity
"""
# Programs of systemd on a machine without it.
SYSTEMD = "/usr/bin/systemd-sysusers /usr/bin/systemd-tmpfiles /usr/bin/systemctl /bin/systemctl"
# Stands in for the programs that talk to a running systemd, and notes its calls. Links are made without one.
RECORDER = """
mkdir -p /run/systemd/system
mv /usr/bin/systemctl /usr/bin/systemctl.real
for program in systemctl deb-systemd-invoke; do
  cat >/usr/bin/$program <<'END'
#!/bin/sh
case $1 in --root=*) exec /usr/bin/systemctl.real "$@" ;; is-active) exit 3 ;; esac
echo "${0##*/} $*" >>/run/calls
END
  chmod 755 /usr/bin/$program
done
"""
# Runs the server as the unit does.
SERVICE = r"""
mkdir -p /run/systemd/system
rm -f /usr/bin/systemctl
cat >/usr/bin/systemctl <<'END'
#!/bin/sh
running() { [ -e /run/process ] && kill -0 "$(cat /run/process)" 2>/dev/null; }
stop() { if running; then kill "$(cat /run/process)"; while running; do sleep 0.02; done; fi; }
start() {
  running && return
  setpriv --reuid=parley --regid=parley --clear-groups /usr/bin/parley serve --listen 127.0.0.1:PORT >>/run/log 2>&1 &
  echo $! >/run/process
}
echo "$*" >>/run/calls
case $* in
  start*parley.service) start ;;
  stop*parley.service) stop ;;
  "restart parley.service") stop; start ;;
  is-active*) running ;;
  is-failed*) ! running ;;
  show*ExecStart*) echo "{ path=/usr/bin/parley ; argv[]=/usr/bin/parley serve ; ignore_errors=no }" ;;
  show*Environment*) echo PARLEY_DATA=/var/lib/parley ;;
esac
END
printf '#!/bin/sh\nexec systemctl "$@"\n' >/usr/bin/deb-systemd-invoke
chmod 755 /usr/bin/systemctl /usr/bin/deb-systemd-invoke
"""


def run(*command, **options):
    """Standard output and error of a command. An exit status other than 0 is an error that shows them."""
    done = subprocess.run(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, **options)
    if done.returncode:
        raise AssertionError(f"{command} ended with status {done.returncode}:\n{done.stdout}")
    return done.stdout


class Machine(Server):
    """The file system of this machine in a mount namespace of its own; a tmpfs takes all changes, so dpkg's database here stays."""

    def __init__(self, name, folder, package):
        self.folder = Path(folder)
        super().__init__(name, "unshare", "--mount", "sh", "-c", MACHINE, "sh", folder, package, ready="^(ready)$")
        self.inside = (
            "nsenter", f"--target={self.pid}", "--mount", "chroot", f"{folder}/root", "env", "-i", f"PATH={PATH}",
            "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive")

    def run(self, *command):
        return run(*self.inside, *command)

    def shell(self, script):
        return self.run("sh", "-c", script).strip()

    def copy(self, package):
        """Replaces the package of `install`."""
        run(*self.inside[:3], "cp", package, self.folder / "root/run/parley.deb")

    def dpkg(self, *arguments):
        """Without the triggers of other packages: the index of manual pages takes longer than the rest."""
        return self.run("dpkg", "--no-triggers", "--force-unsafe-io", *arguments)

    def install(self):
        return self.dpkg("--install", "/run/parley.deb")

    def serve(self):
        """The server as its user, with the settings of the package."""
        return Server("clients-Package-serve", *self.inside, "setpriv", "--reuid=parley", "--regid=parley", "--clear-groups",
                      "/usr/bin/parley", "serve", "--listen", "127.0.0.1:0", cwd="/")


class Package(unittest.TestCase):
    part = "release"

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="parley-")))
        # Another time zone and mode of new files for the second build.
        cls.packages = [cls.build("first", 0o022), cls.build("second", 0o077, TZ="Asia/Tokyo")]
        cls.package = cls.packages[0]
        cls.tree = cls.folder / "tree"
        run("dpkg-deb", "--extract", cls.package, cls.tree)

    @classmethod
    def build(cls, name, umask, **environment):
        run(TOP / "docker/deb", cls.folder / name, umask=umask, env={**os.environ, **environment})
        (package,) = (cls.folder / name).glob("*.deb")
        return package

    def machine(self):
        if os.geteuid() != 0:
            self.skipTest("only root can mount a file system")
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="parley-"))
        return self.enterContext(Machine(f"clients-{self.id().split('.')[-1]}", folder, self.package))

    def field(self, name):
        return run("dpkg-deb", "--field", self.package, name).strip()

    def test_two_builds_have_the_same_bytes(self):
        first, second = self.packages
        self.assertEqual(first.name, second.name)
        self.assertTrue(first.read_bytes() == second.read_bytes())

    def test_its_name_has_the_version_and_the_architecture(self):
        version, architecture = run(TOP / "docker/version").strip(), run("dpkg", "--print-architecture").strip()
        self.assertEqual(self.package.name, f"parley_{version}_{architecture}.deb")
        self.assertEqual([self.field("Version"), self.field("Architecture")], [version, architecture])

    def test_it_has_these_files_and_all_are_root_s(self):
        lines = [line.split(None, 5) for line in run("dpkg-deb", "--contents", self.package).splitlines()]
        web = re.compile(r"(/usr/share/parley/(?:Public|Migrations))/.+")
        files = {web.sub(r"\1", line[5].removeprefix(".")) for line in lines if line[0][0] == "-"}
        self.assertEqual(sorted(files), sorted(FILES))
        self.assertEqual({line[1] for line in lines}, {"root/root"})
        self.assertEqual({line[0] for line in lines}, {"drwxr-xr-x", "-rw-r--r--", "-rwxr-xr-x"})
        self.assertEqual(
            [line[5] for line in lines if line[0] == "-rwxr-xr-x"], ["./usr/bin/parley", "./usr/share/parley/certbot-hook"])
        self.assertEqual(run("dpkg-deb", "--info", self.package, "conffiles"), "/etc/parley/parley.conf\n")

    def test_lintian_has_no_warning(self):
        run("lintian", "--allow-root", "--fail-on", "warning,error", self.package)

    def test_man_and_groff_have_no_warning_about_its_pages(self):
        for page in ("man1/parley.1", "man5/parley.conf.5"):
            file = self.folder / Path(page).name
            file.write_text(run("zcat", self.tree / f"usr/share/man/{page}.gz"))
            for command in (("man", "--warnings", "--encoding=UTF-8", "--local-file", "-Tutf8", "--ditroff", file),
                            ("groff", "-Kutf8", "-man", "-ww", "-Tutf8", file)):
                done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120,
                                      env={**os.environ, "LC_ALL": "C.UTF-8"})
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertGreater(len(done.stdout), 10_000)

    def test_it_depends_on_the_packages_of_its_libraries(self):
        needed = re.findall(r"\(NEEDED\).*\[(\S+)\]", run("readelf", "--dynamic", self.tree / "usr/bin/parley"))
        self.assertIn("libsqlite3.so.0", needed)
        depends = re.findall(r"(?:^|, )([a-z0-9.+-]+)", self.field("Depends"))
        for library in needed:
            owners = re.findall(r"^([^:]+):", run("dpkg-query", "--search", f"*/{library}"), re.MULTILINE)
            self.assertTrue(set(owners) & set(depends), f"{library} is in {owners}, not in {depends}")
        # Quiet hours and digests read the time zones of the system.
        self.assertIn("tzdata", depends)

    def test_every_line_of_its_settings_file_is_valid(self):
        password = self.folder / "smtp-password"
        password.write_text("wool and needles")
        password.chmod(0o600)
        secret = self.folder / "oidc-work"
        secret.write_text("needles")
        secret.chmod(0o600)
        text = (self.tree / "etc/parley/parley.conf").read_text()
        changed = self.folder / "parley.conf"
        lines = re.sub(r"^#(?=[a-z])", "", text, flags=re.MULTILINE)
        lines = lines.replace("/etc/parley/smtp-password", str(password)).replace("/etc/parley/oidc-work", str(secret))
        changed.write_text(lines)
        self.assertGreater(len(re.findall(r"^[a-z]", lines, re.MULTILINE)), len(re.findall(r"^[a-z]", text, re.MULTILINE)))
        run(self.tree / "usr/bin/parley", "config", "--check", changed)

    def test_the_checksums_of_a_release_are_over_its_files(self):
        version = run(TOP / "docker/version").strip()
        names = [f"parley-{version}-linux-riscv64.tar.gz", f"parley-js-{version}.tgz", f"parley_{version}_riscv64.deb"]
        release = self.folder / "release"
        release.mkdir()
        for name in [*names, "parley-0.0.9-linux-riscv64.tar.gz"]:
            (release / name).write_text(name)
        run(TOP / "docker/checksums", release)
        self.assertEqual(sorted(line.split()[1] for line in (release / "SHA256SUMS").read_text().splitlines()), names)
        run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=release)

    def test_an_installed_server_keeps_its_data_beyond_the_purge(self):
        machine = self.machine()
        machine.install()
        self.assertEqual(machine.shell("stat --format '%U %G %a' /var/lib/parley"), "parley parley 700")
        with machine.serve() as server:
            machine.run("parley", "health", "--url", server.url)
            page = run("curl", "--silent", "--fail", f"{server.url}/sign-in")
            self.assertIn('src="/app/', page)
            code = machine.run("parley", "setup").strip().rsplit("/", 1)[1]
            ada = {"name": "ada", "password": "wool and needles"}
            call(server, "POST", f"/links/{code}", ada)
            token = call(server, "POST", "/sessions", ada)["token"]
            forum = call(server, "POST", "/forums", {"title": "Knitting"}, token)
            sent = call(server, "POST", f"/conversations/{forum['room_id']}/messages", {"text": "wool", "client_id": "1"}, token)
            self.assertEqual(sent["text"], "wool")
            self.assertEqual(server.stop(), 0)
        # Commands of root in the folder of another user.
        for command in (["user", "list"], ["invite"], ["verify"], ["purge"], ["backup", "/root/copy.tar"]):
            machine.run("parley", *command)
        self.assertEqual(machine.shell("find /var/lib/parley ! -user parley -o ! -group parley"), "")

        machine.dpkg("--remove", "parley")
        self.assertEqual(machine.shell("ls /usr/bin/parley /usr/share/parley 2>/dev/null || ls /etc/parley"), "parley.conf")
        machine.shell("echo secret >/etc/parley/smtp-password")
        said = machine.dpkg("--purge", "parley")
        self.assertIn("The data of Parley stays in /var/lib/parley. This command removes it: rm -r /var/lib/parley", said)
        self.assertEqual(machine.shell("ls -d /etc/parley /etc/systemd/system/*/parley* 2>/dev/null || true"), "")

        # The data of before is that of a later installation.
        machine.install()
        with machine.serve() as server:
            token = call(server, "POST", "/sessions", ada)["token"]
            messages = call(server, "GET", f"/conversations/{forum['room_id']}/messages", token=token)
            self.assertIn("wool", [message["text"] for message in messages["data"]])

    def test_a_purge_deletes_the_data_if_debconf_says_so(self):
        machine = self.machine()
        machine.install()
        with machine.serve() as server:
            self.assertEqual(server.stop(), 0)
        machine.shell("echo parley parley/purge-data boolean true | debconf-set-selections")
        machine.dpkg("--remove", "parley")
        self.assertIn("parley.db", machine.shell("ls /var/lib/parley"))
        self.assertNotIn("The data of Parley stays", machine.dpkg("--purge", "parley"))
        self.assertEqual(machine.shell("ls -d /var/lib/parley 2>/dev/null || true"), "")
        # The answer is gone with the package.
        machine.install()
        self.assertIn("The data of Parley stays", machine.dpkg("--purge", "parley"))

    def test_the_hook_of_certbot_restarts_the_service_for_its_certificate_alone(self):
        machine = self.machine()
        machine.install()
        # Stands in for systemd, with the shipped drop-in.
        machine.shell("mkdir -p /run/programs; printf '#!/bin/sh\n"
                      "if [ $1 = cat ]; then cat /usr/share/parley/parley-tls.conf; else echo \"$@\" >>/run/calls; fi\n'"
                      " >/run/programs/systemctl; chmod 755 /run/programs/systemctl; touch /run/calls")
        for lineage, calls in (("chat.example", ""), ("mail.example.org", ""),
                               ("chat.example.org", "try-restart parley.service")):
            machine.shell(f"PATH=/run/programs:$PATH RENEWED_LINEAGE=/etc/letsencrypt/live/{lineage} /usr/share/parley/certbot-hook")
            self.assertEqual(machine.shell("cat /run/calls"), calls)

    def test_systemd_starts_restarts_and_stops_the_server(self):
        machine = self.machine()
        machine.shell(RECORDER)

        def calls():
            """Calls since the last time, without those of other packages."""
            lines = machine.shell("cat /run/calls; rm /run/calls").splitlines()
            self.assertIn("systemctl --system daemon-reload", lines)
            return [line for line in lines if line.startswith("deb-systemd-invoke")]

        machine.install()
        self.assertEqual(calls(), ["deb-systemd-invoke start parley.socket parley.service"])
        links = "/etc/systemd/system/multi-user.target.wants/parley.service /etc/systemd/system/sockets.target.wants/parley.socket"
        self.assertEqual(machine.shell(f"readlink --canonicalize {links}").split(), [
            "/usr/lib/systemd/system/parley.service", "/usr/lib/systemd/system/parley.socket"])
        self.assertEqual(machine.shell("systemd-analyze verify --man=no /usr/lib/systemd/system/parley*.s*t "
                                       "/usr/lib/systemd/system/parley.service 2>&1"), "")

        # An upgrade keeps changed settings and disabled units.
        machine.shell(f"echo 'keep-events = 90' >>/etc/parley/parley.conf; rm {links.split()[1]}")
        machine.install()
        self.assertEqual(calls(), ["deb-systemd-invoke restart parley.service"])
        self.assertIn("keep-events = 90", machine.shell("cat /etc/parley/parley.conf"))
        self.assertEqual(machine.shell(f"ls {links} 2>/dev/null || true"), links.split()[0])

        machine.dpkg("--purge", "parley")
        self.assertEqual(calls(), [
            "deb-systemd-invoke stop parley.socket parley-https.socket parley-redirect.socket parley.service"])
        self.assertEqual(machine.shell("ls -d /etc/systemd/system/*/parley* 2>/dev/null || true"), "")

    def repack(self, version, change):
        """The package with changed files as another version."""
        tree = self.folder / f"tree-{version}"
        run("dpkg-deb", "--raw-extract", self.package, tree)
        control = tree / "DEBIAN/control"
        control.write_text(re.sub(r"^Version: .*$", f"Version: {version}", control.read_text(), flags=re.MULTILINE))
        change(tree / "usr")
        package = self.folder / f"parley_{version}.deb"
        run("dpkg-deb", "-Zgzip", "--root-owner-group", "--build", tree, package)
        return package

    def test_an_upgrade_tests_the_database_and_goes_back(self):
        machine = self.machine()
        port = free_port()
        machine.shell(SERVICE.replace("PORT", str(port)))
        machine.url = f"http://127.0.0.1:{port}"
        self.addCleanup(machine.shell, "systemctl stop parley.service")
        levels = []

        def forget(tree):
            merge_last_migrations(tree)
            levels.append(forget_last_migration(tree))
            change_version(tree, "0.0.8")

        def merge(tree):
            merge_last_migrations(tree)
            change_version(tree, "0.0.9")

        def damage(tree):
            merge_last_migrations(tree)
            migrations(tree)[0].write_text("select 1;")
            change_version(tree, "0.3.0")

        old, new = self.repack("0.0.8", forget), self.repack("0.0.9", merge)
        # A server of this version refuses to start with a changed migration.
        bad = self.repack("0.3.0", damage)

        def level():
            return machine.shell("parley migrate --status | grep -c applied")

        machine.copy(old)
        machine.install()
        self.wait_for(machine)
        code = machine.run("parley", "setup").strip().rsplit("/", 1)[1]
        ada = {"name": "ada", "password": "wool and needles"}
        token = call(machine, "POST", f"/links/{code}", ada)["token"]
        self.assertEqual(int(level()), levels[0])

        machine.copy(new)
        said = machine.install()
        self.assertIn("The database is sound after 1 migration", said)
        self.assertIn("runs. The way back is open for 7 days", said)
        self.wait_for(machine)
        self.assertEqual(int(level()), levels[0] + 1)
        call(machine, "POST", "/forums", {"title": "Knitting"}, token)

        machine.copy(bad)
        restarts = machine.shell("grep -c '^restart' /run/calls")
        # A second configuration of the failed package does not take the previous program for that of the package.
        for attempt in (machine.install, lambda: machine.dpkg("--configure", "parley")):
            with self.assertRaisesRegex(AssertionError, "can't use the database, and nothing was changed"):
                attempt()
            self.assertEqual(machine.shell("parley --version"), "parley 0.0.9")
            self.assertEqual(machine.shell("/usr/lib/parley/previous/bin/parley --version"), "parley 0.3.0")
            self.assertEqual(machine.shell("dpkg-query --show --showformat='${Status} ${Version}' parley"), "install ok half-configured 0.3.0")
        self.assertEqual(machine.shell("grep -c '^restart' /run/calls"), restarts)
        self.assertEqual(int(level()), levels[0] + 1)
        self.assertEqual([forum["title"] for forum in call(machine, "GET", "/forums", token=token)["data"]], ["Knitting"])
        # The program of before is installed and starts again.
        machine.shell("systemctl restart parley.service")
        self.wait_for(machine)
        # A power cut between the two steps of an exchange: the program is the new one, its files are the old ones.
        machine.shell("""cd /usr/lib/parley
            stat --format %i previous/bin/parley previous/share/parley >exchange
            mv /usr/bin/parley moved; mv previous/bin/parley /usr/bin/; mv moved previous/bin/parley""")
        intended = machine.shell("cat /usr/lib/parley/exchange")
        machine.shell("parley upgrade --settle")
        self.assertEqual(machine.shell("stat --format %i /usr/bin/parley /usr/share/parley"), intended)
        self.assertEqual(machine.shell("ls /usr/lib/parley/exchange 2>/dev/null || true"), "")
        machine.copy(new)
        machine.install()
        machine.dpkg("--purge", "parley")
        self.assertEqual(machine.shell("ls -d /usr/lib/parley 2>/dev/null || true"), "")

    def wait_for(self, machine):
        deadline = time.monotonic() + 60
        while machine.shell("[ -S /var/lib/parley/control ] && parley user list >/dev/null 2>&1 && echo ready || true") != "ready":
            self.assertLess(time.monotonic(), deadline, machine.shell("cat /run/log"))
            time.sleep(0.05)

    def test_it_needs_no_systemd(self):
        machine = self.machine()
        machine.shell(f"rm -f {SYSTEMD}")
        machine.install()
        self.assertRegex(machine.shell("getent passwd parley"), r"^parley:x:[1-9]\d{0,2}:\d+:[^:]*:/var/lib/parley:/usr/sbin/nologin$")
        self.assertEqual(machine.shell("stat --format '%U %G %a' /var/lib/parley"), "parley parley 700")
        with machine.serve() as server:
            self.assertEqual(server.stop(), 0)
        machine.install()
        machine.dpkg("--purge", "parley")


if __name__ == "__main__":
    unittest.main()
