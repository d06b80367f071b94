"""Pages for visitors: server HTML that is whole without JavaScript, on a phone and a desktop, in light and dark; sign-in from them and
back."""

import json
import sqlite3
import unittest
from contextlib import closing
from pathlib import Path
from urllib.request import Request, urlopen

from browsing import PASSWORD, SIZES, TOP, keep_screenshot
from playwright.sync_api import expect
from test_faces import photograph
from test_flows import Village
from test_offline import IS_CACHED

POSTS = 46
WORDS = "In our corner the last frost came on the twelfth of May, and the plants under fleece were fine. "


class Visitors(Village):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        self = cls("nothing")
        ada, grace = cls.tokens["ada"], cls.tokens["grace"]
        self.call("PATCH", "/settings", {"welcome": "We share **twelve beds** and a shed.", "registration": "open", "hue": 150}, ada)
        self.call("PATCH", f"/forums/{cls.garden['id']}", {"solvable": True}, ada)
        cls.secret = self.call("POST", "/forums", {"title": "Committee", "visibility": "private"}, ada)
        cls.topic = self.call("POST", f"/forums/{cls.garden['id']}/conversations", {
            "title": "When do you plant out tomatoes?", "text": "Frost was late.\n\n- cherry\n- plum\n\n> Who covers the beds?\n\n```\nlet beds = 4\n```"}, grace)
        cls.ids = [self.say(f"{number}. {WORDS * (number % 5 + 1)}", ("ada", "grace", "lin")[number % 3], cls.topic["id"])["id"] for number in range(2, POSTS)]
        picture = cls.upload(photograph()["buffer"], grace)
        cls.ids.append(self.say("A picture of *mine*, ||and a spoiler||.", "grace", cls.topic["id"], attachments=[picture])["id"])
        self.call("PUT", f"/messages/{cls.ids[0]}/actions/reaction:%F0%9F%8E%89", {}, ada)
        self.call("POST", f"/messages/{cls.ids[1]}/remove", {"reason": "Advertising"}, ada)
        self.call("PATCH", f"/conversations/{cls.topic['id']}", {"solved_by": cls.ids[4]}, ada)
        self.say("Good morning. Who has the key to the shed?")

    @classmethod
    def upload(cls, picture, token):
        request = Request(
            f"{cls.origin}/api/v1/files?name=bed.jpg", picture, {"Content-Type": "application/octet-stream", "Authorization": f"Bearer {token}"})
        with urlopen(request) as answer:
            return json.load(answer)["id"]

    def addresses(self):
        garden = f"/f/{self.garden['id']}-garden"
        return {
            "front": "/", "forums": "/forums", "forum": garden, "room": f"{garden}/room", "topic": f"/t/{self.topic['id']}",
            "user": "/u/grace", "missing": f"/f/{self.secret['id']}",
        }

    def test_every_page_without_javascript(self):
        for size in SIZES:
            for scheme in ("light", "dark"):
                page = self.page(self.context(size, scheme, java_script_enabled=False))
                for name, address in self.addresses().items():
                    with self.subTest(page=f"{name}-{size}-{scheme}"):
                        page.goto(self.origin + address)
                        expect(page.locator("h1")).to_be_visible()
                        expect(page.locator("script:not([type='application/ld+json'])")).to_have_count(1)
                        sign_in = page.locator(".bar").get_by_role("link", name="Sign in")
                        expect(sign_in).to_have_attribute("href", f"/sign-in?back={address}")
                        self.assertGreaterEqual(self.box(sign_in)["height"], 43 if size == "phone" else 31)
                        width = page.locator("html").evaluate("it => it.scrollWidth")
                        self.assertLessEqual(width, SIZES[size][0], "wider than the window")
                        keep_screenshot(page, f"visitor-{name}-{size}-{scheme}")

    def test_every_page_is_accessible(self):
        for size in SIZES:
            for scheme in ("light", "dark"):
                page = self.page(self.context(size, scheme))
                for name, address in self.addresses().items():
                    with self.subTest(page=f"{name}-{size}-{scheme}"):
                        page.goto(self.origin + address)
                        self.assert_accessible(page, name)
                        self.assert_fits(page, name)

    def test_sign_in_without_javascript_says_so_and_leads_back(self):
        page = self.page(self.context(java_script_enabled=False))
        page.goto(f"{self.origin}/sign-in")
        words = page.locator("noscript p").first
        expect(words).to_have_text("This app needs JavaScript.")
        # In the middle, by the style of the app.
        self.assertGreater(self.box(words)["x"], 100)
        page.locator("noscript a").click()
        expect(page).to_have_url(f"{self.origin}/")

    def test_the_focus_shows_a_picture_in_a_spoiler(self):
        picture = self.upload(photograph()["buffer"], self.tokens["grace"])
        topic = self.call("POST", f"/forums/{self.garden['id']}/conversations", {
            "title": "The winner", "text": "||![The largest pumpkin](attachment:1)||", "attachments": [picture]}, self.tokens["grace"])
        page = self.page(self.context(java_script_enabled=False))
        page.goto(f"{self.origin}/t/{topic['id']}")
        link = page.locator(".spoiler").get_by_role("link", name="The largest pumpkin")
        image = link.locator("img")
        expect(image).to_have_css("opacity", "0")
        link.focus()
        expect(image).to_have_css("opacity", "1")

    def test_a_breadcrumb_ends_in_a_link(self):
        page = self.page(self.context(java_script_enabled=False))
        page.goto(f"{self.origin}/t/{self.topic['id']}")
        self.assertRegex(page.locator(".crumbs").inner_text().strip(), r"^Forums\s*›\s*\S.*[^›]$")

    def test_a_topic_is_small(self):
        page = self.page(self.context(java_script_enabled=False))
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        sizes, names = {}, {}
        session.on("Network.responseReceived", lambda it: names.update({it["requestId"]: it["response"]["url"]}))
        session.on("Network.loadingFinished", lambda it: sizes.update({it["requestId"]: it["encodedDataLength"]}))
        page.goto(f"{self.origin}/t/{self.topic['id']}")
        page.wait_for_load_state("networkidle")
        expect(page.locator("article")).to_have_count(POSTS)
        # Attached pictures are content of the members. Without scripts browsers load them at once.
        own = {names[it].removeprefix(self.origin): size for it, size in sizes.items() if "/files/" not in names[it]}
        print(f"visitor topic: {len(sizes)} requests, {sum(own.values())} bytes, {own}")
        self.assertLessEqual(len(sizes), 8)
        self.assertLessEqual(sum(own.values()), 40_000)

    def test_the_script_shows_local_times_and_new_posts(self):
        self.assertLess((TOP / "Public/pages.js").stat().st_size, 8_000)
        page = self.page(self.context(timezone_id="Asia/Tokyo"))
        page.clock.install()
        page.goto(f"{self.origin}/t/{self.topic['id']}")
        at = page.locator("article time").first
        wanted = at.evaluate("it => new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: 'Asia/Tokyo' }).format(new Date(it.dateTime))")
        expect(at).to_contain_text(wanted)
        expect(page.get_by_text("All times are in UTC.")).to_have_count(0)
        expect(page.locator(".new-posts")).to_have_count(0)
        # The caches of the feed end after a minute.
        answers = []
        page.route("**/feed.json", lambda route: (answers.append(1), route.continue_()))
        for number in (1, 2):
            self.say(f"News {number}", "ada", self.topic["id"])
        page.clock.run_for(61_000)
        link = page.locator(".new-posts").get_by_role("link", name="2 new posts")
        expect(link).to_be_visible()
        self.assertTrue(answers)
        link.click()
        expect(page.get_by_text("News 2")).to_be_visible()

    def test_a_link_to_a_post_opens_at_the_post(self):
        page = self.page(self.context("phone", java_script_enabled=False))
        page.goto(f"{self.origin}/m/{self.ids[30]}")
        expect(page).to_have_url(f"{self.origin}/t/{self.topic['id']}-when-do-you-plant-out-tomatoes#m{self.ids[30]}")
        expect(page.locator(f"#m{self.ids[30]}")).to_be_in_viewport()


