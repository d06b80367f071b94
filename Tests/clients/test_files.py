"""Uploads by clients: photographs, large files, broken connections, and users banned during an upload."""

import hashlib
import http.client
import io
import json
import os
import random
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from PIL import Image, ImageOps, PngImagePlugin

from servers import PARLEY
from serving import ServingTest, parley

PASSWORD = "correct horse battery"
MEGABYTE = 1 << 20
# Maximum memory growth during an upload or download of any size.
MAX_MEMORY = 48 * MEGABYTE
# `make soak` sets PARLEY_LARGE_FILE=2000.
LARGE = int(os.environ.get("PARLEY_LARGE_FILE", "200")) * MEGABYTE


def exif(orientation):
    """EXIF data with a GPS position."""
    data = Image.Exif()
    data[0x010F] = "Camera"
    data[0x0112] = orientation
    data.get_ifd(0x8825).update({1: "N", 2: (48.0, 12.0, 29.52), 3: "E", 4: (16.0, 22.0, 25.68), 29: "2026:11:22"})
    return data


def photograph(form, orientation):
    pixels = random.Random(7)
    picture = Image.frombytes("RGB", (64, 48), pixels.randbytes(64 * 48 * 3)).resize((320, 240))
    file = io.BytesIO()
    if form == "JPEG":
        picture.save(file, form, exif=exif(orientation), comment=b"at home", quality=90)
    elif form == "PROGRESSIVE":
        picture.save(file, "JPEG", exif=exif(orientation), progressive=True, quality=90)
    elif form == "PNG":
        words = PngImagePlugin.PngInfo()
        words.add_text("Comment", "at home")
        words.add_itxt("XML:com.adobe.xmp", "<x>at home</x>")
        picture.save(file, form, exif=exif(orientation), pnginfo=words)
    else:
        picture.save(file, "WEBP", exif=exif(orientation), xmp=b"<x>at home</x>", lossless=form == "LOSSLESS")
    return file.getvalue()


