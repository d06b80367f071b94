"""Planted data folders, cached in .build, and the programs that run on them and exit by themselves."""

import hashlib
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

from measure import SECONDS, reported, sized
from servers import BENCH, BUILD, PARLEY, TOP

FOLDER = BUILD / "bench"
SOURCE = TOP / "Tests/bench/peers/store.c"


def schema():
    """A hash of the migrations and of the planting code: a change plants the folders again."""
    files = sorted((TOP / "Migrations/sqlite").glob("*.sql")) + sorted((TOP / "Tests/bench/parley-bench/Store").glob("*"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def planted(count, forums=0, crowd=0):
    """A read-only folder, verified when it is created."""
    count = sized(count)
    name = f"{count}-{forums}-{crowd}"
    folder = FOLDER / f"site-{name}-{schema()}"
    if folder.exists():
        return folder
    for old in FOLDER.glob(f"site-{name}-*"):
        shutil.rmtree(old)
    draft = FOLDER / f"draft-{name}"
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    more = "".join(f", {more:,} {noun}" for more, noun in ((forums, "forums"), (crowd, "users")) if more)
    print(f"planting {count:,} messages{more} …", flush=True)
    options = {"--messages": count, "--forums": forums, "--crowd": crowd}
    subprocess.run(
        [BENCH, "store", "plant", draft, *(str(word) for option in options.items() for word in option)], cwd=TOP,
        check=True)
    subprocess.run([PARLEY, "verify", "--data", draft], cwd=TOP, check=True, stdout=subprocess.DEVNULL)
    return draft.rename(folder)


@contextmanager
def copied(count, forums=0, crowd=0):
    """A writable copy on the same disk: in memory, fsync is free."""
    original = planted(count, forums, crowd)
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        yield Path(shutil.copytree(original, folder, dirs_exist_ok=True))


def held(count):
    """A read-only ParleyKit cache with `count` messages."""
    count = sized(count)
    # The form of the rows follows from the types of the model.
    folders = ("Tests/bench/parley-bench/Kit", "Sources/Kit/ParleyKit/Cache", "Sources/Shared/Model")
    sources = [file for folder in folders for file in sorted((TOP / folder).rglob("*.swift"))]
    name = hashlib.sha256(b"".join(file.read_bytes() for file in sources)).hexdigest()[:12]
    folder = FOLDER / f"copy-{count}-{name}"
    if not folder.exists():
        for old in FOLDER.glob(f"copy-{count}-*"):
            shutil.rmtree(old)
        draft = FOLDER / f"draft-copy-{count}"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        print(f"planting a cache of {count:,} messages …", flush=True)
        subprocess.run([BENCH, "kit", "plant", draft / "cache.db", "--messages", str(count)], check=True)
        draft.rename(folder)
    return folder / "cache.db"


def program():
    """The peer in C, built with the system compiler."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    made = FOLDER / "store"
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", made, SOURCE, "-lsqlite3"], check=True)
    return made


def store(action, folder, *options):
    return alone([BENCH, "store", action, folder, "--seconds", SECONDS, "--json", *options])


def kit(action, file, *options):
    return alone([BENCH, "kit", action, file, "--seconds", SECONDS, "--json", *options])


def in_c(action, folder, number):
    return alone([program(), action, folder / "parley.db", number, SECONDS])


def alone(command):
    """A contender without a server process."""
    return None, lambda _: reported(command, {})
