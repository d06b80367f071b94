"""The dialect of MorMessages, over HTTP and WebSocket: the cases of its server's and its client's own tests, what other users
and the API see of it, and what it refuses."""

import base64
import http.client
import json
import os
import re
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time
import unittest
import uuid
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode

import pyotp
from dialect_site import ENDLESS, PASSWORD, DialectSite
from servers import PARLEY, TOP
from serving import ServingTest, parley
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

REST = "/mormessages/api/rest"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
HOUR = 3_600_000


def basic(name, password=PASSWORD):
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


class DialectTest(DialectSite):
    flags = ("--dialects", "mormessages", *ENDLESS)
    users = (*DialectSite.users, ("mira", "moderator"))

    def sessions(self, name):
        return self.native("GET", "/sessions", name=name)["data"]

    def ask(self, method, path, body=None, name="ada", **fields):
        """The status and the JSON of an answer, its text, or nothing."""
        if name:
            fields.setdefault("Authorization", basic(name))
        if body is not None and not isinstance(body, (bytes, str)):
            body, fields = json.dumps(body), {"Content-Type": "application/json", **fields}
        status, _, data = self.request(method, REST + path, body, **fields)
        try:
            return status, json.loads(data) if data else None
        except ValueError:
            return status, data.decode()

    def done(self, status, method, path, body=None, name="ada", **fields):
        answer = self.ask(method, path, body, name, **fields)
        self.assertEqual(answer[0], status, answer)
        return answer[1]

    def failed(self, status, method, path, body=None, name="ada", **fields):
        """The details of a failure."""
        answer = self.done(status, method, path, body, name, **fields)
        kind = (3, "UNAUTHORIZED") if status == 401 else (2, "ERROR")
        self.assertEqual((answer["status"]["code"], answer["status"]["type"], answer["data"]), (*kind, None), answer)
        return answer["status"]["details"]

    def native(self, method, path, body=None, name="ada"):
        status, _, data = self.request(
            method, "/api/v1" + path, None if body is None else json.dumps(body),
            Content_Type="application/json", Authorization=f"Bearer {self.tokens[name]}")
        self.assertLess(status, 300, data)
        return json.loads(data) if data else None

    def make_forum(self, title=None, name="ada", **more):
        return self.done(201, "PUT", "/forum", {"title": title or f"{self.id().split('.')[-1]} {uuid.uuid4()}"[-100:], **more}, name)

    def post(self, forum, text, name="ada", **more):
        return self.done(201, "PUT", f"/forum/{forum['uuid']}/message", {"text": text, **more}, name)

    def texts(self, forum, name="ada", **query):
        return [it["text"] for it in self.done(200, "GET", f"/forum/{forum['uuid']}/message?{urlencode(query)}", name=name)]

    def subscribe(self, forum, name="ada"):
        return self.done(201, "PUT", "/subscription", {"userIdentity": name, "topicId": forum["uuid"]}, name)["subscriptionId"]

    def open(self, subscription, name="ada", **settings):
        settings.setdefault("additional_headers", {"Authorization": basic(name)})
        return self.enterContext(
            connect(f"ws://127.0.0.1:{self.port}/mormessages/api/websocket/{subscription}", **settings))

    def open_unread(self, subscription, name="ada"):
        """A socket with a small buffer. The library stops reading while its queue is full."""
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        connection.connect(("127.0.0.1", self.port))
        return self.open(subscription, name, compression=None, sock=connection)

    def receive(self, socket):
        return json.loads(socket.recv(timeout=60))


