"""Search, uploads, and the width of the sidebar."""

import re
from pathlib import Path

from browsing import PASSWORD
from playwright.sync_api import expect
from test_flows import Village


class Finding(Village):
    def test_search_highlights_and_links_hits(self):
        said = self.say("The spade is behind the shed")
        page = self.signed_in("ada")
        self.go(page, "/search?q=spade")
        hit = page.get_by_role("main").locator("a.hit")
        expect(hit).to_have_count(1)
        expect(hit.locator("mark")).to_have_text("spade")
        expect(hit).to_contain_text("Grace · Garden · ")
        expect(hit.locator("img.avatar")).to_have_js_property("complete", True)
        expect(page.get_by_role("heading", name="Garden › Room")).to_be_visible()
        hit.click()
        expect(page.locator(f"[data-id='{said['id']}']")).to_be_in_viewport()

    def test_an_15_a_line_is_shown_while_a_request_is_in_progress(self):
        self.say("The barrow is here")
        page = self.signed_in("ada")
        self.go(page, "/search")
        line = page.locator(".activity-line")
        field = page.get_by_role("searchbox", name="Search")
        field.click()
        expect(line).to_be_attached()
        expect(line).to_be_hidden()
        held = []
        page.route("**/api/v1/messages/search*", lambda route: held.append(route))
        field.fill("barrow")
        expect(line).to_be_visible()
        self.assertTrue(held)
        for route in held:
            route.continue_()
        expect(page.get_by_role("main").locator("a.hit")).to_have_count(1)
        expect(line).to_be_hidden()

    def test_author_and_time_narrow_a_search(self):
        self.say("The ladder is mine")
        self.say("The ladder belongs to @ada", "lin")
        self.say("The ladder is back", "ada")
        page = self.signed_in("ada")
        self.go(page, "/search?q=ladder")
        hits = page.get_by_role("main").locator("a.hit")
        expect(hits).to_have_count(3)
        field = page.get_by_role("searchbox", name="Search")
        for words, found in (("ladder from:@lin", "belongs"), ("from:grace ladder", "is mine")):
            field.fill(words)
            expect(hits).to_have_count(1)
            expect(hits).to_contain_text(found)
        field.fill("ladder from:nobody")
        expect(page.get_by_text("No results for")).to_be_visible()
        # Without search words: messages written by me, or messages that mention me.
        field.fill("")
        page.get_by_role("button", name="from me").click()
        expect(hits.filter(has_text="The ladder is back")).to_have_count(1)
        page.get_by_role("button", name="from me").click()
        page.get_by_role("button", name="mentions me").click()
        page.get_by_role("button", name="last 30 days").click()
        expect(hits).to_have_count(1)
        expect(hits).to_contain_text("belongs to")
        self.photograph(page, "search-filters")
        self.assert_accessible(page, "search filters")

    def test_the_best_match_is_first_until_the_newest_is_chosen(self):
        self.say("Compost, compost and compost again")
        self.say("A long report about everything in the garden this week, the paths and the gate and the well, and a little compost too")
        page = self.signed_in("ada")
        self.go(page, "/search")
        orders = page.get_by_role("group", name="Sort by")
        expect(orders).to_be_hidden()
        page.get_by_role("searchbox", name="Search").fill("compost")
        hits = page.get_by_role("main").locator("a.hit")
        expect(orders.get_by_role("button", name="Best match")).to_have_attribute("aria-pressed", "true")
        expect(hits.first).to_contain_text("compost and compost again")
        orders.get_by_role("button", name="Newest").click()
        expect(orders.get_by_role("button", name="Newest")).to_be_focused()
        expect(hits.first).to_contain_text("a little compost too")
        self.assert_accessible(page, "orders of a search")
        # The next search begins with the best match again.
        self.go(page, "/")
        self.go(page, "/search?q=compost")
        expect(hits.first).to_contain_text("compost and compost again")
        # Without words nothing is ranked.
        page.get_by_role("searchbox", name="Search").fill("from:@grace")
        expect(hits.first).to_contain_text("a little compost too")
        expect(orders).to_be_hidden()

    def test_the_best_hits_of_a_conversation_are_three_until_it_is_opened(self):
        bed = self.call("POST", f"/forums/{self.garden['id']}/conversations", {"title": "A bed", "text": "Quinces, quinces"}, self.tokens["grace"])
        for number in range(5):
            self.say(f"Quinces {number}", "grace", bed["id"])
        self.say("Quinces here, too", "lin")
        page = self.signed_in("ada")
        self.go(page, "/search?q=quinces")
        hits = page.get_by_role("main").locator("a.hit")
        expect(hits).to_have_count(4)
        more = page.get_by_role("button", name="3 more in A bed")
        self.photograph(page, "search-capped")
        self.assert_accessible(page, "capped hits")
        more.click()
        expect(page.get_by_role("button", name="in A bed", exact=True)).to_have_attribute("aria-pressed", "true")
        expect(hits).to_have_count(6)
        expect(more).to_have_count(0)
        page.get_by_role("button", name="in A bed", exact=True).click()
        expect(hits).to_have_count(4)
        # The newest are all of them.
        page.get_by_role("button", name="Newest").click()
        expect(hits).to_have_count(7)

    def test_a_list_of_best_hits_says_that_there_are_more(self):
        for number in range(52):
            self.say(f"Medlar {number}")
        page = self.signed_in("ada")
        self.go(page, "/search?q=medlar")
        expect(page.get_by_text("These are the 50 best matches.")).to_be_visible()
        self.assert_accessible(page, "best hits")
        page.get_by_role("button", name="Show all, newest first").click()
        hits = page.get_by_role("main").locator("a.hit")
        expect(hits).to_have_count(50)
        expect(page.get_by_role("button", name="Newest")).to_have_attribute("aria-pressed", "true")
        page.get_by_role("button", name="Show more").click()
        expect(hits).to_have_count(52)
        expect(page.get_by_text("best matches")).to_have_count(0)

    def test_the_author_is_chosen_among_people(self):
        self.say("The scythe is blunt")
        self.say("The scythe is mine", "lin")
        for size in ("desktop", "phone"):
            with self.subTest(size=size):
                page = self.signed_in("ada", size)
                self.go(page, "/search?q=scythe")
                hits = page.get_by_role("main").locator("a.hit")
                expect(hits).to_have_count(2)
                page.get_by_role("button", name="from…").click()
                box = page.get_by_role("dialog", name="Author")
                field = box.get_by_label("Author")
                expect(field).to_be_focused()
                field.fill("li")
                expect(box.locator(".user-choice")).to_have_count(1)
                self.assert_accessible(page, "the choice of an author")
                self.photograph(page, f"search-author-{size}")
                box.locator(".user-choice").click()
                expect(hits).to_have_count(1)
                expect(hits).to_contain_text("is mine")
                chip = page.get_by_role("button", name="from Lin")
                expect(chip).to_have_attribute("aria-pressed", "true")
                # One author at a time.
                page.get_by_role("button", name="from me").click()
                expect(chip).to_have_attribute("aria-pressed", "false")
                expect(hits).to_have_count(0)
                page.context.close()

    def test_users_and_forums_stand_above_the_hits(self):
        self.call("POST", "/forums", {"title": "Linden trees", "visibility": "members"}, self.tokens["ada"])
        self.say("Lin has a new rake")
        page = self.signed_in("ada")
        self.go(page, "/search?q=lin")
        main = page.get_by_role("main")
        expect(main.get_by_role("link", name=re.compile("Lin.*@lin"))).to_have_attribute("href", "/u/lin")
        expect(main.get_by_role("link", name=re.compile("^Linden trees"))).to_have_attribute("href", re.compile("^/f/"))
        expect(main.locator("a.hit").filter(has_text="Lin has a new rake")).to_have_count(1)
        self.assert_above(main.get_by_role("heading", name="People"), main.get_by_role("heading", name="Forums"))
        self.assert_above(main.get_by_role("heading", name="Forums").last, main.locator("a.hit").first)
        self.photograph(page, "search-names")
        self.assert_accessible(page, "names above hits")
        # A filter is for messages.
        page.get_by_role("button", name="from me").click()
        expect(main.get_by_role("heading", name="People")).to_have_count(0)

    def test_a_search_from_a_forum_can_be_narrowed_to_it(self):
        other = self.call("POST", "/forums", {"title": "Sheds", "visibility": "members"}, self.tokens["ada"])
        self.say("The padlock is rusty")
        self.say("The padlock is new", "ada", other["room_id"])
        page = self.signed_in("ada")
        self.go(page, f"/f/{other['id']}-sheds/topics")
        page.keyboard.press("/")
        page.get_by_role("searchbox", name="Search").fill("padlock")
        hits = page.get_by_role("main").locator("a.hit")
        expect(hits).to_have_count(2)
        narrow = page.get_by_role("button", name="in Sheds")
        expect(narrow).to_have_attribute("aria-pressed", "false")
        narrow.click()
        expect(hits).to_have_count(1)
        expect(hits).to_contain_text("is new")
        # The filter stays in the address.
        page.reload()
        self.settle(page)
        expect(narrow).to_have_attribute("aria-pressed", "true")
        expect(hits).to_have_count(1)
        self.go(page, "/")
        self.go(page, "/search?q=padlock")
        expect(hits).to_have_count(2)
        expect(narrow).to_have_count(0)

    def test_more_hits_are_shown_and_each_conversation_is_asked_for_once(self):
        topics = [self.call("POST", f"/forums/{self.garden['id']}/conversations", {"title": f"Bed {number}", "text": "About marrows"}, self.tokens["grace"])
                  for number in range(3)]
        for number in range(52):
            self.say(f"Marrow {number}", "grace", topics[number % 3]["id"])
        page = self.signed_in("lin", anew=True)
        asked = []
        page.on("request", lambda it: asked.append(it.url) if re.search(r"/conversations/\d+$|/users/\d+$", it.url) else None)
        # Quoted: not the topics about marrows.
        self.go(page, "/search?q=%22marrow%22")
        page.get_by_role("button", name="Newest", exact=True).click()
        hits = page.get_by_role("main").locator("a.hit")
        expect(hits).to_have_count(50)
        page.get_by_role("button", name="Show more").click()
        expect(hits).to_have_count(52)
        expect(page.get_by_role("button", name="Show more")).to_be_hidden()
        self.assertEqual(len(asked), len(set(asked)), asked)
        self.assertEqual([it for it in asked if "/users/" in it], [])

    def test_back_leads_to_the_same_place_in_the_results(self):
        topics = [self.call("POST", f"/forums/{self.garden['id']}/conversations", {"title": f"Row {number}", "text": "About turnips"}, self.tokens["grace"])
                  for number in range(12)]
        for number in range(60):
            self.say(f"Turnip {number}", "grace", topics[number % 12]["id"])
        page = self.signed_in("lin")
        self.go(page, "/search?q=%22turnip%22")
        page.get_by_role("button", name="Newest", exact=True).click()
        hits = page.get_by_role("main").locator("a.hit")
        page.get_by_role("button", name="Show more").click()
        expect(hits).to_have_count(60)
        body = page.locator(".page-body")
        hits.nth(30).scroll_into_view_if_needed()
        scroll = lambda: body.evaluate("it => it.scrollTop")
        before = scroll()
        self.assertGreater(before, 0)
        asked = []
        page.on("request", lambda it: asked.append(it.url) if "/messages/search" in it.url else None)
        hits.nth(30).click()
        expect(page.get_by_role("heading", name=re.compile("^Row")).first).to_be_visible()
        page.go_back()
        expect(hits).to_have_count(60)
        self.assertEqual(scroll(), before)
        expect(page.get_by_role("button", name="Newest", exact=True)).to_have_attribute("aria-pressed", "true")
        self.assertEqual(asked, [])
        # Without the results in memory they are searched again.
        hits.nth(30).click()
        expect(page.get_by_role("heading", name=re.compile("^Row")).first).to_be_visible()
        page.reload()
        self.settle(page)
        page.go_back()
        self.eventually(page, True, lambda: hits.count() > 0 and scroll() > 0)

    def test_names_that_come_later_are_shown_and_a_search_ends_with_its_page(self):
        # The device does not know the author.
        kitchen = self.call("POST", "/forums", {"title": "Kitchen", "visibility": "members"}, self.tokens["ada"])
        body = {"name": "zoe", "display_name": "Zoë", "password": PASSWORD, "invite": self.invite, "accept_rules": True}
        zoe = self.call("POST", "/users", body)["token"]
        page = self.signed_in("lin")
        expect(page.locator(".page-bar .sign-online")).to_be_visible()
        self.call("POST", f"/forums/{kitchen['id']}/conversations", {"title": "Rhubarb", "text": "Is it ready?"}, zoe)
        self.go(page, "/search?q=rhubarb")
        expect(page.locator("a.hit").filter(has_text="Title of a topic")).to_contain_text("Zoë")
        # A page that is opened before the pause after the last key is over keeps its address.
        page.evaluate("""() => {
            const field = document.querySelector("main input[type=search]");
            field.value = "compost";
            field.dispatchEvent(new Event("input"));
            document.querySelector(".sidebar a[href='/forums']").click();
        }""")
        expect(page.get_by_role("heading", name="Forums", level=1)).to_be_visible()
        page.wait_for_timeout(400)
        self.assertEqual(page.evaluate("location.pathname"), "/forums")

    def test_messages_of_a_user_are_found_from_their_page(self):
        self.say("Hoes are in the hall", "lin")
        page = self.signed_in("ada")
        self.go(page, "/u/lin")
        expect(page.locator(".user")).to_contain_text(re.compile("Joined (?!now)"))
        page.get_by_role("link", name="Messages by Lin").click()
        hits = page.get_by_role("main").locator("a.hit")
        expect(hits.filter(has_text="Hoes are in the hall")).to_have_count(1)
        expect(page.get_by_role("searchbox", name="Search")).to_have_value("from:@lin")

    def test_facts_that_come_late_move_no_link_of_a_user_page(self):
        lin = self.tokens["lin"]
        self.call("POST", f"/forums/{self.garden['id']}/conversations", {"title": "Lopers", "text": "Any left?"}, lin)
        self.call("PUT", f"/forums/{self.garden['id']}/members/me", {}, lin)
        page = self.signed_in("ada")
        held, asked = [], []
        page.on("request", lambda it: asked.append(it.url) if "/api/v1/conversations/" in it.url else None)
        page.route("**/api/v1/forums?*shared_with*", lambda route: held.append(route))
        with page.expect_response("**/messages/search?*kind=topic*"):
            self.go(page, "/u/lin")
        main = page.get_by_role("main")
        written = main.get_by_role("link", name="Messages by Lin")
        before = self.box(written)
        self.frames(page)
        # The topics stand below the forums, and wait for them.
        expect(main.locator("a.hit")).to_have_count(0)
        held[0].continue_()
        expect(main.get_by_role("navigation", name="Forums in common")).to_be_visible()
        topic = main.locator("a.hit").filter(has_text="Lopers")
        expect(topic).to_be_visible()
        expect(topic).to_contain_text("Garden")
        self.assertEqual(self.box(written), before)
        self.assertEqual(asked, [])

    def test_a_user_has_forums_in_common_and_latest_topics(self):
        ada, lin = self.tokens["ada"], self.tokens["lin"]
        hidden = self.call("POST", "/forums", {"title": "Council", "visibility": "private"}, lin)
        for title in ("Trellises", "Hoses"):
            self.call("POST", f"/forums/{self.garden['id']}/conversations", {"title": title, "text": "Any left?"}, lin)
        self.call("POST", f"/forums/{hidden['id']}/conversations", {"title": "Budget", "text": "Secret."}, lin)
        self.call("PUT", f"/forums/{self.garden['id']}/members/me", {}, lin)
        for size in ("phone", "desktop"):
            page = self.signed_in("ada", size)
            self.go(page, "/u/lin")
            main = page.get_by_role("main")
            shared = main.get_by_role("navigation", name="Forums in common")
            expect(shared.get_by_role("link").locator("bdi")).to_have_text(["Garden"])
            topics = main.locator("a.hit")
            expect(topics).to_have_text([re.compile("Hoses.*Garden", re.DOTALL), re.compile("Trellises.*Garden", re.DOTALL)])
            self.photograph(page, f"user-topics-{size}")
            self.assert_accessible(page, f"user with topics {size}")
            self.assert_fits(page, f"user with topics {size}")
            topics.first.click()
            expect(page.get_by_role("heading", name="Hoses").first).to_be_visible()
            # The card has the forums, too, and its buttons stand in one row.
            self.room(page)
            self.say("Here", "lin")
            page.locator(".message-name").filter(has_text="Lin").last.click()
            card = page.get_by_role("dialog", name="Lin")
            expect(card.get_by_role("navigation", name="Forums in common").get_by_role("link").locator("bdi")).to_have_text(["Garden"])
            write, follow = card.get_by_role("button", name="Message"), card.get_by_role("button", name="Follow")
            self.assertEqual(self.box(write)["y"], self.box(follow)["y"])
            self.photograph(page, f"user-card-{size}")
            self.assert_accessible(page, f"card of a user {size}")
            card.get_by_role("link", name="Garden").click()
            expect(card).to_have_count(0)
            page.context.close()
        self.call("DELETE", f"/forums/{hidden['id']}", token=lin)

    def test_hits_are_counted_by_kind(self):
        for number in range(2):
            self.say(f"Gooseberries, bush {number}")
        self.call("POST", f"/forums/{self.garden['id']}/conversations", {"title": "Gooseberries for all", "text": "Come."}, self.tokens["grace"])
        page = self.signed_in("ada")
        self.go(page, "/search?q=gooseberries")
        hits = page.get_by_role("main").locator("a.hit")
        kinds = page.get_by_role("group", name="Kind of result").get_by_role("button")
        expect(hits).to_have_count(3)
        expect(kinds).to_have_text(["Topics 1", "Messages 2"])
        self.photograph(page, "search-kinds")
        self.assert_accessible(page, "search by kind")
        kinds.first.click()
        expect(hits).to_have_count(1)
        expect(hits).to_contain_text("Gooseberries for all")
        # The numbers stay, and the other kind is a press away.
        expect(kinds).to_have_text(["Topics 1", "Messages 2"])
        kinds.last.click()
        expect(hits).to_have_count(2)
        # Other words have other numbers.
        page.get_by_role("searchbox", name="Search").fill("gooseberries bush")
        expect(kinds).to_have_count(0)
        expect(hits).to_have_count(2)

    def test_a_message_is_found_by_the_name_of_its_file(self):
        context = self.context()
        self.sign_in(context, "grace")
        file = context.request.post(f"{self.origin}/api/v1/files?name=harvest-plan.txt", data=b"beans", headers={
            "Origin": self.origin, "Content-Type": "text/plain"}).json()
        said = self.say("For the meeting", attachments=[file["id"]])
        page = self.signed_in("ada")
        self.go(page, "/search?q=harvest")
        hit = page.get_by_role("main").locator("a.hit")
        expect(hit).to_have_count(1)
        expect(hit).to_contain_text("For the meeting · harvest-plan.txt")
        expect(hit.locator("mark")).to_have_text("harvest")
        expect(hit).to_have_attribute("href", f"/m/{said['id']}")

    def test_search_within_a_conversation(self):
        self.say("A wheelbarrow in the room")
        topic = self.call("POST", f"/forums/{self.garden['id']}/conversations", {
            "title": "Wheelbarrows", "text": "A wheelbarrow in a topic"}, self.tokens["grace"])
        page = self.signed_in("ada")
        self.go(page, f"/t/{topic['id']}")
        page.keyboard.press("Control+f")
        field = page.get_by_role("searchbox", name="Search")
        expect(field).to_be_focused()
        field.fill("wheelbarrow")
        hits = page.get_by_role("main").locator("a.hit")
        expect(hits).to_have_count(1)
        expect(hits).to_contain_text("in a topic")
        within = page.get_by_role("button", name="in Wheelbarrows")
        expect(within).to_have_attribute("aria-pressed", "true")
        within.click()
        # The room, the topic and its title.
        expect(hits).to_have_count(3)
        # Pressed a second time, the shortcut opens the browser's own search.
        self.assertTrue(field.evaluate("""field => field.dispatchEvent(
            new KeyboardEvent("keydown", { key: "f", ctrlKey: true, bubbles: true, cancelable: true }))"""))

    def test_pinned_messages_are_listed_in_the_details(self):
        said = self.say("Gate code: ask Ada")
        page = self.signed_in("ada")
        self.room(page)
        message = page.locator(f"[data-id='{said['id']}']")
        message.hover()
        message.get_by_role("button", name="More").click()
        page.get_by_role("menuitem", name="Pin").click()
        topic = self.call("POST", f"/forums/{self.garden['id']}/conversations", {"title": "Keys", "text": "Who has one?"}, self.tokens["grace"])
        first = self.call("GET", f"/conversations/{topic['id']}/messages", token=self.tokens["ada"])["data"][0]
        self.call("PUT", f"/messages/{first['id']}/actions/pin", token=self.tokens["ada"])
        self.go(page, f"/t/{topic['id']}")
        page.get_by_role("button", name="Details").click()
        panel = page.get_by_role("complementary", name="Details")
        expect(panel.get_by_role("heading", name="Pinned")).to_be_visible()
        expect(panel.get_by_role("link", name=re.compile("Who has one"))).to_be_visible()
        self.photograph(page, "details-pinned")

    def test_the_sidebar_can_be_resized(self):
        page = self.signed_in("ada")
        edge = page.get_by_role("separator", name="Sidebar width")
        side = page.locator(".sidebar")
        expect(side).to_have_css("width", "264px")
        box = self.box(edge)
        page.mouse.move(box["x"] + 4, 300)
        page.mouse.down()
        page.mouse.move(300, 300)
        page.mouse.up()
        expect(side).to_have_css("width", "300px")
        edge.focus()
        page.keyboard.press("End")
        expect(side).to_have_css("width", "340px")
        page.keyboard.press("ArrowRight")
        expect(edge).to_have_attribute("aria-valuenow", "340")
        expect(side).to_have_css("width", "340px")
        self.open(page)
        expect(side).to_have_css("width", "340px")
        edge.dblclick()
        expect(side).to_have_css("width", "264px")
        self.assert_accessible(page, "edge")


