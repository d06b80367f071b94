"""The disk of a shared device after each end of a session: no database of the former user, and nothing in local storage."""

import re

from browsing import PASSWORD
from playwright.sync_api import expect
from test_flows import Village

# The rows of every store of every database, and the number of entries outside of them.
DISK = """async () => {
  const answered = (request) => new Promise((done, failed) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
  });
  // A database that is deleted meanwhile is not made anew.
  const opened = (request) => {
    request.onupgradeneeded = () => request.transaction.abort();
    return answered(request).catch(() => null);
  };
  const found = {};
  for (const { name } of await indexedDB.databases()) {
    const database = await opened(indexedDB.open(name));
    if (!database) continue;
    found[name] = {};
    for (const store of database.objectStoreNames) {
      const count = await answered(database.transaction(store).objectStore(store).count());
      if (count) found[name][store] = count;
    }
    database.close();
  }
  return found;
}"""


class SharedDevice(Village):
    WAYS = ("sign-out", "revocation", "ban", "erasure")

    def begin(self, name):
        """A member on a device whose cache has the room."""
        invite = self.call("POST", "/invites", {}, self.tokens["ada"])["code"]
        made = self.call("POST", "/users", {"name": name, "password": PASSWORD, "invite": invite, "accept_rules": True})
        self.call("PUT", f"/forums/{self.garden['id']}/members/me", {}, made["token"])
        page = self.signed_in(name, anew=True)
        self.room(page)
        self.write(page, f"Said by {name}")
        expect(page.locator(".message.is-mine .state").last).to_have_attribute("title", "Sent")
        account = made["user"]["id"]
        # The database is named for its user.
        self.eventually(page, [True], lambda: [it.endswith(f" {account}") for it in page.evaluate(DISK)])
        (rows,) = page.evaluate(DISK).values()
        for table in ("conversations", "messages", "users", "forums"):
            self.assertGreater(rows.get(table, 0), 0, table)
        return page, made

    def leave(self, way, page, made):
        name = made["user"]["name"]
        if way == "sign-out":
            self.go(page, "/you")
            page.get_by_role("button", name="Sign out").click()
        elif way == "revocation":
            newest = max(self.call("GET", "/sessions", token=made["token"])["data"], key=lambda it: int(it["id"]))
            self.call("DELETE", f"/sessions/{newest['id']}", token=made["token"])
        else:
            # A sign-in is the proof that an erasure needs.
            ada = self.call("POST", "/sessions", {"name": "ada", "password": PASSWORD})["token"]
            method, path = {"ban": ("PUT", f"/users/@{name}/ban"), "erasure": ("DELETE", f"/users/@{name}")}[way]
            self.call(method, path, {"reason": "Rude."}, ada)

    def test_no_data_of_the_session_is_left(self):
        for way in self.WAYS:
            with self.subTest(way=way):
                page, made = self.begin(f"left-by-{way}")
                self.leave(way, page, made)
                expect(page.get_by_role("textbox", name="Write a message")).to_have_count(0)
                self.eventually(page, {}, lambda page=page: page.evaluate(DISK))
                self.assertEqual(page.evaluate("localStorage.length"), 0)
                # The server answers visitors with pages of its own.
                page.reload(wait_until="networkidle")
                self.assertEqual(page.evaluate(DISK), {})
                # Requests that were on their way are refused.
                self.faults[:] = [it for it in self.faults if "unauthenticated" not in it and "session_ended" not in it]
                page.context.close()

    def test_only_the_sealed_unsent_message_is_left(self):
        refuse = lambda route: route.abort() if route.request.method == "POST" else route.fallback()
        for way in self.WAYS:
            with self.subTest(way=way):
                page, made = self.begin(f"unsent-{way}")
                page.context.route("**/messages", refuse)
                text = f"Not sent before the {way}"
                self.write(page, text)
                self.eventually(page, [1], lambda page=page: [it.get("outbox") for it in page.evaluate(DISK).values()])
                self.leave(way, page, made)
                if way == "sign-out":
                    # Signing out with an unsent message needs a confirmation, and drops the message.
                    page.get_by_role("dialog").get_by_role("button", name="Sign out").click()
                expect(page.get_by_role("textbox", name="Write a message")).to_have_count(0)
                left = [] if way == "sign-out" else [{"sealed": 1}]
                for _ in range(2):
                    self.eventually(page, left, lambda page=page: [*page.evaluate(DISK).values()])
                    self.assertEqual(page.evaluate("localStorage.length"), 0)
                    expect(page.get_by_text(text)).to_have_count(0)
                    page.reload(wait_until="networkidle")
                self.faults[:] = [it for it in self.faults if "unauthenticated" not in it and "session_ended" not in it]
                page.context.close()

    def test_a_sign_out_closes_dialogs(self):
        for way in ("sign-out", "revocation"):
            with self.subTest(way=way):
                context = self.context()
                context.add_init_script("""
                    const show = (n) => async () => { document.documentElement.dataset.badge = n; };
                    navigator.setAppBadge = (n) => show(n)();
                    navigator.clearAppBadge = show(0);
                """)
                self.sign_in(context, "lin", anew=True)
                direct = self.call("POST", "/conversations", {"kind": "direct", "participants": ["@lin"], "distinct": True}, self.tokens["grace"])
                self.say("For your eyes", "grace", direct["id"])
                pages = [self.page(context) for _ in range(2)]
                for page in pages:
                    self.open(page, "/you")
                    expect(page.locator("html")).to_have_attribute("data-badge", re.compile("[1-9]"))
                page, other = pages
                for one in pages:
                    one.keyboard.press("Control+k")
                    expect(one.get_by_role("dialog")).to_contain_text("Grace")
                if way == "sign-out":
                    other.keyboard.press("Escape")
                self.leave(way, other, {"user": {"name": "lin"}, "token": self.tokens["lin"]})
                for one in pages:
                    expect(one.get_by_role("link", name="Sign in").first).to_be_visible()
                    expect(one.get_by_role("dialog")).to_have_count(0)
                    expect(one.locator("html")).to_have_attribute("data-badge", "0")
                self.faults[:] = [it for it in self.faults if "unauthenticated" not in it and "session_ended" not in it]
                context.close()

    def test_the_sign_in_of_another_user_leaves_only_that_users_database(self):
        page, made = self.begin("first")
        # Another tab or program has signed in: the cookie of the browser is another user's now.
        self.sign_in(page.context, "grace", anew=True)
        page.reload()
        self.settle(page)
        grace = self.call("GET", "/users/me", token=self.tokens["grace"])["id"]
        self.eventually(page, [grace], lambda: [it.split(" ")[-1] for it in page.evaluate(DISK)])
        self.assertEqual(page.evaluate("localStorage.getItem('account')"), grace)
        self.room(page)
        expect(page.locator(".message.is-mine")).to_have_count(0)
        self.faults[:] = [it for it in self.faults if "unauthenticated" not in it and "session_ended" not in it]
