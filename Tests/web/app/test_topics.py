"""Topics: the composer with files, toolbar, preview and drafts; filters; where a topic opens; the list beside it."""

import re

from playwright.sync_api import expect
from test_flows import Village
from test_messages import png


class Composer(Village):
    def new(self, page):
        self.go(page, f"/f/{self.garden['id']}/new")
        return page.get_by_label("Title"), page.get_by_role("textbox", name="Write your post")

    def test_a_topic_is_written_with_files_a_toolbar_and_a_preview(self):
        page = self.signed_in("grace")
        title, text = self.new(page)
        expect(title).to_be_focused()
        title.fill("My first bed")
        page.keyboard.press("Tab")
        expect(text).to_be_focused()
        page.keyboard.type("It is small")
        text.press("Control+a")
        page.get_by_role("button", name="Bold").click()
        expect(text).to_have_value("**It is small**")
        expect(page.get_by_role("region", name="Preview").locator("strong")).to_have_text("It is small")
        expect(page.get_by_text("Draft saved on this device")).to_be_visible()
        page.locator("input[type=file]").set_input_files({"name": "bed.png", "mimeType": "image/png", "buffer": png(40, 30)})
        expect(page.locator(".composer-files")).to_contain_text("bed.png")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            self.photograph(page, f"topic-composer-desktop-{scheme}")
            self.assert_accessible(page, f"topic composer {scheme}")
        title.press("Control+Enter")
        expect(page.get_by_role("heading", name="My first bed").first).to_be_visible()
        expect(page.locator(".post a.picture img")).to_be_visible()
        expect(page.locator(".post strong")).to_have_text("It is small")
        # Nothing is left in the fields.
        title, text = self.new(page)
        expect(title).to_have_value("")
        expect(text).to_have_value("")

    def test_the_text_has_the_height_of_the_window(self):
        for size in ("phone", "desktop"):
            page = self.signed_in("grace", size)
            _, text = self.new(page)
            height = page.viewport_size["height"]
            self.assertGreaterEqual(self.box(text)["height"], 0.4 * height)
            begin = page.get_by_role("button", name="Post topic")
            expect(begin).to_be_in_viewport(ratio=1)
            # A keyboard leaves half of a phone.
            page.set_viewport_size({"width": page.viewport_size["width"], "height": height // 2})
            self.assertLess(self.box(text)["height"], 0.5 * height)
            page.context.close()

    def test_the_toolbar_is_one_line_and_rare_formats_are_in_a_menu(self):
        page = self.signed_in("grace", "phone")
        _, text = self.new(page)
        bar = page.get_by_role("group", name="Format")
        more = bar.get_by_role("button", name="More")
        for width in (390, 320, 844):
            with self.subTest(width=width):
                page.set_viewport_size({"width": width, "height": 844})
                (expect(more).to_be_hidden if width == 844 else expect(more).to_be_visible)()
                expect(bar.get_by_role("button", name="Bold")).to_be_visible()
                tops = lambda: len(set(bar.get_by_role("button").evaluate_all("all => all.filter((it) => it.offsetWidth).map((it) => it.offsetTop)")))
                self.eventually(page, 1, tops)
                self.eventually(page, True, lambda: bar.evaluate("it => it.scrollWidth <= it.clientWidth"))
                self.assert_fits(page, f"toolbar {width}")
                self.photograph(page, f"toolbar-{width}")
        page.set_viewport_size({"width": 390, "height": 844})
        text.fill("1977")
        text.press("Control+a")
        more.click()
        self.assert_accessible(page, "menu of formats")
        self.photograph(page, "toolbar-menu")
        page.get_by_role("menuitem", name="Spoiler").click()
        expect(text).to_have_value("||1977||")
        expect(text).to_be_focused()

    def test_a_refused_topic_keeps_text_and_files(self):
        page = self.signed_in("grace", "phone")
        title, text = self.new(page)
        text.fill("Without a title")
        page.locator("input[type=file]").set_input_files({"name": "bed.png", "mimeType": "image/png", "buffer": png(40, 30)})
        page.get_by_role("button", name="Post topic").click()
        expect(page.get_by_text("Enter a title.")).to_be_visible()
        expect(title).to_be_focused()
        expect(text).to_have_value("Without a title\n![](attachment:1)")
        expect(page.locator(".composer-files")).to_contain_text("bed.png")
        page.get_by_role("button", name="Preview").click()
        expect(page.locator(".composer-preview")).to_contain_text("Without a title")
        self.photograph(page, "topic-composer-phone-light")
        self.assert_fits(page, "topic composer")
        page.reload()
        self.settle(page)
        expect(text).to_have_value("Without a title\n![](attachment:1)")
        text.fill("")

    def test_pictures_stand_where_the_text_places_them(self):
        page = self.signed_in("grace")
        title, text = self.new(page)
        title.fill("Two beds")
        text.fill("First this one\nthen that one")
        text.evaluate("it => it.setSelectionRange(14, 14)")
        file = lambda name, width=320: {"name": name, "mimeType": "image/png", "buffer": png(width, 200, 90)}
        page.locator("input[type=file]").set_input_files([file("bed.png"), {"name": "list.txt", "mimeType": "text/plain", "buffer": b"seeds"}, file("shed.png", 400)])
        expect(text).to_have_value("First this one\n![](attachment:1)\n![](attachment:3)\nthen that one")
        page.keyboard.type("And ")
        expect(text).to_have_value("First this one\n![](attachment:1)\n![](attachment:3)\nAnd then that one")
        # A description goes into the text; the numbers follow a removed file.
        page.get_by_role("button", name="Describe picture").last.click()
        dialog = page.get_by_role("dialog", name="Describe picture")
        dialog.get_by_role("textbox").fill("The [green] shed")
        dialog.get_by_role("button", name="Save").click()
        expect(text).to_have_value("First this one\n![](attachment:1)\n![The \\[green\\] shed](attachment:3)\nAnd then that one")
        page.get_by_role("button", name="Remove list.txt").click()
        expect(text).to_have_value("First this one\n![](attachment:1)\n![The \\[green\\] shed](attachment:2)\nAnd then that one")
        # A pasted one stands at the caret, another one that the text does not place stays below.
        text.evaluate("it => it.setSelectionRange(0, 0)")
        page.evaluate("""async (bytes) => {
            const data = new DataTransfer();
            data.items.add(new File([new Uint8Array(bytes)], "rose.png", { type: "image/png" }));
            document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
        }""", list(png(200, 200, 90)))
        expect(text).to_have_value(re.compile(r"^!\[\]\(attachment:3\)\nFirst"))
        text.evaluate("it => { it.value = it.value.replace('![](attachment:1)\\n', '') + ' ![no](attachment:9)'; it.dispatchEvent(new Event('input')); }")
        preview = page.get_by_role("region", name="Preview")
        expect(preview.locator(".rich img")).to_have_count(2)
        expect(preview.locator(".pictures img")).to_have_count(1)
        self.photograph(page, "topic-placed-pictures")
        self.assert_accessible(page, "placed pictures in the preview")
        # A draft keeps them.
        expect(page.get_by_text("Draft saved on this device")).to_be_visible()
        self.go(page, "/forums")
        title, text = self.new(page)
        expect(page.locator(".composer-files .attachment")).to_have_count(3)
        expect(text).to_have_value(re.compile(r"^!\[\]\(attachment:3\)\nFirst this one\n!\[The"))
        page.get_by_role("button", name="Post topic").click()
        post = page.locator(".post").first
        expect(post.locator(".rich a.picture img")).to_have_count(2)
        expect(post.get_by_role("img", name="The [green] shed")).to_be_visible()
        expect(post.locator(".rich")).to_contain_text("![no](attachment:9)")
        expect(post.locator(".pictures img")).to_have_attribute("alt", "bed.png")
        self.photograph(page, "topic-placed-posted")
        self.assert_accessible(page, "placed pictures")
        post.get_by_role("img", name="The [green] shed").click()
        expect(page.get_by_role("dialog").locator(".viewer-foot")).to_contain_text("2")
        page.keyboard.press("Escape")
        # The description in the text is what a later change changes, and an edit of the text keeps the numbers.
        post.hover()
        post.get_by_role("button", name="More").click()
        page.get_by_role("menuitem", name="Describe picture").click()
        dialog = page.get_by_role("dialog", name="Describe picture")
        field = dialog.get_by_label("shed.png")
        expect(field).to_have_value("The [green] shed")
        field.fill("A shed")
        dialog.get_by_role("button", name="Save").click()
        expect(post.get_by_role("img", name="A shed")).to_be_visible()
        post.get_by_role("button", name="More").click()
        page.get_by_role("menuitem", name="Edit message").click()
        field = page.get_by_role("textbox", name="Write a reply")
        field.press("Control+End")
        page.keyboard.type("!")
        field.press("Control+Enter")
        expect(post.locator(".rich")).to_contain_text("![no](attachment:9)!")
        expect(post.locator(".rich a.picture img")).to_have_count(2)
        # Visitors see them there, too.
        address = page.url
        visitor = self.page(self.context())
        visitor.goto(address)
        expect(visitor.locator(".post .rich img")).to_have_count(2)
        expect(visitor.locator(".post .files img")).to_have_count(1)
        self.photograph(visitor, "topic-placed-visitor")

    def test_similar_topics_stand_below_the_text(self):
        self.call("POST", f"/forums/{self.garden['id']}/conversations", {"title": "Slugs again", "text": "They are back."}, self.tokens["lin"])
        page = self.signed_in("grace")
        title, text = self.new(page)
        title.fill("Slugs everywhere")
        alike = page.get_by_role("region", name="Similar topics")
        expect(alike.get_by_role("link")).to_contain_text(["Slugs again"])
        self.assert_above(text, alike)
        title.fill("")


class Lists(Village):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        self = cls("nothing")
        self.call("PATCH", f"/forums/{cls.garden['id']}", {"solvable": True}, cls.tokens["ada"])
        self.call("PUT", f"/forums/{cls.garden['id']}/members/me", {}, cls.tokens["lin"])
        cls.topics = {title: self.call("POST", f"/forums/{cls.garden['id']}/conversations", {"title": title, "text": f"About {title}.\n\n" + "More.\n\n" * 30}, cls.tokens[who])
                      for title, who in (("Roses", "ada"), ("Mine", "lin"), ("Seeds", "grace"))}
        for number in range(60):
            self.say(f"Post {number}", ("ada", "grace")[number % 2], cls.topics["Roses"]["id"])
        answer = self.say("Like this", "ada", cls.topics["Mine"]["id"])
        self.call("PATCH", f"/conversations/{cls.topics['Mine']['id']}", {"solved_by": answer["id"]}, cls.tokens["lin"])

    def test_topics_are_filtered(self):
        self.call("PUT", f"/conversations/{self.topics['Roses']['id']}/read", {"message_id": self.topics["Roses"]["last_message_id"]}, self.tokens["lin"])
        for size in ("desktop", "phone"):
            page = self.signed_in("lin", size)
            self.go(page, f"/f/{self.garden['id']}/topics")
            rows = page.locator(".topic-row-title")
            expect(rows).to_have_count(3)
            expect(page.locator(".topic-row").filter(has_text="Seeds")).to_contain_text("About Seeds. More.")
            filters = page.get_by_role("navigation", name="Filter topics")
            for words, wanted in (("Mine", ["Mine"]), ("Solved", ["Mine"]), ("Unsolved", ["Roses", "Seeds"]), ("New", ["Seeds"])):
                filters.get_by_role("link", name=words, exact=True).click()
                expect(filters.locator("[aria-current]")).to_have_text(words)
                self.eventually(page, wanted, lambda: sorted(re.sub(r"^(New|Solved)?\s*", "", it.strip()) for it in rows.all_inner_texts()))
            self.photograph(page, f"topics-filtered-{size}")
            self.assert_fits(page, "filters")
            page.context.close()
        visitor = self.page(self.context())
        visitor.goto(f"{self.origin}/f/{self.garden['id']}")
        expect(visitor.get_by_text("Roses")).to_be_visible()

    def test_a_row_has_the_faces_of_the_first_and_the_last_author(self):
        page = self.signed_in("lin")
        self.go(page, f"/f/{self.garden['id']}-garden/topics")
        rows = page.locator(".topic-row")
        expect(rows.filter(has_text="Seeds").locator(".avatar")).to_have_count(1)
        expect(rows.filter(has_text="Roses").locator(".avatar-pair .avatar")).to_have_count(2)

    def test_a_text_of_another_direction_stands_at_its_author(self):
        forum = self.call("POST", "/forums", {"title": "Weather", "visibility": "members"}, self.tokens["ada"])
        topic = self.call("POST", f"/forums/{forum['id']}/conversations", {"title": "Rain", "text": "المطر جميل في الحديقة"}, self.tokens["ada"])
        page = self.signed_in("lin")
        self.go(page, f"/t/{topic['id']}")
        text, head = page.locator(".post .rich").first, page.locator(".post-head").first
        self.assertAlmostEqual(self.box(text)["x"], self.box(head)["x"], delta=1)
        page.evaluate("document.documentElement.dir = 'rtl'")
        end = lambda it: self.box(it)["x"] + self.box(it)["width"]
        self.assertAlmostEqual(end(text), end(head), delta=1)

    def test_topics_are_sorted_by_activity_or_creation(self):
        forum = self.call("POST", "/forums", {"title": "Beds", "visibility": "members"}, self.tokens["ada"])
        topics = [self.call("POST", f"/forums/{forum['id']}/conversations", {"title": it, "text": "Look"}, self.tokens["ada"])
                  for it in ("Alpha bed", "Beta bed", "Gamma bed")]
        self.call("PATCH", f"/conversations/{topics[0]['id']}", {"pinned": True}, self.tokens["ada"])
        self.say("I looked", "grace", topics[1]["id"])
        for size in ("desktop", "phone"):
            with self.subTest(size=size):
                page = self.signed_in("lin", size)
                seen = lambda: page.locator(".topic-row-title > bdi").all_text_contents()
                self.go(page, f"/f/{forum['id']}/topics")
                self.eventually(page, ["Alpha bed", "Beta bed", "Gamma bed"], seen)
                page.get_by_role("button", name="Latest activity").click()
                self.assert_accessible(page, f"order of topics {size}")
                page.get_by_role("menuitemradio", name="Newest").click()
                self.eventually(page, ["Gamma bed", "Beta bed", "Alpha bed"], seen)
                self.photograph(page, f"topics-newest-{size}")
                self.assert_fits(page, f"newest topics {size}")
                # This device remembers it, also for the list beside a topic.
                page.reload()
                self.settle(page)
                self.eventually(page, ["Gamma bed", "Beta bed", "Alpha bed"], seen)
                if size == "desktop":
                    self.go(page, f"/t/{topics[1]['id']}")
                    self.eventually(page, ["Gamma bed", "Beta bed", "Alpha bed"], seen)
                    self.go(page, f"/f/{forum['id']}/topics")
                page.get_by_role("button", name="Newest").click()
                page.get_by_role("menuitemradio", name="Latest activity").click()
                self.eventually(page, ["Alpha bed", "Beta bed", "Gamma bed"], seen)
                page.context.close()

    def test_the_button_for_a_new_topic_has_its_words_and_leaves_the_name_of_the_forum(self):
        page = self.signed_in("lin")
        self.go(page, f"/f/{self.garden['id']}/topics")
        start = page.locator(".page-bar").get_by_role("button", name="New topic")
        title = page.get_by_role("heading", name="Garden", level=1)
        for width in (1440, 700, 699, 390, 320):
            with self.subTest(width=width):
                page.set_viewport_size({"width": width, "height": 844})
                expect(start.locator("span")).to_be_visible()
                self.assertEqual(title.evaluate("it => it.scrollWidth - it.clientWidth"), 0)
                # On a phone it is at the thumb, above the bar.
                below = self.box(start)["y"] > 700
                self.assertEqual(below, width < 700)
                if below:
                    bar = self.box(page.locator(".bottom-bar"))
                    self.assertLess(self.box(start)["y"] + self.box(start)["height"], bar["y"])
                self.assert_fits(page, f"forum head {width}")

    def test_a_user_with_large_letters_sees_a_topic_without_its_list(self):
        page = self.signed_in("lin")
        page.context.new_cdp_session(page).send("Page.setFontSizes", {"fontSizes": {"standard": 28, "fixed": 24}})
        self.go(page, f"/t/{self.topics['Roses']['id']}")
        expect(page.locator(".post").first).to_be_visible()
        expect(page.locator(".split-list")).to_be_hidden()
        self.assertGreater(page.locator(".post").first.bounding_box()["width"], 0.5 * page.viewport_size["width"])
        page.mouse.move(1_000, 400)
        self.assert_fits(page, "large letters")
        self.photograph(page, "topic-large-letters-light")

    def test_a_topic_opens_at_the_first_post_and_later_at_the_first_unread_one(self):
        page = self.signed_in("lin")
        topic = self.topics["Roses"]
        self.go(page, f"/t/{topic['id']}")
        first = page.locator(".post").filter(has_text="About Roses.")
        expect(first).to_be_in_viewport()
        expect(page.get_by_role("heading", name="Roses", level=2)).to_be_in_viewport()
        # The list beside it has the head of the forum, its filters and the button for a new topic.
        beside = page.locator(".split-list")
        expect(beside.get_by_role("link", name=re.compile("Seeds"))).to_be_visible()
        expect(beside.get_by_role("navigation", name="Filter topics")).to_be_visible()
        expect(page.get_by_role("heading", name="Garden", level=1)).to_be_visible()
        expect(page.get_by_role("button", name="New topic")).to_be_visible()
        self.photograph(page, "topic-beside-light")
        self.assert_accessible(page, "topic beside the list")
        messages = self.call("GET", f"/conversations/{topic['id']}/messages?order=asc&limit=50", token=self.tokens["lin"])["data"]
        self.call("PUT", f"/conversations/{topic['id']}/read", {"message_id": messages[40]["id"]}, self.tokens["lin"])
        self.call("PUT", f"/conversations/{topic['id']}/level", {"level": "everything"}, self.tokens["lin"])
        self.go(page, "/")
        # The level of the topic has arrived, and so has the read position before it.
        expect(page.get_by_role("main").get_by_role("link", name=re.compile("Roses"))).to_be_visible()
        self.go(page, f"/t/{topic['id']}")
        expect(page.locator(".post").filter(has_text=re.compile("^Grace.*Post 40|Post 40"))).to_be_in_viewport()
        expect(first).not_to_be_in_viewport()

    def test_a_topic_with_pictures_opens_at_its_title(self):
        page = self.signed_in("lin", "phone")
        pictures = []
        for shade in (60, 120):
            answer = page.context.request.post(f"{self.origin}/api/v1/files?name=bed{shade}.png", data=png(300, 400, shade), headers={
                "Content-Type": "image/png", "Authorization": f"Bearer {self.tokens['grace']}"})
            pictures.append(answer.json()["id"])
        forum = self.call("POST", "/forums", {"title": "Album", "visibility": "public"}, self.tokens["ada"])
        topic = self.call("POST", f"/forums/{forum['id']}/conversations", {
            "title": "Pictures", "text": "Two beds\n\n" * 8, "attachments": pictures, "poll": {"options": ["Left", "Right"]}}, self.tokens["grace"])
        # The sizes of the files arrive late.
        held = []
        page.route("**/api/v1/files?ids=*", lambda route: held.append(route))
        self.go(page, f"/c/{topic['id']}")
        self.eventually(page, True, lambda: len(held) > 0)
        # All of it fits so far, and is drawn again, as when a name arrives.
        page.evaluate("document.querySelector('.stream').dispatchEvent(new Event('scroll'))")
        self.frames(page)
        for route in held:
            route.continue_()
        page.unroute("**/api/v1/files?ids=*")
        expect(page.locator(".post .picture img").first).to_be_visible()
        page.wait_for_function("[...document.images].every((it) => it.complete || it.loading === 'lazy')")
        self.frames(page)
        self.assertGreater(page.evaluate("document.querySelector('.stream').scrollHeight - document.querySelector('.stream').clientHeight"), 40)
        self.assertEqual(page.evaluate("document.querySelector('.stream').scrollTop"), 0)

    def test_a_topic_that_an_older_overview_lists_is_not_new_while_it_is_open(self):
        page = self.signed_in("lin")
        forum = self.call("POST", "/forums", {"title": "Hedges", "visibility": "public"}, self.tokens["ada"])
        self.call("PUT", f"/forums/{forum['id']}/members/me", {}, self.tokens["lin"])
        listed = lambda: [it for it in self.call("GET", "/unread", token=self.tokens["lin"])["data"] if it.get("forum_id") == forum["id"]]
        held, isHolding = [], [True]

        def hold(route):
            answer = route.fetch()
            held.append(lambda: route.fulfill(response=answer))
            if not isHolding:
                held.pop()()

        page.route("**/api/v1/unread*", hold)
        topic = self.call("POST", f"/forums/{forum['id']}/conversations", {"title": "Box or yew", "text": "For shade."}, self.tokens["grace"])
        self.eventually(page, True, lambda: len(held) > 0)
        self.go(page, f"/c/{topic['id']}")
        tab = page.locator(".tabs").get_by_role("link", name=re.compile("^Topics"))
        expect(page.locator(".post").filter(has_text="For shade.")).to_be_visible()
        # The topic is read; the answers are of before.
        self.eventually(page, [], listed)
        isHolding.clear()
        for fulfill in held:
            fulfill()
        self.say("In the sun", "grace", forum["room_id"])
        expect(page.locator(".tabs").get_by_role("link", name=re.compile("^Room"))).to_contain_text("1")
        expect(tab).to_have_text("Topics")

    def test_lists_follow_deletions_and_changes_missed_offline(self):
        ada = self.tokens["ada"]
        for title, members in (("Joined", ["lin"]), ("Visited", [])):
            with self.subTest(title):
                forum = self.call("POST", "/forums", {"title": title, "visibility": "members"}, ada)
                self.call("PATCH", f"/forums/{forum['id']}", {"solvable": True}, ada)
                for name in members:
                    self.call("PUT", f"/forums/{forum['id']}/members/@{name}", {}, ada)
                topic = lambda title: self.call("POST", f"/forums/{forum['id']}/conversations", {"title": title, "text": "Why?"}, ada)
                gone, solved, stays = (topic(it) for it in ("Gone soon", "Solved soon", "Here to stay"))
                context = self.context()
                self.sign_in(context, "lin")
                pages = [self.page(context) for _ in range(3)]
                for page, address in zip(pages, (f"/f/{forum['id']}/topics", f"/f/{forum['id']}/topics?filter=unsolved", f"/t/{stays['id']}")):
                    self.open(page, address)
                    expect(page.locator(".page-bar .sign-online")).to_be_visible()
                    expect(page.locator(".topic-row")).to_have_count(3)
                    page.wait_for_load_state("networkidle")
                everything, unsolved, _ = pages
                self.call("DELETE", f"/conversations/{gone['id']}", token=ada)
                for page in pages:
                    expect(page.locator(".topic-row").filter(has_text="Gone soon")).to_have_count(0)
                answer = self.say("Because.", "ada", solved["id"])
                self.call("PATCH", f"/conversations/{solved['id']}", {"solved_by": answer["id"]}, ada)
                expect(unsolved.locator(".topic-row")).to_have_count(1)
                expect(everything.locator(".topic-row")).to_have_count(2)
                context.set_offline(True)
                for page in pages:
                    expect(page.locator(".sign-offline").filter(visible=True)).to_be_visible()
                topic("Missed")
                context.set_offline(False)
                for page in pages:
                    expect(page.locator(".topic-row").filter(has_text="Missed")).to_be_visible()
                context.close()

    def test_the_list_beside_a_topic_follows_changes(self):
        page = self.signed_in("lin")
        forum = self.call("POST", "/forums", {"title": "Orchard", "visibility": "public"}, self.tokens["ada"])
        self.call("PUT", f"/forums/{forum['id']}/members/me", {}, self.tokens["lin"])
        topic = self.call("POST", f"/forums/{forum['id']}/conversations", {"title": "Apples", "text": "Which ones?"}, self.tokens["grace"])
        self.go(page, f"/c/{topic['id']}")
        beside = page.locator(".split-list")
        row = beside.locator(".topic-row").filter(has_text="Apples")
        expect(row).to_be_visible()
        self.say("Boskoop", "grace", topic["id"])
        expect(page.locator(".post").filter(has_text="Boskoop")).to_be_visible()
        expect(row.locator(".topic-row-counts .mark")).to_contain_text("1")
        self.call("POST", f"/forums/{forum['id']}/conversations", {"title": "Pears", "text": "And these?"}, self.tokens["grace"])
        expect(beside.get_by_role("link", name=re.compile("Pears"))).to_be_visible()
        expect(page.locator(".tabs").get_by_role("link", name=re.compile("^Topics"))).to_contain_text("1")
        self.say("Hello", "grace", forum["room_id"])
        expect(page.locator(".tabs").get_by_role("link", name=re.compile("^Room"))).to_contain_text("1")
