"""Push messages in Chromium: the service worker shows a notification for each message that the browser delivers, and the app subscribes
the device. No browser subscribes without the service of its vendor, so that part of the browser is replaced."""

import json
import ssl
import subprocess
from contextlib import closing
from http.client import HTTPSConnection
from pathlib import Path

from browsers import TIMEOUT, notifying_chromium
from playwright.sync_api import expect
from servers import free_port
from test_flows import Village

SHOWN = """async () => (await (await navigator.serviceWorker.ready).getNotifications()).map(({ title, body, tag, data }) => ({ title, body, tag, ...data }))"""
CLOSE_ALL = "async () => { for (const it of await (await navigator.serviceWorker.ready).getNotifications()) it.close(); }"

# The browser's connection to the push service of its vendor, and the question for the permission.
VENDOR = """(() => {
  const text = (data) => btoa(String.fromCharCode(...new Uint8Array(data)));
  const coded = (data) => text(data).replace(/\\+/g, '-').replace(/\\//g, '_').replace(/=/g, '');
  const kept = () => {
    const it = JSON.parse(localStorage.getItem('vendor') ?? 'null');
    return it && {
      endpoint: it.endpoint,
      options: { userVisibleOnly: true, applicationServerKey: Uint8Array.from(atob(it.key), (char) => char.charCodeAt(0)).buffer },
      toJSON: () => ({ endpoint: it.endpoint, keys: it.keys }),
      unsubscribe: async () => !localStorage.removeItem('vendor'),
    };
  };
  PushManager.prototype.getSubscription = async () => kept();
  PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
    if (!userVisibleOnly || Notification.permission !== 'granted') throw new Error('denied');
    const pair = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits']);
    const keys = { p256dh: coded(await crypto.subtle.exportKey('raw', pair.publicKey)), auth: coded(crypto.getRandomValues(new Uint8Array(16))) };
    const endpoint = `https://push.example.net/${crypto.randomUUID()}`;
    localStorage.setItem('vendor', JSON.stringify({ endpoint, keys, key: text(applicationServerKey) }));
    return kept();
  };
  Object.defineProperty(Notification, 'permission', { get: () => localStorage.getItem('permission') ?? 'default' });
  Notification.requestPermission = async () => {
    localStorage.setItem('asked', Number(localStorage.getItem('asked') ?? 0) + 1);
    localStorage.setItem('permission', 'granted');
    return 'granted';
  };
})()"""


class Pushing(Village):
    """A site at an https address, without which it sends no push messages."""

    @classmethod
    def prepare(cls):
        certificate, key, port = Path(cls.folder) / "certificate.pem", Path(cls.folder) / "key.pem", free_port()
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
             "/CN=localhost", "-keyout", key, "-out", certificate], check=True, capture_output=True)
        cls.listen, cls.address = f"127.0.0.1:{port}", f"https://localhost:{port}"
        cls.options = ("--tls-certificate", certificate, "--tls-key", key, "--public-url", cls.address)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser, cls.origin = notifying_chromium(), cls.address

    def call(self, method, path, body=None, token=None):
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
        data = None if body is None else json.dumps(body)
        trust = ssl._create_unverified_context()
        with closing(HTTPSConnection("127.0.0.1", self.server.port, timeout=TIMEOUT / 1_000, context=trust)) as line:
            line.request(method, f"/api/v1{path}", data, headers)
            answer = line.getresponse()
            said = answer.read()
        self.assertLess(answer.status, 300, said)
        return json.loads(said) if said else None

    def entered(self, name, size="desktop", script=None):
        context = self.context(size, service_workers="allow", ignore_https_errors=True)
        if script:
            context.add_init_script(script)
        self.sign_in(context, name, anew=True)
        page = self.page(context)
        self.open(page)
        return page


