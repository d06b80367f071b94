"""The inbox: new topics, unread, mentions and direct messages in one answer; marking as read; reading without following."""

import re
from itertools import cycle, islice

from browsing import PASSWORD
from playwright.sync_api import expect
from test_flows import Village

API = re.compile(r"/api/v1/(?!users/\d+/avatar|forums/\d+/icon|icon|realtime)")


class Gardeners(Village):
    """Forums, topics and inboxes through the API."""

    def member(self, name, forum):
        self.call("PUT", f"/forums/{forum['id']}/members/me", {}, self.tokens[name])

    def forum(self, title, *members, **more):
        forum = self.call("POST", "/forums", {"title": title, "visibility": "members", **more}, self.tokens["ada"])
        for name in members:
            self.member(name, forum)
        return forum

    def topic(self, forum, title, text="What do you think?", who="ada"):
        return self.call("POST", f"/forums/{forum['id']}/conversations", {"title": title, "text": text}, self.tokens[who])

    def unread(self, name):
        return self.call("GET", "/unread?limit=200", token=self.tokens[name])

    def row(self, page, words):
        return page.locator(".inbox-item").filter(has_text=words)

    def wait_for_overview(self, page):
        """Waits for the request that follows a new connection: it is sent 400 ms later."""
        expect(page.locator(".sign").filter(visible=True).first).to_have_attribute("title", "Connected")
        page.evaluate("new Promise((done) => setTimeout(done, 600))")


