"""Offline use and upgrades: the app starts from its cache, reads, searches and writes; queued messages are sent once
and in order; a new version is offered, and a page never mixes two versions."""

import json
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from browsing import IS_THOROUGH, RATES, TOP
from playwright.sync_api import expect
from servers import Server
from serving import parley
from test_flows import Village
from test_messages import png

# The service worker has cached a complete version and controls the page.
IS_CACHED = """async () => {
  const cached = await (await caches.open("state")).match("/state");
  return !!navigator.serviceWorker?.controller && !!cached && !!(await cached.json()).now;
}"""


class Cached(Village):
    def cached(self, name="ada", size="desktop"):
        """A signed-in page whose device has cached the app."""
        page = self.signed_in(name, size, service_workers="allow")
        self.eventually(page, True, lambda: page.evaluate(IS_CACHED))
        return page

    def texts(self, conversation=None):
        conversation = conversation or self.garden["room_id"]
        found, position = [], ""
        while True:
            path = f"/conversations/{conversation}/messages?order=asc&limit=200{position}"
            page = self.call("GET", path, token=self.tokens["ada"])
            found += [it.get("text") for it in page["data"]]
            if not page["next"]:
                return found
            position = f"&next={page['next']}"


class Undatabased(Village):
    """A browser that never opens or reads its database: WebKit does so now and then."""

    def test_the_app_works_if_the_database_does_not_open(self):
        self.assert_works("IDBFactory.prototype.open = () => ({})")

    def test_the_app_works_if_the_database_does_not_answer(self):
        self.assert_works("IDBObjectStore.prototype.get = IDBObjectStore.prototype.getAll = () => ({})")

    def assert_works(self, script):
        context = self.context("phone")
        context.add_init_script(script)
        self.sign_in(context, "ada")
        page = self.page(context)
        self.open(page)
        expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
        line = page.get_by_text("This browser isn't storing messages right now.")
        expect(line).to_be_visible()
        self.room(page)
        bubble = self.write(page, "Without a database")
        expect(bubble.locator(".state")).to_have_attribute("title", "Sent")
        self.say("And an answer")
        expect(page.get_by_text("And an answer").last).to_be_visible()
        expect(line).to_be_visible()
        self.photograph(page, "no-database")
        self.assert_accessible(page, "no database")


# The names of the answers that are kept for use offline.
KEPT = """async () => {
  const { browserStore } = await import('/js/parley/parley.js');
  const [{ name }] = (await indexedDB.databases()).filter((it) => it.name.startsWith('parley '));
  const store = await browserStore(name);
  const names = (await store.list('answers')).map((it) => it.name);
  store.close();
  return names;
}"""


