"""Push messages in the service worker: Chromium delivers them over CDP. No browser of the tests has the push service of its vendor."""

import json

from test_flows import Village

SHOWN = """() => navigator.serviceWorker.ready.then((it) => it.getNotifications())
  .then((list) => list.map(({ title, body, tag, data }) => ({ title, body, tag, address: data?.address })))"""


class Delivered(Village):
    def setUp(self):
        super().setUp()
        context = self.context(service_workers="allow")
        context.grant_permissions(["notifications"], origin=self.origin)
        self.sign_in(context, "grace")
        self.browser_page = self.page(context)
        self.open(self.browser_page)
        self.browser_page.evaluate("() => navigator.serviceWorker.ready.then(() => true)")
        registrations = []
        self.devtools = context.new_cdp_session(self.browser_page)
        self.devtools.on("ServiceWorker.workerRegistrationUpdated", lambda event: registrations.extend(event["registrations"]))
        self.devtools.send("ServiceWorker.enable")
        self.eventually(self.browser_page, True, lambda: bool(registrations))
        self.registration = registrations[0]["registrationId"]

    def deliver(self, text):
        """Delivers a message. Returns the notifications that are shown then, without those of before."""
        self.browser_page.evaluate(
            "() => navigator.serviceWorker.ready.then((it) => it.getNotifications()).then((all) => all.forEach((it) => it.close()))")
        self.eventually(self.browser_page, [], lambda: self.browser_page.evaluate(SHOWN))
        self.devtools.send(
            "ServiceWorker.deliverPushMessage", {"origin": self.origin, "registrationId": self.registration, "data": text})
        self.eventually(self.browser_page, True, lambda: bool(self.browser_page.evaluate(SHOWN)))
        return self.browser_page.evaluate(SHOWN)

    def message(self, made, **more):
        """The content of a push message about a message that notifies grace."""
        notice = self.call("GET", "/inbox", token=self.tokens["grace"])["data"][0]
        about = {"notification_id": notice["id"], "kind": notice["kind"], "conversation_id": made["conversation_id"],
                 "message_id": made["id"], "revision": 1, "sender": "Ada"}
        return {"web_push": 8030, "notification": {
            "title": "Ada", "body": made["text"], "navigate": f"{self.origin}/m/{made['id']}", "tag": f"c{made['conversation_id']}",
            "app_badge": 1, "data": about, **more}}

    def test_a_message_shows_its_content(self):
        made = self.say("The frost comes, @grace", "ada")
        shown, = self.deliver(json.dumps(self.message(made)))
        self.assertEqual(shown, {
            "title": "Ada", "body": "The frost comes, @grace", "tag": f"c{made['conversation_id']}", "address": f"/m/{made['id']}"})

    def test_each_broken_message_shows_one_notification(self):
        host = self.origin.split("//")[1]
        for text in ("", "{", "null", "5", "[]", "{}", '{"notification": null}', '{"notification": 7}', '{"notification": {}}', "\u0000"):
            with self.subTest(text=text):
                shown, = self.deliver(text)
                self.assertEqual((shown["title"], shown["body"], shown["address"]), (host, "", "/"))
        for address in ("https://[", "https://evil.example/m/1", "javascript:alert(1)", 5, None):
            with self.subTest(address=address):
                shown, = self.deliver(json.dumps({"notification": {"title": "Ada", "navigate": address}}))
                self.assertEqual((shown["title"], shown["address"]), ("Ada", "/5" if address == 5 else "/"))

    def test_a_message_that_is_gone_is_shown_and_closed_with_the_next(self):
        made = self.say("Never mind, @grace", "ada")
        content = json.dumps(self.message(made))
        self.call("DELETE", f"/messages/{made['id']}", token=self.tokens["ada"])
        shown, = self.deliver(content)
        self.assertEqual(shown["title"], "Ada")
        self.devtools.send("ServiceWorker.deliverPushMessage", {"origin": self.origin, "registrationId": self.registration, "data": "{}"})
        self.eventually(self.browser_page, ["push"], lambda: [it["tag"] for it in self.browser_page.evaluate(SHOWN)])