class Inbox(Gardeners):
    def setUp(self):
        super().setUp()
        self.call("PUT", "/unread/read", {"up_to": "9007199254740991"}, self.tokens["lin"])

    def test_reading_a_topic_follows_nothing_and_leaves_no_count(self):
        for size in ("desktop", "phone"):
            with self.subTest(size=size):
                forum = self.forum(f"Bees {size}", "lin")
                topic = self.topic(forum, f"Swarm in the pear tree, {size}", "It hangs on the lowest branch.\n\n" + "Who has a box?\n\n" * 40)
                page = self.signed_in("lin", size)
                row = self.row(page, topic["title"])
                expect(row).to_contain_text("Ada: It hangs on the lowest branch.")
                expect(page.get_by_role("heading", name=re.compile(f"New topics · Bees {size} 1"))).to_be_visible()
                bars = page.locator(".bottom-bar, .sidebar").filter(visible=True)
                expect(bars.get_by_role("link", name=re.compile("1 new topic")).first).to_be_visible()
                row.get_by_role("link").click()
                head = page.locator(".stream-head")
                expect(head.get_by_role("heading", name=topic["title"])).to_be_in_viewport()
                expect(head.get_by_role("button", name="Normal")).to_be_visible()
                self.eventually(page, [], lambda: self.unread("lin")["data"])
                self.call("POST", f"/conversations/{topic['id']}/messages", {"text": "I have one."}, self.tokens["ada"])
                self.go(page, "/")
                expect(page.locator(".inbox-item")).to_have_count(0)
                self.assertEqual(self.unread("lin")["data"], [])
                people = self.call("GET", f"/conversations/{topic['id']}/participants", token=self.tokens["ada"])["data"]
                self.assertNotIn("lin", [it.get("user", {}).get("name") for it in people])
                expect(bars.locator(".badge")).to_have_count(0)
                page.context.close()

    def test_a_topic_is_followed_and_muted_at_its_head(self):
        forum = self.forum("Wells", "lin")
        topic = self.topic(forum, "The pump squeaks")
        page = self.signed_in("lin")
        self.go(page, f"/t/{topic['id']}")
        head = page.locator(".stream-head")
        head.get_by_role("button", name="Normal").click()
        page.get_by_role("menuitemradio", name=re.compile("^Follow")).click()
        expect(head.get_by_role("button", name="Following")).to_be_visible()
        self.go(page, "/forums")
        self.call("POST", f"/conversations/{topic['id']}/messages", {"text": "Oil helps."}, self.tokens["ada"])
        self.go(page, "/?show=unread")
        expect(self.row(page, "The pump squeaks")).to_contain_text("Ada: Oil helps.")
        self.row(page, "The pump squeaks").get_by_role("link").click()
        head.get_by_role("button", name="Following").click()
        page.get_by_role("menuitemradio", name=re.compile("^Mute")).click()
        expect(head.get_by_role("button", name="Muted")).to_be_visible()
        self.call("POST", f"/conversations/{topic['id']}/messages", {"text": "It squeaks again."}, self.tokens["ada"])
        self.go(page, "/")
        expect(self.row(page, "The pump squeaks")).to_have_count(0)

    def test_a_message_request_is_one_row_under_direct_until_it_is_answered(self):
        for size in ("desktop", "phone"):
            with self.subTest(size=size):
                stranger = self.call("POST", "/users", {"name": f"sam{size}", "display_name": f"Sam {size}", "password": PASSWORD, "invite": self.invite, "accept_rules": True})
                page = self.signed_in("lin", size)
                direct = self.call("POST", "/conversations", {"kind": "direct", "participants": ["@lin"]}, stranger["token"])
                self.call("POST", f"/conversations/{direct['id']}/messages", {"text": "I have your rake."}, stranger["token"])
                bars = page.locator(".bottom-bar, .sidebar").filter(visible=True)
                tabs = page.get_by_role("navigation", name="Inbox")
                row = self.row(page, f"Sam {size} sent you a message request")

                def assert_listed():
                    expect(page.locator(".inbox-item")).to_have_count(1)
                    expect(row).to_contain_text("I have your rake.")
                    expect(page.get_by_role("heading", name="Direct messages 1")).to_be_visible()
                    expect(tabs.locator(".badge").filter(visible=True)).to_have_text(["1 unread"])
                    expect(bars.get_by_role("link", name="Inbox").locator(".badge")).to_contain_text("1")

                assert_listed()
                title = row.locator(".inbox-row-head > span").first
                self.assertFalse(title.evaluate("it => it.scrollWidth > it.clientWidth"), "its title is cut")
                self.photograph(page, f"request-{size}")
                tabs.get_by_role("link", name="Direct").click()
                row.get_by_role("link").click()
                expect(page.get_by_text("This person isn't in any of your forums.")).to_be_visible()
                expect(page.locator(".bubble").filter(has_text="I have your rake.")).to_be_visible()
                # Read without an answer, it stays.
                self.eventually(page, 0, lambda: self.call("GET", f"/conversations/{direct['id']}", token=self.tokens["lin"])["unread_count"])
                self.go(page, "/")
                assert_listed()
                row.get_by_role("link").click()
                if size == "desktop":
                    page.get_by_role("button", name="Accept").click()
                else:  # On another device.
                    expect(page.get_by_role("button", name="Accept")).to_be_visible()
                    self.call("PUT", f"/conversations/{direct['id']}/request", token=self.tokens["lin"])
                expect(page.get_by_text("This person isn't in any of your forums.")).to_have_count(0)
                self.go(page, "/")
                expect(page.locator(".inbox-item")).to_have_count(0)
                page.context.close()

    def test_new_topics_arrive_while_the_inbox_is_open(self):
        forum = self.forum("Sheds", "lin")
        page = self.signed_in("lin")
        expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
        expect(self.row(page, "A new roof")).to_have_count(0)
        topic = self.topic(forum, "A new roof")
        expect(self.row(page, "A new roof")).to_be_visible()
        side = page.locator(".sidebar").get_by_role("link", name=re.compile("^Sheds"))
        expect(side).to_contain_text("1 new topic")
        self.go(page, f"/f/{forum['id']}/topics")
        expect(page.locator(".topic-row.is-unread")).to_contain_text("A new roof")
        expect(page.get_by_role("link", name=re.compile("^Topics"))).to_contain_text("1 new topic")
        self.go(page, "/forums")
        expect(page.locator(".tile").filter(has_text="Sheds")).to_contain_text("1 new topic")
        page.set_viewport_size({"width": 900, "height": 800})
        expect(side.locator(".badge-topics")).to_be_visible()
        self.photograph(page, "forums-900-light")
        self.call("PUT", f"/conversations/{topic['id']}/read", {"message_id": topic["last_message_id"]}, self.tokens["lin"])

    def test_a_second_tab_is_connected_and_follows_new_topics(self):
        forum = self.forum("Two tabs", "lin")
        first = self.signed_in("lin")
        self.wait_for_overview(first)
        second = self.page(first.context)
        self.open(second)
        self.wait_for_overview(second)
        beside = self.page(first.context)
        self.open(beside, f"/f/{forum['id']}/topics")
        self.wait_for_overview(beside)
        self.topic(forum, "Seen in all tabs")
        for page in (first, second, beside):
            expect(page.locator("main")).to_contain_text("Seen in all tabs")
            expect(page.locator(".sidebar").get_by_role("link", name=re.compile("Two tabs.*1 new topic"))).to_be_visible()
        # Another tab has the connection now.
        first.close()
        self.wait_for_overview(second)
        self.topic(forum, "Seen in the others")
        for page in (second, beside):
            expect(page.locator("main")).to_contain_text("Seen in the others")

    def test_times_and_days_age_on_an_open_page(self):
        forum = self.forum("Clocks", "lin")
        topic = self.topic(forum, "Which time is it?")
        context = self.context()
        self.sign_in(context, "lin")
        page = self.page(context)
        page.clock.install()
        self.open(page)
        at = self.row(page, topic["title"]).locator("time")
        expect(at).to_have_text("now")
        page.clock.run_for(300_000)
        expect(at).to_have_text(re.compile("^[56] min$"))
        self.go(page, f"/f/{forum['id']}/room")
        self.say("Before midnight", "ada", forum["room_id"])
        day = page.locator(".day-line")
        expect(day).to_have_text("Today")
        page.clock.set_system_time(page.evaluate("Date.now()") / 1_000 + 86_400)
        page.clock.run_for(61_000)
        expect(day).to_have_text("Yesterday")

    def test_an_answer_that_does_not_arrive_is_asked_for_again(self):
        forum = self.forum("Garden paths", "lin")
        page = self.signed_in("lin")
        self.wait_for_overview(page)
        lost = []

        def lose(route):
            if len(lost) == 2:
                return route.fallback()
            lost.append(route)
            if len(lost) == 1:
                return route.abort()
            return route.fulfill(status=503, json={"status": 503, "code": "unavailable"}, headers={"Retry-After": "1"})

        page.route("**/api/v1/unread?*", lose)
        self.topic(forum, "Slabs or cinders")
        expect(self.row(page, "Slabs or cinders")).to_be_visible()
        self.assertEqual(len(lost), 2)

    def test_a_stream_of_events_does_not_hold_up_the_inbox(self):
        forum, other = self.forum("Leaf mould", "lin"), self.forum("Cuttings", "lin")
        page = self.signed_in("lin")
        expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
        row = self.row(page, "Leaves or straw")
        self.topic(forum, "Leaves or straw")
        for turn in range(100):
            if row.is_visible():
                break
            self.call("PUT", f"/forums/{other['id']}/level", {"level": ("everything", "mentions")[turn % 2]}, self.tokens["lin"])
            page.wait_for_timeout(100)
        else:
            self.fail("an event every 100 ms keeps the inbox as it was")

    def test_rows_are_marked_by_keys_and_buttons(self):
        forum = self.forum("Paths", "lin")
        titles = ["Gravel", "Bark", "Stones", "Grass"]
        for title in titles:
            self.topic(forum, title)
        page = self.signed_in("lin")
        rows = page.locator(".inbox-item")
        expect(rows).to_have_count(4)
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("k")
        expect(rows.nth(0).get_by_role("link")).to_be_focused()
        first = rows.nth(0).locator(".inbox-row-head .one-line").inner_text()
        page.keyboard.press("e")
        expect(self.row(page, first)).to_have_count(0)
        expect(rows).to_have_count(3)
        expect(rows.nth(0).get_by_role("link")).to_be_focused()
        rows.nth(1).get_by_role("button", name="Mark as seen").click()
        expect(rows).to_have_count(2)
        self.eventually(page, 2, lambda: sum(it["new_topics"] for it in self.unread("lin")["data"]))
        page.keyboard.press("Shift+Escape")
        expect(rows).to_have_count(0)
        page.get_by_role("status").get_by_role("button", name="Undo").click()
        expect(rows).to_have_count(2)
        page.get_by_role("button", name="Mark all as read").click()
        expect(rows).to_have_count(0)
        # Ten seconds to undo.
        self.eventually(page, [], lambda: self.unread("lin")["data"])
        expect(page.get_by_text(re.compile("You're all caught up|Welcome to"))).to_be_visible()