class Offline(Cached):
    def test_it_starts_reads_searches_and_writes_and_sends_queued_messages_once(self):
        for number in range(60):
            self.say(f"Seed {number}")
        self.say("Carrots want sand")
        page = self.cached()
        self.room(page)
        # Down to the newest message, so that all are read and the room opens there next time.
        page.keyboard.press("Escape")
        expect(page.get_by_text("Carrots want sand")).to_be_in_viewport()
        expect(page.locator(".sidebar").get_by_role("link", name="Garden", exact=True)).to_be_visible()
        context = page.context
        context.set_offline(True)
        page.close()

        page = self.page(context)
        self.open(page, f"/f/{self.garden['id']}/room")
        expect(page.get_by_text("Carrots want sand")).to_be_visible()
        expect(page.get_by_text("You're offline. You can still read and write.")).to_be_visible()
        self.write(page, "On the train, one")
        self.write(page, "On the train, two")
        expect(page.get_by_text("2 messages will be sent")).to_be_visible()
        self.photograph(page, "offline")
        self.assert_accessible(page, "offline")
        self.go(page, "/search?q=carrots")
        expect(page.get_by_role("main").get_by_text("Carrots want sand").first).to_be_visible()
        for address in ("/", "/forums", "/messages", "/you"):
            self.go(page, address)
            expect(page.get_by_text("This page doesn't exist")).to_have_count(0)
        page.close()

        # Written, closed, opened again: still queued, still in order.
        page = self.page(context)
        self.open(page, f"/f/{self.garden['id']}/room")
        self.write(page, "On the train, three")
        expect(page.locator(".message.is-mine .bubble")).to_have_count(3)
        expect(page.get_by_text("3 messages will be sent")).to_be_visible()
        # The status line is shown for two seconds only, so a MutationObserver in the page records it.
        page.evaluate("""() => {
            const look = () => { window.isUpToDate ||= document.querySelector(".back-line")?.textContent.includes("Back online"); };
            new MutationObserver(look).observe(document.querySelector("main"), { childList: true, subtree: true });
        }""")
        context.set_offline(False)
        for text in ("one", "two", "three"):
            sent = page.locator(".message.is-mine").filter(has_text=f"On the train, {text}")
            expect(sent.locator(".state")).to_have_attribute("title", "Sent")
        page.wait_for_function("() => window.isUpToDate")
        expect(page.locator(".back-line")).to_have_count(0)
        mine = [it for it in self.texts() if it and it.startswith("On the train")]
        self.assertEqual(mine, ["On the train, one", "On the train, two", "On the train, three"])

    def test_authors_keep_their_names_offline(self):
        forum = self.call("POST", "/forums", {"title": "Weather", "visibility": "public"}, self.tokens["ada"])
        topic = self.call("POST", f"/forums/{forum['id']}/conversations", {"title": "Frost", "text": "In October"}, self.tokens["grace"])
        page = self.cached("lin")
        # The list of topics has its authors.
        self.go(page, f"/f/{forum['id']}/topics")
        page.get_by_role("main").get_by_role("link", name="Frost").click()
        post = page.locator(".post").filter(has_text="In October")
        expect(post).to_contain_text("Grace")
        context = page.context
        context.set_offline(True)
        page.close()
        page = self.page(context)
        self.open(page, f"/c/{topic['id']}")
        expect(page.locator(".post").filter(has_text="In October")).to_contain_text("Grace")
        expect(page.get_by_text("Unknown member")).to_have_count(0)

    def test_a_conversation_gets_its_name_with_its_participant(self):
        direct = self.call("POST", "/conversations", {"kind": "direct", "participants": ["@grace"], "distinct": True}, self.tokens["lin"])
        context = self.context()
        self.sign_in(context, "lin")
        page = self.page(context)
        held = []
        # Without users: they are fetched later.
        page.route("**/api/v1/snapshot*", lambda route: self.without_users(route))
        page.route(re.compile("/api/v1/users(\\?ids|/[0-9])"), lambda route: held.append(route))
        page.route("**/api/v1/unread*", lambda route: route.abort())
        self.open(page, f"/c/{direct['id']}")
        expect(page.get_by_role("heading", name="Unknown member", level=1)).to_be_visible()
        self.eventually(page, True, lambda: len(held) > 0)
        page.unroute(re.compile("/api/v1/users(\\?ids|/[0-9])"))
        for route in held:
            route.continue_()
        expect(page.get_by_role("heading", name="Grace", level=1)).to_be_visible()
        expect(page).to_have_title(re.compile("Grace"))
        expect(page.locator(".page-bar-second")).to_contain_text("@grace")

    def upload(self, name, data=b"beds", type="application/octet-stream"):
        context = self.context()
        self.sign_in(context, "grace")
        answer = context.request.post(f"{self.origin}/api/v1/files?name={name}", data=data, headers={"Content-Type": type, "Origin": self.origin})
        self.assertEqual(answer.status, 201, answer.text())
        return answer.json()

    def test_topic_lists_and_the_names_of_files_are_there_offline(self):
        forum = self.call("POST", "/forums", {"title": "Frost", "visibility": "members"}, self.tokens["ada"])
        for title in ("First frost", "Last frost"):
            self.call("POST", f"/forums/{forum['id']}/conversations", {"title": title, "text": "In October"}, self.tokens["grace"])
        sent = self.upload("beds.pdf")
        self.say("The plan", attachments=[sent["id"]])
        page = self.cached()
        self.go(page, f"/f/{forum['id']}/topics")
        expect(page.get_by_text("Last frost")).to_be_visible()
        self.room(page)
        expect(page.get_by_text("beds.pdf")).to_be_visible()
        context = page.context
        self.go(page, "/forums")
        expect(page.locator(".tile[href$=\"-frost\"]")).to_contain_text("Last frost")
        self.go(page, "/members")
        expect(page.locator(".user-row").filter(has_text="@lin")).to_be_visible()
        self.go(page, f"/f/{forum['id']}/about")
        expect(page.locator(".user-row").filter(has_text="Ada")).to_be_visible()
        kept = {"files", "forums", f"topics of {forum['id']}", "members ", f"members of {forum['id']}"}
        self.eventually(page, True, lambda: kept <= set(page.evaluate(KEPT)))
        context.set_offline(True)
        page.close()

        page = self.page(context)
        # Neither topic was opened or belongs to the user.
        self.open(page, f"/f/{forum['id']}/topics")
        for title in ("First frost", "Last frost"):
            expect(page.get_by_text(title)).to_be_visible()
        self.room(page)
        expect(page.get_by_text("beds.pdf")).to_be_visible()
        self.go(page, "/search?q=beds")
        expect(page.locator("a.hit").filter(has_text="The plan beds.pdf")).to_be_visible()
        self.go(page, "/forums")
        expect(page.locator(".tile[href$=\"-frost\"]")).to_contain_text("Last frost")
        expect(page.locator(".tile[href$=\"-frost\"]")).to_contain_text("Grace")
        expect(page.locator(".tile[href$=\"-frost\"]")).to_contain_text("1 member")
        self.go(page, "/members")
        expect(page.locator(".user-row").filter(has_text="@lin")).to_be_visible()
        self.go(page, f"/f/{forum['id']}/about")
        expect(page.locator(".user-row").filter(has_text="Ada")).to_be_visible()

    def test_a_filtered_list_that_was_never_seen_keeps_its_page_and_is_tried_again(self):
        page = self.cached()
        self.call("POST", f"/forums/{self.garden['id']}/conversations", {"title": "Seeds", "text": "Which?"}, self.tokens["ada"])
        self.go(page, f"/f/{self.garden['id']}/topics")
        page.context.set_offline(True)
        self.go(page, f"/f/{self.garden['id']}/topics?filter=mine")
        expect(page.get_by_text("Can't reach the server. Anything you've written is saved here.")).to_be_visible()
        expect(page.get_by_role("heading", name="Garden", level=1)).to_be_visible()
        expect(page.get_by_role("link", name="Room")).to_be_visible()
        page.context.set_offline(False)
        page.get_by_role("button", name="Try again").click()
        expect(page.locator(".topic-row").filter(has_text="Seeds")).to_be_visible()

    def test_a_list_is_shown_before_the_server_answers(self):
        page = self.cached()
        self.call("POST", f"/forums/{self.garden['id']}/conversations", {"title": "Compost", "text": "Turn it"}, self.tokens["ada"])
        self.go(page, f"/f/{self.garden['id']}/topics")
        expect(page.locator(".topic-row").filter(has_text="Compost")).to_be_visible()
        name = f"topics of {self.garden['id']}"
        self.eventually(page, True, lambda: name in page.evaluate(KEPT))
        self.go(page, "/members")
        held = []
        page.context.route("**/api/v1/forums/*/conversations?*", lambda route: held.append(route))
        self.go(page, f"/f/{self.garden['id']}/topics")
        expect(page.locator(".topic-row").filter(has_text="Compost")).to_be_visible()
        self.eventually(page, 1, lambda: len(held))
        held[0].continue_()
        expect(page.locator(".topic-row").filter(has_text="Compost")).to_be_visible()

    def test_a_page_that_fails_keeps_the_frame_and_is_tried_again_in_place(self):
        page = self.signed_in("ada")
        page.evaluate("window.isSame = true")
        page.route("**/api/v1/users?*", lambda route: route.abort())
        page.route("**/api/v1/users/*grace*", lambda route: route.abort())
        self.go(page, "/u/grace")
        expect(page.get_by_role("heading", name="Page not shown", level=1)).to_be_visible()
        expect(page.locator(".page-bar-sign")).to_be_visible()
        expect(page.locator(".sidebar")).to_be_visible()
        page.unroute_all()
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("heading", name="Grace", level=1)).to_be_visible()
        self.assertTrue(page.evaluate("window.isSame"))

    def test_a_slow_page_has_its_title_and_the_sign_at_once(self):
        page = self.signed_in("ada")
        held = []
        page.context.route("**/api/v1/forums/*/conversations?*", lambda route: held.append(route))
        page.evaluate("""path => { const link = document.createElement("a"); link.href = path; document.body.append(link); link.click(); link.remove(); }""",
                      f"/f/{self.garden['id']}/topics?filter=mine")
        expect(page.locator("main.page .skeleton")).to_be_visible()
        expect(page.get_by_role("heading", name="Garden", level=1)).to_be_visible()
        expect(page.locator(".page-bar-sign")).to_be_visible()
        self.eventually(page, 1, lambda: len(held))
        held[0].continue_()
        expect(page.locator("main.page .skeleton")).to_be_hidden()

    def test_a_picture_that_was_never_loaded_has_its_name_and_size_offline(self):
        picture = self.upload("beds.png", png(60, 40), "image/png")
        self.say("The beds", attachments=[picture["id"]])
        page = self.cached()
        # The connection is too slow for pictures.
        page.context.route(f"**/files/{picture['id']}/**", lambda route: route.abort())
        self.room(page)
        message = page.locator(".message").filter(has_text="The beds")
        expect(message).to_contain_text("beds.png")
        context = page.context
        context.set_offline(True)
        page.close()
        page = self.page(context)
        self.open(page, f"/f/{self.garden['id']}/room")
        expect(page.locator(".message").filter(has_text="The beds")).to_contain_text(re.compile(r"Picture not available offline · beds\.png, 2\.\d\skB", re.IGNORECASE))

    def without_users(self, route):
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), "users": []})

    def test_a_file_missing_from_the_cache_is_fetched(self):
        page = self.cached()
        is_whole = """async () => {
            const state = await (await caches.open("state")).match("/state");
            const { now } = state ? await state.json() : {};
            const [script] = await (await fetch(document.querySelector('meta[name="rest"]').content)).json();
            return !!now && !!(await (await caches.open(now)).match(script));
        }"""
        self.eventually(page, True, lambda: page.evaluate(is_whole))
        page.evaluate("""async () => {
            const [script] = await (await fetch(document.querySelector('meta[name="rest"]').content)).json();
            for (const name of await caches.keys()) await (await caches.open(name)).delete(script);
            await (await navigator.serviceWorker.getRegistration()).unregister();
        }""")
        context = page.context
        page.close()
        page = self.page(context)
        self.open(page)
        self.eventually(page, True, lambda: page.evaluate(is_whole))

    def follow(self, page, wanted, look):
        """Waits until a growing number is as large as wanted. There is no total timeout, as long as there is progress."""
        come, since = 0, time.monotonic()
        while (now := look()) < wanted:
            if now > come:
                come, since = now, time.monotonic()
            self.assertLess(time.monotonic() - since, 60, now)
            page.wait_for_timeout(500)

    def test_many_queued_messages_are_sent_in_order(self):
        count = 500 if IS_THOROUGH else 120
        topic = self.call("POST", "/conversations", {"kind": "group", "title": "Many", "participants": ["@lin"]}, self.tokens["ada"])
        page = self.signed_in("ada")
        self.go(page, f"/c/{topic['id']}")
        page.context.set_offline(True)
        field = page.get_by_role("textbox", name="Write a message")
        field.evaluate("""(field, count) => {
            for (let number = 0; number < count; number++) {
                field.value = `Queued ${number}`;
                field.dispatchEvent(new Event("input", { bubbles: true }));
                field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
            }
        }""", count)
        # Each message is synchronized with the disk before it counts as queued.
        waiting = page.get_by_text("messages will be sent")
        self.follow(page, count, lambda: int(re.search(r"(\d+) messages", "".join(waiting.all_text_contents()) or "0 messages")[1]))
        self.assertLess(page.evaluate("document.querySelectorAll('*').length"), 3_000)
        page.context.set_offline(False)
        expect(page.get_by_text("messages will be sent")).to_have_count(0)
        self.follow(page, count, lambda: self.call("GET", f"/conversations/{topic['id']}", token=self.tokens["ada"])["last_seq"])
        last = page.locator(".message.is-mine").filter(has=page.get_by_text(f"Queued {count - 1}", exact=True))
        expect(last.locator(".state")).to_have_attribute("title", "Sent")
        self.assertEqual([it for it in self.texts(topic["id"]) if it], [f"Queued {number}" for number in range(count)])


