"""Python `websockets`: /echo and /broadcast in its fastest configuration (no compression, no pings)."""

import asyncio

from websockets.asyncio.server import broadcast, serve

everyone = set()


async def echo(socket):
    async for message in socket:
        await socket.send(message)


async def to_all(socket):
    everyone.add(socket)
    try:
        async for message in socket:
            broadcast(everyone, message)
    finally:
        everyone.discard(socket)


async def route(socket):
    await (to_all if socket.request.path == "/broadcast" else echo)(socket)


async def main():
    async with serve(route, "127.0.0.1", 0, compression=None, ping_interval=None, max_size=16 << 20) as server:
        print(f"listening on http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
        await server.serve_forever()


asyncio.run(main())
