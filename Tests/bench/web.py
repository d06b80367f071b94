"""Latencies of the web app in headless Chromium: a quarter of the CPU speed, 1.6 Mbit/s and 150 ms."""

import json
import re
import tempfile
import urllib.request
from statistics import median

from measure import IS_SMOKE
from playwright.sync_api import sync_playwright
from servers import PARLEY, Server

ROUNDS = 1 if IS_SMOKE else 5
KEYS = 20
SLOWER = 1 if IS_SMOKE else 4
LINE = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 200_000}
PASSWORD = "correct horse battery"
TIMEOUT = 60_000

# From navigation start: first paint, first message, and the longest task on the main thread.
WATCH = """
window.seen = { longest: 0 };
new PerformanceObserver((list) => { for (const it of list.getEntries()) if (it.name === 'first-contentful-paint') seen.paint = it.startTime; })
  .observe({ type: 'paint', buffered: true });
new PerformanceObserver((list) => { for (const it of list.getEntries()) seen.longest = Math.max(seen.longest, it.duration); })
  .observe({ type: 'longtask', buffered: true });
new MutationObserver((_, watching) => {
  if (!document.querySelector('.message .bubble')) return;
  watching.disconnect();
  requestAnimationFrame(() => setTimeout(() => { seen.messages = performance.now(); }));
}).observe(document, { childList: true, subtree: true });
"""
# Until the result of a click is painted: the next frame and the task after it.
OPEN = """([link, text]) => new Promise((done) => {
  const started = performance.now();
  document.querySelector(`.sidebar a[href="${link}"]`).click();
  const look = () => {
    if (![...document.querySelectorAll('.stream .bubble')].some((it) => it.textContent.includes(text))) return requestAnimationFrame(look);
    setTimeout(() => done(performance.now() - started));
  };
  look();
})"""
LISTEN = """() => {
  window.took = [];
  const field = document.querySelector('.composer-input');
  field.addEventListener('keydown', (event) => {
    const drawn = () => requestAnimationFrame(() => setTimeout(() => took.push(performance.now() - event.timeStamp)));
    if (event.key !== 'Enter') return drawn();
    const count = document.querySelectorAll('.message.is-mine').length;
    const look = () => (document.querySelectorAll('.message.is-mine').length > count ? drawn() : setTimeout(look));
    look();
  }, true);
}"""
IS_CACHED = """async () => {
  const cached = await (await caches.open('state')).match('/state');
  return !!navigator.serviceWorker?.controller && !!cached && !!(await cached.json()).now;
}"""


class App:
    """A server with two rooms of 200 messages and one user."""

    def __init__(self, stack):
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="parley-bench-web-"))
        rates = [it for name in ("login", "registration", "sending", "writing") for it in (f"--rate-{name}", 10**6, f"--rate-{name}-burst", 10**6)]
        self.server = stack.enter_context(Server("bench-web", PARLEY, "serve", "--listen", "127.0.0.1:0", "--data", f"{folder}/data", *rates))
        self.token = None
        code = re.search(r"/setup/(\w+)", self.server.output())[1]
        self.token = self.call("POST", f"/links/{code}", {"name": "ada", "password": PASSWORD})["token"]
        self.garden, self.kitchen = (self.call("POST", "/forums", {"title": title, "visibility": "members"}) for title in ("Garden", "Kitchen"))
        for room in (self.garden, self.kitchen):
            for number in range(200):
                self.call("POST", f"/conversations/{room['room_id']}/messages", {"text": f"{room['title']}: what grows in **row {number}**, and who waters it?"})
        playwright = stack.enter_context(sync_playwright())
        self.browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        stack.callback(self.browser.close)

    def call(self, method, path, body):
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {self.token}"} if self.token else {})}
        with urllib.request.urlopen(urllib.request.Request(f"{self.server.url}/api/v1{path}", json.dumps(body).encode(), headers, method=method)) as answer:
            return json.loads(answer.read())

    def new_context(self):
        """A new browser profile, signed in."""
        context = self.browser.new_context(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
        context.set_default_timeout(TIMEOUT)
        context.add_init_script(WATCH)
        answer = context.request.post(
            f"{self.server.url}/api/v1/sessions", data={"name": "ada", "password": PASSWORD, "cookie": True}, headers={"Origin": self.server.url})
        if answer.status != 201:
            raise RuntimeError(answer.text())
        return context

    def page(self, context, *, width=390, isSlow=True):
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": 844})
        session = context.new_cdp_session(page)
        session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
        if isSlow:
            session.send("Network.enable")
            session.send("Network.emulateNetworkConditions", LINE)
        return page

    def room(self, forum):
        return f"/f/{forum['id']}-{forum['title'].lower()}/room"

    def round(self, times):
        context = self.new_context()
        page = self.page(context)
        page.goto(self.server.url + self.room(self.garden))
        page.wait_for_function("() => seen.messages !== undefined")
        page.wait_for_load_state("networkidle")
        seen = page.evaluate("seen")
        times["first paint, first visit"].append(seen["paint"])
        times["first messages, first visit"].append(seen["messages"])
        times["longest task, first visit"].append(seen["longest"])
        while not page.evaluate(IS_CACHED):
            page.wait_for_timeout(50)
        page.close()

        context.set_offline(True)
        page = self.page(context, isSlow=False)
        page.goto(self.server.url + self.room(self.garden))
        page.wait_for_function("() => seen.messages !== undefined")
        times["relaunch without a network, to messages"].append(page.evaluate("seen.messages"))
        page.close()
        context.set_offline(False)

        page = self.page(context, width=1280)
        page.goto(self.server.url + self.room(self.garden))
        page.wait_for_function("() => seen.messages !== undefined")
        links = [f"/f/{forum['id']}-{forum['title'].lower()}" for forum in (self.kitchen, self.garden)]
        for link, forum in zip(links, (self.kitchen, self.garden)):
            page.evaluate("link => localStorage.setItem(`tab:${/\\d+/.exec(link)[0]}`, 'room')", link)
            page.wait_for_selector(f'.sidebar a[href="{link}"]')
            took = page.evaluate(OPEN, [link, f"{forum['title']}: "])
            # The first visit fetched it; now it is cached.
            if forum is self.garden:
                times["open a cached conversation"].append(took)
        page.wait_for_selector(".composer-input")
        page.evaluate(LISTEN)
        page.locator(".composer-input").focus()
        for key in ("abcdefghij" * KEYS)[:KEYS]:
            page.keyboard.press(key)
        page.wait_for_function("count => took.length === count", arg=KEYS)
        times["key to letter"].append(median(page.evaluate("took")))
        page.keyboard.press("Enter")
        page.wait_for_function("count => took.length === count", arg=KEYS + 1)
        times["send to bubble"].append(page.evaluate("took.at(-1)"))
        context.close()


TARGETS = {
    "first paint, first visit": 900, "first messages, first visit": 2_200, "longest task, first visit": 50,
    "relaunch without a network, to messages": 400, "open a cached conversation": 100,
    "key to letter": 50, "send to bubble": 50,
}
"""Maximum median of five rounds, in milliseconds."""


def app_times(stack):
    app = App(stack)
    times = {name: [] for name in TARGETS}
    for _ in range(ROUNDS):
        app.round(times)
    return times
