"""Two successive versions of the program, made from one build: the later one knows a migration more."""

import hashlib
import struct
import subprocess
from pathlib import Path

# `Migration`: a number, a name and a hash.
STRIDE = 40
# The header of an array: the number of its elements, and twice its capacity.
COUNT = 16
EMPTY = "-- Nothing.\nupdate setting set value = value where name = 'name';\n"


def migrations(tree):
    return sorted((tree / "share/parley/Migrations/sqlite").glob("*.sql"))


def change(path, content):
    """Replaces a file. Other trees may have links to it."""
    mode = path.stat().st_mode
    path.unlink()
    path.write_bytes(content)
    path.chmod(mode)


def merge_last_migrations(tree):
    """Moves the content of the last migration into the one before, so that programs without the last one have the same tables."""
    before, last = migrations(tree)[-2:]
    program = tree / "bin/parley"
    content = program.read_bytes()
    texts = [(before, before.read_bytes() + b"\n" + last.read_bytes()), (last, EMPTY.encode())]
    for file, text in texts:
        known = hashlib.sha256(file.read_bytes()).hexdigest().encode()
        if content.count(known) != 1:
            raise RuntimeError(f"The hash of {file.name} is {content.count(known)} times in the program.")
        content = content.replace(known, hashlib.sha256(text).hexdigest().encode())
        change(file, text)
    change(program, content)


def forget_last_migration(tree):
    """Removes the last migration from the program in `tree/bin` and from the files in `tree/share`. Returns the number of the others."""
    files = migrations(tree)
    program = tree / "bin/parley"
    content = bytearray(program.read_bytes())
    place = find_array(content, len(files))
    struct.pack_into("<q", content, place - COUNT, len(files) - 1)
    change(program, content)
    files[-1].unlink()
    return len(files) - 1


def change_version(tree, version):
    """Gives the program in `tree/bin` a version of equal length. The program has it as text of up to 15 bytes, padded with zeros, and in
    the second word of `parley VERSION`."""
    current = subprocess.run([tree / "bin/parley", "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    program = tree / "bin/parley"
    text, other = ((name.encode() + bytes(8))[:8] for name in (current, version))
    content = program.read_bytes()
    if len(current) != len(version) or len(version) > 7 or current[0] != version[0] or text not in content:
        raise RuntimeError(f"The version {current} can't be replaced.")
    words = [(f"parley {name}\n".encode() + bytes(8))[8:15] for name in (current, version)]
    change(program, content.replace(text, other).replace(*words))
    printed = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    if printed != f"parley {version}\n":
        raise RuntimeError(f"The program prints {printed}")


def find_array(content, count):
    """The first element of the array of all migrations, which the compiler writes into the data of the program."""
    first, found = struct.pack("<q", 1), []
    place = content.find(first)
    while place != -1:
        numbers = (content[place + STRIDE * index:place + STRIDE * index + 8] for index in range(count))
        if struct.unpack_from("<q", content, place - COUNT)[0] == count and all(
                number == struct.pack("<q", index + 1) for index, number in enumerate(numbers)):
            found.append(place)
        place = content.find(first, place + 1)
    if len(found) != 1:
        raise RuntimeError(f"The array of migrations is {len(found)} times in the program.")
    return found[0]


def give_version(tree, version, **commands):
    """Lets the program in `tree/bin` report a version, and run a script instead of a command."""
    program = Path(tree, "bin/parley")
    program.rename(program.with_suffix(".program"))
    files = Path(tree, "share/parley/archive-files")
    change(files, files.read_bytes() + b"bin/parley.program\n")
    cases = "".join(f"{name}) {script} ;;\n" for name, script in commands.items())
    program.write_text(
        f'#!/bin/sh\nprogram="$(dirname "$(readlink -f "$0")")/parley.program"\ncase $1 in\n--version) echo "parley {version}"; exit ;;\n'
        f'{cases}esac\nexec "$program" "$@"\n')
    program.chmod(0o755)