class Site(ServingTest):
    """Each test has a site with ada and grace."""

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="parley-"))
        self.open()
        for name, role in [("ada", "owner"), ("grace", "member")]:
            subprocess.run(
                [PARLEY, "user", "create", name, "--role", role, "--password-stdin", "--data", f"{self.folder}/data"],
                input=PASSWORD + "\n", text=True, check=True, capture_output=True)
        self.tokens = {}
        for name in ["ada", "grace"]:
            status, _, body = self.ask(
                "POST", "/sessions", body=json.dumps({"name": name, "password": PASSWORD}), Content_Type="application/json")
            self.assertEqual(status, 201)
            self.tokens[name] = json.loads(body)["token"]

    def open(self):
        self.server = self.enterContext(self.start(*parley(self.folder), "--limit-byte-time", "5"))

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)

    def head(self, name=None, **fields):
        head = {"Authorization": f"Bearer {self.tokens[name]}"} if name else {}
        return {**head, **{key.replace("_", "-"): value for key, value in fields.items()}}

    def ask(self, method, path, name=None, body=None, **fields):
        connection = self.connect()
        connection.request(method, f"/api/v1{path}", body=body, headers=self.head(name, **fields))
        answer = connection.getresponse()
        found = answer.status, answer.headers, answer.read()
        connection.close()
        return found

    def upload(self, content, name="grace"):
        status, _, body = self.ask("POST", "/files?name=x", name, content, Content_Type="application/octet-stream")
        self.assertEqual(status, 201, body)
        return json.loads(body)

    def content(self, file, name="grace"):
        status, _, body = self.ask("GET", f"/files/{file['id']}/content", name)
        self.assertEqual(status, 200, body)
        return body

    def begin(self, content):
        status, _, body = self.ask(
            "POST", "/uploads", "grace", json.dumps({"name": "film", "size": len(content)}),
            Content_Type="application/json")
        self.assertEqual(status, 201, body)
        return json.loads(body)["id"]

    def offset(self, upload):
        status, headers, _ = self.ask("HEAD", f"/uploads/{upload}", "grace")
        self.assertEqual(status, 200)
        return int(headers["Upload-Offset"])

    def raw(self, method, path, length, name="grace", **fields):
        """Sends the head of a request; the body follows later."""
        line = "".join(f"{key}: {value}\r\n" for key, value in self.head(name, **fields).items())
        stream = socket.create_connection(("127.0.0.1", self.server.port), timeout=60)
        stream.sendall(
            f"{method} /api/v1{path} HTTP/1.1\r\nHost: x\r\n{line}Content-Length: {length}\r\n\r\n".encode())
        return stream

    def memory(self, field="VmRSS"):
        for line in Path(f"/proc/{self.server.pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
        self.fail(field)


class Photographs(Site):
    def test_gps_data_is_stripped_and_the_pixels_are_unchanged(self):
        for form in ["JPEG", "PROGRESSIVE", "PNG", "WEBP", "LOSSLESS"]:
            for orientation in [1, 3, 6, 8]:
                with self.subTest(form, orientation=orientation):
                    sent = photograph(form, orientation)
                    file = self.upload(sent)
                    served = self.content(file)
                    before, after = Image.open(io.BytesIO(sent)), Image.open(io.BytesIO(served))
                    self.assertEqual(before.getexif().get(0x0112), orientation)
                    self.assertTrue(before.getexif().get_ifd(0x8825))
                    self.assertEqual(after.getexif().get(0x0112, 1), orientation)
                    self.assertFalse(after.getexif().get_ifd(0x8825))
                    self.assertIsNone(after.getexif().get(0x010F))
                    for word in [b"at home", b"Camera", b"2026:11:22"]:
                        self.assertIn(word, sent) if word == b"Camera" else None
                        self.assertNotIn(word, served)
                    self.assertEqual(before.tobytes(), after.tobytes())
                    shown = ImageOps.exif_transpose(after)
                    self.assertEqual((file["width"], file["height"]), shown.size)


class Large(Site):
    def pieces(self):
        numbers = random.Random(11)
        piece = numbers.randbytes(MEGABYTE)
        for number in range(LARGE // MEGABYTE):
            yield number.to_bytes(8, "big") + piece[8:]

    def test_a_large_file_is_uploaded_and_downloaded_in_constant_memory(self):
        self.upload(b"warm")
        before = self.memory()
        digest = hashlib.sha256()
        # A new user has a smaller quota than an owner.
        stream = self.raw("POST", "/files?name=large", LARGE, "ada")
        for piece in self.pieces():
            digest.update(piece)
            stream.sendall(piece)
        answer = http.client.HTTPResponse(stream)
        answer.begin()
        self.assertEqual(answer.status, 201)
        file = json.loads(answer.read())
        stream.close()
        self.assertEqual((file["size"], file["sha256"]), (LARGE, digest.hexdigest()))
        connection = self.connect()
        connection.request("GET", f"/api/v1/files/{file['id']}/content", headers=self.head("ada"))
        answer = connection.getresponse()
        found = hashlib.sha256()
        while piece := answer.read(MEGABYTE):
            found.update(piece)
        connection.close()
        self.assertEqual(found.hexdigest(), digest.hexdigest())
        grown = self.memory("VmHWM") - before
        self.assertLess(grown, MAX_MEMORY, f"{grown / MEGABYTE:.0f} MB for {LARGE / MEGABYTE:.0f}")


class Broken(Site):
    def test_an_upload_interrupted_ten_times_resumes_and_is_complete(self):
        content = random.Random(3).randbytes(3_000_001)
        upload = self.begin(content)
        breaks = 0
        while (offset := self.offset(upload)) < len(content) * 9 // 10:
            end = min(offset + len(content) // 10, len(content))
            stream = self.raw("PATCH", f"/uploads/{upload}", len(content) - offset, Upload_Offset=offset)
            stream.sendall(content[offset:end])
            # The server has received all bytes before the connection closes.
            self.wait(lambda: self.offset(upload) == end)
            stream.close()
            breaks += 1
            self.wait(lambda: self.offset(upload) == end)
        self.assertEqual(breaks, 9)
        status, _, body = self.ask(
            "PATCH", f"/uploads/{upload}", "grace", content[self.offset(upload):],
            Upload_Offset=str(self.offset(upload)))
        self.assertEqual(status, 201, body)
        file = json.loads(body)
        self.assertEqual(file["sha256"], hashlib.sha256(content).hexdigest())
        self.assertEqual(self.content(file), content)

    def test_acknowledged_bytes_survive_a_crash(self):
        content = random.Random(5).randbytes(2_000_000)
        upload = self.begin(content)
        status, headers, _ = self.ask("PATCH", f"/uploads/{upload}", "grace", content[:900_000], Upload_Offset="0")
        self.assertEqual((status, headers["Upload-Offset"]), (204, "900000"))
        stream = self.raw("PATCH", f"/uploads/{upload}", 1_100_000, Upload_Offset=900_000)
        stream.sendall(content[900_000:1_300_000])
        whole = self.upload(b"a rose")
        self.server.kill()
        stream.close()
        self.open()
        self.assertEqual(self.content(whole), b"a rose")
        offset = self.offset(upload)
        self.assertGreaterEqual(offset, 900_000)
        status, _, body = self.ask("PATCH", f"/uploads/{upload}", "grace", content[offset:], Upload_Offset=str(offset))
        self.assertEqual(status, 201, body)
        self.assertEqual(json.loads(body)["sha256"], hashlib.sha256(content).hexdigest())

    def test_a_user_banned_during_an_upload_is_cut_off(self):
        ids = json.loads(self.ask("GET", "/users/@grace", "ada")[2])
        upload = self.begin(b"x" * 4_000_000)
        streams = [
            self.raw("POST", "/files?name=x", 4_000_000),
            self.raw("PATCH", f"/uploads/{upload}", 4_000_000, Upload_Offset=0),
        ]
        for stream in streams:
            stream.sendall(b"x" * 500_000)
        self.wait(lambda: self.offset(upload) == 500_000)
        status, _, body = self.ask(
            "PATCH", f"/users/{ids['id']}", "ada", json.dumps({"disabled": True}), Content_Type="application/json")
        self.assertEqual(status, 200, body)
        for stream in streams:
            stream.sendall(b"x" * 500_000)
            answer = http.client.HTTPResponse(stream)
            answer.begin()
            self.assertEqual(answer.status, 401)
            self.assertEqual(answer.getheader("Connection"), "close")
            stream.close()
        stored = [path for path in Path(self.folder, "data/files").rglob("*") if path.is_file()]
        self.assertEqual([path.name for path in stored], [f"upload-{upload}"])

    def wait(self, done):
        deadline = time.monotonic() + 100
        while not done():
            self.assertLess(time.monotonic(), deadline, "timed out")
            time.sleep(0.01)


if __name__ == "__main__":
    unittest.main()