class Further(Gardeners):
    def test_further_pages_follow_while_scrolling(self):
        count = 14
        for number in range(count):
            forum = self.forum(f"Bed {number:02}", "lin")
            self.topic(forum, f"Plan {number:02}")
        page = self.page(self.context())
        self.sign_in(page.context, "lin")
        asked = []
        page.route("**/api/v1/unread?*", lambda route: (asked.append(route.request.url), route.continue_(
            url=route.request.url.replace("limit=200", "limit=5")))[1])
        rows = page.locator(".inbox-item").filter(has_text="Plan")
        page.set_viewport_size({"width": 1280, "height": 200})
        self.open(page, "/")
        # The first page fills more than the view and a half of it below.
        self.frames(page)
        body = page.locator(".page-body")
        self.assertLess(rows.count(), count, (asked, body.evaluate("it => [it.clientHeight, it.scrollHeight]")))
        scrolled = lambda: (body.evaluate("it => it.scrollTo(0, it.scrollHeight)"), rows.count())[1]
        self.eventually(page, count, scrolled)
        self.assertTrue(any("next=" in it for it in asked), asked)
        # They stay after a change of the first page, each once.
        self.topic(forum, "Plan of the year")
        expect(self.row(page, "Plan of the year")).to_be_visible()
        expect(rows).to_have_count(count + 1)
        keys = rows.evaluate_all("all => all.map((it) => it.dataset.key)")
        self.assertEqual(len(set(keys)), count + 1)
        # One that is marked as read does not come back with the next first page.
        first = {topic["id"] for it in self.call("GET", "/unread?limit=5", token=self.tokens["lin"])["data"] for topic in it["topics"]}
        read = next(it for it in keys if it not in first)
        page.locator(f".inbox-item[data-key='{read}'] [data-act=seen]").dispatch_event("click")
        self.topic(forum, "Plan of the decade")
        expect(self.row(page, "Plan of the decade")).to_be_visible()
        expect(rows).to_have_count(count + 1)
        expect(page.locator(f".inbox-item[data-key='{read}']")).to_have_count(0)
        page.set_viewport_size({"width": 1280, "height": 900})
        page.get_by_role("button", name="Mark all as read").click()
        expect(page.locator(".inbox-item")).to_have_count(0)


