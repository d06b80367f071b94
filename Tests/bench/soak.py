"""Soak test for leaks: memory and descriptors must stay constant while clients connect and disconnect."""

import random
import socket
import sys
import threading
import time
from pathlib import Path

from measure import load, resident_bytes, wrk
from servers import BENCH, Server

HANDSHAKE = (b"GET /echo HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
             b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
HALF_A_FRAME = b"\x81\xfe\x10\x00\x00\x00\x00\x00half"
RUDE = [b"", b"GET / HT", b"GET /json HTTP/1.1\r\nHost: x\r\n\r\n", HANDSHAKE, HANDSHAKE + HALF_A_FRAME,
        b"POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nonly this", b"\x16\x03\x01nonsense"]
SETTLE = 5


def descriptors(pid):
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def until(stopped, work, faults):
    def loop():
        try:
            while not stopped.is_set():
                work()
        except Exception as fault:
            faults.append(fault)
            stopped.set()
    thread = threading.Thread(target=loop)
    thread.start()
    return thread


def leave_rudely(port, choice=random.Random(1)):
    """Connects, sends part of a request, and disconnects."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        client.sendall(choice.choice(RUDE))
        if choice.random() < 0.5:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")  # a reset, not a close
    time.sleep(0.002)


echoes = load("websocket", "ws://127.0.0.1:{port}/echo", "--connections", 16, "--size", 2000)


def without_errors(measured):
    if measured.errors:
        raise RuntimeError(f"{measured.errors} errors among {measured.operations} echoes")


def soak(minutes):
    with Server("soak-server", BENCH, "serve", "--listen", "127.0.0.1:0") as server:
        open_before = descriptors(server.pid)
        stopped, faults, memory = threading.Event(), [], []
        work = [lambda: wrk("/json", connections=16)(server),
                lambda: without_errors(echoes(server)),
                lambda: leave_rudely(server.port)]
        threads = [until(stopped, each, faults) for each in work]
        started = time.monotonic()
        while (elapsed := time.monotonic() - started) < minutes * 60 and not stopped.wait(min(10, minutes * 6)):
            memory.append(resident_bytes(server.pid))
            print(f"{elapsed:5.0f} s  {memory[-1] / 2**20:6.1f} MB  {descriptors(server.pid)} descriptors", flush=True)
        stopped.set()
        for thread in threads:
            thread.join()
        time.sleep(SETTLE)
        return verdict(memory, open_before, descriptors(server.pid), faults)


def verdict(memory, open_before, open_after, faults):
    for fault in faults:
        print(f"The load failed: {fault}")
    warm = max(memory[:max(1, len(memory) // 3)])
    grown = memory[-1] > warm * 1.2 + 4 * 2**20
    left = open_after > open_before
    print(f"memory {warm / 2**20:.1f} MB once warm, {memory[-1] / 2**20:.1f} MB at the end: {'GROWN' if grown else 'steady'}")
    print(f"descriptors {open_before} before, {open_after} after: {'LEFT OPEN' if left else 'all closed'}")
    return 1 if faults or grown or left else 0


sys.exit(soak(float(sys.argv[1]) if len(sys.argv) > 1 else 10))
