"""After a restore of the server or an older copy of its data folder: the app equals the server again, messages only on this
device are offered, and its cache is verified and repaired."""

import shutil
import subprocess
from urllib.parse import quote

from browsing import PASSWORD, RATES
from playwright.sync_api import expect
from servers import PARLEY, Server
from serving import parley
from test_flows import LOCKED, ROWS, Village

# Changes the text of a cached message on disk behind the app's back, as a fault would. Returns the previous text.
ON_DISK = """async ([id, text]) => {
  const [{ name }] = (await indexedDB.databases()).filter((it) => it.name.startsWith('parley '));
  const answered = (request) => new Promise((done, failed) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
  });
  const database = await answered(indexedDB.open(name));
  const store = database.transaction('messages', 'readwrite').objectStore('messages');
  const cached = (await answered(store.getAll())).find((it) => it.id === id);
  if (text) await answered(store.put({ ...cached, text }));
  database.close();
  return cached.text;
}"""


class Restored(Village):
    def texts(self):
        page = self.call("GET", f"/conversations/{self.garden['room_id']}/messages?order=asc&limit=200", token=self.tokens["ada"])
        return [it["text"] for it in page["data"] if it.get("text")]

    def test_messages_only_on_this_device_are_offered_and_sent_again(self):
        page = self.restored("one", "--keep-sessions")
        line = self.offered(page, "one")
        self.photograph(page, "lost-line")
        offer = self.reviewed(page, "one")
        self.photograph(page, "lost")
        self.assert_accessible(page, "lost")
        self.check_sent_again(page, line, offer, "one")

    def test_they_are_offered_after_a_new_sign_in(self):
        page = self.restored("two")
        # The restore has ended all sessions: the copy is locked until its user signs in.
        expect(page.get_by_role("link", name="Sign in").first).to_be_visible()
        ada = self.call("GET", "/me", token=self.tokens["ada"])["id"]
        self.eventually(page, [ada], lambda: page.evaluate(LOCKED))
        self.assertGreater(page.evaluate(ROWS)["conversations"], 0)
        expect(page.get_by_text("After the backup two")).to_have_count(0)
        self.faults[:] = [it for it in self.faults if "unauthenticated" not in it and "session_ended" not in it]
        self.go(page, "/sign-in")
        page.get_by_label("Username").fill("ada")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
        self.room(page)
        line = self.offered(page, "two")
        self.check_sent_again(page, line, self.reviewed(page, "two"), "two")

    def restored(self, name, *options):
        """A page of ada, offline, with two messages that a restore has lost. Its server is back."""
        data, backup = self.folder + "/data", f"{self.folder}/{name}.tar"
        page = self.signed_in("ada", anew=True)
        self.room(page)
        self.sent(page, f"Before the backup {name}")
        subprocess.run([PARLEY, "backup", backup, "--data", data], check=True, capture_output=True, timeout=300)
        for number in (1, 2):
            self.sent(page, f"After the backup {name}, {number}")
        page.context.set_offline(True)
        self.server.stop()
        subprocess.run([PARLEY, "restore", backup, "--data", data, "--replace", *options], check=True, capture_output=True, timeout=300)
        type(self).server = self.enterClassContext(Server(
            "clients-Restored", *parley(self.folder, *RATES, listen=f"127.0.0.1:{self.server.port}")))
        if not options:
            for user in self.tokens:
                self.tokens[user] = self.call("POST", "/sessions", {"name": user, "password": PASSWORD})["token"]
        # Another user posts at the same `seq` as the first of the two.
        self.say(f"Is everybody back {name}?")
        page.context.set_offline(False)
        return page

    def sent(self, page, text):
        self.write(page, text)
        expect(page.locator(".message.is-mine").filter(has_text=text).locator(".state")).to_have_attribute("title", "Sent")

    def offered(self, page, name):
        line = page.get_by_text("2 messages you sent after the backup are only on this device.")
        expect(line).to_be_visible()
        expect(page.get_by_text(f"Is everybody back {name}?")).to_be_visible()
        return line

    def reviewed(self, page, name):
        page.get_by_role("button", name="Review", exact=True).click()
        offer = page.get_by_role("dialog", name="Send these again?")
        for number in (1, 2):
            expect(offer.get_by_text(f"After the backup {name}, {number}")).to_be_visible()
        return offer

    def check_sent_again(self, page, line, offer, name):
        offer.get_by_role("button", name="Send again").click()
        expect(line).to_have_count(0)
        lost = [f"After the backup {name}, {number}" for number in (1, 2)]
        for text in lost:
            sent = page.locator(".message.is-mine").filter(has_text=text)
            expect(sent.locator(".state")).to_have_attribute("title", "Sent")
        self.assertEqual(self.texts()[-4:], [f"Before the backup {name}", f"Is everybody back {name}?", *lost])


