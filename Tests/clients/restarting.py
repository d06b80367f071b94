"""A test case with a server that stops and restarts."""

import subprocess
import tempfile
from pathlib import Path

from servers import PARLEY, free_port
from serving import ServingTest, call, parley

PASSWORD = "wool and needles"
ENDLESS = ["--rate-sending=1000000", "--rate-sending-burst=1000000", "--rate-writing=1000000"]


class RestartingTest(ServingTest):
    """Each test has a server on a fixed port, with ada as owner and a public forum."""

    def setUp(self):
        super().setUp()
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="parley-"))
        self.data = Path(self.folder) / "data"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.server = self.serve()
        self.addCleanup(lambda: self.server.stop())
        link = subprocess.run([PARLEY, "setup", "--data", self.data], capture_output=True, text=True, check=True).stdout
        self.token = None
        self.token = self.ask("POST", f"/links/{link.strip().split('/')[-1]}",
                              {"name": "ada", "password": PASSWORD})["token"]
        self.room = self.ask("POST", "/forums", {"title": "Knitting", "visibility": "public"})["room_id"]

    def serve(self):
        return self.start(*parley(self.folder, *ENDLESS, listen=f"127.0.0.1:{self.port}"))

    def ask(self, method, path, body=None):
        return call(self, method, path, body, self.token)
