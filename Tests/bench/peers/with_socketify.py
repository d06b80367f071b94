"""uWebSockets through `socketify`: /echo, and /broadcast by its native publish."""

import sys

from socketify import App, AppListenOptions, OpCode

app = App()


def echo(socket, message, opcode):
    socket.send(message, opcode)


def subscribe(socket):
    socket.subscribe("everyone")


def to_all(socket, message, opcode):
    # The app's publish, not the socket's: the sender receives the message too.
    app.publish("everyone", message, opcode)


settings = {"max_payload_length": 16 << 20, "max_backpressure": 64 << 20, "idle_timeout": 0}
app.ws("/echo", {**settings, "message": echo})
app.ws("/broadcast", {**settings, "open": subscribe, "message": to_all})
app.listen(AppListenOptions(port=int(sys.argv[1]), host="127.0.0.1"),
           lambda options: print(f"listening on http://127.0.0.1:{options.port}", flush=True))
app.run()