class Delivering(Pushing):
    def setUp(self):
        super().setUp()
        self.deliver = None

    def worker(self, page):
        """Prepares `deliver`, which hands a push message to the service worker of the page, and waits for its notification."""
        page.context.grant_permissions(["notifications"], origin=self.origin)
        page.evaluate("async () => void (await navigator.serviceWorker.ready)")
        # A page without the app, which closes the notifications of deleted and read messages as soon as it learns of them.
        page.goto(f"{self.origin}/docs")
        session, found = page.context.new_cdp_session(page), {}
        session.on("ServiceWorker.workerRegistrationUpdated", lambda it: found.update(
            {one["scopeURL"]: one["registrationId"] for one in it["registrations"] if not one["isDeleted"]}))
        # To ask for the notifications while one is about to be displayed makes Chromium drop it.
        displayed = []
        session.on("BackgroundService.backgroundServiceEventReceived", lambda it: displayed.append(it["backgroundServiceEvent"]["eventName"]))
        session.send("BackgroundService.startObserving", {"service": "notifications"})
        session.send("BackgroundService.setRecording", {"shouldRecord": True, "service": "notifications"})
        session.send("ServiceWorker.enable")
        self.eventually(page, True, lambda: f"{self.origin}/" in found)

        def deliver(data):
            count = displayed.count("Notification displayed")
            session.send("ServiceWorker.deliverPushMessage", {
                "origin": self.origin, "registrationId": found[f"{self.origin}/"], "data": data})
            self.eventually(page, count + 1, lambda: displayed.count("Notification displayed"))

        self.deliver = deliver

    def shown(self, page, data):
        """The notifications after a message, which are then closed."""
        self.deliver(data)
        self.eventually(page, True, lambda: len(page.evaluate(SHOWN)) > 0)
        # The work of the worker after the notification: it closes those that were read.
        page.wait_for_load_state("networkidle")
        found = page.evaluate(SHOWN)
        page.evaluate(CLOSE_ALL)
        # A late close would close the next notification, which has the same tag.
        self.eventually(page, 0, lambda: len(page.evaluate(SHOWN)))
        return found

    def message(self, title, body, notification, message, room):
        return json.dumps({"web_push": 8030, "notification": {
            "title": title, "body": body, "dir": "auto", "navigate": f"{self.origin}/m/{message}", "tag": f"c{room}", "app_badge": 1,
            "data": {"notification_id": notification, "kind": "mention", "conversation_id": room, "message_id": message, "revision": 1}}})

    def mention(self, text):
        """The payload of a mention, and the id of its message."""
        message = self.say(text)["id"]
        newest = self.call("GET", "/inbox?kind=mention&limit=1", token=self.tokens["ada"])["data"][0]
        self.assertEqual(newest["message_id"], message)
        return self.message("Grace", text, newest["id"], message, self.garden["room_id"]), message

    def test_each_message_shows_one_notification(self):
        page = self.entered("ada")
        self.worker(page)
        payload, message = self.mention("Bring the key, @ada")
        whole = [{"title": "Grace", "body": "Bring the key, @ada", "tag": f"c{self.garden['room_id']}",
                  "address": f"/m/{message}", "id": json.loads(payload)["notification"]["data"]["notification_id"]}]
        with self.subTest("full"):
            self.assertEqual(self.shown(page, payload), whole)
        host = self.origin.removeprefix("https://")
        for name, data in (
                ("empty", ""), ("text", "hello"), ("cut", payload[:len(payload) // 2]), ("list", "[]"), ("null", "null"),
                ("without a notification", "{}"), ("null as its notification", '{"notification": null}'),
                ("other types", '{"notification": {"title": 5, "body": [], "navigate": {}, "tag": {}, "data": "x", "app_badge": "x"}}')):
            with self.subTest(name):
                found = self.shown(page, data)
                self.assertEqual(len(found), 1, found)
                self.assertIn(found[0]["title"], (host, "5"))
        with self.subTest("the message was deleted"):
            self.call("DELETE", f"/messages/{message}", token=self.tokens["grace"])
            self.assertEqual(self.shown(page, payload), whole)
        with self.subTest("the copy of the app was deleted"):
            page.evaluate("async () => { for (const name of await caches.keys()) await caches.delete(name); }")
            self.assertEqual(self.shown(page, payload), whole)
        with self.subTest("no network"):
            page.context.set_offline(True)
            self.assertEqual(self.shown(page, payload), whole)
            page.context.set_offline(False)
        with self.subTest("signed out"):
            page.context.clear_cookies()
            self.assertEqual(self.shown(page, payload), whole)

    def test_a_message_closes_those_that_were_read_elsewhere(self):
        page = self.entered("ada")
        self.worker(page)
        kitchen = self.call("POST", "/forums", {"title": "Kitchen", "visibility": "public"}, self.tokens["ada"])["room_id"]
        first, read = self.mention("One, @ada")
        self.deliver(first)
        self.eventually(page, 1, lambda: len(page.evaluate(SHOWN)))
        self.call("PUT", f"/conversations/{self.garden['room_id']}/read", {"message_id": read}, self.tokens["ada"])
        self.deliver(self.message("Lin", "Two", "1", "1", kitchen))
        self.eventually(page, [f"c{kitchen}"], lambda: [it["tag"] for it in page.evaluate(SHOWN)])


class Subscribing(Pushing):
    def devices(self):
        return self.call("GET", "/me/push-subscriptions", token=self.tokens["lin"])["data"]

    def test_a_device_subscribes_after_a_tap_and_heals(self):
        page = self.entered("lin", "phone", VENDOR)
        self.go(page, "/you/notifications")
        kept = lambda name: page.evaluate("name => localStorage.getItem(name)", name)
        switch = page.get_by_role("switch", name="Notifications on this device")
        test = page.get_by_role("button", name="Send a test")
        expect(switch).not_to_be_checked()
        expect(test).to_be_hidden()
        self.assertEqual((kept("asked"), self.devices()), (None, []))
        expect(switch).to_have_accessible_description("Also when the app is closed, if your browser supports push.")
        switch.click()
        expect(test).to_be_visible()
        expect(switch).to_have_accessible_description("They arrive here, also when the app is closed.")
        made, = self.devices()
        self.assertEqual((kept("asked"), made["service"]), ("1", "push.example.net"))
        self.photograph(page, "push-device-phone")
        self.assert_accessible(page, "notifications of this device")

        def reopened(change):
            """The endpoint after the next start of the app."""
            page.evaluate(change)
            self.open(page, "/you/notifications")
            self.eventually(page, True, lambda: bool(self.devices()) and kept("vendor") is not None)
            return json.loads(kept("vendor"))["endpoint"]

        first = json.loads(kept("vendor"))["endpoint"]
        with self.subTest("the server has lost it"):
            self.call("DELETE", f"/me/push-subscriptions/{made['id']}", token=self.tokens["lin"])
            self.assertEqual(self.devices(), [])
            self.assertEqual(reopened("null"), first)
        with self.subTest("the browser has lost it"):
            second = reopened("localStorage.removeItem('vendor')")
            self.assertNotEqual(second, first)
        with self.subTest("the server has another key"):
            third = reopened("""() => {
              const it = JSON.parse(localStorage.getItem('vendor'));
              localStorage.setItem('vendor', JSON.stringify({ ...it, key: btoa('another key') }));
            }""")
            self.eventually(page, False, lambda: json.loads(kept("vendor"))["endpoint"] == second)
            self.assertNotEqual(third, first)
        self.assertEqual(kept("asked"), "1")
        switch.click()
        expect(test).to_be_hidden()
        self.eventually(page, None, lambda: kept("vendor"))
        # A start asks for nothing again.
        self.open(page, "/you/notifications")
        expect(switch).not_to_be_checked()
        self.assertEqual((kept("asked"), kept("vendor")), ("1", None))