class Arrival(Gardeners):
    def test_a_newcomer_finds_lively_topics(self):
        self.call("PATCH", f"/forums/{self.garden['id']}", {"is_default": True}, self.tokens["ada"])
        for number in range(4):
            forum = self.forum(f"Meadow {number}")
            self.topic(forum, f"Older talk {number}")
            self.topic(forum, f"Lively talk {number}")
        for size in ("phone", "desktop"):
            with self.subTest(size=size):
                page = self.page(self.context(size))
                self.open(page, f"/i/{self.invite}")
                page.get_by_label("Display name").fill(f"{size.title()} Nina")
                page.get_by_label("Password").fill(PASSWORD)
                page.get_by_role("button", name="Accept the rules and create account").click()
                welcome = page.locator(".welcome")
                expect(welcome).to_contain_text("Welcome to The Allotment")
                titles = lambda node: [it.split("\n")[0] for it in node.locator(".lively-topic").all_inner_texts()]
                wanted = [f"Lively talk {number}" for number in (3, 2, 1)]
                self.eventually(page, wanted, lambda: titles(welcome))
                expect(welcome.locator(".lively-topic").first).to_contain_text("Meadow 3 · Ada")
                expect(page.get_by_role("textbox", name="Write a message")).to_be_in_viewport()
                self.photograph(page, f"welcome-topics-{size}")
                self.assert_accessible(page, f"welcome {size}")
                self.assert_fits(page, f"welcome {size}")
                welcome.get_by_role("button", name="Close").click()
                expect(welcome).to_have_count(0)
                # Another device: nothing is known yet.
                page.reload()
                self.open(page, "/")
                main = page.get_by_role("main")
                self.eventually(page, wanted, lambda: titles(main))
                self.photograph(page, f"inbox-newcomer-{size}")
                self.assert_accessible(page, f"inbox of a newcomer {size}")
                main.get_by_role("link", name="Lively talk 2").click()
                expect(page.get_by_role("heading", name="Lively talk 2").first).to_be_visible()
                page.context.close()


