"""Feeds: posts of followed users and of everyone, new posts above the list, threads, likes, settings, following, offline use,
and the keyboard."""

import re
from urllib.parse import quote

from browsing import SCREENSHOTS, SIZES
from playwright.sync_api import expect
from test_offline import Cached

# The scroll position of the page and the first post in view.
VIEW = """() => {
  const body = document.querySelector('.page-body');
  const top = body.getBoundingClientRect().top;
  const first = [...body.querySelectorAll('article')].find((it) => it.getBoundingClientRect().bottom > top);
  return [first.dataset.id, Math.round(first.getBoundingClientRect().top)];
}"""


class Feeds(Cached):
    """A site with the feed of grace; ada follows her."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.feeds = {}
        self = cls("nothing")
        self.feed("grace")
        self.relate("ada", "follow", "grace")

    def setUp(self):
        super().setUp()
        # A test may have ended with other relations.
        for kind in ("block", "mute"):
            for one, other in (("ada", "grace"), ("grace", "ada")):
                self.relate(one, kind, other, "DELETE")
        self.relate("ada", "follow", "grace")

    def feed(self, name, open_to="users"):
        if name not in self.feeds:
            body = {"kind": "feed", "readers": {"open_to": open_to}}
            self.feeds[name] = self.call("POST", "/conversations", body, self.tokens[name])["id"]
        return self.feeds[name]

    def relate(self, one, kind, other, method="PUT"):
        self.call(method, f"/users/@{other}/{kind}", token=self.tokens[one])

    def post(self, text, name="grace", **more):
        return self.say(text, name, self.feed(name), **more)

    def reply(self, post, text, name="ada"):
        return self.say(text, name, post["conversation_id"], reply_to=post["id"])

    def message(self, message):
        return self.call("GET", f"/messages/{message['id']}", token=self.tokens["grace"])

    def feed_page(self, name="ada", size="desktop", scope="following", **more):
        page = self.signed_in(name, size, **more)
        self.go(page, "/feed" if scope == "following" else "/feed?show=everyone")
        return page

    def thread(self, page, post):
        self.go(page, f"/m/{post['id']}")
        expect(page.get_by_role("feed", name="Post", exact=True).get_by_role("article")).to_have_attribute("data-id", post["id"])

    def shown(self, page, text):
        return page.get_by_role("article").filter(has_text=text)

    def write_post(self, page, text):
        field = page.get_by_role("textbox", name="Write a post")
        field.fill(text)
        page.get_by_role("button", name="Post", exact=True).click()
        return self.shown(page, text)

    def write_reply(self, page, text):
        field = page.get_by_role("textbox", name="Write a reply")
        field.fill(text)
        page.locator(".stream-foot").get_by_role("button", name="Reply", exact=True).click()
        return self.shown(page, text)

    def is_sent(self, post):
        expect(post.locator(".post-head .state")).to_have_attribute("title", re.compile("Sent|Read"))


class Posting(Feeds):
    def test_the_first_post_creates_the_feed(self):
        for name, size in (("ada", "desktop"), ("lin", "phone")):
            with self.subTest(size=size):
                page = self.feed_page(name, size)
                if name == "lin":
                    expect(page.get_by_text("Follow people to see their posts here, or write your first post.")).to_be_visible()
                    expect(page.get_by_role("main").get_by_role("link", name="Members")).to_have_attribute("href", "/members")
                    self.assert_accessible(page, "an empty feed")
                    self.photograph(page, f"feed-empty-{size}")
                post = self.write_post(page, f"My first socks, on a {size}")
                self.is_sent(post)
                expect(page.get_by_role("textbox", name="Write a post")).to_have_value("")
                kept = self.call("GET", f"/users/@{name}/feed", token=self.tokens[name])
                self.assertEqual(kept["readers"]["open_to"], "users")
                # The second one is in the same feed.
                self.is_sent(self.write_post(page, f"And the second ones, on a {size}"))
                texts = [it["text"] for it in self.call("GET", f"/conversations/{kept['id']}/messages", token=self.tokens[name])["data"]]
                self.assertEqual(texts, [f"And the second ones, on a {size}", f"My first socks, on a {size}"])
                first = page.get_by_role("feed").get_by_role("article").first
                expect(first).to_contain_text("And the second ones")
                self.assert_fits(page, "the feed")

    def test_a_post_has_a_poll_and_a_reply_too(self):
        page = self.feed_page("grace")
        address = None
        for field, verb in (("Write a post", "Post"), ("Write a reply", "Reply")):
            with self.subTest(field=field):
                if address:
                    self.go(page, address)
                write = page.locator("form.composer")
                write.get_by_role("button", name="Add files, a link or a poll").click()
                page.get_by_role("menuitem", name="Poll").click()
                for number, text in enumerate(("Wool", "Cotton"), 1):
                    write.get_by_label(f"Option {number}", exact=True).fill(f"{text} {verb}")
                page.get_by_role("textbox", name=field).fill(f"Which socks, as a {verb}?")
                write.get_by_role("button", name=verb, exact=True).click()
                post = self.shown(page, f"Which socks, as a {verb}?")
                self.is_sent(post)
                option = post.get_by_role("button", name=f"Wool {verb} 0 votes")
                option.click()
                expect(post.get_by_role("button", name=f"Wool {verb} 1 vote")).to_be_visible()
                expect(write.get_by_label("Option 1", exact=True)).to_have_count(0)
                self.photograph(page, f"feed-poll-{verb.lower()}")
                self.assert_accessible(page, f"a poll in a {verb}")
                kept = self.call("GET", "/users/@grace/feed", token=self.tokens["grace"])
                newest = self.call("GET", f"/conversations/{kept['id']}/messages", token=self.tokens["grace"])["data"][0]
                self.assertEqual([it["votes"] for it in newest["poll"]["options"]], [1, 0])
                address = f"/m/{newest['id']}"

    def test_an_own_post_is_edited_and_deleted_with_undo(self):
        page = self.feed_page("grace")
        post = self.write_post(page, "A post with a mistak")
        self.is_sent(post)
        post.get_by_role("button", name="More").click()
        page.get_by_role("menuitem", name="Edit message").click()
        field = page.get_by_role("textbox", name="Write a post")
        expect(field).to_have_value("A post with a mistak")
        field.fill("A post without a mistake")
        page.get_by_role("button", name="Post", exact=True).click()
        edited = self.shown(page, "A post without a mistake")
        expect(edited).to_contain_text("edited")
        edited.get_by_role("button", name="More").click()
        page.get_by_role("menuitem", name=re.compile("Delete")).click()
        expect(edited).to_have_count(0)
        page.get_by_role("button", name="Undo").click()
        expect(edited).to_be_visible()
        edited.get_by_role("button", name="More").click()
        page.get_by_role("menuitem", name=re.compile("Delete")).click()
        expect(edited).to_have_count(0)
        # The deletion is final once the page is left.
        self.go(page, "/forums")
        self.open(page)
        listed = lambda: [it["text"] for it in self.call("GET", "/timeline", token=self.tokens["grace"])["data"] if "mistake" in it["text"]]
        self.eventually(page, [], listed)

    def test_a_draft_is_kept_and_listed(self):
        page = self.feed_page("grace")
        page.get_by_role("textbox", name="Write a post").fill("Half a post")
        post = self.post("With a draft below it")
        self.thread(page, post)
        page.get_by_role("textbox", name="Write a reply").fill("Half a reply")
        self.go(page, "/you/drafts")
        for text, href in (("Half a post", "/feed"), ("Half a reply", f"/m/{post['id']}")):
            expect(page.get_by_role("link", name=re.compile(text))).to_have_attribute("href", href)
        self.go(page, "/feed")
        expect(page.get_by_role("textbox", name="Write a post")).to_have_value("Half a post")
        page.get_by_role("textbox", name="Write a post").fill("")
        self.thread(page, post)
        expect(page.get_by_role("textbox", name="Write a reply")).to_have_value("Half a reply")
        page.get_by_role("textbox", name="Write a reply").fill("")

    def test_a_picture_is_posted_and_opens_in_place(self):
        page = self.feed_page("grace")
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        picture = SCREENSHOTS / "feed-picture.png"
        page.screenshot(path=picture)
        page.locator(".feed-write input[type=file]").set_input_files(picture)
        post = self.write_post(page, "A picture")
        self.is_sent(post)
        post.locator("a.picture").click()
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)


class Reading(Feeds):
    def test_new_posts_wait_above_the_list_until_they_are_wanted(self):
        for number in range(12):
            self.post(f"Bed {number}")
        page = self.feed_page()
        expect(self.shown(page, "Bed 11")).to_be_visible()
        page.locator(".page-body").evaluate("(body) => (body.scrollTop = 300)")
        self.frames(page)
        before = page.evaluate(VIEW)
        self.post("News, one")
        button = page.get_by_role("button", name="1 new post")
        expect(button).to_be_visible()
        self.post("News, two")
        expect(page.get_by_role("button", name="2 new posts")).to_be_visible()
        self.reply(self.post("News, three"), "No post of its own", "grace")
        button = page.get_by_role("button", name="3 new posts")
        expect(button).to_be_visible()
        self.frames(page)
        self.assertEqual(page.evaluate(VIEW), before)
        expect(self.shown(page, "News, one")).to_have_count(0)
        self.photograph(page, "feed-new-posts")
        self.assert_accessible(page, "new posts")
        button.click()
        expect(page.get_by_role("feed").get_by_role("article").first).to_contain_text("News, three")
        expect(page.get_by_role("feed").get_by_role("article").first).to_be_focused()
        expect(self.shown(page, "No post of its own")).to_have_count(0)
        expect(button).to_have_count(0)
        # The newest are there at once in a later visit.
        self.go(page, "/forums")
        self.post("News, four")
        self.go(page, "/feed")
        expect(page.get_by_role("feed").get_by_role("article").first).to_contain_text("News, four")

    def test_further_pages_follow_and_back_returns_to_the_place(self):
        for number in range(40):
            self.post(f"Row {number}")
        page = self.feed_page()
        expect(self.shown(page, "Row 39")).to_be_visible()
        page.get_by_role("button", name="Show more").click()
        old = page.get_by_role("article").filter(has=page.get_by_text("Row 2", exact=True))
        expect(old).to_be_visible()
        old.scroll_into_view_if_needed()
        old.get_by_role("link", name=re.compile("^Reply")).click()
        expect(page.get_by_role("textbox", name="Write a reply")).to_be_focused()
        page.go_back()
        expect(old).to_be_in_viewport()

    def test_a_press_is_a_click_although_its_post_changes(self):
        post = self.post("Pressed")
        page = self.feed_page()
        link = self.shown(page, "Pressed").get_by_role("link", name=re.compile("^Reply"))
        link.hover()
        page.mouse.down()
        self.call("PATCH", f"/messages/{post['id']}", {"text": "Pressed and edited"}, self.tokens["grace"])
        page.wait_for_timeout(1_500)
        page.mouse.up()
        expect(page.get_by_role("textbox", name="Write a reply")).to_be_focused()
        expect(page.get_by_text("Pressed and edited")).to_be_visible()

    def test_everyone_lists_the_feeds_of_all(self):
        self.post("From lin", "lin")
        self.post("For nobody else", "grace")
        page = self.feed_page()
        expect(self.shown(page, "For nobody else")).to_be_visible()
        expect(self.shown(page, "From lin")).to_have_count(0)
        page.get_by_role("link", name="Everyone").click()
        expect(self.shown(page, "From lin")).to_be_visible()
        expect(page.get_by_role("link", name="Everyone")).to_have_attribute("aria-current", "page")
        expect(page.get_by_role("textbox", name="Write a post")).to_have_count(0)
        self.assert_accessible(page, "the feeds of everyone")

    def test_people_are_followed_and_unfollowed_with_undo(self):
        self.post("Seen when followed", "lin")
        page = self.signed_in("grace")
        self.go(page, "/u/lin")
        section = page.get_by_role("feed", name="Posts by Lin")
        expect(section.get_by_role("article").filter(has_text="Seen when followed")).to_be_visible()
        self.photograph(page, "feed-user")
        self.assert_accessible(page, "the posts of a user")
        page.get_by_role("button", name="Follow", exact=True).click()
        expect(page.get_by_text("You're following Lin.")).to_be_visible()
        expect(page.get_by_role("button", name="Unfollow")).to_be_visible()
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_role("button", name="Follow", exact=True)).to_be_visible()
        page.get_by_role("button", name="Follow", exact=True).click()
        expect(page.get_by_role("button", name="Unfollow")).to_be_visible()
        self.go(page, "/feed")
        post = self.shown(page, "Seen when followed")
        expect(post).to_be_visible()
        # In the card of the user, too.
        post.get_by_role("button", name="Lin").last.click()
        expect(page.get_by_role("dialog", name="Lin").get_by_role("button", name="Unfollow")).to_be_visible()
        self.photograph(page, "feed-card")
        self.assert_accessible(page, "the card of a followed user")
        page.get_by_role("button", name="Unfollow").click()
        expect(page.get_by_text("You no longer follow Lin.")).to_be_visible()
        expect(post).to_have_count(0)

    def test_the_first_post_shows_on_an_open_page(self):
        self.feed("ada")
        page = self.signed_in("grace")
        with page.expect_response(re.compile("/messages\\?")):
            self.go(page, "/u/ada")
        expect(page.get_by_role("heading", name="Posts", exact=True)).to_have_count(0)
        self.post("Nothing before this", "ada")
        expect(page.get_by_role("feed", name="Posts by Ada")).to_contain_text("Nothing before this")
        expect(page.get_by_role("heading", name="Posts", exact=True)).to_be_visible()

    def test_likes_and_reactions_are_counted_live(self):
        post = self.post("Please like this")
        self.call("PUT", f"/messages/{post['id']}/actions/like", token=self.tokens["lin"])
        page, other = self.feed_page(), self.feed_page("grace", "phone")
        like = self.shown(page, "Please like this").get_by_role("button", name="Like 1 like")
        expect(like).to_have_attribute("aria-pressed", "false")
        like.click()
        expect(self.shown(page, "Please like this").get_by_role("button", name="Like 2 likes")).to_have_attribute("aria-pressed", "true")
        expect(self.shown(other, "Please like this").get_by_role("button", name="Like 2 likes")).to_have_attribute("aria-pressed", "false")
        self.shown(page, "Please like this").get_by_role("button", name="Like 2 likes").click()
        expect(self.shown(other, "Please like this").get_by_role("button", name="Like 1 like")).to_be_visible()
        self.call("PUT", f"/messages/{post['id']}/actions/{quote('reaction:🎉')}", token=self.tokens["lin"])
        expect(self.shown(page, "Please like this").locator(".reaction")).to_contain_text("1")
        self.shown(page, "Please like this").locator(".reaction").click()
        expect(self.shown(other, "Please like this").locator(".reaction")).to_contain_text("2")


class Reposts(Feeds):
    def repost(self, post, name, method="PUT"):
        self.call(method, f"/messages/{post['id']}/actions/repost", token=self.tokens[name])

    def test_a_repost_reaches_the_followers_until_it_is_undone(self):
        for size, other in (("desktop", "phone"), ("phone", "desktop")):
            with self.subTest(size=size):
                text = f"A hedgehog in the compost, {size}"
                post = self.post(text, "lin")
                page, grace = self.feed_page(size=size), self.feed_page("grace", other, "everyone")
                expect(self.shown(page, text)).to_have_count(0)
                self.shown(grace, text).get_by_role("button", name="Repost", exact=True).click()
                expect(self.shown(grace, text).get_by_role("button", name="Repost 1 repost")).to_have_attribute("aria-pressed", "true")
                page.get_by_role("button", name="1 new post").click()
                got = self.shown(page, text)
                expect(got.get_by_role("link", name="Grace reposted")).to_have_attribute("href", "/u/grace")
                self.photograph(page, f"feed-repost-{size}")
                self.assert_accessible(page, "a repost")
                self.assert_fits(page, "a repost")
                # Likes and replies belong to the post.
                got.get_by_role("button", name="Like", exact=True).click()
                self.eventually(page, 1, lambda: self.message(post)["actions"].get("like", {}).get("count"))
                got.get_by_role("link", name="Reply", exact=True).click()
                expect(page.get_by_role("feed", name="Post", exact=True).get_by_role("article")).to_have_attribute("data-id", post["id"])
                page.go_back()
                # On the own page, and on that of the user.
                self.go(grace, "/feed")
                expect(self.shown(grace, text)).to_contain_text("You reposted")
                self.go(page, "/u/grace")
                expect(page.get_by_role("feed", name="Posts by Grace").get_by_role("article").first).to_contain_text(text)
                self.go(page, "/feed")
                expect(self.shown(page, text)).to_be_visible()
                self.shown(grace, text).get_by_role("button", name="Repost 1 repost").click()
                expect(self.shown(grace, text)).to_have_count(0)
                expect(self.shown(page, text)).to_have_count(0)
                self.eventually(page, None, lambda: self.message(post)["actions"].get("repost"))

    def test_a_post_is_listed_once_and_ends_with_the_post(self):
        post = self.post("Frost tonight")
        self.post("And now the weather")
        page = self.feed_page()
        self.feed("ada")
        self.shown(page, "Frost tonight").get_by_role("button", name="Repost", exact=True).click()
        first = page.get_by_role("feed").get_by_role("article").first
        expect(first).to_contain_text("You reposted")
        expect(first).to_contain_text("Frost tonight")
        expect(self.shown(page, "Frost tonight")).to_have_count(1)
        # The address of the repost leads to the post.
        entry = self.call("GET", "/timeline", token=self.tokens["ada"])["data"][0]
        self.assertEqual(entry["repost_of"], post["id"])
        self.go(page, f"/m/{entry['id']}")
        expect(page.get_by_role("feed", name="Post", exact=True)).to_contain_text("Frost tonight")
        # The list is there without a network.
        self.go(page, "/feed")
        expect(first).to_contain_text("You reposted")
        page.context.set_offline(True)
        self.go(page, f"/m/{post['id']}")
        self.go(page, "/feed")
        expect(first).to_contain_text("Frost tonight")
        page.context.set_offline(False)
        self.call("DELETE", f"/messages/{post['id']}", token=self.tokens["grace"])
        expect(self.shown(page, "Frost tonight")).to_have_count(0)

    def test_reposts_of_ignored_users_are_left_out(self):
        post = self.post("Loud music", "lin")
        self.repost(post, "grace")
        page = self.feed_page()
        expect(self.shown(page, "Loud music")).to_be_visible()
        self.relate("ada", "mute", "lin")
        expect(self.shown(page, "Loud music")).to_have_count(0)
        self.relate("ada", "mute", "lin", "DELETE")
        self.repost(post, "grace", "DELETE")


class Threads(Feeds):
    def test_replies_are_written_counted_and_read(self):
        for size in SIZES:
            with self.subTest(size=size):
                post = self.post(f"Which seeds, {size}?")
                page = self.feed_page(size=size)
                shown = self.shown(page, f"Which seeds, {size}?")
                shown.get_by_role("link", name="Reply", exact=True).click()
                expect(page.get_by_role("textbox", name="Write a reply")).to_be_focused()
                expect(page.get_by_text("No replies yet.")).to_be_visible()
                reply = self.write_reply(page, f"The yellow ones, {size}")
                self.is_sent(reply)
                expect(page.get_by_role("heading", name="1 reply")).to_be_visible()
                self.assertEqual(self.message(post)["id"], self.call(
                    "GET", f"/messages/{post['id']}/replies", token=self.tokens["grace"])["data"][0]["reply_to"])
                # Another one arrives while the page is open.
                self.reply(post, f"Or the red ones, {size}", "lin")
                expect(page.get_by_role("feed", name="Replies").get_by_role("article")).to_have_count(2)
                expect(page.get_by_role("feed", name="Replies").get_by_role("article").last).to_contain_text("red ones")
                # A reply to a reply mentions its author.
                self.shown(page, "Or the red ones").get_by_role("button", name="Reply").click()
                expect(page.get_by_role("textbox", name="Write a reply")).to_have_value("@lin ")
                page.get_by_role("textbox", name="Write a reply").fill("")
                self.photograph(page, f"thread-{size}")
                self.assert_accessible(page, "a thread")
                self.assert_fits(page, "a thread")
                self.go(page, "/feed")
                expect(self.shown(page, f"Which seeds, {size}?").get_by_role("link", name="Reply, 2 replies")).to_be_visible()

    def test_the_notification_of_a_reply_leads_to_the_thread(self):
        post, other = self.post("Who waters on Monday?"), self.post("Who waters on Tuesday?")
        page = self.signed_in("grace")
        self.reply(other, "Not me")
        reply = self.reply(post, "I do", "lin")
        row = page.get_by_role("main").locator(".inbox-row").filter(has_text="I do")
        expect(row).to_have_attribute("href", f"/m/{reply['id']}")
        expect(row).to_contain_text("Feed")
        row.click()
        expect(page.get_by_role("feed", name="Post", exact=True)).to_contain_text("Who waters on Monday?")
        expect(self.shown(page, "I do")).to_be_focused()
        self.thread(page, other)
        self.go(page, "/")
        expect(page.get_by_role("main").locator(".inbox-row").filter(has_text="I do")).to_have_count(0)

    def test_the_owner_removes_a_reply(self):
        post = self.post("Be nice")
        self.reply(post, "Nonsense", "lin")
        page = self.signed_in("grace")
        self.thread(page, post)
        reply = self.shown(page, "Nonsense")
        reply.get_by_role("button", name="More").click()
        page.get_by_role("menuitem", name="Remove message").click()
        page.get_by_role("dialog").get_by_role("button", name="Remove message").click()
        expect(reply).to_have_count(0)
        page.get_by_role("button", name="Undo").click()
        expect(reply).to_be_visible()

    def test_a_link_to_a_nested_reply_shows_its_thread(self):
        post = self.post("The root")
        first = self.reply(post, "One level down")
        second = self.reply(first, "Two levels down", "lin")
        page = self.signed_in("ada")
        self.go(page, f"/m/{second['id']}")
        expect(page.get_by_role("feed", name="Post", exact=True)).to_contain_text("The root")
        expect(page.get_by_role("feed", name="Replies").get_by_role("article")).to_have_count(2)
        expect(self.shown(page, "Two levels down")).to_be_focused()

    def test_the_lock_ends_replies_and_the_readers_change(self):
        post = self.post("Locked soon")
        page, reader = self.feed_page("grace"), self.signed_in("ada")
        self.thread(reader, post)
        expect(reader.get_by_role("textbox", name="Write a reply")).to_be_visible()
        page.get_by_role("main").locator("[data-act=menu]").click()
        page.get_by_role("menuitem", name="Feed settings").click()
        settings = page.get_by_role("dialog")
        self.photograph(page, "feed-settings")
        self.assert_accessible(page, "the settings of a feed")
        settings.get_by_role("switch", name="Turn off replies").check()
        expect(reader.get_by_text("Replies to this feed are turned off.")).to_be_visible()
        expect(reader.get_by_role("textbox", name="Write a reply")).to_be_hidden()
        self.assert_accessible(reader, "a locked thread")
        settings.get_by_role("switch", name="Turn off replies").uncheck()
        expect(reader.get_by_role("textbox", name="Write a reply")).to_be_visible()
        settings.get_by_label("Who can read your feed").select_option("Only you")
        feed = lambda: self.call("GET", f"/conversations/{self.feeds['grace']}", token=self.tokens["grace"])["readers"]["open_to"]
        self.eventually(page, "listed", feed)
        settings.get_by_label("Who can read your feed").select_option("Members")
        self.eventually(page, "users", feed)

    def test_a_block_ends_replies(self):
        post = self.post("Blocked soon")
        page = self.signed_in("lin")
        self.thread(page, post)
        self.relate("grace", "block", "lin")
        self.addCleanup(self.relate, "grace", "block", "lin", "DELETE")
        reply = self.write_reply(page, "Am I heard?")
        expect(reply).to_contain_text("Not sent")
        expect(page.get_by_text("You can't reply to this feed.")).to_be_visible()
        self.assertEqual(self.call("GET", f"/messages/{post['id']}/replies", token=self.tokens["grace"])["data"], [])
        reply.get_by_role("button", name="Discard").click()
        expect(reply).to_have_count(0)
        # The user's own block says so at once.
        page = self.signed_in("ada")
        self.relate("ada", "block", "grace")
        self.thread(page, post)
        expect(page.get_by_text("You have blocked this person. Unblock them to reply.")).to_be_visible()


class Away(Feeds):
    def test_a_post_written_offline_is_sent_once(self):
        self.post("Read before the tunnel")
        self.feed("ada")
        page = self.cached()
        self.go(page, "/feed")
        expect(self.shown(page, "Read before the tunnel")).to_be_visible()
        expect(self.shown(page, "Read before the tunnel").get_by_role("link", name="Reply", exact=True)).to_be_visible()
        context = page.context
        context.set_offline(True)
        page.close()
        page = self.page(context)
        self.open(page)
        self.go(page, "/feed")
        expect(self.shown(page, "Read before the tunnel")).to_be_visible()
        post = self.write_post(page, "Written in the tunnel")
        expect(post.locator(".state")).to_have_attribute("title", "Sending when online")
        self.photograph(page, "feed-offline")
        self.assert_accessible(page, "the feed offline")
        # The thread is readable, too, and takes a reply.
        self.shown(page, "Read before the tunnel").locator("a.feed-time").click()
        expect(page.get_by_role("feed", name="Post", exact=True)).to_contain_text("Read before the tunnel")
        expect(self.write_reply(page, "A reply from the tunnel")).to_be_visible()
        page.close()
        page = self.page(context)
        self.open(page)
        self.go(page, "/feed")
        expect(self.shown(page, "Written in the tunnel")).to_be_visible()
        context.set_offline(False)
        self.is_sent(self.shown(page, "Written in the tunnel"))
        expect(self.shown(page, "Written in the tunnel")).to_have_count(1)
        self.eventually(page, ["Written in the tunnel"], lambda: [it["text"] for it in self.call(
            "GET", f"/conversations/{self.feeds['ada']}/messages", token=self.tokens["ada"])["data"]])
        self.eventually(page, 1, lambda: sum(it.get("text") == "A reply from the tunnel" for it in self.call(
            "GET", f"/conversations/{self.feeds['grace']}/messages", token=self.tokens["ada"])["data"]))

    def test_the_posts_of_everyone_are_there_offline(self):
        """Also those of users that one does not follow."""
        page = self.cached("lin")
        self.post("Seen by everyone")
        self.go(page, "/feed?show=everyone")
        expect(self.shown(page, "Seen by everyone")).to_be_visible()
        context = page.context
        context.set_offline(True)
        page.close()
        page = self.page(context)
        self.open(page)
        # A list that this device has never had has its tabs all the same.
        self.go(page, "/feed")
        expect(page.get_by_text("Can't reach the server.")).to_be_visible()
        page.get_by_role("link", name="Everyone").first.click()
        expect(self.shown(page, "Seen by everyone")).to_contain_text("Grace")
        self.shown(page, "Seen by everyone").locator("a.feed-time").click()
        expect(page.get_by_role("feed", name="Post", exact=True)).to_contain_text("Seen by everyone")
        self.go(page, "/feed")
        expect(page.get_by_text("Can't reach the server.")).to_be_visible()
        context.set_offline(False)
        expect(page.get_by_text("Can't reach the server.")).to_have_count(0)

    def test_a_first_post_waits_for_a_connection_as_a_draft(self):
        page = self.cached("lin")
        self.go(page, "/feed")
        page.context.set_offline(True)
        self.write_post(page, "Too early")
        expect(page.get_by_text("You're offline. Your first post needs a connection; it's kept as a draft.")).to_be_visible()
        expect(page.get_by_role("textbox", name="Write a post")).to_have_value("Too early")
        page.context.set_offline(False)
        page.get_by_role("button", name="Post", exact=True).click()
        self.is_sent(self.shown(page, "Too early"))


class Looks(Feeds):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        self = cls("nothing")
        post = self.post("The first tomatoes are *red*. See https://example.org and **bring a basket** on Saturday.")
        self.reply(post, "I bring two.")
        self.call("PUT", f"/messages/{post['id']}/actions/like", token=cls.tokens["lin"])
        self.post("Rain at last 🌧️")
        self.feed("ada")
        cls.own = self.post("المطر جميل في الحديقة, and so is the shed", "ada")
        cls.root = post

    def test_it_looks_right_in_both_themes_and_directions(self):
        for size in SIZES:
            for scheme in ("light", "dark"):
                for language in ("en", "ar") if scheme == "light" else ("en",):
                    with self.subTest(size=size, scheme=scheme, language=language):
                        page = self.signed_in("ada", size, scheme=scheme, locale="ar" if language == "ar" else "en-GB")
                        for name, address in (("feed", "/feed"), ("thread", f"/m/{self.root['id']}"), ("user", "/u/grace")):
                            self.go(page, address)
                            expect(page.get_by_role("article").first).to_be_visible()
                            for field in page.locator(".composer-input").all():
                                self.assertGreaterEqual(self.box(field)["height"], 30, "the field is too low for its text")
                            self.photograph(page, f"{name}-{size}-{scheme}-{language}")
                            self.assert_accessible(page, f"{name}, {size}, {scheme}, {language}")
                            self.assert_fits(page, f"{name}, {size}, {language}")
                            self.assert_pictured(page, name)

    def test_the_keyboard_does_it_all(self):
        page = self.feed_page()
        expect(self.shown(page, "Rain at last")).to_be_visible()
        articles = page.get_by_role("feed").get_by_role("article")
        page.locator("main.page").focus()
        page.keyboard.press("j")
        expect(articles.nth(0)).to_be_focused()
        page.keyboard.press("j")
        expect(articles.nth(1)).to_be_focused()
        page.keyboard.press("k")
        page.keyboard.press("j")
        page.keyboard.press("j")
        expect(articles.nth(2)).to_be_focused()
        expect(articles.nth(2)).to_have_attribute("aria-posinset", "3")
        page.keyboard.press("Enter")
        expect(page.get_by_role("feed", name="Post", exact=True)).to_contain_text("The first tomatoes")
        page.keyboard.press("j")
        page.keyboard.press("j")
        expect(self.shown(page, "I bring two.")).to_be_focused()
        page.keyboard.press("c")
        expect(page.get_by_role("textbox", name="Write a reply")).to_be_focused()
        page.keyboard.type("By keyboard")
        page.keyboard.press("Control+Enter")
        self.is_sent(self.shown(page, "By keyboard"))
        self.go(page, "/feed")
        expect(articles.nth(0)).to_contain_text("the shed")
        page.locator("main.page").focus()
        page.keyboard.press("j")
        page.keyboard.press("e")
        expect(page.get_by_role("textbox", name="Write a post")).to_have_value(re.compile("the shed"))
        page.keyboard.press("Escape")
        expect(page.get_by_role("textbox", name="Write a post")).to_have_value("")
        page.keyboard.press("Tab")
        page.locator("main.page").focus()
        page.keyboard.press("j")
        page.keyboard.press("r")
        expect(page.get_by_role("textbox", name="Write a reply")).to_be_focused()

    def test_the_feed_is_reached_at_every_width(self):
        page = self.signed_in("ada")
        for width in (1440, 1000):
            page.set_viewport_size({"width": width, "height": 900})
            link = page.locator(".sidebar").get_by_role("link", name="Feed", exact=True)
            link.click()
            expect(page.get_by_role("heading", name="Feed", level=1)).to_be_visible()
            expect(link).to_have_attribute("aria-current", "page")
            self.go(page, "/")
        page = self.signed_in("ada", "phone")
        page.locator(".bottom-bar").get_by_role("link", name="Messages").click()
        page.get_by_role("main").get_by_role("link", name="Feed").click()
        expect(page.get_by_role("heading", name="Feed", level=1)).to_be_visible()
