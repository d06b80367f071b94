"""Narrow windows: counts and names of the rail, names and titles on a phone; the delivery of a message to an open app."""

from playwright.sync_api import expect
from test_flows import Village

LONG = "Bartholomew Featherstonehaugh-Cholmondeley of the Upper Beds"
OUTSIDE = "it => it.getBoundingClientRect().right > innerWidth || it.getBoundingClientRect().left < 0"


class Narrow(Village):
    def join(self, name):
        self.call("PUT", f"/forums/{self.garden['id']}/members/me", {}, self.tokens[name])
        self.call("PUT", "/unread/read", {"up_to": "9007199254740991"}, self.tokens[name])

    def test_the_rail_shows_counts_and_tells_forums_apart(self):
        self.join("lin")
        self.call("POST", "/forums", {"title": "Bees", "visibility": "members"}, self.tokens["ada"])
        page = self.signed_in("lin")
        page.set_viewport_size({"width": 820, "height": 900})
        # Under the pointer the rail is wide.
        page.mouse.move(600, 500)
        self.say("@lin, who has the key?")
        links = page.locator(".sidebar .sidebar-link")
        for name, count in (("Inbox", "1"), ("Garden", "1")):
            link = links.and_(page.get_by_title(name, exact=True))
            badge = link.locator(".badge")
            expect(badge).to_contain_text(count)
            expect(badge).to_be_in_viewport()
            self.eventually(page, True, lambda badge=badge: self.box(badge)["x"] + self.box(badge)["width"] <= 72)
        # The words are hidden, and the pictures differ.
        pictures = [links.and_(page.get_by_title(name, exact=True)).locator(".forum-picture") for name in ("Garden", "Bees")]
        self.assertNotEqual(*(it.evaluate("it => [it.textContent, getComputedStyle(it).backgroundColor]") for it in pictures))
        expect(page.locator(".page-bar .sign")).to_be_in_viewport()

    def test_long_names_leave_room_for_time_and_count_on_a_phone(self):
        self.join("lin")
        self.call("PATCH", "/users/me", {"display_name": LONG}, self.tokens["grace"])
        direct = self.call("POST", "/conversations", {"kind": "direct", "participants": ["@lin"], "distinct": True}, self.tokens["grace"])
        self.call("PUT", f"/conversations/{direct['id']}/request", None, self.tokens["lin"])
        read = self.say("The last that lin has read", "lin")
        self.call("PUT", f"/conversations/{self.garden['room_id']}/read", {"message_id": read["id"]}, self.tokens["lin"])
        for number in range(3):
            self.say(f"Line {number}", "grace", direct["id"])
            self.say(f"Row {number}")
        page = self.signed_in("lin", "phone")
        self.go(page, "/messages")
        row = page.locator(".page-body a").filter(has_text="Bartholomew")
        for part in ("time", ".badge"):
            expect(row.locator(part)).to_be_in_viewport(ratio=1)
        name = row.locator(".one-line").first
        self.assertTrue(name.evaluate("it => it.scrollWidth > it.clientWidth && getComputedStyle(it).textOverflow === 'ellipsis'"))
        self.room(page)
        line = page.locator(".new-line")
        expect(line).to_be_visible()
        self.assertFalse(line.evaluate(OUTSIDE))
        self.assertFalse(line.evaluate("it => it.scrollWidth > it.clientWidth"))
        self.assert_fits(page, "room")
        self.call("PATCH", "/users/me", {"display_name": "Grace"}, self.tokens["grace"])

    def test_a_title_has_the_width_of_the_inbox_on_a_phone(self):
        self.join("lin")
        topic = self.call("POST", f"/forums/{self.garden['id']}/conversations", {"title": "Which beds need a cover tonight", "text": "It is cold."}, self.tokens["grace"])
        page = self.signed_in("lin", "phone")
        row = page.locator(".inbox-item").filter(has_text=topic["title"])
        title = row.locator(".inbox-row-head > .one-line")
        expect(title).to_be_visible()
        self.assertFalse(title.evaluate("it => it.scrollWidth > it.clientWidth"))
        # The buttons are beside the line below it, and cover no words.
        for direction in ("rtl", "ltr"):
            page.evaluate("to => { document.documentElement.dir = to; }", direction)
            words, seen, later = (self.box(it) for it in (row.locator(".second"), *(row.get_by_role("button", name=name) for name in ("Mark as seen", "Later"))))
            ends = [max(it["x"] + it["width"] for it in (seen, later)), words["x"]] if direction == "rtl" else [words["x"] + words["width"], min(seen["x"], later["x"])]
            self.assertLessEqual(ends[0], ends[1] + 1, direction)
        # The bar of a topic names its forum while the title stands below.
        row.get_by_role("link").click()
        bar = page.locator(".page-bar")
        expect(page.get_by_role("heading", name=topic["title"], level=2)).to_be_visible()
        expect(bar.get_by_role("link", name="Garden")).to_be_visible()
        self.eventually(page, 1, lambda: self.box(bar.locator("h1"))["height"])

    def test_a_message_reaches_an_open_app_and_the_sender_sees_it(self):
        direct = self.call("POST", "/conversations", {"kind": "direct", "participants": ["@ada"], "distinct": True}, self.tokens["lin"])
        self.call("PUT", f"/conversations/{direct['id']}/request", None, self.tokens["ada"])
        reader = self.signed_in("ada")
        sent = self.say("Is it there?", "lin", direct["id"])
        receipts = lambda: [(it["delivered"], it["read"]) for it in self.call(
            "GET", f"/messages/{sent['id']}/receipts", token=self.tokens["lin"])["data"]]
        self.eventually(reader, [(True, False)], receipts)
