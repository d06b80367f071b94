"""Exports of other programs, written by the tests."""

import gzip
import io
import json
import struct
import tarfile
import zipfile
import zlib


def png(width, height=None):
    """A grey picture; a square without `height`."""
    height = height or width

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    rows = b"".join(b"\0" + bytes(width * 3) for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def discord_message(number, author, timestamp, content, **members):
    """A message as DiscordChatExporter writes it."""
    message = {
        "id": str(number), "type": "Default", "timestamp": timestamp, "timestampEdited": None, "callEndedTimestamp": None,
        "isPinned": False, "content": content, "author": author, "attachments": [], "embeds": [], "stickers": [], "reactions": [],
        "mentions": [], "inlineEmojis": []}
    return {**message, **members}


def discord_channel(channel, messages, guild="9"):
    """A file of DiscordChatExporter."""
    return json.dumps({
        "guild": {"id": guild, "name": "Knitters", "iconUrl": "https://cdn.example/i.png"}, "channel": channel,
        "dateRange": {"after": None, "before": None}, "exportedAt": "2024-05-01T12:00:00+00:00", "messages": messages,
        "messageCount": len(messages)}, ensure_ascii=False, indent=2)


def slack_export(path, files, compression=zipfile.ZIP_DEFLATED):
    """The zip archive of an export of Slack: values by path."""
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, value in files.items():
            archive.writestr(name, json.dumps(value, ensure_ascii=False))


def copy_block(table, columns, rows):
    """Rows of a table in the text format of COPY."""
    def value(cell):
        if cell is None:
            return "\\N"
        if isinstance(cell, bool):
            return "t" if cell else "f"
        return str(cell).replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
    lines = [f"COPY public.{table} ({', '.join(columns)}) FROM stdin;"]
    lines += ["\t".join(value(cell) for cell in row) for row in rows]
    return "\n".join(lines) + "\n\\.\n\n"


def discourse_backup(path, tables, uploads=None, dump=None):
    """The archive of a backup of Discourse: `(columns, rows)` by table, contents by path."""
    if dump is None:
        dump = "-- PostgreSQL database dump\nSET statement_timeout = 0;\nCREATE TABLE public.posts (id integer);\n\n"
        dump += "".join(copy_block(table, *content) for table, content in tables.items())
        dump = dump.encode()
    with tarfile.open(path, "w:gz") as archive:
        for name, content in {"dump.sql.gz": gzip.compress(dump), **(uploads or {})}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