class Authentication(DialectTest):
    def login(self, body, **fields):
        return self.request("POST", f"{REST}/auth/login", body, Content_Type="application/json", **fields)

    def test_login_sets_the_cookie(self):
        status, fields, data = self.login(json.dumps({"username": "ada", "password": PASSWORD}))
        self.assertEqual(status, 200)
        self.assertEqual(json.loads(data), {"status": {"code": 0, "type": "SUCCESS", "details": "ada"}, "data": None})
        cookie = next(it for it in fields.get_all("Set-Cookie") if it.startswith("parley=")).split(";")[0]
        who = self.done(200, "GET", "/auth/whoami", name=None, Cookie=cookie)
        self.assertEqual((who["status"]["code"], who["data"]), (0, {"username": "ada"}))

        title = str(uuid.uuid4())
        self.failed(403, "PUT", "/forum", {"title": title}, name=None, Cookie=cookie)
        self.failed(403, "PUT", "/forum", {"title": title}, name=None, Cookie=cookie, Origin="https://evil.example")
        own = f"http://127.0.0.1:{self.port}"
        forum = self.done(201, "PUT", "/forum", {"title": title}, name=None, Cookie=cookie, Origin=own)
        self.assertEqual(forum["createdByUid"], "ada")

        subscription = self.subscribe(forum)
        for origin in (None, "https://evil.example", "null", f"ws://127.0.0.1:{self.port + 1}/mormessages"):
            with self.assertRaises(InvalidStatus) as refused:
                self.open(subscription, additional_headers={"Cookie": cookie}, origin=origin)
            self.assertEqual(refused.exception.response.status_code, 403)
        # The client for iOS sends the whole address.
        origin = f"ws://127.0.0.1:{self.port}/mormessages/api/websocket/{subscription}"
        socket = self.open(subscription, additional_headers={"Cookie": cookie}, origin=origin)
        self.post(forum, "by cookie")
        self.assertEqual(self.receive(socket)["text"], "by cookie")

        out = self.done(200, "DELETE", "/auth/logout", name=None, Cookie=cookie, Origin=own)
        self.assertEqual(out, {"status": {"code": 0, "type": "SUCCESS", "details": None}, "data": None})
        who = self.done(200, "GET", "/auth/whoami", name=None, Cookie=cookie)
        self.assertEqual(who["data"], {"username": "anonymous"})
        with self.assertRaises(ConnectionClosed):
            socket.recv(timeout=60)
        self.assertEqual(socket.close_code, 4501)

    def test_a_wrong_login(self):
        for body in ({"username": "ada", "password": "needles"}, {"username": "nobody", "password": PASSWORD}):
            status, fields, data = self.login(json.dumps(body))
            self.assertEqual((status, json.loads(data)["status"]), (401, {"code": 3, "type": "UNAUTHORIZED", "details": body["username"]}))
            self.assertIsNone(fields["Set-Cookie"])

    def test_a_login_without_credentials(self):
        for body in ("null", "", "{}", '{"username": "ada"}', '{"username": null, "password": null}'):
            status, _, data = self.login(body)
            self.assertEqual((status, json.loads(data)["status"]["details"]), (400, "missing credentials"), body)

    def test_a_login_from_another_site(self):
        body = json.dumps({"username": "ada", "password": PASSWORD})
        self.assertEqual(self.login(body, Origin="https://evil.example")[0], 403)

    def test_login_by_get(self):
        self.assertEqual(self.failed(401, "GET", "/auth/login", name=None), "unsupported login method: GET")

    def test_whoami(self):
        self.assertEqual(self.done(200, "GET", "/auth/whoami", name=None)["data"], {"username": "anonymous"})
        self.assertEqual(self.done(200, "GET", "/auth/whoami", name="grace")["data"], {"username": "grace"})

    def test_logout_without_a_login(self):
        self.assertEqual(self.done(200, "DELETE", "/auth/logout", name=None)["status"]["code"], 0)

    def test_basic_opens_one_session(self):
        self.add_user("bea")
        for _ in range(3):
            self.done(200, "GET", "/forum", name="bea")
        sessions = self.native("GET", "/sessions", name="bea")["data"]
        self.assertEqual([it["name"] for it in sessions], ["MorMessages"])
        # Another password ends it.
        self.failed(401, "GET", "/forum", name=None, Authorization=basic("bea", "needles"))
        self.assertEqual(len(self.native("GET", "/sessions", name="bea")["data"]), 1)
        self.done(200, "DELETE", "/auth/logout", name="bea")
        self.assertEqual(self.native("GET", "/sessions", name="bea")["data"], [])
        self.done(200, "GET", "/forum", name="bea")
        session = self.native("GET", "/sessions", name="bea")["data"][0]["id"]
        self.native("DELETE", f"/sessions/{session}", name="bea")
        self.done(200, "GET", "/forum", name="bea")
        self.assertNotEqual(self.native("GET", "/sessions", name="bea")["data"][0]["id"], session)

    def test_parallel_requests_open_one_session(self):
        self.add_user("pia")
        found = []
        requests = [threading.Thread(target=lambda: found.append(self.ask("GET", "/forum", name="pia")[0])) for _ in range(12)]
        for request in requests:
            request.start()
        for request in requests:
            request.join()
        self.assertEqual(found, [200] * 12)
        self.assertEqual(len(self.sessions("pia")), 1)
        self.assertEqual(len(self.native("GET", "/me/sign-ins", name="pia")["data"]), 1)
        # A name is the same in any case.
        self.done(200, "GET", "/forum", name="PIA")
        self.assertEqual(len(self.sessions("pia")), 1)

    def test_a_login_and_basic_share_a_session(self):
        self.add_user("lou")
        status, fields, _ = self.login(json.dumps({"username": "Lou", "password": PASSWORD}))
        self.assertEqual(status, 200)
        cookie = next(it for it in fields.get_all("Set-Cookie") if it.startswith("parley=")).split(";")[0]
        self.done(200, "GET", "/forum", name="lou")
        self.assertEqual(len(self.sessions("lou")), 1)
        self.done(200, "DELETE", "/auth/logout", name="lou", Cookie=cookie)
        self.assertEqual(self.sessions("lou"), [])
        self.assertEqual(self.done(200, "GET", "/auth/whoami", name=None, Cookie=cookie)["data"], {"username": "anonymous"})
        # The other way round: a logout with the cookie ends the session of later requests.
        _, fields, _ = self.login(json.dumps({"username": "lou", "password": PASSWORD}))
        cookie = next(it for it in fields.get_all("Set-Cookie") if it.startswith("parley=")).split(";")[0]
        self.done(200, "DELETE", "/auth/logout", name=None, Cookie=cookie, Origin=f"http://127.0.0.1:{self.port}")
        self.assertEqual(self.sessions("lou"), [])

    def test_a_changed_password_ends_access_by_the_old_one_also_in_the_session_that_changed_it(self):
        self.add_user("kit")
        _, fields, _ = self.login(json.dumps({"username": "kit", "password": PASSWORD}))
        cookie = next(it for it in fields.get_all("Set-Cookie") if it.startswith("parley=")).split(";")[0]
        self.done(200, "GET", "/forum", name="kit")
        changed = "needles and wool"
        status, _, data = self.request(
            "PUT", "/api/v1/me/password", json.dumps({"old_password": PASSWORD, "password": changed, "keep_tokens": True}),
            Content_Type="application/json", Cookie=cookie, Origin=f"http://127.0.0.1:{self.port}")
        self.assertEqual(status, 204, data)
        for _ in range(2):
            self.failed(401, "GET", "/forum", name="kit")
        self.done(200, "GET", "/forum", name=None, Authorization=basic("kit", changed))
        # The session goes on by its cookie.
        self.assertEqual(self.done(200, "GET", "/auth/whoami", name=None, Cookie=cookie)["data"], {"username": "kit"})

    def test_only_a_login_reactivates(self):
        self.add_user("dee")
        self.done(200, "GET", "/forum", name="dee")
        self.native("DELETE", "/users/me", {"how": "deactivate", "password": PASSWORD}, "dee")
        for _ in range(2):
            self.failed(403, "GET", "/forum", name="dee")
        self.failed(401, "GET", "/forum", name=None, Authorization=basic("dee", "needles"))
        self.done(200, "POST", "/auth/login", {"username": "dee", "password": PASSWORD}, name=None)
        self.done(200, "GET", "/forum", name="dee")

    def test_a_token(self):
        token = self.tokens["grace"]
        for authorization in (f"Bearer {token}", basic("grace", token)):
            who = self.done(200, "GET", "/auth/whoami", name=None, Authorization=authorization)
            self.assertEqual(who["data"], {"username": "grace"})
        # A token of another user is no password.
        self.failed(401, "GET", "/forum", name=None, Authorization=basic("ada", token))
        # The token stays after a logout.
        self.done(200, "DELETE", "/auth/logout", name=None, Authorization=basic("grace", token))
        self.done(200, "GET", "/forum", name=None, Authorization=basic("grace", token))
        # The scope of the token counts.
        reading = self.say("token", "grace", "--scope", "read").strip()
        self.done(200, "GET", "/forum", name=None, Authorization=basic("grace", reading))
        self.failed(403, "PUT", "/forum", {"title": "x"}, name=None, Authorization=basic("grace", reading))

    def test_a_user_with_a_two_step_sign_in(self):
        self.say("user", "create", "tess", "--password-stdin", given=PASSWORD + "\n")
        status, _, data = self.request("POST", "/api/v1/sessions", json.dumps({"name": "tess", "password": PASSWORD}),
                                       Content_Type="application/json")
        self.assertEqual(status, 201, data)
        self.tokens["tess"] = json.loads(data)["token"]
        secret = self.native("POST", "/me/second-factor", name="tess")["secret"]
        self.native("PUT", "/me/second-factor", {"code": pyotp.TOTP(secret).now()}, "tess")
        hint = "This user has a two-step sign-in. Use a personal token as the password."
        self.assertEqual(self.failed(401, "GET", "/forum", name="tess"), hint)
        self.assertEqual(self.failed(401, "POST", "/auth/login", {"username": "tess", "password": PASSWORD}, name=None), hint)
        token = self.say("token", "tess", "--scope", "read").strip()
        self.done(200, "GET", "/forum", name=None, Authorization=basic("tess", token))

    def test_a_two_step_sign_in_ends_access_by_the_password_even_if_it_keeps_sessions(self):
        self.say("user", "create", "tom", "--password-stdin", given=PASSWORD + "\n")
        status, _, data = self.request("POST", "/api/v1/sessions", json.dumps({"name": "tom", "password": PASSWORD}),
                                       Content_Type="application/json")
        self.assertEqual(status, 201, data)
        self.tokens["tom"] = json.loads(data)["token"]
        # The session of the password alone.
        self.done(200, "GET", "/forum", name="tom")
        secret = self.native("POST", "/me/second-factor", name="tom")["secret"]
        self.native("PUT", "/me/second-factor", {"code": pyotp.TOTP(secret).now(), "keep_sessions": True}, "tom")
        self.assertEqual(len(self.sessions("tom")), 2)
        self.failed(401, "GET", "/forum", name="tom")
        self.failed(401, "GET", "/forum", name="tom")

    def test_a_user_is_required(self):
        for method, path in [("GET", "/forum"), ("PUT", "/forum"), ("GET", f"/forum/{uuid.uuid4()}"), ("GET", "/subscription"),
                             ("DELETE", f"/subscription/{uuid.uuid4()}")]:
            for authorization in (None, basic("ada", "needles"), basic("nobody"), "Basic", "Basic !", "Basic YWRh", "Bearer x"):
                fields = {"Authorization": authorization} if authorization else {}
                status, answer, data = self.request(method, REST + path, **fields)
                self.assertEqual((status, json.loads(data)["status"]["code"]), (401, 3), (method, path, authorization))
                self.assertTrue(answer["WWW-Authenticate"].startswith("Basic "))
        with self.assertRaises(InvalidStatus) as refused:
            self.open(uuid.uuid4(), additional_headers={})
        self.assertEqual(refused.exception.response.status_code, 401)

    def test_a_page_of_another_site_has_no_use_of_the_basic_credentials_of_a_browser(self):
        self.failed(403, "PUT", "/forum", {"title": str(uuid.uuid4())}, Origin="https://evil.example")
        self.failed(403, "PUT", "/forum", {"title": str(uuid.uuid4())}, Origin="null")


