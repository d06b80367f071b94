"""A site of two thousand users: some hundred of them online in one room, and a few posts a second over REST."""

import asyncio
import http.client
import json
import time
from contextlib import AsyncExitStack

from rooms import ROOMS
from websockets.asyncio.client import connect

MARK = "The kettle is on, cup"
ROOM = 1_000


class Members:
    """Members online. `received` is the number of posts that each has received."""

    def __init__(self, server, count):
        self.address = f"ws://127.0.0.1:{server.port}/api/v1/realtime?topics=conversation:{ROOMS[ROOM]}"
        self.received = [0] * count

    async def listen(self, number, socket):
        async for frame in socket:
            self.received[number] += frame.count(MARK)

    async def join(self, stack, tasks):
        for number in range(len(self.received)):
            socket = await stack.enter_async_context(connect(
                self.address, subprotocols=["parley.v1"], compression=None, additional_headers={"Authorization": f"Bearer bench-{number}"}))
            tasks.create_task(self.listen(number, socket))


def post(connection, number):
    """The time of a post in microseconds; None for a refusal."""
    token = {"Authorization": f"Bearer bench-{number % ROOM}", "Content-Type": "application/json"}
    start = time.perf_counter()
    connection.request("POST", f"/api/v1/conversations/{ROOMS[ROOM]}/messages", json.dumps({"text": f"{MARK} {number}"}), token)
    answer = connection.getresponse()
    answer.read()
    return (time.perf_counter() - start) * 1e6 if answer.status == 201 else None


async def posts(server, rate, seconds):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    begun, times = time.monotonic(), []
    for number in range(rate * seconds):
        await asyncio.sleep(max(0, begun + number / rate - time.monotonic()))
        times.append(await asyncio.to_thread(post, connection, number))
    return times


async def run(server, online, rate, seconds):
    members = Members(server, online)
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as tasks:
        await members.join(stack, tasks)
        times = await posts(server, rate, seconds)
        deadline = time.monotonic() + 60
        while min(members.received) < len(times) and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        # Closes the sockets, which ends the tasks.
        await stack.aclose()
    errors = times.count(None) + sum(count != len(times) for count in members.received)
    return sorted(each for each in times if each is not None), errors


def site(server, online, rate, seconds):
    """The times of all posts in microseconds, sorted, and the number of refused posts and of members without all of them."""
    return asyncio.run(run(server, online, rate, seconds))