class Uploading(Village):
    # More than two chunks.
    CONTENT = bytes(range(256)) * 36_000

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.plan = Path(cls.folder) / "plan.bin"
        cls.plan.write_bytes(cls.CONTENT)

    def attach(self, page, text):
        page.locator("input[type=file]").set_input_files(self.plan)
        return self.write(page, text)

    def test_an_upload_shows_progress_and_can_be_cancelled(self):
        page = self.signed_in("ada")
        self.room(page)
        pieces = []

        def hold(route):
            pieces.append(route.request.headers["upload-offset"])
            if len(pieces) == 1:
                route.continue_()

        page.route("**/api/v1/uploads/*", lambda route: hold(route) if route.request.method == "PATCH" else route.continue_())
        self.attach(page, "The plan of the beds")
        mine = page.locator(".message.is-mine").filter(has_text="The plan of the beds")
        expect(mine.get_by_role("progressbar")).to_have_js_property("value", 4 * 1024 * 1024 / len(self.CONTENT))
        expect(mine.get_by_text("46 %")).to_be_visible()
        self.photograph(page, "upload")
        self.assert_accessible(page, "upload")
        mine.get_by_role("button", name="Remove plan.bin").click()
        expect(mine).to_have_count(0)
        expect(page.get_by_role("textbox", name="Write a message")).to_have_value("The plan of the beds")
        page.get_by_role("textbox", name="Write a message").fill("")

    def test_a_picture_is_shown_as_a_preview(self):
        page = self.signed_in("ada")
        self.room(page)
        drawn = page.evaluate("""async () => {
            const canvas = new OffscreenCanvas(2000, 1000);
            const context = canvas.getContext("2d");
            for (let x = 0; x < 2000; x += 10) {
                context.fillStyle = `hsl(${x / 6} 60% 50%)`;
                context.fillRect(x, 0, 10, 1000);
            }
            const blob = await canvas.convertToBlob({ type: "image/png" });
            return [...new Uint8Array(await blob.arrayBuffer())];
        }""")
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.locator("input[type=file]").set_input_files({"name": "beds.png", "mimeType": "image/png", "buffer": bytes(drawn)})
        self.write(page, "The beds from above")
        mine = page.locator(".message.is-mine").filter(has_text="The beds from above")
        picture = mine.get_by_role("img", name="beds.png")
        expect(picture).to_be_visible()
        expect(picture).to_have_js_property("naturalWidth", 1280)
        expect(picture).to_have_js_property("naturalHeight", 640)
        self.assertEqual([it for it in asked if it.endswith("/content")], [])
        self.photograph(page, "picture")
        picture.click()
        expect(page.get_by_role("dialog").get_by_role("img", name="beds.png")).to_be_visible()
        self.assert_accessible(page, "viewer")

    def test_a_large_file_arrives_unchanged(self):
        page = self.signed_in("ada")
        self.room(page)
        # One chunk fails and is retried.
        lost = []

        def lose(route):
            if route.request.method == "PATCH" and route.request.headers["upload-offset"] != "0" and not lost:
                lost.append(True)
                return route.abort()
            return route.continue_()

        page.route("**/api/v1/uploads/*", lose)
        sent = self.attach(page, "The plan again")
        expect(sent.locator(".state")).to_have_attribute("title", "Sent")
        self.assertEqual(lost, [True])
        file = page.locator(".message.is-mine").filter(has_text="The plan again").get_by_role("link", name="plan.bin")
        expect(file).to_be_visible()
        got = page.request.get(self.origin + file.get_attribute("href"))
        self.assertEqual(got.body(), self.CONTENT)
