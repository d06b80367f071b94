"""A push service that answers each request with 201: `push_sink.py`. It reads no message; the benchmark measures the sender."""

import asyncio

ANSWER = b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"
LENGTH = b"content-length:"


class Connection(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.waiting = transport, b""

    def data_received(self, data):
        self.waiting += data
        while b"\r\n\r\n" in self.waiting:
            head, _, rest = self.waiting.partition(b"\r\n\r\n")
            size = next(int(line[len(LENGTH):]) for line in head.lower().split(b"\r\n") if line.startswith(LENGTH))
            if len(rest) < size:
                return
            self.waiting = rest[size:]
            self.transport.write(ANSWER)


async def main():
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", 0)
    print(f"listening on http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


asyncio.run(main())