class Forums(DialectTest):
    def test_a_new_forum(self):
        chosen, title = str(uuid.uuid4()).upper(), f"Knitting {uuid.uuid4()}"
        forum = self.done(201, "PUT", "/forum", {"title": title, "uuid": chosen, "description": "Wool", "extra": [1]})
        self.assertEqual(
            {name: forum[name] for name in ("title", "uuid", "description", "imageUrl", "createdByUid", "modifiedByUid")},
            {"title": title, "uuid": chosen, "description": "Wool", "imageUrl": None, "createdByUid": "ada", "modifiedByUid": "ada"})
        self.assertIsInstance(forum["id"], int)
        self.assertGreater(forum["id"], 0)
        for name in ("createdTime", "modifiedTime"):
            self.assertRegex(forum[name], TIME)
        for name in (chosen, chosen.lower(), forum["id"]):
            self.assertEqual(self.done(200, "GET", f"/forum/{name}"), forum)
        self.assertIn(forum, self.done(200, "GET", "/forum"))
        seen = self.native("GET", f"/forums/{forum['id']}", name="grace")
        self.assertEqual((seen["title"], seen["description"], seen["visibility"]), (title, "Wool", "members"))

    def test_a_forum_of_the_app_has_a_uuid(self):
        made = self.native("POST", "/forums", {"title": f"Garden {uuid.uuid4()}", "visibility": "public"}, "mira")
        forum = self.done(200, "GET", f"/forum/{made['id']}", name="grace")
        self.assertRegex(forum["uuid"], UUID)
        self.assertEqual(self.done(200, "GET", f"/forum/{forum['uuid']}", name="grace"), forum)
        self.assertEqual((forum["createdByUid"], forum["description"]), ("mira", None))
        # No client can take it.
        self.failed(400, "PUT", "/forum", {"title": str(uuid.uuid4()), "uuid": forum["uuid"]})

    def test_conflicts(self):
        forum = self.make_forum(uuid=str(uuid.uuid4()))
        details = self.failed(409, "PUT", "/forum", {"title": forum["title"]})
        self.assertEqual(details, f"forum already exists for title {forum['title']}")
        again = forum["uuid"].upper()
        self.assertEqual(self.failed(409, "PUT", "/forum", {"title": str(uuid.uuid4()), "uuid": again}),
                         f"forum already exists for uuid {again}")
        self.assertEqual(self.failed(409, "PUT", "/forum", {"title": str(uuid.uuid4()), "id": 7}),
                         "cannot create forum with preset id(7); try excluding id")
        other = self.make_forum()
        self.failed(409, "POST", f"/forum/{other['uuid']}", {"uuid": other["uuid"], "title": forum["title"]})

    def test_lists(self):
        made = [self.make_forum() for _ in range(7)]
        listed = self.done(200, "GET", "/forum?resultSize=7")
        self.assertEqual([it["uuid"] for it in listed], [it["uuid"] for it in reversed(made)])
        times = [it["modifiedTime"] for it in listed]
        self.assertEqual(times, sorted(set(times), reverse=True))
        self.assertEqual(self.done(200, "GET", "/forum?offset=2&resultSize=3"), listed[2:5])
        self.assertEqual(self.done(200, "GET", "/forum?offset=2&resultSize=3&unknown=1"), listed[2:5])
        self.assertEqual(self.done(200, "GET", "/forum?resultSize=0"), [])
        self.assertEqual(self.done(200, "GET", "/forum?offset=9999"), [])
        for form in ("{}Z", "{}+0000", "{}+00:00"):
            time_ = form.format(listed[3]["modifiedTime"][:-1])
            for query in (urlencode({"greaterThan": time_}), f"greaterThan={time_}"):
                self.assertEqual(self.done(200, "GET", f"/forum?{query}"), listed[:3], query)
        # Milliseconds are earlier.
        short = listed[3]["modifiedTime"][:-4] + "Z"
        self.assertEqual(self.done(200, "GET", f"/forum?greaterThan={short}")[:3], listed[:3])
        # A message does not change a forum, a change does.
        self.post(made[0], "hello")
        self.assertEqual(self.done(200, "GET", "/forum?resultSize=7"), listed)
        self.native("PATCH", f"/forums/{made[0]['id']}", {"description": "changed in the app"}, "ada")
        self.assertEqual(self.done(200, "GET", f"/forum?greaterThan={times[0]}")[0]["uuid"], made[0]["uuid"])

    def test_wrong_parameters(self):
        forum = self.make_forum()
        for path in ("/forum", f"/forum/{forum['uuid']}/message"):
            for query in ("offset=-1", "offset=x", "offset=10001", "resultSize=-1", "resultSize=1.5", "offset=99999999999999999999"):
                self.failed(400, "GET", f"{path}?{query}")
            for text in ("yesterday", "2026-13-01T00:00:00Z", "2026-11-29", "x" * 1000):
                self.assertEqual(self.failed(400, "GET", f"{path}?greaterThan={text}"),
                                 "invalid date string; must format like yyyy-MM-dd'T'HH:mm:ss.SSSSSSXX")
            self.failed(400, "GET", f"{path}?offset=%zz")

    def test_a_change(self):
        forum = self.make_forum(description="Wool")
        title = str(uuid.uuid4())
        changed = self.done(200, "POST", f"/forum/{forum['uuid']}", {**forum, "title": title, "description": None})
        self.assertEqual((changed["title"], changed["description"], changed["uuid"]), (title, None, forum["uuid"]))
        self.assertGreater(changed["modifiedTime"], forum["modifiedTime"])
        self.assertEqual(changed["createdTime"], forum["createdTime"])
        self.assertEqual(self.done(200, "GET", f"/forum/{forum['uuid']}"), changed)
        for wrong in (str(uuid.uuid4()), None):
            self.assertEqual(self.failed(500, "POST", f"/forum/{forum['uuid']}", {"uuid": wrong, "title": "x"}),
                             "url path forumId does not match posted forum.id")
        self.failed(403, "POST", f"/forum/{forum['uuid']}", {"uuid": forum["uuid"], "title": "x"}, "grace")
        unknown = str(uuid.uuid4())
        self.failed(404, "POST", f"/forum/{unknown}", {"uuid": unknown, "title": "x"})

    def test_a_deletion(self):
        forum = self.make_forum()
        self.failed(403, "DELETE", f"/forum/{forum['uuid']}", name="grace")
        self.done(204, "DELETE", f"/forum/{forum['uuid']}")
        self.assertIsNone(self.done(204, "GET", f"/forum/{forum['uuid']}"))
        self.failed(404, "GET", f"/forum/{forum['uuid']}/message")
        self.failed(404, "DELETE", f"/forum/{uuid.uuid4()}")

    def test_unreadable_is_unknown(self):
        made = self.native("POST", "/forums", {"title": f"Secret {uuid.uuid4()}", "visibility": "private"})
        forum = self.done(200, "GET", f"/forum/{made['id']}")
        message = self.post(forum, "secret")
        self.assertNotIn(forum["uuid"], [it["uuid"] for it in self.done(200, "GET", "/forum?resultSize=200", name="linus")])
        unknown = {"uuid": str(uuid.uuid4())}
        for method, path, body in [
            ("GET", "/forum/{uuid}", None), ("POST", "/forum/{uuid}", {"title": "x"}), ("DELETE", "/forum/{uuid}", None),
            ("GET", "/forum/{uuid}/message", None), ("PUT", "/forum/{uuid}/message", {"text": "x"}),
            ("PUT", "/subscription", {"userIdentity": "linus", "topicId": "{uuid}"}),
        ]:
            answers = []
            for it in (forum, unknown):
                filled = body and {name: value.format(**it) for name, value in body.items()}
                if method == "POST":
                    filled["uuid"] = it["uuid"]
                answers.append(self.ask(method, path.format(**it), filled, "linus"))
            self.assertEqual(answers[0], answers[1], (method, path))
            self.assertIn(answers[0][0], (204, 404))
        public = self.make_forum()
        chosen = self.post(forum, "secret", uuid=str(uuid.uuid4()))
        answers = [self.ask("GET", f"/forum/{public['uuid']}/message?before={it}", name="linus")
                   for it in (message["uuid"], message["id"], chosen["uuid"], 999_999_999, uuid.uuid4(), "x")]
        self.assertEqual([it for it in answers if it != answers[0]], [])
        self.assertEqual(answers[0][0], 400)

    def test_rights_to_create_forums(self):
        self.native("PATCH", "/settings", {"may_create_forums": "moderators"})
        try:
            self.failed(403, "PUT", "/forum", {"title": str(uuid.uuid4())}, "grace")
            self.make_forum(name="mira")
        finally:
            self.native("PATCH", "/settings", {"may_create_forums": "users"})