class Checked(Village):
    def test_the_cache_is_verified_and_repaired(self):
        group = self.call("POST", "/conversations", {"kind": "group", "title": "Beds", "participants": ["@ada"]}, self.tokens["grace"])
        said = [self.say(f"Bed {number}", "grace", group["id"]) for number in range(1, 81)]
        page = self.signed_in("ada")
        self.go(page, f"/c/{group['id']}")
        # Opens at the first unread message; one key leads to the newest.
        expect(page.get_by_text("Bed 1", exact=True)).to_be_visible()
        page.locator(".stream").press("Escape")
        expect(page.get_by_text("Bed 80", exact=True)).to_be_visible()
        page.get_by_role("button", name="Details").click()
        panel = page.get_by_role("complementary", name="Details")
        again, words = panel.get_by_role("button", name="Verify messages"), panel.get_by_role("status")
        # Scrolls up to the first message, so that all are cached.
        stream = page.locator(".stream")
        self.eventually(page, 1, lambda: stream.evaluate("it => { it.scrollTop = it.scrollTop ? 0 : 1; }") or page.get_by_text("Bed 1", exact=True).count())
        again.click()
        expect(words).to_have_text(f"All messages up to {said[-1]['seq']} are on this device and verified.")
        self.photograph(page, "checked")
        self.assert_accessible(page, "checked")

        self.assertEqual(page.evaluate(ON_DISK, [said[11]["id"], "Not what was said"]), "Bed 12")
        again.click()
        expect(words).to_have_text(f"1 message was repaired. All messages up to {said[-1]['seq']} are on this device and verified.")
        self.assertEqual(page.evaluate(ON_DISK, [said[11]["id"], None]), "Bed 12")
        again.click()
        expect(words).to_have_text(f"All messages up to {said[-1]['seq']} are on this device and verified.")

        # The result is stored and shown without a request.
        self.open(page, f"/c/{group['id']}")
        page.get_by_role("button", name="Details").click()
        expect(words).to_have_text(f"All messages up to {said[-1]['seq']} are on this device and verified.")


# The cached messages of a conversation on disk: id, text and reactions.
CACHED = """async (conversation) => {
  const [{ name }] = (await indexedDB.databases()).filter((it) => it.name.startsWith('parley '));
  const answered = (request) => new Promise((done, failed) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
  });
  const database = await answered(indexedDB.open(name));
  const cached = await answered(database.transaction('messages').objectStore('messages').getAll());
  database.close();
  return cached.filter((it) => it.conversation_id === conversation).map((it) => [it.id, it.text, Object.keys(it.actions ?? {})]);
}"""


class Rewinding(Village):
    """A provider's snapshot: an older copy of the folder is put back, and the server issues other messages."""

    def restart(self, prepare):
        self.server.stop()
        prepare()
        type(self).server = self.enterClassContext(Server(
            "clients-Rewound", *parley(self.folder, *RATES, listen=f"127.0.0.1:{self.server.port}")))

    def copy(self):
        shutil.copytree(f"{self.folder}/data", f"{self.folder}/copied", ignore=shutil.ignore_patterns("control", "lock"))

    def put_back(self):
        shutil.rmtree(f"{self.folder}/data")
        shutil.copytree(f"{self.folder}/copied", f"{self.folder}/data")

    def on_server(self, conversation):
        page = self.call("GET", f"/conversations/{conversation}/messages?order=asc&limit=200", token=self.tokens["ada"])
        return [[it["id"], it.get("text"), [*it["actions"]]] for it in page["data"]]

    def check(self, page, conversation):
        self.eventually(page, self.on_server(conversation), lambda: sorted(page.evaluate(CACHED, conversation), key=lambda it: int(it[0])))

    def rewind(self, take_copy):
        """Open and closed pages equal the server again."""
        room = self.garden["room_id"]
        before = self.say("Before the copy")
        group = self.call("POST", "/conversations", {"kind": "group", "title": "Beds", "participants": ["@ada"]}, self.tokens["grace"])["id"]
        self.say("Bed 1", "grace", group)
        open_page, later = self.signed_in("ada"), self.signed_in("ada", "phone")
        for page in (open_page, later):
            self.go(page, f"/c/{group}")
            expect(page.get_by_text("Bed 1")).to_be_visible()
            self.room(page)
            expect(page.get_by_text("Before the copy")).to_be_visible()
        take_copy()
        # Both devices hold what the copy lacks: messages, an own one, a reaction, an edit.
        self.say("Lost of grace")
        self.say("Bed 2, lost", "grace", group)
        self.call("PUT", f"/messages/{before['id']}/actions/reaction:{quote('🌱')}", token=self.tokens["grace"])
        for page in (open_page, later):
            expect(page.get_by_text("Lost of grace")).to_be_visible()
            expect(page.locator(".reaction-emoji")).to_be_visible()
        self.write(open_page, "Lost of ada")
        expect(open_page.locator(".message.is-mine").filter(has_text="Lost of ada").locator(".state")).to_have_attribute("title", "Sent")
        expect(later.get_by_text("Lost of ada")).to_be_visible()
        context, address = later.context, later.url.removeprefix(self.origin)
        later.close()
        self.restart(self.put_back)
        # The new history grows beyond the position of the devices.
        for number in range(12):
            self.say(f"After the copy {number}")
            self.say(f"Bed {number} of the new history", "grace", group)
        later = self.page(context)
        self.open(later, address)
        for page in (open_page, later):
            expect(page.get_by_text("After the copy 11", exact=True)).to_be_visible()
            expect(page.get_by_text("Lost of grace")).to_have_count(0)
            expect(page.locator(".reaction-emoji")).to_have_count(0)
            expect(page.get_by_text("only on this device")).to_be_visible()
            self.check(page, room)
            self.go(page, f"/c/{group}")
            expect(page.get_by_text("Bed 11 of the new history")).to_be_visible()
            expect(page.get_by_text("Bed 2, lost")).to_have_count(0)
            self.check(page, group)
        return open_page


class Rewound(Rewinding):
    def test_pages_equal_the_server_after_the_return_of_a_cold_copy(self):
        self.photograph(self.rewind(lambda: self.restart(self.copy)), "rewound")


class RewoundHot(Rewinding):
    def test_pages_equal_the_server_after_the_return_of_a_hot_copy(self):
        self.rewind(self.copy)
