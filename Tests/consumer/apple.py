"""ParleyKit for macOS, as far as a compiler on Linux can check it. The interface files of the standard library have the platforms
of each declaration, so they are compiled for macOS; the frameworks are the declarations in `Apple`."""

import re
import shutil
import subprocess
from pathlib import Path

from servers import BUILD, TOP

FOLDER = BUILD / "consumer" / "apple"
RESOURCES = FOLDER / "library"
LIBRARY = ("Swift", "_Concurrency", "Synchronization", "Observation", "_StringProcessing", "SwiftOnoneSupport")
FRAMEWORKS = ("Darwin", "CryptoKit", "Foundation", "Security")
TARGETS = {"ParleyJSON": "Shared/JSON", "ParleyMarkup": "Shared/Markup", "ParleyModel": "Shared/Model",
           "ParleyCrypto": "Shared/Crypto", "ParleySQLite": "Shared/SQLite", "ParleyKit": "Kit/ParleyKit"}
# Lines of the interfaces that only Linux can compile.
REPLACED = (
    ("-target x86_64-unknown-linux-gnu", "-target x86_64-apple-macosx15.0"), ("-static ", ""), ("public import Glibc\n", ""),
    ("import Glibc\n", ""), ("self = _stdlib_squareRootl(self)", ""), ("self = _stdlib_remainderl(self, other)", ""),
    ("_swift_stdlib_gettid()", "UInt32(0)"))


def run(*command):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=600)
    if done.returncode or done.stderr:
        raise AssertionError(done.stderr[:4_000] or f"{command} failed")


class MacOS:
    """Compiles modules for the lowest macOS that the package declares."""

    def __init__(self):
        manifest = (TOP / "Package.swift").read_text()
        version = re.search(r"\.macOS\(\.v(\d+)\)", manifest)[1]
        features = re.findall(r'\.enableUpcomingFeature\("(\w+)"\)', manifest.split("let relaxed")[0])
        self.usr = Path(shutil.which("swiftc")).resolve().parent.parent
        self.modules = FOLDER / "modules"
        shutil.rmtree(self.modules, ignore_errors=True)
        self.modules.mkdir(parents=True)
        clang = next((self.usr / "lib/clang").glob("*/include"))
        headers = (f"-fmodule-map-file={TOP}/Sources/System/SQLite/module.modulemap", f"-I{clang}", "-I/usr/include",
                   "-I/usr/include/x86_64-linux-gnu")
        self.flags = [
            "-target", f"x86_64-apple-macosx{version}.0", "-resource-dir", RESOURCES, "-disable-objc-interop", "-parse-as-library",
            "-swift-version", "6", "-package-name", "parley", "-strict-memory-safety", "-warnings-as-errors",
            "-plugin-path", self.usr / "lib/swift/host/plugins", "-I", self.modules, "-D", "PARLEY_FOUNDATION",
            *(part for name in features for part in ("-enable-upcoming-feature", name)),
            *(part for header in headers for part in ("-Xcc", header))]
        self.make_library()
        for name in FRAMEWORKS:
            self.compile(name, [TOP / f"Tests/consumer/Apple/{name}.swift"], "-enable-library-evolution")

    def make_library(self):
        """Once for a toolchain."""
        sources = self.usr / "lib/swift"
        note = FOLDER / "toolchain"
        stamp = str((sources / "linux/Swift.swiftmodule/x86_64-unknown-linux-gnu.swiftinterface").stat())
        if note.exists() and note.read_text() == stamp:
            return
        shutil.rmtree(RESOURCES / "macosx", ignore_errors=True)
        shutil.copytree(sources / "shims", RESOURCES / "shims", dirs_exist_ok=True)
        for name in LIBRARY:
            text = (sources / f"linux/{name}.swiftmodule/x86_64-unknown-linux-gnu.swiftinterface").read_text()
            text = re.sub(r"^.*@backDeployed.*\n", "", text, flags=re.MULTILINE)
            for old, new in REPLACED:
                text = text.replace(old, new)
            interface = FOLDER / f"{name}.swiftinterface"
            interface.write_text(text)
            module = RESOURCES / f"macosx/{name}.swiftmodule"
            module.mkdir(parents=True)
            run("swiftc", "-frontend", "-compile-module-from-interface", interface, "-module-name", name,
                "-o", module / "x86_64-apple-macos.swiftmodule", "-target", "x86_64-apple-macosx15.0", "-disable-objc-interop",
                "-disable-availability-checking", "-resource-dir", RESOURCES, *(["-parse-stdlib"] if name == "Swift" else []))
        note.write_text(stamp)

    def compile(self, name, files, *options):
        run("swiftc", "-frontend", "-emit-module", "-experimental-skip-all-function-bodies", "-module-name", name,
            "-o", self.modules / f"{name}.swiftmodule", *self.flags, *options, *files)

    def check(self, name, files):
        run("swiftc", "-frontend", "-typecheck", "-module-name", name, *self.flags, *files)

    def check_kit(self):
        for name, folder in TARGETS.items():
            files = sorted((TOP / "Sources" / folder).rglob("*.swift"))
            self.check(name, files)
            self.compile(name, files)
        self.check("ParleyURLSession", [TOP / "Sources/Kit/ParleyURLSession/KeychainCredential.swift"])
