"""Every main flow without a pointer, from sign-in to sign-out."""

import re

from browsing import PASSWORD
from playwright.sync_api import expect
from test_flows import Village

# Approximately the accessible name.
NAME = """() => {
  const it = document.activeElement;
  return [it.getAttribute('aria-label'), it.labels?.[0]?.textContent, it.textContent].find((words) => words?.trim())?.trim() ?? '';
}"""
# An element that the page focused after a rerender (tabindex -1) is not a tab stop.
STOP = f"() => (document.activeElement.tabIndex < 0 ? '' : ({NAME})())"
MAX_STOPS = 80


class Keyboard(Village):
    def reach(self, page, name):
        """Presses Tab until the element with this name has the focus."""
        passed = []
        for _ in range(MAX_STOPS):
            page.keyboard.press("Tab")
            passed.append(page.evaluate(STOP))
            if re.match(name, passed[-1]):
                return
        self.fail(f"no tab stop {name} in {passed}")

    def press(self, page, name):
        self.reach(page, name)
        page.keyboard.press("Enter")

    def command(self, page, words, name):
        page.keyboard.press("Control+k")
        expect(page.get_by_role("combobox", name="Command menu")).to_be_focused()
        page.keyboard.type(words)
        expect(page.get_by_role("option", selected=True)).to_contain_text(name)
        page.keyboard.press("Enter")

    def last_message(self, page, words):
        """Focuses the newest message: from the composer, since the key moves up from a message."""
        page.keyboard.press("Escape")
        page.keyboard.press("c")
        page.keyboard.press("Escape")
        page.keyboard.press("k")
        expect(page.locator("article:focus")).to_contain_text(words)

    def test_every_page_is_reachable_without_a_pointer(self):
        self.say("A message to answer")
        page = self.signed_in("ada")
        page.keyboard.press("Tab")
        page.keyboard.type("gf")
        expect(page.get_by_role("heading", name="Forums", level=1)).to_be_visible()
        page.keyboard.type("gp")
        expect(page.get_by_role("heading", name="Feed", level=1)).to_be_visible()
        page.keyboard.type("gm")
        expect(page.get_by_role("heading", name="Messages", level=1)).to_be_visible()
        self.room(page)
        self.last_message(page, "A message to answer")
        page.keyboard.press("r")
        field = page.get_by_role("textbox", name="Write a message")
        expect(field).to_be_focused()
        expect(page.get_by_text("Replying to Grace")).to_be_visible()
        page.keyboard.type("An answer")
        page.keyboard.press("Enter")
        expect(page.locator(".message.is-mine .quote")).to_contain_text("A message to answer")
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        keys = page.get_by_role("dialog", name="Keyboard shortcuts").locator("kbd")
        expect(keys.first).to_be_visible()
        # Drawn as caps of keys.
        expect(keys.first).to_have_css("box-shadow", re.compile("inset"))
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.wait_for_function("() => document.activeElement.tagName !== 'BODY'")

    def test_letters_step_through_the_topics_of_a_forum(self):
        for title in ("First", "Second"):
            self.call("POST", f"/forums/{self.garden['id']}/conversations", {"title": title, "text": f"#{title}"}, self.tokens["grace"])
        page = self.signed_in("ada")
        self.go(page, f"/f/{self.garden['id']}-garden/topics")
        expect(page.locator("a.topic-row").filter(has_text="First")).to_be_visible()
        titles = page.locator("a.topic-row .topic-row-title").all_inner_texts()
        for key, wanted in (("j", 0), ("j", 1), ("j", min(2, len(titles) - 1)), ("k", max(0, min(2, len(titles) - 1) - 1))):
            page.keyboard.press(key)
            expect(page.locator("a.topic-row:focus")).to_contain_text(titles[wanted])
        # Turned off, they do nothing.
        self.command(page, "appear", "Appearance and shortcuts")
        page.get_by_role("switch", name="Single-key shortcuts").uncheck()
        self.eventually(page, False, lambda: self.call("GET", "/me", token=self.tokens["ada"])["preferences"].get("letters"))
        self.go(page, f"/f/{self.garden['id']}-garden/topics")
        expect(page.locator("a.topic-row").first).to_be_visible()
        page.keyboard.press("j")
        expect(page.locator("a.topic-row:focus")).to_have_count(0)

    def test_tooltips_show_the_keys(self):
        said = self.say("Which key answers?")
        page = self.signed_in("grace")
        self.room(page)
        message = page.locator(f"[data-id='{said['id']}']")
        message.hover()
        reply = message.get_by_role("button", name="Reply", exact=True)
        expect(reply).to_have_attribute("title", "Reply (r)")
        self.go(page, f"/f/{self.garden['id']}-garden/new")
        bold = page.get_by_role("button", name="Bold", exact=True)
        expect(bold).to_have_attribute("title", "Bold (Ctrl B)")
        # Turned off, single letters are not shown.
        self.command(page, "appear", "Appearance and shortcuts")
        page.get_by_role("switch", name="Single-key shortcuts").uncheck()
        self.eventually(page, False, lambda: self.call("GET", "/me", token=self.tokens["grace"])["preferences"].get("letters"))
        self.room(page)
        message.hover()
        expect(reply).to_have_attribute("title", "Reply")
        self.go(page, f"/f/{self.garden['id']}-garden/new")
        expect(bold).to_have_attribute("title", "Bold (Ctrl B)")

    def test_a_letter_undoes_the_last_action(self):
        first, second = (self.say(f"Said by mistake {number}", "ada") for number in (1, 2))
        page = self.signed_in("ada")
        self.room(page)
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_contain_text("Undo, while a notice offers it")
        page.keyboard.press("Escape")
        texts = lambda: page.locator(f"[data-id='{first['id']}'], [data-id='{second['id']}']").all_inner_texts()
        for said in (first, second):
            page.locator(f"[data-id='{said['id']}']").hover()
            page.locator(f"[data-id='{said['id']}']").get_by_role("button", name="More").click()
            page.get_by_role("menuitem", name="Delete message").click()
            self.eventually(page, True, lambda said=said: "Deleted" in page.locator(f"[data-id='{said['id']}']").inner_text())
        # The newest first. In a text field it is a letter.
        page.get_by_role("textbox", name="Write a message").press("u")
        expect(page.locator(".toast")).to_have_count(2)
        page.get_by_role("textbox", name="Write a message").fill("")
        page.locator(f"[data-id='{first['id']}']").focus()
        for restored in (["Deleted", "mistake 2"], ["mistake 1", "mistake 2"]):
            page.keyboard.press("u")
            self.eventually(page, True, lambda restored=restored: all(part in text for part, text in zip(restored, texts())))
        page.keyboard.press("u")
        expect(page.locator(".toast")).to_have_count(0)

    def test_the_first_tab_stop_skips_to_the_page(self):
        page = self.signed_in("ada")
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("main")).to_be_focused()

    def test_every_flow_from_sign_in_to_sign_out(self):
        page = self.page(self.context())
        # The server would fetch the link.
        page.route("**/api/v1/previews", lambda route: route.fulfill(status=400, json={"status": 400, "code": "invalid"}))
        self.open(page, "/sign-in")
        expect(page.get_by_label("Username")).to_be_focused()
        page.keyboard.type("lin")
        page.keyboard.press("Tab")
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Inbox", level=1)).to_be_visible()

        # A forum by its name, its room, a message posted and edited.
        self.command(page, "gard", "Garden")
        expect(page.get_by_role("heading", name="Garden", level=1)).to_be_visible()
        self.press(page, "Room")
        field = page.get_by_role("textbox", name="Write a message")
        expect(field).to_be_focused()
        page.keyboard.type("Who takes the late shift?")
        page.keyboard.press("Enter")
        mine = page.locator(".message.is-mine").last
        expect(mine.locator(".state")).to_have_attribute("title", "Sent")
        page.keyboard.press("ArrowUp")
        expect(field).to_have_value("Who takes the late shift?")
        page.keyboard.press("Control+a")
        page.keyboard.type("Who takes the early shift?")
        page.keyboard.press("Enter")
        expect(mine).to_contain_text("early shift")
        expect(mine).to_contain_text("edited")

        # A reaction to it, and a topic made from it.
        self.last_message(page, "early shift")
        page.keyboard.press("+")
        expect(page.get_by_role("dialog", name="React")).to_be_visible()
        page.keyboard.type("thumbs")
        page.keyboard.press("Enter")
        expect(mine.get_by_role("button", name="👍, 1 person")).to_be_visible()
        self.last_message(page, "early shift")
        page.keyboard.press("t")
        title = page.get_by_role("dialog").get_by_label("Title")
        expect(title).to_be_focused()
        page.keyboard.press("Control+a")
        page.keyboard.type("Shifts")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Shifts", level=2)).to_be_visible()
        answer = page.get_by_role("textbox", name="Write a reply")
        expect(answer).to_be_focused()
        page.keyboard.type("I can.")
        page.keyboard.press("Control+Enter")
        expect(page.locator(".post")).to_have_count(2)

        # A new topic.
        page.keyboard.press("Escape")
        self.command(page, "gard", "Garden")
        expect(page.get_by_role("heading", name="Garden", level=1)).to_be_visible()
        self.press(page, "Topics")
        expect(page.get_by_role("link", name=re.compile("Shifts")).first).to_be_visible()
        self.press(page, "New topic")
        expect(page.get_by_label("Title")).to_be_focused()
        page.keyboard.type("Rain barrels")
        self.reach(page, "Write your post")
        page.keyboard.type("Two are empty.")
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("heading", name="Rain barrels", level=2)).to_be_visible()

        # Found by search.
        page.keyboard.press("Escape")
        page.keyboard.press("/")
        expect(page.get_by_role("searchbox", name="Search")).to_be_focused()
        page.keyboard.type("early")
        expect(page.locator("a.hit").first).to_be_visible()
        self.press(page, "Lin.*early")
        expect(page.locator("article:focus")).to_contain_text("early shift")

        # A direct message that is deleted, then one with a link.
        self.command(page, "New mess", "New message")
        expect(page.get_by_label("Find people")).to_be_focused()
        page.keyboard.type("gra")
        # She was listed before the search, among others.
        expect(page.locator(".user-choice")).to_have_count(1)
        self.press(page, "Grace")
        expect(page.locator(".user-choice[aria-pressed=true]")).to_have_count(1)
        self.press(page, "Start conversation")
        expect(field).to_be_focused()
        page.keyboard.type("Not for long")
        page.keyboard.press("Enter")
        expect(mine.locator(".state")).to_have_attribute("title", "Sent")
        self.last_message(page, "Not for long")
        self.press(page, "More")
        expect(page.get_by_role("menu")).to_be_visible()
        for _ in range(12):
            if page.evaluate(NAME) == "Delete message":
                break
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.get_by_text("Deleted by its author")).to_be_visible()
        page.wait_for_function("() => document.activeElement.tagName !== 'BODY'")
        page.keyboard.press("c")
        expect(field).to_be_focused()
        page.keyboard.press("Shift+Tab")
        self.assertEqual(page.evaluate(NAME), "Add files, a link or a poll")
        page.keyboard.press("Enter")
        expect(page.get_by_role("menuitem", name="Attach files")).to_be_focused()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.get_by_label("Link or search words")).to_be_focused()
        page.keyboard.type("example.org/barrels")
        page.keyboard.press("Enter")
        expect(page.locator(".message.is-mine").last).to_contain_text("https://example.org/barrels")
        self.press(page, "Details")
        panel = page.get_by_role("complementary", name="Details")
        expect(panel).to_be_visible()
        page.keyboard.press("Escape")
        expect(panel).to_have_count(0)
        expect(page.get_by_role("button", name="Details")).to_be_focused()

        # To the previous page and back, a setting, and sign-out.
        here = page.url
        page.keyboard.press("Alt+ArrowUp")
        page.wait_for_url(lambda url: url != here)
        page.keyboard.press("Alt+ArrowDown")
        page.wait_for_url(here)
        self.command(page, "appear", "Appearance and shortcuts")
        letters = page.get_by_role("switch", name="Single-key shortcuts")
        expect(letters).to_be_checked()
        self.reach(page, "Single-key shortcuts")
        page.keyboard.press("Space")
        expect(letters).not_to_be_checked()
        page.keyboard.press("Space")
        expect(letters).to_be_checked()
        self.press(page, "Lin")
        expect(page.get_by_role("button", name="Sign out")).to_be_visible()
        self.press(page, "Sign out")
        expect(page.get_by_role("link", name="Sign in")).to_be_visible()