class Returning(Village):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        self = cls("nothing")
        self.call("PATCH", "/settings", {"registration": "open"}, cls.tokens["ada"])
        cls.topic = self.call("POST", f"/forums/{cls.garden['id']}/conversations", {"title": "Frost dates", "text": "When?"}, cls.tokens["grace"])
        cls.posts = [self.say(f"Post number {it}", "grace", cls.topic["id"])["id"] for it in range(2, 40)]

    def sign_in_here(self, page, name="grace"):
        self.settle(page)
        page.locator("input[name=username]").fill(name)
        page.locator("input[name=password]").fill(PASSWORD)
        page.locator("form button[type=submit]").click()

    def test_sign_in_returns_to_the_page(self):
        page = self.page(self.context())
        page.goto(f"{self.origin}/t/{self.topic['id']}-frost-dates")
        page.locator(".bar").get_by_role("link", name="Sign in").click()
        self.sign_in_here(page)
        expect(page).to_have_url(f"{self.origin}/t/{self.topic['id']}-frost-dates")
        expect(page.get_by_role("textbox")).not_to_have_count(0)
        expect(page.get_by_text("Post number 2", exact=True)).to_be_visible()

    def test_sign_in_to_reply_returns_to_the_post(self):
        page = self.page(self.context("phone"))
        page.goto(f"{self.origin}/t/{self.topic['id']}")
        page.locator(f"#m{self.posts[20]}").get_by_role("link", name="Reply").click()
        self.sign_in_here(page)
        expect(page).to_have_url(f"{self.origin}/m/{self.posts[20]}")
        expect(page.get_by_text("Post number 22", exact=True)).to_be_in_viewport()

    def test_the_fragment_is_kept(self):
        page = self.page(self.context())
        page.goto(f"{self.origin}/sign-in?back=/t/{self.topic['id']}#m{self.posts[10]}")
        self.sign_in_here(page)
        expect(page).to_have_url(f"{self.origin}/t/{self.topic['id']}#m{self.posts[10]}")
        expect(page.get_by_text("Post number 12", exact=True)).to_be_in_viewport()

    def test_sign_in_returns_to_the_post_of_a_permalink(self):
        page = self.page(self.context())
        page.goto(f"{self.origin}/t/{self.topic['id']}#m{self.posts[12]}")
        page.locator(".bar").get_by_role("link", name="Sign in").click()
        self.sign_in_here(page)
        expect(page).to_have_url(f"{self.origin}/t/{self.topic['id']}#m{self.posts[12]}")
        expect(page.get_by_text("Post number 14", exact=True)).to_be_in_viewport()

    def test_sign_up_returns_to_the_page(self):
        page = self.page(self.context())
        page.goto(f"{self.origin}/sign-in?back=/t/{self.topic['id']}%3Fx=1")
        self.settle(page)
        page.locator("a[href^='/sign-in?new']").click()
        page.locator("input[name=display_name]").fill("Nina")
        page.locator("input[name=password]").fill(PASSWORD)
        page.locator("form button[type=submit]").click()
        expect(page).to_have_url(f"{self.origin}/t/{self.topic['id']}?x=1")
        # A page that is closed while it loads its scripts reports an error.
        page.wait_for_load_state("networkidle")

    def test_a_page_for_members_asks_for_sign_in_and_returns(self):
        for path in (f"/f/{self.garden['id']}/new", "/feed"):
            with self.subTest(path=path):
                page = self.page(self.context())
                page.goto(f"{self.origin}{path}")
                self.sign_in_here(page)
                expect(page).to_have_url(f"{self.origin}{path}")
                page.wait_for_load_state("networkidle")

    def test_a_link_for_members_on_a_known_device_asks_for_sign_in_and_returns(self):
        shed = self.call("POST", "/forums", {"title": "Shed", "visibility": "members"}, self.tokens["ada"])
        topic = self.call("POST", f"/forums/{shed['id']}/conversations", {"title": "Where is the key?", "text": "It was here."}, self.tokens["ada"])
        for size in ("desktop", "phone"):
            with self.subTest(size=size):
                page = self.signed_in("lin", size, anew=True, service_workers="allow")
                self.eventually(page, True, lambda page=page: page.evaluate(IS_CACHED))
                self.go(page, "/you")
                page.get_by_role("button", name="Sign out").click()
                expect(page.get_by_role("link", name="Sign in").first).to_be_visible()
                # The worker answers with the app, also without an account.
                self.open(page, f"/t/{topic['id']}")
                expect(page.get_by_text("This page doesn't exist, or you don't have access to it.")).to_be_visible()
                self.photograph(page, f"gone-visitor-{size}")
                self.assert_accessible(page, "a page that is gone, without an account")
                page.get_by_role("link", name="Sign in").click()
                expect(page.get_by_label("Username")).to_be_visible()
                self.sign_in_here(page, "lin")
                expect(page.get_by_role("article").get_by_text("It was here.")).to_be_visible()
                expect(page).to_have_url(f"{self.origin}/t/{topic['id']}")
                page.context.close()

    def test_an_expired_session_keeps_the_address(self):
        page = self.signed_in("lin", anew=True)
        self.go(page, "/you/notifications")
        expect(page.locator(".page-bar .sign-online")).to_be_visible()
        newest = max(self.call("GET", "/sessions", token=self.tokens["lin"])["data"], key=lambda it: int(it["id"]))
        page.context.set_offline(True)
        expect(page.locator(".page-bar .sign-offline")).to_be_visible()
        # While it is offline: the page of the sign-in needs its scripts.
        with closing(sqlite3.connect(Path(self.folder) / "data" / "parley.db", timeout=30)) as database, database:
            database.execute("update session set expires_at = 1 where id = ?", (int(newest["id"]),))
        page.context.set_offline(False)
        expect(page.get_by_label("Username")).to_be_visible()
        expect(page).to_have_url(f"{self.origin}/you/notifications")
        self.sign_in_here(page, "lin")
        expect(page.get_by_role("heading", name="Notifications", level=1)).to_be_visible()
        # Requests that were on their way are refused.
        self.faults[:] = [it for it in self.faults if "unauthenticated" not in it]

    def test_other_origins_are_no_address_to_return_to(self):
        context = self.context()
        self.sign_in(context, "lin")
        page = self.page(context)
        for back in ("//evil.example", "https://evil.example", "/\\evil.example", "/%09/evil.example", "/a/..//evil.example", "javascript:alert(1)", "/sign-in"):
            with self.subTest(back=back):
                self.open(page, f"/sign-in?back={back}")
                expect(page).to_have_url(f"{self.origin}/")

    def test_a_visitor_gets_no_service_worker(self):
        page = self.page(self.context(service_workers="allow"))
        self.open(page, "/sign-in")
        page.wait_for_load_state("networkidle")
        self.assertEqual(page.evaluate("navigator.serviceWorker.getRegistrations().then((all) => all.length)"), 0)
        self.sign_in_here(page)
        page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        # The worker answers with the app.
        page.goto(f"{self.origin}/t/{self.topic['id']}")
        self.settle(page)


if __name__ == "__main__":
    unittest.main()
