"""Every page: screenshots in light and dark on a phone and a desktop, axe checks, size budgets, and hostile user
content."""

import io
import json
import re
from contextlib import closing
from http.client import HTTPConnection
from urllib.parse import quote

from browsing import IS_WHOLE, PASSWORD, SIZES, spread
from PIL import Image
from playwright.sync_api import expect
from test_flows import Village

HOSTILE = (
    "<script>window.hurt = 1</script>", "<img src=x onerror=\"window.hurt = 1\">", "<svg/onload=window.hurt=1>",
    "[a](javascript:window.hurt=1)", "![a](x\"onerror=\"window.hurt=1)", "<a href=\"javascript:window.hurt=1\">b</a>",
    "\"><iframe srcdoc=\"<script>parent.hurt=1</script>\">", "{{constructor.constructor('window.hurt=1')()}}",
    "<style>@import 'javascript:window.hurt=1'</style>", "`<img src=x onerror=window.hurt=1>`", "[x]: javascript:window.hurt=1",
    "<https://example.org\"onmouseover=\"window.hurt=1>", "\u202e<b>", "&lt;script&gt;window.hurt=1&lt;/script&gt;",
)


class Site(Village):
    """A site with something on each page."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        self = cls("nothing")
        ada = cls.tokens["ada"]
        for title, section in (("Bees", "Outside"), ("Kitchen", "Inside")):
            self.call("POST", "/forums", {"title": title, "visibility": "members", "section": section}, ada)
        self.say("Good morning. Who has the key to the shed?")
        self.say("I left it on the hook, but it is gone.")
        self.say("It is in my *coat*. Sorry!", "ada")
        self.say("Thank you @ada, see https://example.org and `gate 4`")
        self.say("🎉", "lin")
        self.say("```swift\nlet beds = rows.map { $0.width * $0.height }.reduce(0, +)\n```", "lin")
        cls.topic = self.call("POST", f"/forums/{cls.garden['id']}/conversations", {
            "title": "Which tomatoes for a shady balcony?", "text": "## Small ones\n\nI have **two** metres and no sun before noon.\n\n- cherry\n- plum"}, cls.tokens["grace"])
        self.say("Try the yellow ones.", "lin", cls.topic["id"])
        cls.direct = self.call("POST", "/conversations", {"kind": "direct", "participants": ["@ada"], "distinct": True}, cls.tokens["grace"])
        self.say("Lunch at one?", "grace", cls.direct["id"])
        self.call("POST", "/me/tokens", {"name": "Backup script", "scope": "read"}, ada)
        self.fill()

    def fill(self):
        """Content of some weeks: more users and topics, pictures, reactions, a poll, a report."""
        for name, display_name in (("priya", "Priya"), ("omar", "Omar Farouk")):
            self.tokens[name] = self.call("POST", "/users", {
                "name": name, "display_name": display_name, "password": PASSWORD, "invite": self.invite, "accept_rules": True})["token"]
        garden, rooms = f"/forums/{self.garden['id']}", {}
        for title, text, who, answers in (
            ("Frost dates this year", "The last one was on 12 May. Who covers the beds on the north side? #frost", "priya", ("lin", "grace", "omar")),
            ("Seed swap on Saturday", "Bring labelled bags, please. #seeds", "omar", ("priya",)),
            ("Slugs, again", "Copper tape did nothing for me. What works for you? #slugs", "lin", ("priya", "omar")),
        ):
            rooms[title] = self.call("POST", f"{garden}/conversations", {"title": title, "text": text}, self.tokens[who])["id"]
            for number, author in enumerate(answers):
                self.say(("I do, until nine.", "So do I.", "Count me in.")[number], author, rooms[title])
        self.call("PATCH", f"/conversations/{rooms['Frost dates this year']}", {"pinned": True}, self.tokens["ada"])
        picture = io.BytesIO()
        Image.linear_gradient("L").resize((640, 400)).convert("RGB").save(picture, "PNG")
        with closing(HTTPConnection("127.0.0.1", self.server.port)) as line:
            line.request("POST", "/api/v1/files?name=beds.png", picture.getvalue(), {"Content-Type": "image/png", "Authorization": f"Bearer {self.tokens['priya']}"})
            file = json.loads(line.getresponse().read())["id"]
        shown = self.say("The new beds, this morning", "priya", attachments=[file])
        for name, emoji in (("grace", "🎉"), ("lin", "🎉"), ("ada", "👍")):
            self.call("PUT", f"/messages/{shown['id']}/actions/{quote(f'reaction:{emoji}')}", token=self.tokens[name])
        self.say("When shall we water?", "omar", poll={"options": ["At seven", "At nine"]})
        self.say("At seven, before it is hot.", "ada", reply_to=shown["id"])
        spam = self.say("Cheap watches at https://watches.example", "omar", rooms["Slugs, again"])
        self.call("POST", "/reports", {"message_id": spam["id"], "reason": "Spam"}, self.tokens["lin"])
        self.call("PATCH", "/users/me", {"bio": "Compilers by day, beans by night.", "status_text": "On the plot", "status_emoji": "🌱"}, self.tokens["grace"])

    def addresses(self):
        garden = f"/f/{self.garden['id']}-garden"
        return {
            "inbox": "/", "forums": "/forums", "topics": f"{garden}/topics", "room": f"{garden}/room", "about": f"{garden}/about",
            "topic": f"/t/{self.topic['id']}", "new-topic": f"{garden}/new", "new-forum": "/forums/new", "direct": f"/c/{self.direct['id']}",
            "messages": "/messages", "members": "/members", "drafts": "/you/drafts", "new-message": "/messages/new", "search": "/search?q=key", "user": "/u/grace", "you": "/you",
            "profile": "/you/profile", "appearance": "/you/appearance", "privacy": "/you/privacy", "password": "/you/password", "sessions": "/you/sessions",
            "tokens": "/you/tokens", "stars": "/you/stars", "admin": "/admin", "settings": "/admin/settings", "invites": "/admin/invites",
            "groups": "/you/groups", "notifications": "/you/notifications", "twostep": "/you/twostep", "signins": "/you/signins",
            "emoji": "/admin/emoji", "admin-groups": "/admin/groups", "bots": "/admin/bots", "webhooks": "/admin/webhooks",
            "endpoints": "/admin/endpoints", "rules": "/admin/rules",
            "people": "/admin/users", "order": "/admin/forums", "reports": "/admin/reports", "backups": "/admin/backups", "audit": "/admin/audit", "gone": "/c/999999",
        }

    def look(self, page, name):
        """Checks all rules in light; only contrast in dark, where only the colours differ."""
        page.emulate_media(color_scheme="light")
        self.photograph(page, f"{name}-light")
        self.assert_accessible(page, f"{name}-light")
        self.assert_fits(page, name)
        self.assert_pictured(page, name)
        page.emulate_media(color_scheme="dark")
        self.photograph(page, f"{name}-dark")
        self.assert_accessible(page, f"{name}-dark", ["color-contrast"])


class Pages(Site):
    def test_every_page_in_light_and_dark_on_a_phone_and_a_desktop(self):
        for size, names in spread(self.addresses(), SIZES).items():
            page = self.signed_in("ada", size)
            for name in names:
                with self.subTest(page=f"{name}-{size}"):
                    self.go(page, self.addresses()[name])
                    self.look(page, f"{name}-{size}")
            page.context.close()

    def test_sign_in_and_sign_up_pages_too(self):
        for size in ("phone", "desktop"):
            page = self.page(self.context(size))
            for name, address in {"sign-in": "/sign-in", "invite": f"/i/{self.invite}"}.items():
                with self.subTest(page=f"{name}-{size}"):
                    self.open(page, address)
                    self.look(page, f"{name}-{size}")

    def test_right_to_left_and_with_longer_texts(self):
        page = self.signed_in("ada", "phone")
        page.evaluate("localStorage.setItem('language', 'en-XA')")
        for name in ("inbox", "forums", "topics", "room", "topic", "new-topic", "direct", "search", "user", "you", "appearance", "notifications", "admin",
                     "settings", "reports", "rules"):
            with self.subTest(page=name):
                self.open(page, self.addresses()[name])
                page.evaluate("document.documentElement.dir = 'rtl'")
                self.photograph(page, f"{name}-long-rtl")
                self.assert_fits(page, name)

    def test_every_page_fits_a_wide_window_and_a_zoom_of_200_percent(self):
        page = self.signed_in("ada")
        # A zoom halves the window that a page sees.
        sizes = {"wide": (1920, 1080), "zoomed": (720, 450), "narrow": (320, 640), "tablet": (820, 1180), "small": (1100, 800)}
        for name, page_names in spread(self.addresses(), sizes).items():
            width, height = sizes[name]
            page.set_viewport_size({"width": width, "height": height})
            for page_name in page_names:
                with self.subTest(page=f"{page_name}-{name}"):
                    self.go(page, self.addresses()[page_name])
                    if name not in ("tablet", "small"):
                        self.photograph(page, f"{page_name}-{name}")
                    self.assert_fits(page, page_name)

    def test_titles_stand_above_their_columns(self):
        page = self.signed_in("ada")
        distance = """() => {
            const isLeft = getComputedStyle(document.documentElement).direction === "rtl";
            const start = (it) => it.getBoundingClientRect()[isLeft ? "right" : "left"];
            const first = [...document.querySelectorAll(".page-bar > *")].find((it) => it.offsetWidth);
            const column = document.querySelector(".page-column, .composer, .stream-inner");
            const inset = parseFloat(getComputedStyle(column).paddingInlineStart) || 16;
            return Math.abs(start(first) - (start(column) + (isLeft ? -inset : inset)));
        }"""
        for name in ("inbox", "profile", "settings", "search", "reports", "forums", "topics", "room", "direct", "new-topic"):
            self.go(page, self.addresses()[name])
            for width in (390, 1100, 1440, 1920):
                for direction in ("ltr", "rtl"):
                    # On a phone the button that leads back is first.
                    if width == 390 and page.locator(".page-bar .back").count():
                        continue
                    with self.subTest(page=name, width=width, direction=direction):
                        page.set_viewport_size({"width": width, "height": 844})
                        page.evaluate("to => { document.documentElement.dir = to; }", direction)
                        self.eventually(page, True, lambda: page.evaluate(distance) <= 1)
        self.go(page, self.addresses()["topics"])
        tabs, filters = page.locator(".tab").first, page.locator(".filters .chip").first
        page.evaluate("document.documentElement.dir = 'ltr'")
        self.assertAlmostEqual(self.box(tabs)["x"], self.box(filters)["x"], delta=1)

    def test_settings_have_their_list_beside_them(self):
        page = self.signed_in("ada")
        for address, label, here, other in (("/you/privacy", "Your settings", "Privacy", "Profile"), ("/admin/audit", "Manage", "Audit log", "Invites")):
            self.go(page, address)
            beside = page.get_by_role("main").get_by_role("navigation", name=label, exact=True)
            for width, has_list in ((1440, True), (1100, True), (1099, False), (390, False)):
                page.set_viewport_size({"width": width, "height": 900})
                (expect(beside).to_be_visible if has_list else expect(beside).to_be_hidden)()
                self.assert_fits(page, f"{address} {width}")
            page.set_viewport_size({"width": 1440, "height": 900})
            expect(beside.locator("[aria-current=page]")).to_have_text(here)
            beside.get_by_role("link", name=other).click()
            expect(page.get_by_role("heading", name=other, level=1)).to_be_visible()
            expect(beside.locator("[aria-current=page]")).to_have_text(other)
        # The list is one stop of the Tab key, in which the arrow keys move.
        self.go(page, "/you/privacy")
        here = page.get_by_role("main").get_by_role("navigation", name="Your settings").get_by_role("link", name="Privacy")
        here.focus()
        for key, name in (("ArrowDown", "Appearance and shortcuts"), ("ArrowUp", "Privacy"), ("End", "Download your data"), ("Home", "Profile")):
            page.keyboard.press(key)
            expect(page.locator(":focus")).to_have_text(name)
        here.focus()
        page.keyboard.press("Tab")
        expect(page.get_by_role("switch").first).to_be_focused()
        # A member who may invite has no other page of the administration.
        page = self.signed_in("grace")
        self.go(page, "/admin/invites")
        expect(page.locator(".setting-nav")).to_have_count(0)
        expect(page.get_by_role("button", name="New invite")).to_be_visible()

    def test_touch_targets_are_large_enough(self):
        page = self.signed_in("ada", "phone")
        garden = f"/f/{self.garden['id']}-garden"
        for address, selector in ((f"{garden}/room", ".message-tools .icon-button"), (f"{garden}/room", ".message-avatar"), (f"{garden}/room", ".tab"),
                                  ("/", ".section-link"), (f"/c/{self.direct['id']}", ".banner .button")):
            with self.subTest(what=selector):
                self.say("Something new")
                self.go(page, address)
                node = page.locator(selector).last
                # A tap brings the button of a message.
                if selector.startswith(".message-tools"):
                    page.locator(".bubble").last.tap()
                expect(node).to_be_visible()
                # 44 × 44 px, measured from the hit area.
                self.eventually(page, True, lambda: node.evaluate("""it => {
                    it.scrollIntoView({ block: "center" });
                    const box = it.getBoundingClientRect();
                    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
                    const points = [[0, 0], [0, 21], [0, -21], [21, 0], [-21, 0]];
                    return points.every(([across, down]) => it.contains(document.elementFromPoint(x + across, y + down)));
                }"""))

    def test_menus_and_dialogs(self):
        page = self.signed_in("ada")
        self.room(page)
        page.keyboard.press("Control+k")
        expect(page.get_by_role("combobox")).to_be_focused()
        page.keyboard.type("bee")
        expect(page.get_by_role("option", selected=True)).to_contain_text("Bees")
        self.photograph(page, "command-menu")
        self.assert_accessible(page, "command menu")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Bees").first).to_be_visible()
        self.room(page)
        message = page.locator(".message").filter(has_text="Good morning").last
        message.hover()
        message.get_by_role("button", name="More").click()
        expect(page.get_by_role("menu")).to_be_visible()
        self.photograph(page, "message-menu")
        self.assert_accessible(page, "message menu")
        page.keyboard.press("Escape")
        page.get_by_role("button", name="About this forum").click()
        panel = page.get_by_role("complementary", name="Details")
        expect(panel).to_contain_text("Created by")
        self.photograph(page, "room-panel")
        self.assert_accessible(page, "room panel")
        page.get_by_role("button", name="About this forum").click()
        expect(panel).to_have_count(0)
        self.go(page, f"/c/{self.direct['id']}")
        page.get_by_role("button", name="Details").click()
        self.photograph(page, "details")
        self.assert_accessible(page, "details")

    def test_the_sheet_on_a_phone(self):
        page = self.signed_in("ada", "phone")
        self.room(page)
        message = page.locator(".message").filter(has_text="Good morning").last
        tools = message.locator(".message-tools")
        # No button beside each bubble: a tap brings it.
        expect(tools).to_have_css("opacity", "0")
        message.locator(".bubble").tap()
        expect(tools).to_have_css("opacity", "1")
        tools.get_by_role("button", name="More").tap()
        expect(page.get_by_role("dialog").get_by_role("button", name="Reply")).to_be_visible()
        self.photograph(page, "sheet-phone")
        self.assert_accessible(page, "sheet")


class Hostile(Village):
    def test_user_content_is_never_executed(self):
        grace = self.tokens["grace"]
        ada = self.tokens["ada"]
        for text in HOSTILE:
            self.say(text)
        for address, words in (("javascript:window.hurt=1", HOSTILE[0]), ("https://example.org/\"onmouseover=\"window.hurt=1", HOSTILE[1])):
            self.say("What it says of itself", annotations=[{"type": "net.app.core.oembed", "value": {
                "type": "link", "version": "1.0", "embeddable_url": address, "title": words, "description": words}}])
        topic = None
        for text in HOSTILE[:6]:
            topic = self.call("POST", f"/forums/{self.garden['id']}/conversations", {"title": text[:100], "text": text}, grace)
        forum = self.call("POST", "/forums", {"title": HOSTILE[1], "description": HOSTILE[0], "section": HOSTILE[2][:30], "visibility": "public"}, ada)
        self.call("PATCH", "/users/me", {"display_name": HOSTILE[2], "bio": HOSTILE[1]}, grace)
        self.call("PATCH", "/settings", {"welcome": HOSTILE[1], "rules": HOSTILE[0]}, ada)
        page = self.signed_in("ada")
        for address in ("/", "/forums", f"/f/{self.garden['id']}/room", f"/f/{self.garden['id']}/topics", f"/t/{topic['id']}", f"/f/{forum['id']}/about",
                        "/u/grace", "/messages/new", "/admin/users", "/admin/settings", "/search?q=%3Cscript%3Ewindow.hurt%3D1%3C/script%3E"):
            with self.subTest(address=address):
                self.go(page, address)
                page.wait_for_function(IS_WHOLE)
                self.assertIsNone(page.evaluate("window.hurt ?? null"))
                self.assertEqual(page.locator("iframe, a[href^='javascript:' i], main script, main style, [onerror], [onload]").count(), 0)
        visitor = self.page(self.context())
        self.open(visitor, f"/i/{self.invite}")
        self.assertIsNone(visitor.evaluate("window.hurt ?? null"))
        for address in ("/", "/forums", f"/f/{forum['id']}", f"/t/{topic['id']}", "/u/grace"):
            with self.subTest(visitor=address):
                visitor.goto(self.origin + address)
                self.assertIsNone(visitor.evaluate("window.hurt ?? null"))
                self.assertEqual(visitor.locator("iframe, a[href^='javascript:' i], script:not([type='application/ld+json'], [src^='/app/']), style, [onerror], [onload]").count(), 0)

    def test_the_csp_blocks_an_injected_script(self):
        page = self.signed_in("ada")
        page.evaluate("""() => {
            const script = document.createElement("script");
            script.textContent = "window.hurt = 1";
            document.body.append(script);
        }""")
        self.eventually(page, True, lambda: any("Content Security Policy" in it for it in self.faults))
        self.assertIsNone(page.evaluate("window.hurt ?? null"))
        self.faults.clear()


KB = 1024


class Visits(Village):
    def visit(self):
        """A new browser of a signed-in user: page, requests by kind, bytes by kind."""
        context = self.context()
        self.sign_in(context, "ada")
        page = self.page(context)
        page.add_init_script(f"localStorage.setItem('account', '{self.call('GET', '/me', token=self.tokens['ada'])['id']}')")
        page.add_init_script("""
            window.shift = 0;
            new PerformanceObserver((list) => { for (const it of list.getEntries()) if (!it.hadRecentInput) window.shift += it.value; })
                .observe({ type: "layout-shift", buffered: true });
        """)
        session = context.new_cdp_session(page)
        session.send("Network.enable")
        names, requests, total = {}, {}, {}

        def finished(it):
            address = names.get(it["requestId"], "")
            if address.startswith("http") and it["encodedDataLength"]:
                kind = self.kind(address.removeprefix(self.origin))
                requests.setdefault(kind, []).append(address.removeprefix(self.origin))
                total[kind] = total.get(kind, 0) + it["encodedDataLength"]

        session.on("Network.responseReceived", lambda it: names.update({it["requestId"]: it["response"]["url"]}))
        session.on("Network.loadingFinished", finished)
        return page, requests, total

    def kind(self, address):
        kinds = {"data": "^/api/", "code": r"\.js$", "css": r"\.css$", "texts": r"^/app/.*\.json$"}
        return next((kind for kind, pattern in kinds.items() if re.search(pattern, address)), "other")


class Budget(Visits):
    """Transferred bytes with their header fields, gzipped where the daemon compresses, until the network is idle; on a site with 50
    members, 12 forums and 200 topics, for a user who belongs to all forums and has been away while the topics were written."""

    MEMBERS = 50
    FORUMS = ("Beds", "Bees", "Cooking", "Drainage", "Events", "Fruit", "Greenhouse", "Hedges", "Irrigation", "Jobs", "Kitchen")
    TOPICS = 200

    REQUESTS = 16
    ROOM_REQUESTS = 20
    TOTAL = 90 * KB
    CSS = 8.5 * KB
    ROOM_CSS = 14 * KB
    TEXTS = 8 * KB
    DATA = 11 * KB
    ROOM_DATA = 12 * KB
    CODE = 66 * KB
    ROOM_CODE = 94 * KB
    NODES = 3_000
    SHIFT = 0.02

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        self = cls("nothing")
        ada = cls.tokens["ada"]
        names = [f"gardener{number}" for number in range(cls.MEMBERS - len(cls.tokens))]
        for name in names:
            cls.tokens[name] = self.call("POST", "/users", {
                "name": name, "display_name": name.title(), "password": PASSWORD, "invite": cls.invite, "accept_rules": True})["token"]
        forums = [cls.garden, *(self.call("POST", "/forums", {"title": it, "description": f"All about {it.lower()}", "visibility": "public"}, ada) for it in cls.FORUMS)]
        writers = [*names, "grace", "lin"]
        for number in range(cls.TOPICS):
            self.call("POST", f"/forums/{forums[number % len(forums)]['id']}/conversations", {
                "title": f"When do you plant out number {number}?", "text": "In our corner the last frost came on the twelfth of May."},
                cls.tokens[writers[number % len(writers)]])

    def view(self, path, max_requests, max_code, max_css, max_data):
        page, requests, total = self.visit()
        self.open(page, path)
        page.wait_for_load_state("networkidle")
        count = sum(map(len, requests.values()))
        nodes, shift = page.evaluate("[document.querySelectorAll('*').length, window.shift]")
        print(f"{path}: {count} requests, {sum(total.values())} bytes, {total}, {nodes} nodes, shift {shift:.3f}")
        self.assertLessEqual(count, max_requests, requests)
        self.assertLessEqual(total["code"], max_code, requests)
        self.assertLessEqual(total["css"], max_css)
        self.assertLessEqual(total["texts"], self.TEXTS)
        self.assertLessEqual(total["data"], max_data)
        self.assertLess(nodes, self.NODES)
        self.assertLessEqual(shift, self.SHIFT)
        return total

    def test_the_first_view_is_small(self):
        total = self.view("/", self.REQUESTS, self.CODE, self.CSS, self.DATA)
        self.assertLessEqual(sum(total.values()), self.TOTAL)

    def test_a_room_is_small(self):
        self.say("Hello")
        self.view(f"/f/{self.garden['id']}/room", self.ROOM_REQUESTS, self.ROOM_CODE, self.ROOM_CSS, self.ROOM_DATA)


class Reload(Visits):
    """Transferred bytes of a page that this browser has shown before."""

    RELOAD = 6 * KB

    def wait_until_read(self, page):
        """Reading ends with a request, which would be one of the next view."""
        self.eventually(page, [], lambda: self.call("GET", "/unread", token=self.tokens["ada"])["data"])

    def test_a_reload_is_small(self):
        self.say("Hello again")
        page, requests, total = self.visit()
        self.open(page, f"/f/{self.garden['id']}/room")
        self.wait_until_read(page)
        page.wait_for_load_state("networkidle")
        requests.clear()
        total.clear()
        page.reload()
        self.settle(page)
        page.wait_for_load_state("networkidle")
        print(f"reload: {sum(map(len, requests.values()))} requests, {sum(total.values())} bytes, {total}")
        self.assertLessEqual(sum(total.values()), self.RELOAD, requests)


class Start(Visits):
    def test_the_first_row_waits_for_one_round_trip(self):
        """The requests whose answers the inbox waits for are sent side by side, and no other one precedes its first row."""
        self.say("@ada, the well is dry")
        page, *_ = self.visit()
        page.add_init_script("""
            new MutationObserver(() => { if (document.querySelector(".inbox-item")) window.rowAt ??= performance.now(); })
                .observe(document, { subtree: true, childList: true });
        """)
        data, held = re.compile(r"/api/v1/(?!users/\d+/avatar|forums/\d+/icon|icon)"), []
        path = lambda address: re.search(r"/api/v1/(\w+)", address)[1]
        hold = lambda route: held.append(route)
        page.route(data, lambda route: hold(route))
        page.goto(self.origin, wait_until="commit")
        wanted = ["server", "snapshot", "unread"]
        self.eventually(page, wanted, lambda: sorted(path(it.request.url) for it in held))
        hold = lambda route: route.continue_()
        for it in held:
            it.continue_()
        expect(page.get_by_role("heading", name="Mentions and replies 1")).to_be_visible()
        sent = page.evaluate("""performance.getEntriesByType("resource")
            .filter((it) => it.initiatorType === "fetch" && it.startTime < window.rowAt).map((it) => it.name)""")
        self.assertEqual(sorted(path(it) for it in sent if data.search(it)), wanted)

    def test_a_page_that_comes_late_asks_for_nothing_twice(self):
        """The answer that came before the script of the inbox is shown."""
        self.say("@ada, the gate is open")
        page, *_ = self.visit()
        answers, held = [], []
        page.on("response", lambda it: answers.append(it.url) if "/api/v1/unread?" in it.url else None)
        page.route(re.compile(r"/app/inbox\.\w+\.js"), lambda route: held.append(route))
        page.goto(self.origin, wait_until="commit")
        self.eventually(page, (1, 1), lambda: (len(answers), len(held)))
        held[0].continue_()
        expect(page.locator(".inbox-item").filter(has_text="the gate is open")).to_be_visible()
        page.wait_for_load_state("networkidle")
        self.assertEqual(len(answers), 1)

    def test_a_later_start_draws_held_rows_without_an_answer(self):
        self.say("@ada, the well is dry again")
        page, *_ = self.visit()
        self.open(page)
        mentions = page.get_by_role("heading", name="Mentions and replies 1")
        expect(mentions).to_be_visible()
        # Kept some seconds after the first view.
        self.eventually(page, "1", lambda: page.evaluate("localStorage.getItem('overview')"))
        page.route("**/api/**", lambda route: None)
        page.reload(wait_until="commit")
        expect(mentions).to_be_visible()
        expect(page.locator(".inbox-item").filter(has_text="the well is dry again")).to_be_visible()