class Messages(DialectTest):
    def test_a_new_message(self):
        forum = self.make_forum()
        chosen = str(uuid.uuid4()).upper()
        text = "Grüße 👋\n*wool* & <b>needles</b>  "
        message = self.post(forum, text, "grace", uuid=chosen, id=None, extra={})
        self.assertEqual(
            {name: message[name] for name in ("text", "uuid", "imageUrl", "forumUuid", "createdByUid", "modifiedByUid")},
            {"text": text, "uuid": chosen, "imageUrl": None, "forumUuid": forum["uuid"], "createdByUid": "grace", "modifiedByUid": "grace"})
        self.assertIsInstance(message["id"], int)
        self.assertRegex(message["createdTime"], TIME)
        self.assertEqual(message["createdTime"], message["modifiedTime"])
        self.assertEqual(self.done(200, "GET", f"/forum/{forum['uuid']}/message"), [message])
        seen = self.native("GET", f"/messages/{message['id']}", name="linus")
        self.assertEqual(seen["text"], text)

    def test_the_forum_of_a_message(self):
        one, other = self.make_forum(), self.make_forum()
        self.done(201, "PUT", f"/forum/{one['id']}/message", {"text": "by number"})
        self.done(201, "PUT", f"/forum/{one['uuid']}/message", {"text": "by body", "forumUuid": other["uuid"]})
        self.assertEqual((self.texts(one), self.texts(other)), (["by number"], ["by body"]))

    def test_a_repeated_message(self):
        forum = self.make_forum()
        body = {"text": "once", "uuid": str(uuid.uuid4())}
        first = self.done(201, "PUT", f"/forum/{forum['uuid']}/message", body)
        self.assertEqual(self.done(200, "PUT", f"/forum/{forum['uuid']}/message", body), first)
        self.failed(409, "PUT", f"/forum/{forum['uuid']}/message", {**body, "text": "twice"})
        self.failed(409, "PUT", f"/forum/{forum['uuid']}/message", {**body, "uuid": body["uuid"].upper()}, "grace")
        self.failed(409, "PUT", f"/forum/{self.make_forum()['uuid']}/message", body)
        self.failed(400, "PUT", f"/forum/{forum['uuid']}/message", {"text": "x", "uuid": "not one"})
        self.assertEqual(self.texts(forum), ["once"])

    def test_pictures(self):
        forum, picture = self.make_forum(), "https://pictures.example/wool.png"
        alone = self.done(201, "PUT", f"/forum/{forum['uuid']}/message", {"imageUrl": picture})
        both = self.post(forum, "Look", imageUrl=picture)
        self.assertEqual([(it["text"], it["imageUrl"]) for it in (alone, both)], [(None, picture), ("Look", picture)])
        self.assertEqual(self.done(200, "GET", f"/forum/{forum['uuid']}/message"), [both, alone])
        self.assertEqual(self.native("GET", f"/messages/{alone['id']}")["text"], picture)
        self.native("PATCH", f"/messages/{alone['id']}", {"text": "edited"})
        self.assertEqual(self.texts(forum), ["Look", "edited"])
        for wrong in ("javascript:alert(1)", "x", "https://pictures.example/" + "x" * 1000):
            self.failed(400, "PUT", f"/forum/{forum['uuid']}/message", {"text": "x", "imageUrl": wrong})

    def test_lists(self):
        forum = self.make_forum()
        posted = [self.post(forum, f"message {number}") for number in range(12)]
        listed = self.done(200, "GET", f"/forum/{forum['uuid']}/message")
        self.assertEqual(listed, posted[::-1])
        times = [it["modifiedTime"] for it in listed]
        self.assertEqual(times, sorted(set(times), reverse=True))
        path = f"/forum/{forum['uuid']}/message"
        self.assertEqual(self.done(200, "GET", f"{path}?offset=3&resultSize=4"), listed[3:7])
        for number in (0, 5, 11):
            later = self.done(200, "GET", f"{path}?greaterThan={times[number]}")
            self.assertEqual(later, listed[:number])
        self.assertEqual(self.done(200, "GET", f"{path}?before={listed[4]['uuid']}&resultSize=3"), listed[5:8])
        self.assertEqual(self.done(200, "GET", f"{path}?before={listed[4]['id']}&offset=2"), listed[7:])

    def test_many_messages_of_a_millisecond(self):
        """R43: no message is lost by `greaterThan` with the last known time, even with equal times of creation."""
        forum = self.make_forum()
        room = self.native("GET", f"/forums/{forum['id']}")["room_id"]
        drafts = [threading.Thread(target=self.native, args=("POST", f"/conversations/{room}/messages", {"text": str(number)}))
                  for number in range(40)]
        for draft in drafts:
            draft.start()
        for draft in drafts:
            draft.join()
        listed = self.done(200, "GET", f"/forum/{forum['uuid']}/message")
        times = [it["modifiedTime"] for it in listed]
        self.assertEqual((len(listed), times), (40, sorted(set(times), reverse=True)))
        for number, time_ in enumerate(times):
            self.assertEqual(self.texts(forum, greaterThan=time_), [it["text"] for it in listed[:number]])

    def test_a_long_room(self):
        forum = self.make_forum()
        room = self.native("GET", f"/forums/{forum['id']}")["room_id"]
        for number in range(230):
            self.native("POST", f"/conversations/{room}/messages", {"text": str(number)})
        texts = [str(number) for number in range(229, -1, -1)]
        self.assertEqual(self.texts(forum, offset=0, resultSize=1000), texts[:200])
        self.assertEqual(self.texts(forum, offset=195, resultSize=20), texts[195:215])
        self.assertEqual(self.texts(forum, offset=210), texts[210:])
        self.assertEqual(self.texts(forum, offset=300), [])

    def test_messages_left_out_of_lists(self):
        forum = self.make_forum()
        room = self.native("GET", f"/forums/{forum['id']}")["room_id"]
        gone = self.post(forum, "gone")
        removed = self.post(forum, "removed", "grace")
        self.native("POST", f"/conversations/{room}/messages", {
            "machine_only": True, "annotations": [{"type": "com.example.thing", "value": {}}]})
        self.post(forum, "stays", "linus")
        self.native("DELETE", f"/messages/{gone['id']}")
        self.native("POST", f"/messages/{removed['id']}/remove", {"reason": "spam"}, "mira")
        self.assertEqual(self.texts(forum), ["stays"])
        # Muted and blocked authors.
        for relation in ("mute", "block"):
            linus = self.native("GET", "/users/@linus")["id"]
            self.native("PUT", f"/users/{linus}/{relation}", name="grace")
            self.assertEqual((self.texts(forum, "grace"), self.texts(forum)), ([], ["stays"]))
            self.native("DELETE", f"/users/{linus}/{relation}", name="grace")
            self.assertEqual(self.texts(forum, "grace"), ["stays"])

    def test_rules_of_the_forum(self):
        forum = self.make_forum()
        self.native("PATCH", f"/forums/{forum['id']}", {"locked": True})
        self.failed(403, "PUT", f"/forum/{forum['uuid']}/message", {"text": "x"}, "grace")
        self.native("PATCH", f"/forums/{forum['id']}", {"locked": False, "slow_seconds": 3600})
        self.post(forum, "first", "grace")
        self.failed(429, "PUT", f"/forum/{forum['uuid']}/message", {"text": "second"}, "grace")
        self.failed(400, "PUT", f"/forum/{forum['uuid']}/message", {"text": "x" * 16_001})
        self.failed(400, "PUT", f"/forum/{forum['uuid']}/message", {})
        silas = "silas"
        self.say("user", "create", silas, "--password-stdin", given=PASSWORD + "\n")
        self.native("PATCH", f"/forums/{forum['id']}", {"slow_seconds": 0})
        self.post(forum, "before", silas)
        self.native("PUT", f"/users/@{silas}/silence", {"reason": "loud"}, "mira")
        self.failed(403, "PUT", f"/forum/{forum['uuid']}/message", {"text": "x"}, silas)


