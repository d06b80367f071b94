#!/usr/bin/env python3
"""Checks an export of Parley: python3 check.py EXPORT.zip [--key KEY] [CHECKPOINT.json …]

It computes the chain of every exported conversation, compares the texts with it, and compares the chains with the signed checkpoints of
the export and with those that you kept. The page "What you can prove" of the documentation describes all of it, and this program
uses no other source. Exit status 0: unaltered. 1: altered. 2: a file can't be read. 3: no chain covers a part of it.
"""

import argparse
import calendar
import hashlib
import json
import re
import sys
import time
import zipfile
from collections import defaultdict


def sha256(data):
    return hashlib.sha256(data).digest()


def milliseconds(text):
    """2026-11-30T12:00:00.000Z in milliseconds since 1970."""
    return calendar.timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")) * 1000 + int(text[20:23])


# Ed25519 (RFC 8032 §5.1) on the curve -x² + y² = 1 + dx²y².
P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT = pow(2, (P - 1) // 4, P)


def point(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x * ROOT % P if (x * x - square) % P else x
    if y >= P or (x * x - square) % P or (x == 0 and sign):
        raise ValueError("not a point of the curve")
    return (P - x if x & 1 != sign else x), y


def add(one, other):
    (x1, y1), (x2, y2) = one, other
    k = D * x1 * x2 * y1 * y2 % P
    return (x1 * y2 + x2 * y1) * pow(1 + k, -1, P) % P, (y1 * y2 + x1 * x2) * pow(1 - k, -1, P) % P


def multiply(number, of):
    result = (0, 1)
    while number:
        result = add(result, of) if number & 1 else result
        of, number = add(of, of), number >> 1
    return result


BASE = point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def is_signature(signature, message, key):
    try:
        r, s, a = point(signature[:32]), int.from_bytes(signature[32:], "little"), point(key)
    except ValueError:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    return len(signature) == 64 and s < ORDER and multiply(s, BASE) == add(r, multiply(k, a))


class Check:
    def __init__(self, archive):
        self.faults, self.notes, self.signed, self.key = [], [], {}, None
        with zipfile.ZipFile(archive) as files:
            def rows(name):
                return [json.loads(line) for line in files.read(f"{name}.jsonl").decode().split("\n") if line]
            self.messages, self.revisions = {row["id"]: row for row in rows("messages")}, rows("revisions")
            self.entries, self.checkpoints = defaultdict(list), rows("checkpoints")
            for row in rows("entries"):
                self.entries[row["conversation_id"]].append(row)
            self.files = defaultdict(list)
            for row in sorted(rows("attachments"), key=lambda row: row["position"]):
                self.files[row["message_id"]].append(row["file_id"])
            chained = {row["id"] for row in rows("conversations") if row["chained"]}
        self.hashes = {conversation: self.chain(conversation) for conversation in sorted(chained | set(self.entries))}

    def chain(self, conversation):
        """The hashes of a chain, that of position n at index n."""
        hashes = [sha256(f"parley chain 1 {conversation}\n".encode())]
        for entry in self.entries[conversation]:
            if entry["position"] != len(hashes):
                self.faults.append(f"conversation {conversation}: entry {entry['position']} follows entry {len(hashes) - 1}")
            hashes.append(sha256(hashes[-1] + "{} {} {} {} {} {} {}\n".format(
                *(entry[name] for name in ("position", "kind", "seq", "message_id", "actor_id")), milliseconds(entry["at"]),
                entry["digest"] or "-").encode()))
        return hashes

    def proves(self, entry, text, message):
        content = text.encode() + b"\0" + (message["reply_to"] or "").encode() + b"\0" + ",".join(self.files[message["id"]]).encode()
        return sha256(bytes.fromhex(entry["salt"]) + content).hex() == entry["digest"]

    def check_texts(self, conversation):
        created, newest, salted = {}, {}, {}
        for entry in self.entries[conversation]:
            message = entry["message_id"]
            if entry["kind"] == "created":
                if entry["seq"] != len(created) + 1:
                    self.faults.append(f"conversation {conversation}: message {message} has seq {entry['seq']}, not {len(created) + 1}")
                created[message] = entry
            elif message not in created or created[message]["seq"] != entry["seq"]:
                self.faults.append(f"conversation {conversation}: entry {entry['position']} changes a message that does not exist")
            newest[message] = entry
            if entry["salt"]:
                salted[message, entry["revision"]] = entry
        for message, entry in newest.items():
            if (entry["digest"] is None) == (message in self.messages):
                self.faults.append(f"message {message} is {'missing' if entry['digest'] else 'there, but was deleted'}")
        uncovered = 0
        for row in [row for row in self.messages.values() if row["conversation_id"] == conversation]:
            name, first, last = f"message {row['id']}", created.get(row["id"]), newest.get(row["id"])
            if first is None:
                if row["seq"] <= len(created):
                    self.faults.append(f"{name} has no entry")
                uncovered += 1
            elif [row["seq"], row["author_id"], row["created_at"]] != [first["seq"], first["actor_id"], first["at"]]:
                self.faults.append(f"{name} has another author, time or position than its entry")
            elif not last["salt"] or not self.proves(last, row["text"], row):
                self.faults.append(f"{name}: its text is not the one in the chain")
        for row in self.revisions:
            message, entry = self.messages.get(row["message_id"]), salted.get((row["message_id"], row["revision"]))
            if entry and message and not self.proves(entry, row["text"], message):
                self.faults.append(f"message {row['message_id']}: its text of revision {row['revision']} is not the one in the chain")
        return uncovered

    def is_signed(self, checkpoint):
        """Whether the key of the checkpoint has signed it, alone or with others."""
        node = sha256(b"\0" + "{} {} {} {}\n".format(
            checkpoint["conversation_id"], checkpoint["position"], checkpoint["hash"], milliseconds(checkpoint["signed_at"])).encode())
        for step in checkpoint["path"]:
            other = bytes.fromhex(step["hash"])
            node = sha256(b"\1" + (other + node if step["side"] == "left" else node + other))
        signed = (bytes.fromhex(checkpoint["signature"]), b"parley checkpoint 1\n" + node, bytes.fromhex(checkpoint["key"]))
        return self.signed[signed] if signed in self.signed else self.signed.setdefault(signed, is_signature(*signed))

    def check_checkpoint(self, checkpoint, name):
        conversation, position = checkpoint["conversation_id"], checkpoint["position"]
        name = f"the {name} checkpoint of conversation {conversation}"
        if not self.is_signed(checkpoint):
            return self.faults.append(f"{name} has a wrong signature")
        self.key = self.key or checkpoint["key"]
        if checkpoint["key"] != self.key:
            return self.faults.append(f"{name} is signed with another key, {checkpoint['key']}")
        hashes = self.hashes.get(conversation)
        if hashes is None:
            return self.notes.append(f"{name} can't be compared: the export does not have the conversation from its beginning")
        if position >= len(hashes):
            return self.faults.append(f"{name} is at entry {position}, which is missing")
        if hashes[position].hex() != checkpoint["hash"]:
            return self.faults.append(f"{name} has another hash at entry {position}: this is not the history that the site signed")

    def run(self, key, kept):
        self.key = key
        uncovered = sum(self.check_texts(conversation) for conversation in self.hashes)
        uncovered += sum(row["conversation_id"] not in self.hashes for row in self.messages.values())
        for checkpoint in self.checkpoints:
            self.check_checkpoint(checkpoint, "exported")
        ends = {checkpoint["conversation_id"]: checkpoint["position"] for checkpoint in self.checkpoints}
        for conversation, hashes in self.hashes.items():
            if ends.get(conversation, 0) != len(hashes) - 1:
                self.faults.append(f"conversation {conversation}: no checkpoint covers its last entry")
        for checkpoint in kept:
            self.check_checkpoint(checkpoint, "kept")
        return uncovered


def main():
    parser = argparse.ArgumentParser(description="Checks an export of Parley.")
    parser.add_argument("export")
    parser.add_argument("kept", nargs="*", metavar="CHECKPOINT.json", help="an answer of GET /conversations/ID/checkpoint")
    parser.add_argument("--key", help="the key of the site, from GET /server")
    options = parser.parse_args()
    try:
        check, texts = Check(options.export), [open(name, encoding="utf-8").read() for name in options.kept]
        kept = [json.loads(part) for text in texts for part in re.split(r"\n(?={)", text.strip())]
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        parser.error(f"a file can't be read: {error}")
    uncovered = check.run(options.key, kept)
    for line in check.faults + check.notes:
        print(line)
    is_partial = bool(uncovered or check.notes)
    entries = sum(len(hashes) - 1 for hashes in check.hashes.values())
    print(f"{len(check.hashes)} conversations, {entries} entries, {uncovered} messages without one, signed with {check.key}: "
          + (f"{len(check.faults)} faults" if check.faults else "nothing was altered" + " in the covered part" * is_partial))
    return 1 if check.faults else 3 if is_partial else 0


if __name__ == "__main__":
    sys.exit(main())
