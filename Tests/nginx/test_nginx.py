import json
import os
import re
from pathlib import Path

from nginx import nginx
from servers import TOP, free_port
from serving import ServingTest, bench_server
from websockets.sync.client import connect


def lines_in_the_readme():
    return re.search(r"^```nginx\n(.*?)^```$", (TOP / "docker/README.md").read_text(), re.MULTILINE | re.DOTALL)[1]


class BehindNginx(ServingTest):
    arguments = bench_server()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        port = free_port()
        location = lines_in_the_readme().replace("http://127.0.0.1:8080", cls.server.url)
        http = f"server {{ listen 127.0.0.1:{port}; {location} }}"
        cls.proxy = cls.enterClassContext(nginx("nginx-in-front", port, http))

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
