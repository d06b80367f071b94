"""WebSocket with three Python libraries, wsdump, the JDK and Node's ws."""

import asyncio
import json
import os
import subprocess
import threading
from pathlib import Path

import tornado.websocket
import websocket
from servers import VENV_PYTHON
from serving import ServingTest, bench_server
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

TEXT = "Grüße, Ada – 你好 👋"


class EchoTest(ServingTest):
    arguments = bench_server()

    @property
    def echo(self):
        return f"{self.server.websocket_url}/echo"


class PythonWebsockets(EchoTest):
    def test_text_and_binary_are_echoed(self):
        with connect(self.echo) as socket:
            for message in (TEXT, "", b"", bytes(range(256)), "x" * 125, "x" * 126, "x" * 65_535, "x" * 65_536):
                socket.send(message)
                self.assertEqual(socket.recv(timeout=60), message)

    def test_without_compression(self):
        with connect(self.echo, compression=None) as socket:
            self.assertNotIn("Sec-WebSocket-Extensions", socket.response.headers)
            socket.send(TEXT)
            self.assertEqual(socket.recv(timeout=60), TEXT)

    def test_compression_is_negotiated_and_works(self):
        with connect(self.echo, compression="deflate") as socket:
            self.assertIn("permessage-deflate", socket.response.headers["Sec-WebSocket-Extensions"])
            for _ in range(20):
                socket.send(TEXT * 500)
                self.assertEqual(socket.recv(timeout=60), TEXT * 500)

    def test_a_message_of_16_mib(self):
        message = os.urandom(16 * 1024 * 1024)
        with connect(self.echo, max_size=None, compression=None) as socket:
            socket.send(message)
            self.assertEqual(socket.recv(timeout=60), message)

    def test_a_message_in_fragments(self):
        with connect(self.echo) as socket:
            socket.send(iter([TEXT, "", TEXT, "end"]))
            self.assertEqual(socket.recv(timeout=60), f"{TEXT}{TEXT}end")

    def test_a_ping_is_answered(self):
        with connect(self.echo) as socket:
            self.assertTrue(socket.ping(b"are you there?").wait(60))

    def test_a_close_is_answered_with_its_code(self):
        socket = connect(self.echo)
        socket.close(3000, "done")
        self.assertEqual(socket.close_code, 3000)

    def test_many_messages_without_waiting(self):
        with connect(self.echo) as socket:
            for number in range(1000):
                socket.send(str(number))
            self.assertEqual([socket.recv(timeout=60) for _ in range(1000)], [str(number) for number in range(1000)])

    def test_a_broadcast_reaches_all_clients(self):
        address = f"{self.server.websocket_url}/broadcast"
        with connect(address) as ada, connect(address) as grace:
            self.assertTrue(grace.ping().wait(60))  # both are subscribed now
            ada.send(TEXT)
            self.assertEqual(ada.recv(timeout=60), TEXT)
            self.assertEqual(grace.recv(timeout=60), TEXT)

    def test_a_message_over_the_limit_is_refused_with_1009(self):
        with connect(self.echo, compression=None) as socket:
            with self.assertRaises(ConnectionClosed) as closed:
                socket.send(b"x" * (16 * 1024 * 1024 + 1))
                socket.recv(timeout=60)
            self.assertEqual(closed.exception.rcvd.code, 1009)


class PythonWebsocketClient(EchoTest):
    def setUp(self):
        self.socket = websocket.create_connection(self.echo, timeout=60)
        self.addCleanup(self.socket.close)

    def test_text_is_echoed(self):
        self.socket.send(TEXT)
        self.assertEqual(self.socket.recv(), TEXT)

    def test_binary_is_echoed(self):
        message = os.urandom(200_000)
        self.socket.send_binary(message)
        self.assertEqual(self.socket.recv(), message)

    def test_a_ping_between_fragments_is_answered(self):
        frames = websocket.ABNF
        self.socket.send_frame(frames.create_frame("one ", frames.OPCODE_TEXT, 0))
        self.socket.ping("still here?")
        self.socket.send_frame(frames.create_frame("two", frames.OPCODE_CONT, 1))
        opcode, frame = self.socket.recv_data_frame(control_frame=True)
        self.assertEqual((opcode, frame.data), (frames.OPCODE_PONG, b"still here?"))
        self.assertEqual(self.socket.recv(), "one two")

    def test_a_close_is_answered_with_its_code(self):
        self.socket.send_close(websocket.STATUS_NORMAL, b"bye")
        opcode, frame = self.socket.recv_data_frame(control_frame=True)
        self.assertEqual(opcode, websocket.ABNF.OPCODE_CLOSE)
        self.assertEqual(int.from_bytes(frame.data[:2], "big"), websocket.STATUS_NORMAL)


class Wsdump(EchoTest):
    def test_a_line_is_echoed(self):
        wsdump = VENV_PYTHON.parent / "wsdump"
        with subprocess.Popen([wsdump, "--raw", "--text", "hello there", self.echo], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            watch = threading.Timer(60, process.kill)
            watch.start()
            # wsdump exits at the end of its input, so the input stays open until the response arrives.
            said = next((line for line in process.stdout if b"hello there" in line), None)
            watch.cancel()
            process.stdin.close()
        self.assertIsNotNone(said)


class Tornado(EchoTest):
    def test_a_client_that_goes_on_with_its_compression_context_is_understood(self):
        """The client agrees to `client_no_context_takeover` and ignores it."""

        async def exchange():
            socket = await tornado.websocket.websocket_connect(self.echo, compression_options={})
            command = json.dumps({"do": "send", "conversation_id": "12", "text": TEXT})
            for message in (TEXT * 5, command, "x" * 40_000, command, TEXT * 5, command):
                for _ in range(2):
                    await socket.write_message(message)
                    self.assertEqual(await asyncio.wait_for(socket.read_message(), 60), message)
            socket.close()

        asyncio.run(exchange())


class JDK(EchoTest):
    def test_every_message_is_echoed_twice(self):
        done = subprocess.run(["java", Path(__file__).with_name("JDKClient.java"), self.echo], capture_output=True,
                              timeout=120)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, b"ok"), (done.stdout + done.stderr).decode())


class NodeWs(EchoTest):
    def node(self, scene):
        done = subprocess.run(["node", Path(__file__).with_name("node_ws.js"), scene, self.echo],
                              env={**os.environ, "NODE_PATH": "/usr/share/nodejs"}, capture_output=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, b"ok"), (done.stdout + done.stderr).decode())

    def test_text_and_binary_are_echoed(self):
        self.node("echo")

    def test_compression_is_negotiated_and_works(self):
        self.node("deflate")

    def test_a_message_in_fragments(self):
        self.node("fragments")

    def test_a_large_message(self):
        self.node("large")

    def test_a_ping_is_answered(self):
        self.node("ping")

    def test_a_close_is_answered_with_its_code(self):
        self.node("close")
