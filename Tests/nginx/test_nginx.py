import hashlib
import io
import json
import os
import random
import re
import subprocess
from pathlib import Path

from nginx import nginx
from PIL import Image
from servers import PARLEY, TOP, free_port
from serving import ServingTest, bench_server, call, parley
from websockets.sync.client import connect


def lines_in_the_readme():
    return re.search(r"^```nginx\n(.*?)^```$", (TOP / "docker/README.md").read_text(), re.MULTILINE | re.DOTALL)[1]


def proxy(name, server):
    """nginx with the lines of the README in front of a server."""
    port = free_port()
    location = lines_in_the_readme().replace("http://127.0.0.1:8080", server.url)
    return nginx(name, port, f"server {{ listen 127.0.0.1:{port}; {location} }}")


def photograph_of_16_mb():
    """A JPEG of noise."""
    width, height = 2_400, 1_800
    pixels = random.Random(7).randbytes(3 * width * height)
    file = io.BytesIO()
    Image.frombytes("RGB", (width, height), pixels).save(file, "JPEG", quality=100, subsampling=0)
    return file.getvalue()


class BehindNginx(ServingTest):
    arguments = bench_server()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.proxy = cls.enterClassContext(proxy("nginx-in-front", cls.server))

    def test_the_readme_s_configuration_has_the_address_to_replace(self):
        self.assertIn("proxy_pass http://127.0.0.1:8080;", lines_in_the_readme())

    def test_a_request_is_proxied(self):
        through = json.loads(self.curl(f"{self.proxy.url}/json"))
        self.assertEqual(through, json.loads(self.curl(f"{self.server.url}/json")))

    def test_a_photo_of_16_mb_is_uploaded(self):
        photo = Path(self.folder) / "photo.jpg"
        photo.write_bytes(os.urandom(16 << 20))
        answer = json.loads(self.curl(
            "--form", f"file=@{photo}", "--form", "name=photo.jpg", f"{self.proxy.url}/upload"))
        self.assertGreater(answer["bytes"], 16 << 20)

    def test_a_websocket_is_proxied(self):
        with connect(f"{self.proxy.websocket_url}/echo") as socket:
            for message in ("hello", "x" * 300_000, b"\x00\xff" * 50_000):
                socket.send(message)
                self.assertEqual(socket.recv(timeout=60), message)
            self.assertTrue(socket.ping().wait(60))

    def test_a_websocket_is_closed_with_its_code(self):
        socket = connect(f"{self.proxy.websocket_url}/echo")
        socket.close(3000, "done")
        self.assertEqual(socket.close_code, 3000)

    def test_a_broadcast_reaches_a_client_without_the_proxy(self):
        with connect(f"{self.proxy.websocket_url}/broadcast") as ada, \
                connect(f"{self.server.websocket_url}/broadcast") as grace:
            grace.ping().wait(60)
            ada.send("hello")
            self.assertEqual(grace.recv(timeout=60), "hello")


class ParleyBehindNginx(ServingTest):
    """The daemon with its own limits, configured for the proxy."""

    password = "wool and needles"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = cls.enterClassContext(cls.start(*parley(cls.folder, "--trusted-proxy", "127.0.0.1/32")))
        cls.proxy = cls.enterClassContext(proxy("nginx-before-parley", cls.server))
        subprocess.run(
            [PARLEY, "user", "create", "ada", "--role", "owner", "--password-stdin", "--data", Path(cls.folder) / "data"],
            input=cls.password + "\n", text=True, check=True, capture_output=True)
        cls.token = call(cls.proxy, "POST", "/sessions", {"name": "ada", "password": cls.password})["token"]

    def test_a_photo_of_16_mb_is_uploaded_and_downloaded(self):
        content = photograph_of_16_mb()
        self.assertGreater(len(content), 16 << 20)
        photo = Path(self.folder) / "photo.jpg"
        photo.write_bytes(content)
        authorization = ("--header", f"Authorization: Bearer {self.token}")
        for name, upload in (("raw", ("--data-binary", f"@{photo}", "--header", "Content-Type: image/jpeg")),
                             ("form", ("--form", f"file=@{photo}"))):
            with self.subTest(name):
                file = json.loads(self.curl("--fail-with-body", *authorization, *upload, f"{self.proxy.url}/api/v1/files?name=photo.jpg"))
                self.assertEqual((file["mime_type"], file["width"], file["height"]), ("image/jpeg", 2_400, 1_800))
                stored = self.curl("--fail", *authorization, f"{self.proxy.url}/api/v1/files/{file['id']}/content")
                self.assertEqual((len(stored), hashlib.sha256(stored).hexdigest()), (file["size"], file["sha256"]))
                self.assertEqual(Image.open(io.BytesIO(stored)).tobytes(), Image.open(photo).tobytes())