class Subscriptions(DialectTest):
    def test_a_subscription(self):
        forum = self.make_forum()
        body = {"userIdentity": "grace", "topicId": forum["uuid"]}
        made = self.done(201, "PUT", "/subscription", body, "grace")
        self.assertEqual({name: made[name] for name in body}, body)
        self.assertRegex(made["subscriptionId"], UUID)
        self.assertEqual((made["duration"], made["durationMillis"]), (HOUR, HOUR))
        self.assertEqual(made["expiration"], made["expirationTime"])
        self.assertRegex(made["expiration"], TIME)
        path = f"/subscription/{made['subscriptionId']}"
        self.assertEqual(self.done(200, "GET", path, name="grace"), made)
        self.assertIn(made, self.done(200, "GET", "/subscription", name="grace"))
        self.assertNotIn(made, self.done(200, "GET", "/subscription", name="ada"))
        for name, its in ((name, its) for name in ("id", "subscriptionId") for its in (forum["uuid"], forum["uuid"].upper())):
            again = self.done(200, "POST", path, {**body, "topicId": its, name: made["subscriptionId"]}, "grace")
            self.assertGreaterEqual(again["expiration"], made["expiration"])
        for change in ({"topicId": str(uuid.uuid4())}, {"topicId": None}, {"userIdentity": "ada"}, {"userIdentity": None},
                       {"subscriptionId": str(uuid.uuid4())}, {"subscriptionId": None}):
            status, text = self.ask("POST", path, {**body, "subscriptionId": made["subscriptionId"], **change}, "grace")
            self.assertEqual((status, type(text)), (400, str), change)
        # Subscriptions of others are unknown.
        self.assertEqual(*[self.ask("GET", it, name="ada") for it in (path, f"/subscription/{uuid.uuid4()}")])
        self.assertEqual(self.ask("GET", path, name="ada")[0], 404)
        self.done(204, "DELETE", path, name="ada")
        self.done(200, "GET", path, name="grace")
        self.done(204, "DELETE", path, name="grace")
        self.done(204, "DELETE", path, name="grace")
        self.assertEqual(self.ask("GET", path, name="grace")[0], 404)
        self.assertEqual(self.ask("POST", path, {**body, "subscriptionId": made["subscriptionId"]}, "grace")[0], 404)

    def test_subscriptions_of_others(self):
        forum = self.make_forum()
        for name in ("ada", "", None, "nobody"):
            status, text = self.ask("PUT", "/subscription", {"userIdentity": name, "topicId": forum["uuid"]}, "grace")
            self.assertEqual((status, text), (400, "subscriptions can only be created for the user making the request"))
        self.assertEqual(self.ask("PUT", "/subscription", {"userIdentity": "grace"}, "grace")[0], 400)

    def test_the_number_is_limited(self):
        self.say("user", "create", "sub", "--password-stdin", given=PASSWORD + "\n")
        forum = self.make_forum()
        for _ in range(100):
            self.subscribe(forum, "sub")
        self.failed(409, "PUT", "/subscription", {"userIdentity": "sub", "topicId": forum["uuid"]}, "sub")


class Sockets(DialectTest):
    def test_each_new_message_goes_to_all_sockets_of_the_topic(self):
        one, other = self.make_forum(), self.make_forum()
        sockets = [self.open(self.subscribe(one, name), name) for name in ("ada", "grace")]
        silent = self.open(self.subscribe(other))
        posted = [self.post(one, f"message {number}", "linus") for number in range(3)]
        room = self.native("GET", f"/forums/{one['id']}")["room_id"]
        self.native("POST", f"/conversations/{room}/messages", {"text": "from the app"})
        for socket in sockets:
            self.assertEqual([self.receive(socket) for _ in posted], posted)
            self.assertEqual(self.receive(socket)["text"], "from the app")
        marker = self.post(other, "marker")
        self.assertEqual(self.receive(silent), marker)
        # A closed one is dropped.
        sockets[0].close()
        self.post(one, "after")
        self.assertEqual(self.receive(sockets[1])["text"], "after")

    def test_creation_only(self):
        forum = self.make_forum()
        message = self.post(forum, "before")
        socket = self.open(self.subscribe(forum))
        room = self.native("GET", f"/forums/{forum['id']}")["room_id"]
        self.native("PATCH", f"/messages/{message['id']}", {"text": "edited"})
        self.native("PUT", f"/messages/{message['id']}/actions/like")
        self.native("DELETE", f"/messages/{message['id']}")
        self.native("POST", f"/conversations/{room}/messages", {
            "machine_only": True, "annotations": [{"type": "com.example.thing", "value": {}}]})
        # Client frames are ignored.
        socket.send("hello")
        socket.send(json.dumps({"text": "from the client"}))
        socket.send(b"\0")
        marker = self.post(forum, "marker")
        self.assertEqual(self.receive(socket), marker)
        self.assertEqual(self.texts(forum), ["marker"])

    def test_no_message_is_lost_while_sockets_open(self):
        forum = self.make_forum()
        subscription = self.subscribe(forum)
        posted, is_done = [], threading.Event()

        def go_on():
            while not is_done.is_set():
                posted.append(self.post(forum, str(len(posted))))

        writer = threading.Thread(target=go_on)
        writer.start()
        try:
            for _ in range(20):
                socket = self.open(subscription)
                # Messages after the handshake arrive, in order.
                last = self.done(200, "GET", f"/forum/{forum['uuid']}/message?resultSize=1")
                received = [self.receive(socket) for _ in range(3)]
                numbers = [int(it["text"]) for it in received]
                self.assertEqual(numbers, list(range(numbers[0], numbers[0] + 3)))
                if last:
                    self.assertLessEqual(numbers[0], int(last[0]["text"]) + 1)
                socket.close()
        finally:
            is_done.set()
            writer.join()

    def test_unknown_subscriptions(self):
        forum = self.make_forum()
        subscription = self.subscribe(forum, "grace")
        for it, name in ((uuid.uuid4(), "grace"), (subscription, "ada"), ("x", "grace")):
            with self.assertRaises(InvalidStatus) as refused:
                self.open(it, name)
            self.assertEqual(refused.exception.response.status_code, 404)

    def test_access_that_ends(self):
        made = self.native("POST", "/forums", {"title": str(uuid.uuid4()), "visibility": "members"})
        forum = self.done(200, "GET", f"/forum/{made['id']}")
        socket = self.open(self.subscribe(forum, "grace"), "grace")
        self.post(forum, "seen")
        self.assertEqual(self.receive(socket)["text"], "seen")
        self.native("PATCH", f"/forums/{made['id']}", {"visibility": "private"})
        self.post(forum, "secret")
        with self.assertRaises(ConnectionClosed):
            socket.recv(timeout=60)
        self.assertEqual(socket.close_code, 1008)

    def test_a_ban_closes_the_socket(self):
        self.say("user", "create", "ben", "--password-stdin", given=PASSWORD + "\n")
        forum = self.make_forum()
        subscription = self.subscribe(forum, "ben")
        socket = self.open(subscription, "ben")
        self.native("PUT", "/users/@ben/ban", {"reason": "spam"})
        with self.assertRaises(ConnectionClosed):
            socket.recv(timeout=60)
        self.assertEqual(socket.close_code, 4501)
        self.failed(403, "GET", "/forum", name="ben")
        with self.assertRaises(InvalidStatus) as refused:
            self.open(subscription, "ben")
        self.assertEqual(refused.exception.response.status_code, 403)

    def test_muted_authors(self):
        forum = self.make_forum()
        mira = self.native("GET", "/users/@mira")["id"]
        self.native("PUT", f"/users/{mira}/mute", name="grace")
        socket = self.open(self.subscribe(forum, "grace"), "grace")
        self.post(forum, "muted", "mira")
        self.post(forum, "heard", "linus")
        self.assertEqual(self.receive(socket)["text"], "heard")
        self.native("DELETE", f"/users/{mira}/mute", name="grace")

    def test_a_client_that_reads_late_gets_every_message(self):
        forum = self.make_forum()
        socket = self.open_unread(self.subscribe(forum))
        posted = [self.post(forum, f"{number} " + "ü" * 15_900) for number in range(250)]
        self.assertEqual([self.receive(socket) for _ in posted], posted)
        # And then those of the moment.
        marker = self.post(forum, "marker")
        self.assertEqual(self.receive(socket), marker)

    def test_a_client_that_sends_without_end(self):
        socket = self.open(self.subscribe(self.make_forum()))
        with self.assertRaises(ConnectionClosed):
            for _ in range(100_000):
                socket.send("x")
            socket.recv(timeout=60)
        self.assertEqual(socket.close_code, 1008)


class UnreadSockets(DialectTest):
    waits = True

    def websockets(self):
        _, _, text = self.request("GET", "/metrics", Authorization=f"Bearer {self.tokens['ada']}")
        return float(re.search(rb'parley_connections\{protocol="websocket"\} (\S+)', text)[1])

    def test_a_client_that_does_not_read(self):
        forum = self.make_forum()
        unread = self.open_unread(self.subscribe(forum))
        # Others are not held back.
        other = self.open(self.subscribe(forum, "grace"), "grace", compression=None)
        for number in range(250):
            posted = self.post(forum, f"{number} " + "ü" * 15_900)
            self.assertEqual(self.receive(other), posted)
        self.assertEqual(self.websockets(), 2)
        deadline = time.monotonic() + 300
        while self.websockets() > 1:
            self.assertLess(time.monotonic(), deadline, "the server closes the socket")
            time.sleep(1)
        with self.assertRaises(ConnectionClosed):
            while True:
                unread.recv(timeout=60)
        # After a while the server does not wait for the close frame to be read.
        self.assertIn(unread.close_code, (4000, 1006))