class Tiles(Gardeners):
    def test_a_long_title_does_not_cut_off_the_last_activity(self):
        forum = self.forum("Sheds and everything that is stored in them", "lin")
        topic = self.topic(forum, "Who has the key to the shed behind the greenhouse, and who had it before?")
        for size in ("phone", "desktop"):
            with self.subTest(size=size):
                page = self.signed_in("lin", size)
                self.go(page, "/forums")
                tile = page.locator(".tile").filter(has_text="Sheds")
                expect(tile.locator(".tile-last")).to_have_text(topic["title"])
                foot = tile.locator(".tile-foot")
                expect(foot).to_have_text(re.compile(r"^Ada · \S.* · 2 members$"))
                self.assertTrue(foot.evaluate("it => [it, ...it.children].every((one) => one.scrollWidth <= one.clientWidth || !one.clientWidth)"))


    def test_a_tile_follows_its_newest_topic(self):
        forum = self.forum("Pond", "lin")
        self.topic(forum, "The frogs are back")
        page = self.signed_in("lin")
        self.wait_for_overview(page)
        self.go(page, "/forums")
        tile = page.locator(".tile").filter(has_text="Pond")
        expect(tile).to_contain_text("The frogs are back")
        topic = self.topic(forum, "The pond is leaking")
        expect(tile).to_contain_text("The pond is leaking")
        self.member("grace", forum)
        self.say("I have a patch", "grace", topic["id"])
        expect(tile.locator(".tile-foot")).to_contain_text("Grace")

    def test_a_forum_is_joined_at_its_tile(self):
        for size in ("phone", "desktop"):
            with self.subTest(size=size):
                forum = self.forum(f"Apiary {size}")
                for number in range(12):
                    self.forum(f"Bed {size} {number}")
                page = self.signed_in("lin", size)
                self.go(page, "/forums")
                tile = page.locator(".tile").filter(has_text=f"Apiary {size}")
                join = page.get_by_role("button", name=f"Join Apiary {size}")
                self.assertEqual(tile.locator("button").count(), 0, "a button in a link")
                join.scroll_into_view_if_needed()
                self.photograph(page, f"tiles-join-{size}")
                self.assert_accessible(page, f"tiles {size}")
                self.assert_fits(page, f"tiles {size}")
                before = page.locator(".page-body").evaluate("it => it.scrollTop")
                expect(tile.locator(".tile-foot")).to_contain_text("1 member")
                join.click()
                expect(page.get_by_text(f"You joined Apiary {size}.")).to_be_visible()
                expect(join).to_have_count(0)
                expect(tile.locator(".tile-foot")).to_contain_text("2 members")
                self.assertEqual(self.call("GET", f"/forums/{forum['id']}", token=self.tokens["lin"])["role"], "member")
                self.assertEqual(page.locator(".page-body").evaluate("it => it.scrollTop"), before)
                expect(tile).to_be_visible()
                tile.click()
                expect(page.get_by_role("heading", name=f"Apiary {size}").first).to_be_visible()
                page.context.close()