class Upgrade(Cached):
    """The daemon restarts with another version of the app, as after an upgrade and a downgrade."""

    @classmethod
    def setUpClass(cls):
        cls.share = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="parley-share-")))
        shutil.copytree(TOP / "Public", cls.share / "Public")
        shutil.copytree(TOP / "Migrations", cls.share / "Migrations")
        cls.options = ("--share", cls.share)
        super().setUpClass()

    def restart(self, version):
        public = self.share / "Public"
        shutil.copy(TOP / "Public" / "js" / "app" / "main.js", public / "js" / "app")
        if version == "first":
            # The bundle is made from its sources alone, so this version is that of the checkout.
            shutil.rmtree(public / "app")
            shutil.copytree(TOP / "Public" / "app", public / "app")
        else:
            with open(public / "js" / "app" / "main.js", "a") as file:
                file.write(f"document.documentElement.dataset.version = {json.dumps(version)};\n")
            subprocess.run([TOP / "Tests" / "tools" / "webapp", public], check=True)
        self.server.stop()
        type(self).server = self.enterClassContext(Server(
            "clients-Upgrade", *parley(self.folder, *RATES, *self.options, listen=f"127.0.0.1:{self.server.port}")))

    def test_an_old_tab_still_works_and_offers_the_new_version(self):
        page = self.cached()
        other = self.page(page.context)
        self.open(other)
        self.room(page)
        for version in ("second", "first"):
            with self.subTest(version=version):
                self.restart(version)
                # The old version still works, also on pages not visited before.
                self.write(page, f"Over to the {version}")
                mine = page.locator(".message.is-mine").filter(has_text=f"Over to the {version}")
                expect(mine.locator(".state")).to_have_attribute("title", "Sent")
                self.go(page, "/you/profile")
                expect(page.get_by_label("Display name")).to_be_visible()
                self.room(page)
                field = page.get_by_role("textbox", name="Write a message")
                expect(page.get_by_text("A new version is ready")).to_be_visible()
                field.fill("Half a thought")
                page.get_by_role("button", name="Reload").click()
                page.wait_for_function("wanted => (document.documentElement.dataset.version ?? 'first') === wanted", arg=version)
                expect(page.get_by_role("textbox", name="Write a message")).to_have_value("Half a thought")
                page.get_by_role("textbox", name="Write a message").fill("")
        self.assertEqual([it for it in self.texts() if it], ["Over to the second", "Over to the first"])
