"""A room of 100,000 messages: reading at both ends and in the middle, with a bounded number of DOM nodes."""

import re
import sqlite3
import subprocess
from pathlib import Path

from browsing import PASSWORD, BrowsingTest
from playwright.sync_api import expect
from servers import BENCH, PARLEY, TOP

MESSAGES = 100_000
LONG = 65
"""The conversation that `parley-bench store plant` fills; `person2` is a member."""
NODES = 3_000
HEAP = 60_000_000
STEPS = 25


class HundredThousand(BrowsingTest):
    @classmethod
    def prepare(cls):
        cls.data = Path(cls.folder) / "data"
        cls.data.mkdir()
        subprocess.run([BENCH, "store", "plant", cls.data, "--messages", str(MESSAGES)], cwd=TOP, check=True, stdout=subprocess.DEVNULL)

    def enter(self, name):
        said = subprocess.run([PARLEY, "user", "reset", name, "--data", self.data], check=True, capture_output=True, text=True).stdout
        code = re.search(r"/reset/(\w+)", said)[1]
        self.call("POST", f"/links/{code}", {"password": PASSWORD})
        context = self.context()
        self.sign_in(context, name)
        return self.page(context)

    def newest(self, page):
        return page.evaluate("Math.max(...[...document.querySelectorAll('.stream [data-seq]')].map((it) => Number(it.dataset.seq)))")

    def oldest(self, page):
        return page.evaluate("Math.min(...[...document.querySelectorAll('.stream [data-seq]')].map((it) => Number(it.dataset.seq)))")

    def scroll(self, page, direction):
        """Scrolls page by page, each after the previous one has loaded; counts the nodes at each step."""
        edge = self.oldest if direction < 0 else self.newest
        for _ in range(STEPS):
            before = edge(page)
            page.wait_for_function(
                """([before, direction]) => {
                    const it = document.querySelector('.stream');
                    const end = direction < 0 ? 0 : it.scrollHeight - it.clientHeight;
                    const all = [...it.querySelectorAll('[data-seq]')].map((one) => Number(one.dataset.seq));
                    if (direction < 0 ? Math.min(...all) < before : Math.max(...all) > before) return true;
                    // Alternates, or the browser would fire no scroll event.
                    it.scrollTop = Math.abs(it.scrollTop - end) < 1 ? end - 2 * direction : end;
                    return false;
                }""", arg=[before, direction])
            self.max_nodes = max(self.max_nodes, page.evaluate("document.querySelectorAll('*').length"))
        return edge(page)

    def heap(self, page):
        session = page.context.new_cdp_session(page)
        session.send("HeapProfiler.enable")
        session.send("HeapProfiler.collectGarbage")
        session.send("Performance.enable")
        return next(it["value"] for it in session.send("Performance.getMetrics")["metrics"] if it["name"] == "JSHeapUsedSize")

    def test_scrolling_stays_within_the_node_and_memory_limits(self):
        page = self.enter("person2")
        self.max_nodes = 0
        # Opens near the newest message; scrolls up.
        self.open(page, f"/c/{LONG}")
        page.locator(".stream").focus()
        page.keyboard.press("Escape")
        expect(page.locator(f".stream [data-seq='{MESSAGES}']")).to_be_in_viewport()
        self.assertLess(self.scroll(page, -1), MESSAGES - STEPS * 40)
        # A link into the middle, then both directions.
        with sqlite3.connect(f"file:{self.data}/parley.db?mode=ro", uri=True) as database:
            first, middle = (it for it, in database.execute(
                "select id from message where conversation_id = ? and seq in (1, ?) order by seq", (LONG, MESSAGES // 2)))
        database.close()
        self.go(page, f"/m/{middle}")
        expect(page.locator(f".stream [data-id='{middle}']")).to_be_in_viewport()
        self.scroll(page, -1)
        self.scroll(page, 1)
        # A link to the first message, then down.
        self.go(page, f"/m/{first}")
        expect(page.locator(f".stream [data-id='{first}']")).to_be_in_viewport()
        self.assertGreater(self.scroll(page, 1), STEPS * 40)
        heap = self.heap(page)
        print(f"100,000 messages: at most {self.max_nodes} nodes, {heap / 1e6:.1f} MB")
        self.assertLess(self.max_nodes, NODES)
        self.assertLess(heap, HEAP)
