"""A test case with a daemon that may send requests to one port of this machine, and a program that receives them there."""

import json
import tempfile
import time
from pathlib import Path

from servers import LOOPBACK, VENV_PYTHON, Server, free_port
from serving import ServingTest, parley

HERE = Path(__file__).parent


class ReceivingTest(ServingTest):
    OPTIONS = ()
    PATH = "/"
    RECEIVER = None
    """The program, a file of this folder."""

    def setUp(self):
        super().setUp()
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="parley-"))
        self.data = str(Path(self.folder) / "data")
        self.file = Path(self.folder) / "received"
        self.port, self.receiving = free_port(), free_port()
        self.hook = f"http://127.0.0.1:{self.receiving}{self.PATH}"
        self.daemon = self.receiver = None
        self.addCleanup(lambda: self.receiver and self.receiver.kill())
        self.addCleanup(lambda: self.daemon and self.daemon.stop())
        self.serve()

    def serve(self):
        command = parley(self.folder, *self.OPTIONS, listen=f"127.0.0.1:{self.port}")
        self.daemon = self.start(LOOPBACK, self.receiving, *command[1:])

    def receive(self, *secrets):
        self.receiver = Server(
            f"receiver-{self.id()}", VENV_PYTHON, HERE / self.RECEIVER, self.receiving, self.file, *secrets, port=self.receiving)

    def received(self):
        # A killed receiver may have written half a line.
        lines = self.file.read_text().split("\n")[:-1] if self.file.exists() else []
        return [json.loads(line) for line in lines]

    def until(self, condition, seconds=60):
        deadline = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), deadline, self.received()[-3:])
            time.sleep(0.02)
