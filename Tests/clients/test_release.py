"""`make release`: the files for this machine's architecture, their checksums, and signatures that minisign checks."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from servers import TOP


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300, **options)


class Release(unittest.TestCase):
    part = "release"

    @classmethod
    def setUpClass(cls):
        run(TOP / "Tests/tools/debian", "minisign").check_returncode()
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="parley-")))
        cls.secret, cls.public = cls.make_keys("release")
        cls.files = cls.folder / "dist"
        cls.made = cls.release(cls.files)

    @classmethod
    def make_keys(cls, name):
        """A throwaway pair of keys without a password."""
        secret, public = cls.folder / f"{name}.key", cls.folder / f"{name}.pub"
        run("minisign", "-G", "-W", "-p", public, "-s", secret).check_returncode()
        return secret, public

    @classmethod
    def release(cls, folder, **environment):
        done = run(TOP / "docker/release", cls.secret, folder, cls.public, env={**os.environ, **environment})
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)
        return done

    def verify(self, file, public=None):
        return run("minisign", "-V", "-p", public or self.public, "-m", file)

    def test_the_files_are_named_for_the_architecture_and_have_sums(self):
        architecture = run("dpkg", "--print-architecture").stdout.strip()
        version = run(TOP / "docker/version").stdout.strip()
        names = sorted(file.name for file in self.files.iterdir() if file.suffix != ".minisig")
        self.assertEqual(names, sorted([
            "SHA256SUMS", f"parley-js-{version}.tgz", f"parley-{version}-linux-{architecture}.tar.gz",
            f"parley_{version}_{architecture}.deb"]))
        self.assertEqual(run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=self.files).returncode, 0)

    def test_every_file_has_a_signature_that_names_it(self):
        for file in self.files.iterdir():
            if file.suffix != ".minisig":
                verified = self.verify(file)
                self.assertEqual(verified.returncode, 0, verified.stderr)
                self.assertIn(f"file:{file.name}", verified.stdout)

    def test_a_flipped_bit_and_another_key_are_refused(self):
        _, other = self.make_keys("other")
        for file in (self.files / "SHA256SUMS", *self.files.glob("*.tgz")):
            with self.subTest(file.name):
                self.assertNotEqual(self.verify(file, other).returncode, 0)
                copy = self.folder / "copy" / file.name
                copy.parent.mkdir(exist_ok=True)
                signature = f"{file}.minisig"
                for flipped in (file, signature):
                    shutil.copy(file, copy)
                    shutil.copy(signature, f"{copy}.minisig")
                    damaged = copy if flipped == file else Path(f"{copy}.minisig")
                    content = bytearray(damaged.read_bytes())
                    # The last character of a signature has bits that base64 leaves unused, so the middle of a line is hit.
                    content[content.index(b"\n") + 40] ^= 1
                    damaged.write_bytes(content)
                    self.assertNotEqual(self.verify(copy).returncode, 0)

    def test_the_archive_has_the_same_bytes_again(self):
        archive, = self.files.glob("*.tar.gz")
        again = self.folder / "again"
        run(TOP / "docker/dist", again, env={**os.environ, "TZ": "Asia/Tokyo", "PUBLIC_KEY": str(self.public)}, umask=0o077).check_returncode()
        self.assertEqual((again / archive.name).read_bytes(), archive.read_bytes())

    def test_a_missing_or_foreign_key_signs_nothing(self):
        for arguments, sentence in (
                ((TOP / "docker/release", ""), "Name the secret key: make release KEY=FILE."),
                ((TOP / "docker/release", self.secret, self.folder / "unmade", self.folder / "nowhere.pub"), "nowhere.pub is missing"),
                ((TOP / "docker/sign", self.files), "Name the secret key: make release KEY=FILE."),
                ((TOP / "docker/sign", self.files, self.secret, self.folder / "nowhere.pub"), "nowhere.pub is missing")):
            refused = run(*arguments)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(sentence, refused.stderr)
            self.assertEqual(refused.stdout, "")
        self.assertFalse((self.folder / "unmade").exists())
        copy = self.folder / "foreign"
        copy.mkdir()
        shutil.copy(next(self.files.glob("*.tgz")), copy)
        (copy / "SHA256SUMS").write_text(run("sha256sum", *(file.name for file in copy.iterdir()), cwd=copy).stdout)
        secret, _ = self.make_keys("foreign")
        refused = run(TOP / "docker/sign", copy, secret, self.public)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("so all signatures were removed", refused.stderr)
        self.assertEqual(list(copy.glob("*.minisig")), [])

    def test_no_script_names_an_architecture(self):
        names = re.compile(r"\b(amd64|x86_64|arm64|aarch64)\b")
        for path in [TOP / "Makefile", *(TOP / "docker").iterdir(), *(TOP / "Tests/tools").iterdir()]:
            if path.is_file() and path.suffix not in (".md", ".txt"):
                self.assertIsNone(names.search(path.read_text(errors="replace")), path)


if __name__ == "__main__":
    unittest.main()