class Rights(DialectTest):
    """Each kind of user with each call, beside the same call of the API: the dialect permits what the API permits."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, role in [("gus", "guest"), ("silas", "member"), ("ben", "member"), ("bob", "member")]:
            cls.add_user(name, role)
        cls.tokens["reader"] = cls.say("token", "grace", "--scope", "read").strip()
        cls.tokens["elsewhere"] = cls.say("token", "ada", "--scope", "write", "--only-forum", cls.forum_of(cls, "Elsewhere")).strip()

    def forum_of(cls, title, visibility="members"):
        """A new forum of ada, with grace and bob as members. Returns its id."""
        connection = http.client.HTTPConnection("127.0.0.1", cls.port, timeout=60)
        fields = {"Content-Type": "application/json", "Authorization": f"Bearer {cls.tokens['ada']}"}
        with closing(connection):
            connection.request("POST", "/api/v1/forums", json.dumps({"title": title, "visibility": visibility}), fields)
            made = json.loads(connection.getresponse().read())["id"]
            for name in ("grace", "bob"):
                connection.request("PUT", f"/api/v1/forums/{made}/members/@{name}", headers=fields)
                answer = connection.getresponse()
                assert answer.status < 300, answer.read()
                answer.read()
        return made

    def permits(self, method, path, body=None, name=None):
        """Whether the server does it."""
        fields = {"Authorization": f"Bearer {self.tokens[name]}"} if name else {}
        data = None if body is None else json.dumps(body)
        status, _, answer = self.request(method, path, data, Content_Type="application/json", **fields)
        self.assertLess(status, 500, answer)
        # An unknown forum is an empty answer of the dialect.
        return status < 300 and not (method == "GET" and status == 204)

    def test_each_user_and_call(self):
        grace = self.native("GET", "/users/@grace")["id"]
        self.native("PUT", f"/users/{grace}/block", name="bob")
        self.native("PUT", "/users/@silas/silence", {"reason": "loud"}, "mira")
        self.native("PUT", "/users/@ben/ban", {"reason": "spam"})
        owners = {"reader": "grace", "elsewhere": "ada"}
        callers = [None, "ada", "mira", "grace", "linus", "bob", "gus", "silas", "ben", "reader", "elsewhere"]
        compared = 0
        for visibility in ("public", "members", "private"):
            forum = self.forum_of(f"{visibility} {uuid.uuid4()}", visibility)
            room = self.native("GET", f"/forums/{forum}")["room_id"]
            title = self.native("GET", f"/forums/{forum}")["title"]
            for caller in callers:
                doomed = [self.forum_of(f"{visibility} {uuid.uuid4()}", visibility) for _ in range(2)]
                name = owners.get(caller, caller)
                calls = [
                    (("GET", f"/forums/{forum}"), ("GET", f"/forum/{forum}")),
                    (("PATCH", f"/forums/{forum}", {"title": title}), ("POST", f"/forum/{forum}", {"uuid": str(forum), "title": title})),
                    (("DELETE", f"/forums/{doomed[0]}"), ("DELETE", f"/forum/{doomed[1]}")),
                    (("GET", f"/conversations/{room}/messages"), ("GET", f"/forum/{forum}/message")),
                    (("POST", f"/conversations/{room}/messages", {"text": "x"}), ("PUT", f"/forum/{forum}/message", {"text": "x"})),
                    (("GET", f"/streams/conversation:{room}/events"),
                     ("PUT", "/subscription", {"userIdentity": name, "topicId": str(forum)})),
                    (("GET", "/forums"), ("GET", "/forum")),
                    (("POST", "/forums", {"title": str(uuid.uuid4()), "visibility": "members"}),
                     ("PUT", "/forum", {"title": str(uuid.uuid4())})),
                ]
                for native, dialect in calls:
                    with self.subTest(visibility=visibility, caller=caller, call=dialect[:2]):
                        known = self.permits(native[0], "/api/v1" + native[1], *native[2:], name=caller)
                        permitted = self.permits(dialect[0], REST + dialect[1], *dialect[2:], name=caller)
                        # The dialect requires a user.
                        self.assertEqual(permitted, known and caller is not None)
                        compared += 1
                lists = []
                for path in ("/api/v1/forums?limit=200", f"{REST}/forum?resultSize=200"):
                    fields = {"Authorization": f"Bearer {self.tokens[caller]}"} if caller else {}
                    status, _, data = self.request("GET", path, **fields)
                    found = json.loads(data) if status == 200 else []
                    lists.append({int(it["id"]) for it in (found["data"] if isinstance(found, dict) else found)})
                if caller:
                    self.assertEqual(*lists)
        self.assertEqual(compared, 3 * len(callers) * 8)


class Restarts(DialectTest):
    def test_subscriptions_survive_and_expire(self):
        forum = self.make_forum()
        kept, expired = self.subscribe(forum), self.subscribe(forum)
        socket = self.open(kept)
        self.server.kill()
        with self.assertRaises(ConnectionClosed):
            socket.recv(timeout=60)
        with closing(sqlite3.connect(Path(self.data) / "parley.db")) as database, database:
            database.execute("update mormessages_subscription set expires_at = 1 where uuid = ?", (expired,))
        type(self).server = self.serve()
        self.assertEqual(self.ask("GET", f"/subscription/{expired}")[0], 404)
        listed = {it["subscriptionId"] for it in self.done(200, "GET", "/subscription")}
        self.assertEqual(listed & {kept, expired}, {kept})
        with self.assertRaises(InvalidStatus):
            self.open(expired)
        socket = self.open(kept)
        posted = self.post(forum, "after the restart")
        self.assertEqual(self.receive(socket), posted)
        self.assertEqual(self.server.stop(), 0)
        self.say("verify")
        type(self).server = self.serve()

    def test_messages_after_the_clock_was_set_back_are_newer(self):
        forum = self.make_forum()
        before = [self.post(forum, f"before {number}") for number in range(3)]
        self.server.stop()
        with closing(sqlite3.connect(Path(self.data) / "parley.db")) as database, database:
            database.executemany("update message set created_at = created_at + 3600000 where id = ?", [(it["id"],) for it in before])
            # The server makes the chains again.
            database.execute("update conversation set chained_seq = 0, chain_length = 0, chain_head = null")
            database.execute("update message set chain_position = null, proof = null")
            database.execute("delete from chain_entry")
        type(self).server = self.serve()
        last = self.done(200, "GET", f"/forum/{forum['uuid']}/message")[0]["modifiedTime"]
        after = [self.post(forum, f"after {number}") for number in range(3)]
        self.assertEqual(self.done(200, "GET", f"/forum/{forum['uuid']}/message?greaterThan={last}"), after[::-1])
        self.assertEqual(self.texts(forum, greaterThan=after[0]["modifiedTime"]), ["after 2", "after 1"])
        times = [it["modifiedTime"] for it in self.done(200, "GET", f"/forum/{forum['uuid']}/message")]
        self.assertEqual(times, sorted(set(times), reverse=True))

    def test_kills_lose_no_message(self):
        """A client sends again what was not answered, and lists what it missed, as often as the server is killed."""
        forum = self.make_forum()
        subscription = self.subscribe(forum)
        path, held, sent = f"/forum/{forum['uuid']}/message", {}, []
        for round_ in range(20):
            self.done(200, "GET", "/forum?resultSize=1")
            socket = self.open(subscription)
            killer = threading.Thread(target=self.server.kill)
            for number in range(4):
                body = {"text": f"{round_}.{number}", "uuid": str(uuid.uuid4())}
                sent.append(body)
                if number == 3:
                    killer.start()
                try:
                    self.assertIn(self.ask("PUT", path, body)[0], (200, 201))
                except (ConnectionError, http.client.HTTPException):
                    self.assertEqual(number, 3)
            killer.join()
            try:
                while True:
                    message = self.receive(socket)
                    self.assertNotIn(message["uuid"], held)
                    held[message["uuid"]] = message
            except ConnectionClosed:
                pass
            type(self).server = self.serve()
            self.assertIn(self.ask("PUT", path, sent[-1])[0], (200, 201))
            last = max((it["modifiedTime"] for it in held.values()), default="1970-01-01T00:00:00Z")
            for message in self.done(200, "GET", f"{path}?greaterThan={last}"):
                self.assertNotIn(message["uuid"], held)
                held[message["uuid"]] = message
            self.assertEqual(
                [it["text"] for it in sorted(held.values(), key=lambda it: it["modifiedTime"])], [it["text"] for it in sent])

    def test_a_restored_backup_has_uuids_and_subscriptions(self):
        forum = self.make_forum(uuid=str(uuid.uuid4()).upper())
        message = self.post(forum, "kept", uuid=str(uuid.uuid4()).upper())
        subscription = self.subscribe(forum)
        backup = str(Path(self.folder) / f"{uuid.uuid4()}.tar")
        self.say("backup", backup)
        self.post(forum, "later")
        self.server.stop()
        self.say("restore", backup, "--replace")
        type(self).server = self.serve()
        self.assertEqual(self.done(200, "GET", f"/forum/{forum['uuid']}/message"), [message])
        self.assertEqual(self.done(200, "GET", f"/forum/{forum['uuid']}"), forum)
        socket = self.open(subscription)
        posted = self.post(forum, "after the restore")
        self.assertEqual(self.receive(socket), posted)


class MissingSecondFactor(DialectTest):
    def test_only_reading_and_a_logout_go_on(self):
        forum = self.make_forum(name="grace")
        subscription = self.subscribe(forum, "grace")
        body = {"userIdentity": "grace", "topicId": forum["uuid"], "subscriptionId": subscription}
        self.native("PATCH", "/settings", {"require_second_factor": "all"})
        # The users had a week to set one up.
        self.server.stop()
        with closing(sqlite3.connect(Path(self.data) / "parley.db")) as database, database:
            database.execute("update setting set value = '1' where name = 'second_factor_since'")
            database.execute("update account set created_at = 1")
        type(self).server = self.serve()
        self.done(200, "GET", "/forum", name="grace")
        self.done(200, "GET", f"/subscription/{subscription}", name="grace")
        for method, path, it in [
            ("PUT", "/forum", {"title": str(uuid.uuid4())}), ("PUT", f"/forum/{forum['uuid']}/message", {"text": "x"}),
            ("PUT", "/subscription", body), ("POST", f"/subscription/{subscription}", body),
            ("DELETE", f"/subscription/{subscription}", None),
        ]:
            self.failed(403, method, path, it, "grace")
        self.done(200, "GET", f"/subscription/{subscription}", name="grace")
        count = len(self.sessions("grace"))
        self.done(200, "DELETE", "/auth/logout", name="grace")
        self.assertEqual(len(self.sessions("grace")), count - 1)


class FullDisk(DialectTest):
    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise unittest.SkipTest("only root can mount a file system")
        super().setUpClass()

    @classmethod
    def serve(cls, *more):
        if not Path(cls.data).exists():
            Path(cls.data).mkdir()
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={24 << 20}", "tmpfs", cls.data], check=True)
            cls.addClassCleanup(lambda: subprocess.run(["umount", "--lazy", cls.data], check=True))
        return super().serve(*more)

    def test_changes_are_refused_and_deletions_are_not(self):
        forum = self.make_forum()
        subscription = self.subscribe(forum)
        disk = os.statvfs(self.data)
        with open(Path(self.data) / "fill", "wb") as file:
            os.posix_fallocate(file.fileno(), 0, disk.f_bfree * disk.f_frsize)
        deadline = time.monotonic() + 60
        while self.ask("PUT", f"/forum/{forum['uuid']}/message", {"text": "wool " * 1000})[0] != 503:
            self.assertLess(time.monotonic(), deadline, "the disk is full")
        body = {"userIdentity": "ada", "topicId": forum["uuid"], "subscriptionId": subscription}
        self.failed(503, "PUT", "/forum", {"title": str(uuid.uuid4())})
        self.failed(503, "PUT", "/subscription", body)
        self.failed(503, "POST", f"/subscription/{subscription}", body)
        self.done(204, "DELETE", f"/subscription/{subscription}")
        self.done(200, "DELETE", "/auth/logout")
        self.done(200, "GET", "/forum")


class HostileInput(DialectTest):
    BODIES = [
        b"", b"null", b"[]", b"7", b'"text"', b"{", b'{"text": }', b'{"text": "x"} x', b"\xff\xfe", b'{"text": "\xff"}',
        b'{"text": "\\u0000"}', b'{"text": "\\ud800"}', b'{"text": "\\udc00\\ud800"}', b'{"text": "x", "text": "y"}',
        b'{"text": {}}', b'{"text": []}', b'{"text": true}', b'{"text": 1.5}', b'{"text": 1e999}', b'{"text": "x", "uuid": {}}',
        b'{"text": "x", "uuid": "\\u0000"}', b'{"text": "x", "imageUrl": {}}', b'{"text": "x", "imageUrl": "\\u0000"}',
        b'{"text": "x", "forumUuid": {}}', b'{"text": "x", "forumUuid": "x"}', b'{"title": {}}', b'{"title": []}', b'{"title": ""}',
        b'{"title": "\\u0000"}', b'{"title": "\\n"}', b'{"title": "\\ud800"}', b'{"title": "' + b"x" * 1000 + b'"}',
        b'{"title": "x", "description": {}}', b'{"title": "x", "description": "\\u0000"}', b'{"title": "x", "imageUrl": 7}',
        b'{"title": "x", "uuid": "x"}', b'{"title": "x", "uuid": []}', b'{"title": "x", "id": {}}', b'{"userIdentity": {}}',
        b'{"userIdentity": "ada", "topicId": {}}', b'{"userIdentity": "ada", "topicId": "\\u0000"}',
        b'{"username": {}, "password": []}', b'{"username": "\\u0000", "password": "\\ud800"}',
        b'{"username": "' + b"x" * 100_000 + b'", "password": "x"}', b"[" * 100_000, b'{"text":' * 100_000, b"x" * 10_000_000,
        b'{"text": "' + b"x" * 10_000_000 + b'"}',
    ]

    def test_bodies(self):
        forum = self.make_forum()
        subscription = self.subscribe(forum)
        targets = [("PUT", "/forum"), ("POST", f"/forum/{forum['uuid']}"), ("PUT", f"/forum/{forum['uuid']}/message"),
                   ("PUT", "/subscription"), ("POST", f"/subscription/{subscription}"), ("POST", "/auth/login")]
        for method, path in targets:
            for body in self.BODIES:
                with self.subTest(method=method, path=path, body=body[:60]):
                    try:
                        status, _, data = self.request(method, REST + path, body, Authorization=basic("ada"))
                    except (BrokenPipeError, ConnectionResetError):
                        # The server answers a body over the limit without reading it.
                        self.assertGreater(len(body), 1_000_000)
                        continue
                    text = data.decode()
                    mismatch = "url path forumId does not match posted forum.id"
                    self.assertTrue(400 <= status < 500 or status == 500 and mismatch in text, (status, text))
                    if path.startswith("/subscription") and not text.startswith("{"):
                        continue
                    answer = json.loads(text)
                    self.assertIn(answer["status"]["code"], (2, 3))
                    self.assertIsNone(answer["data"])
                    self.assertTrue(answer["status"]["details"])

    def test_a_body_over_the_limit_has_the_shape_of_the_dialect(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with closing(connection):
            connection.putrequest("PUT", REST + "/forum")
            for name, value in (("Authorization", basic("ada")), ("Content-Length", str(10_000_000))):
                connection.putheader(name, value)
            connection.endheaders()
            answer = connection.getresponse()
            self.assertEqual((answer.status, json.loads(answer.read())["status"]["code"]), (413, 2))

    def test_paths(self):
        for name in ("x", "%00", "%ff", "..", "0", "-1", "9" * 30, "x" * 5000, "7061726c-6579-8001-80ff-ffffffffffff",
                     "7061726c-6579-8002-8000-000000000001", str(uuid.uuid4())):
            for method, path in (("GET", f"/forum/{name}"), ("GET", f"/forum/{name}/message"), ("DELETE", f"/forum/{name}"),
                                 ("GET", f"/subscription/{name}"), ("DELETE", f"/subscription/{name}")):
                status, _, _ = self.request(method, REST + path, Authorization=basic("ada"))
                self.assertIn(status, (204, 404, 414), (method, path))

    def test_numbers_as_text_and_text_as_numbers(self):
        forum = self.make_forum()
        self.assertEqual(self.done(201, "PUT", f"/forum/{forum['uuid']}/message", {"text": 812})["text"], "812")
        self.failed(409, "PUT", "/forum", {"title": "x", "id": "7"})
        self.done(201, "PUT", f"/forum/{forum['id']}/message", {"text": "x", "forumUuid": forum["id"]})

    def test_bodies_without_a_media_type(self):
        forum = self.make_forum()
        status, _, _ = self.request("PUT", f"{REST}/forum/{forum['uuid']}/message", '{"text": "x"}', Authorization=basic("ada"))
        self.assertEqual(status, 201)


class Limits(DialectTest):
    flags = ("--dialects", "mormessages", "--rate-sending-burst", "3", "--rate-sending", "1", "--rate-login-burst", "100",
             "--rate-guessing-burst", "5", "--rate-guessing", "1", "--rate-searches-burst", "2", "--rate-searches", "1")

    def test_messages_count_with_those_of_the_app(self):
        forum = self.make_forum()
        room = self.native("GET", f"/forums/{forum['id']}")["room_id"]
        self.post(forum, "one", "grace")
        self.native("POST", f"/conversations/{room}/messages", {"text": "two"}, "grace")
        self.post(forum, "three", "grace")
        path = f"{REST}/forum/{forum['uuid']}/message"
        status, fields, data = self.request("PUT", path, '{"text": "four"}', Authorization=basic("grace"))
        self.assertEqual((status, json.loads(data)["status"]["code"]), (429, 2))
        self.assertGreater(int(fields["Retry-After"]), 0)
        self.assertEqual(fields["RateLimit-Remaining"], "0")

    def test_deep_offsets_count_as_searches(self):
        forum = self.make_forum()
        self.done(200, "GET", "/forum?offset=5000", name="mira")
        self.done(200, "GET", f"/forum/{forum['uuid']}/message?offset=5000", name="mira")
        self.failed(429, "GET", "/forum?offset=1001", name="mira")
        self.failed(429, "GET", f"/forum/{forum['uuid']}/message?offset=10000", name="mira")
        self.done(200, "GET", "/forum?offset=1000", name="mira")

    def test_failures_have_the_fields_of_the_limit(self):
        for path, expected in ((f"/forum/{uuid.uuid4()}/message", 404), ("/forum?offset=x", 400), ("/subscription/x", 404)):
            status, fields, _ = self.request("GET", REST + path, Authorization=basic("ada"))
            self.assertEqual(status, expected)
            for name in ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"):
                self.assertEqual(len(fields.get_all(name, [])), 1, (path, name))

    def test_guesses_are_limited(self):
        for _ in range(5):
            self.failed(401, "GET", "/forum", name=None, Authorization=basic("linus", "wrong"))
        self.failed(429, "GET", "/forum", name=None, Authorization=basic("linus", "wrong"))
        self.failed(429, "POST", "/auth/login", {"username": "linus", "password": "wrong"}, name=None)
        self.assertIn("reason=limit", self.server.output())


class Encryption(DialectTest):
    flags = ("--dialects", "mormessages", "--trusted-proxy", "127.0.0.1/32", "--public-url", "https://chat.example.org", *ENDLESS)

    def test_other_machines_need_tls(self):
        far = {"X-Forwarded-For": "203.0.113.5"}
        for fields, expected in (({**far, "X-Forwarded-Proto": "http"}, 403), ({**far, "X-Forwarded-Proto": "https"}, 200),
                                 (far, 403), ({"Via": "1.1 proxy"}, 403), ({}, 200)):
            status, _, data = self.request("GET", f"{REST}/forum", Authorization=basic("ada"), **fields)
            self.assertEqual(status, expected, data)
        # Another program of this machine may call, but not pass on what it likes.
        for fields, expected in (({}, 200), ({"X-Forwarded-Proto": "https"}, 403), ({"Forwarded": "proto=https"}, 403)):
            status, _, data = self.request("GET", f"{REST}/forum", source=("127.0.0.2", 0), Authorization=basic("ada"), **fields)
            self.assertEqual(status, expected, data)
        who = {**far, "X-Forwarded-Proto": "http"}
        self.assertEqual(self.request("GET", f"{REST}/auth/whoami", **who)[0], 200)
        status, fields, _ = self.request(
            "POST", f"{REST}/auth/login", json.dumps({"username": "ada", "password": PASSWORD}), **{**far, "X-Forwarded-Proto": "https"})
        self.assertEqual(status, 200)
        self.assertTrue(any(it.startswith("__Host-parley=") and "Secure" in it for it in fields.get_all("Set-Cookie")))

    def test_each_network_signs_in(self):
        self.add_user("nell")
        for address in ("203.0.113.5", "203.0.113.6", "198.51.100.7", "203.0.113.7", "198.51.100.7"):
            self.done(200, "GET", "/forum", name="nell", **{"X-Forwarded-For": address, "X-Forwarded-Proto": "https"})
        self.assertEqual(len(self.sessions("nell")), 2)
        self.assertEqual(len(self.native("GET", "/me/sign-ins", name="nell")["data"]), 2)


class Off(ServingTest):
    def test_off_is_off(self):
        with self.start(*parley(self.folder)) as server:
            answers = []
            for path in (f"{REST}/forum", f"{REST}/auth/login", f"/mormessages/api/websocket/{uuid.uuid4()}", "/mormessages/x", "/nothing"):
                connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
                with closing(connection):
                    connection.request("GET", path, headers={"Authorization": basic("ada")})
                    answer = connection.getresponse()
                    answers.append((answer.status, re.sub(rb'"request":"[^"]*"', b"", answer.read())))
            self.assertEqual(set(answers), {answers[-1]})
            self.assertEqual(answers[0][0], 404)

    def test_names(self):
        for name in ("appnet", "skygear", "x", "MorMessages", "Pnut"):
            done = subprocess.run([PARLEY, "serve", "--data", f"{self.folder}/none", "--dialects", f"mormessages,{name}"],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f'--dialects takes names of mormessages, pnut, not "{name}".', done.stderr)

    def test_the_command(self):
        def say(*arguments):
            done = subprocess.run([PARLEY, "dialects", *arguments], capture_output=True, text=True, timeout=60, check=True)
            return done.stdout
        text = say("--public-url", "https://chat.example.org")
        self.assertIn("mormessages: off, --dialects mormessages enables it\n", text)
        self.assertIn("https://chat.example.org/mormessages/api/rest\n", text)
        self.assertIn("wss://chat.example.org/mormessages/api/websocket\n", text)
        self.assertIn("BaseUrl and BaseSocketUrl in ForumService.swift", text)
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
            file.write("dialects = mormessages\n")
            file.flush()
            self.assertIn("mormessages: on\n", say("--config", file.name))
            printed, other = map(json.loads, say("--config", file.name, "--json").splitlines())
        self.assertEqual((other["name"], other["enabled"], other["addresses"]), ("pnut", False, {"rest": "http://127.0.0.1:8080/v1"}))
        self.assertEqual((printed["name"], printed["enabled"], printed["addresses"]["websocket"]),
                         ("mormessages", True, "ws://127.0.0.1:8080/mormessages/api/websocket"))


class Migration(unittest.TestCase):
    def test_forums_of_a_site_get_different_times(self):
        with closing(sqlite3.connect(":memory:")) as database:
            database.executescript("""
                create table account (id integer primary key);
                create table forum (id integer primary key, created_at integer not null, created_by integer not null);
                insert into account values (1), (2);
                """)
            crowd = [(number, 7, 1) for number in range(10, 1510)]
            forums = [(1, 5, 1), (2, 5, 2), (3, 4, 1), *crowd, (2000, 8, 2), (2001, 9, 1)]
            database.executemany("insert into forum values (?, ?, ?)", forums)
            database.executescript(next((TOP / "Migrations/sqlite").glob("????_dialects.sql")).read_text())
            times = dict(database.execute("select id, changed_at from forum"))
            self.assertEqual([times[it] for it in (3, 1, 2, 10, 11, 1509, 2000, 2001)], [4000, 5000, 5001, 7000, 7001, 8499, 8500, 9000])
            self.assertEqual(len(set(times.values())), len(times))
            self.assertEqual(database.execute("select count(*) from forum where changed_by is not created_by").fetchone(), (0,))


if __name__ == "__main__":
    unittest.main()
