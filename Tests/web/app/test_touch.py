"""Touch gestures: long press, swipe, pull to refresh."""

import re
from contextlib import contextmanager

from playwright.sync_api import expect
from test_flows import Village


class Touch(Village):
    def phone(self, path):
        """A phone page whose clock can be stopped, so that gestures have exact durations on a slow machine."""
        page = self.signed_in("lin", "phone")
        page.clock.install()
        self.open(page, path)
        return page

    @contextmanager
    def stopped(self, page):
        page.clock.pause_at(page.evaluate("Date.now()") / 1_000 + 5)
        yield
        page.clock.resume()

    def hand(self, page):
        """Dispatches touch events through the DevTools protocol, as from a touch screen."""
        line = page.context.new_cdp_session(page)

        def touch(kind, *points):
            line.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": [{"x": x, "y": y, "id": at} for at, (x, y) in enumerate(points)]})
        return touch

    def drag(self, page, start, by, redrawn=None):
        touch = self.hand(page)
        (x, y), (right, down) = start, by
        # DevTools may answer before the page has handled a touch, and a late end would be a long press. The listeners are at the
        # touched element, which gets the events also after a redraw has removed it.
        page.evaluate("""() => {
            window.ended = new Promise((done) => {
                addEventListener('touchstart', ({ target }) => {
                    for (const name of ['touchend', 'touchcancel']) target.addEventListener(name, done, { passive: true });
                }, { once: true, passive: true, capture: true });
            });
        }""")
        with self.stopped(page):
            touch("Start", start)
            if redrawn:
                redrawn.evaluate("(it) => it.replaceWith(it.cloneNode(true))")
            for part in range(1, 5):
                touch("Move", (x + right * part / 4, y + down * part / 4))
            touch("End")
            page.evaluate("() => window.ended.then(() => true)")

    def middle(self, locator):
        box = self.box(locator)
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def test_a_long_press_opens_the_action_menu(self):
        self.say("Look at [the seeds](https://example.org/seeds)")
        page = self.phone(f"/f/{self.garden['id']}/room")
        link = page.get_by_role("link", name="the seeds")
        sheet, touch = page.get_by_role("dialog"), self.hand(page)
        x, y = self.middle(link)
        # Scrolling and two-finger touches are not presses.
        with self.stopped(page):
            touch("Start", (x, y))
            touch("Move", (x, y - 40))
            # The page has got the move, which a scroll may deliver late.
            page.evaluate("0")
            page.clock.run_for(700)
            touch("End")
            touch("Start", (x, y), (x + 40, y))
            page.clock.run_for(700)
            touch("End")
        expect(sheet).to_have_count(0)
        # Small movements still count as a press.
        x, y = self.middle(link)
        touch("Start", (x, y))
        touch("Move", (x + 2, y + 3))
        expect(sheet).to_be_visible()
        # After the menu opens, the end of the touch is neither a tap nor a swipe.
        touch("Move", (x + 120, y))
        touch("End")
        self.frames(page)
        expect(page.locator(".composer-above")).to_be_hidden()
        self.assertEqual(len(page.context.pages), 1)
        sheet.get_by_role("button", name="Reply").tap()
        expect(sheet).to_have_count(0)
        expect(page.locator(".composer-above")).to_contain_text("the seeds")

    def test_a_swipe_replies(self):
        self.say("Who waters the beans?")
        wide = self.say(f"```\n{'wide ' * 60}\n```")
        gone = self.say("Nobody")
        self.call("DELETE", f"/messages/{gone['id']}", token=self.tokens["grace"])
        page = self.phone(f"/f/{self.garden['id']}/room")
        text = page.get_by_text("Who waters the beans?")
        begun = page.locator(".composer-above")
        start = self.middle(text)
        for by in ((-120, 0), (40, 0), (100, 90)):
            self.drag(page, start, by)
            start = self.middle(text)
        # Wide code scrolls under the finger instead; a tombstone can't be replied to.
        self.drag(page, self.middle(page.locator(f"[data-id='{wide['id']}'] pre")), (100, 0))
        self.drag(page, self.middle(page.get_by_text("Deleted by its author")), (100, 0))
        self.frames(page)
        expect(begun).to_be_hidden()
        self.drag(page, self.middle(text), (100, 5))
        expect(begun).to_contain_text("Who waters the beans?")
        expect(page.get_by_role("textbox", name="Write a message")).to_be_focused()

    def test_a_message_that_is_redrawn_under_the_finger(self):
        first, second = self.say("The sunflowers are tall"), self.say("Mine are small")
        page = self.phone(f"/f/{self.garden['id']}/room")
        row, other = (page.locator(f"[data-id='{it['id']}']") for it in (first, second))
        touch = self.hand(page)
        # The end of the touch is seen: no long press.
        x, y = self.middle(row)
        with self.stopped(page):
            touch("Start", (x, y))
            row.evaluate("(it) => it.replaceWith(it.cloneNode(true))")
            touch("End")
            page.evaluate("0")
            page.clock.run_for(700)
        self.frames(page)
        expect(page.get_by_role("dialog")).to_have_count(0)
        # A swipe works, too.
        self.drag(page, self.middle(other.get_by_text("Mine are small")), (100, 5), redrawn=other)
        expect(page.locator(".composer-above")).to_contain_text("Mine are small")

    def test_a_swipe_of_an_inbox_row_marks_it_as_seen_or_puts_it_off(self):
        self.call("PUT", f"/forums/{self.garden['id']}/members/me", {}, self.tokens["lin"])
        topics = [self.call("POST", f"/forums/{self.garden['id']}/conversations", {"title": title, "text": "Soil"}, self.tokens["ada"])
                  for title in ("Compost heaps", "Leaf mould")]
        page = self.phone("/")
        row = lambda title: page.locator(".inbox-item").filter(has_text=title)
        compost, mould = row("Compost heaps"), row("Leaf mould")
        # A short swipe and a scroll do nothing, and open nothing.
        self.drag(page, self.middle(compost), (40, 2))
        self.drag(page, self.middle(compost), (30, -120))
        self.frames(page)
        expect(compost).to_be_visible()
        expect(page.get_by_role("menu")).to_have_count(0)
        self.drag(page, self.middle(mould), (110, 3))
        expect(page.get_by_role("menu")).to_be_visible()
        page.keyboard.press("Escape")
        expect(mould).to_be_visible()
        self.drag(page, self.middle(compost), (-110, 3))
        expect(compost).to_have_count(0)
        expect(mould).to_be_visible()
        expect(page).to_have_url(f"{self.origin}/")
        names = lambda: [it["title"] for item in self.call("GET", "/unread", token=self.tokens["lin"])["data"] for it in item.get("topics", [])]
        self.eventually(page, True, lambda: topics[0]["title"] not in names())
        self.assertIn(topics[1]["title"], names())

    def test_a_pull_refreshes(self):
        page = self.phone("/forums")
        asked = []
        page.on("request", lambda it: asked.append(it.url.split("?")[0].split("/api/v1")[1]) if re.search("/api/v1/(forums|sync)([?]|$)", it.url) else None)
        self.drag(page, (200, 300), (0, 60))
        self.drag(page, (200, 300), (0, -150))
        self.frames(page)
        self.assertEqual(asked, [])
        self.drag(page, (200, 300), (0, 150))
        self.eventually(page, ["/sync"], lambda: asked)
        page.context.set_offline(True)
        self.drag(page, (200, 300), (0, 150))
        expect(page.get_by_text("The server can't be reached")).to_be_visible()