class WeekAway(Gardeners):
    """Twelve forums, forty topics and nine hundred messages, of which six matter."""

    FORUMS, TOPICS, MESSAGES = 12, 40, 900

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        self = cls("nothing")
        self.fill()

    def nothing(self):
        pass

    def fill(self):
        cls = type(self)
        forums = [self.forum(f"Bed {number:02}", "grace", "lin") for number in range(self.FORUMS - 2)]
        news = self.forum("Announcements", "grace", "lin")
        forums += [news, self.garden]
        self.member("grace", self.garden)
        question = self.topic(forums[0], "How deep do you plant garlic?", who="grace")
        asked = self.call("GET", f"/conversations/{question['id']}/messages", token=self.tokens["grace"])["data"][0]
        self.call("PUT", "/unread/read", {"up_to": "9007199254740991"}, self.tokens["grace"])
        topics = [self.topic(forum, f"Notes {number:02}", who=who)
                  for number, forum, who in zip(range(self.TOPICS - 3), cycle(forums[:-2]), cycle(("ada", "lin")))]
        lively = self.topic(forums[4], "Frost dates this year", "Who covers the beds tonight?")
        notice = self.topic(news, "Summer party on Saturday", "Bring a chair.")
        self.call("PATCH", f"/conversations/{notice['id']}", {"pinned": True}, self.tokens["ada"])
        said = len(topics) + 2
        for number in range(30):
            self.say(f"Minus {number} here", ("ada", "lin")[number % 2], lively["id"])
        said += 30
        self.say("@grace please close the greenhouse", "ada", forums[2]["room_id"])
        self.say("@grace has the spare key", "lin", topics[3]["id"])
        self.call("POST", f"/conversations/{question['id']}/messages", {"text": "Two fingers deep.", "reply_to": asked["id"]}, self.tokens["ada"])
        direct = self.call("POST", "/conversations", {"kind": "direct", "participants": ["@grace"], "distinct": True}, self.tokens["lin"])
        self.say("Can you bring the key?", "lin", direct["id"])
        said += 4
        conversations = cycle([it["room_id"] for it in forums] + [it["id"] for it in topics[10:]])
        for number, conversation in enumerate(islice(conversations, self.MESSAGES - said)):
            self.say(f"Small talk {number}", ("ada", "lin")[number % 2], conversation)
        cls.matter = ["Can you bring the key?", "please close the greenhouse", "has the spare key", "Two fingers deep.", "Summer party on Saturday",
                      "Frost dates this year"]

    def test_one_response_has_all_unread_items(self):
        found = self.call("GET", "/unread?limit=200&include=users", token=self.tokens["grace"])
        texts = [it["message"]["text"] for it in found["data"] if it["message"]]
        topics = [topic for it in found["data"] for topic in it["topics"]]
        for wanted in self.matter[:4]:
            self.assertTrue(any(wanted in text for text in texts), wanted)
        # Grace takes part in two topics: her own, and the one that mentions her.
        self.assertEqual(sum(it["new_topics"] for it in found["data"] if it["kind"] == "forum"), self.TOPICS - 2)
        self.assertIn("Summer party on Saturday", [it["title"] for it in topics])
        lively = next(it for it in topics if it["title"] == "Frost dates this year")
        self.assertEqual((lively["excerpt"], lively["last_seq"]), ("Who covers the beds tonight?", 31))
        names = {it["name"] for it in found["included"]["users"]}
        self.assertLessEqual({"ada", "lin"}, names)
        self.assertIsNone(found["next"])

    def test_the_inbox_shows_it_without_scrolling_and_clears_the_rest(self):
        for size in ("phone", "desktop"):
            with self.subTest(size=size):
                page = self.signed_in("grace", size)
                self.go(page, "/forums")
                self.wait_for_overview(page)
                asked = []
                page.on("request", lambda request, asked=asked: API.search(request.url) and asked.append(f"{request.method} {request.url.split('/api/v1')[1]}"))
                self.go(page, "/")
                for words in self.matter:
                    expect(page.locator(".inbox-item").filter(has_text=words).first).to_be_in_viewport(ratio=1)
                self.frames(page)
                self.assertEqual([it.split("?")[0] for it in asked], ["GET /unread"])
                for scheme in ("light", "dark"):
                    page.emulate_media(color_scheme=scheme)
                    self.photograph(page, f"week-away-{size}-{scheme}")
                    self.assert_accessible(page, f"week away {size} {scheme}")
                self.assert_fits(page, f"week away {size}")
                for name in ("New" if size == "phone" else "New topics", "Direct"):
                    expect(page.get_by_role("navigation", name="Inbox").get_by_role("link", name=name)).to_be_in_viewport(ratio=1)
                expect(page.get_by_role("button", name="Mark all as read")).to_be_in_viewport(ratio=1)
                self.assertLess(self.box(page.get_by_role("button", name="Mark all as read"))["width"], 64 if size == "phone" else 300)
                for width in (820, 1100) if size == "desktop" else ():
                    page.set_viewport_size({"width": width, "height": 900})
                    self.photograph(page, f"week-away-{width}")
                    self.assert_fits(page, f"week away {width}")
                page.context.close()
        keys = self.clear(self.signed_in("grace"))
        print(f"a week away: cleared with {keys} keys")
        self.assertLessEqual(keys, 12)
        self.assertEqual(self.unread("grace")["data"], [])

    def clear(self, page):
        """Opens the six and marks the rest. Returns the number of keys."""
        keys = 0
        for words in self.matter:
            self.row(page, words).first.get_by_role("link").click()
            page.wait_for_url(re.compile(r"/(t|m|c|f)/"))
            self.settle(page)
            self.go(page, "/")
        page.keyboard.press("Shift+Escape")
        keys += 1
        expect(page.locator(".inbox-item")).to_have_count(0)
        self.eventually(page, [], lambda: self.unread("grace")["data"])
        return keys
