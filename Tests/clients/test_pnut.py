"""The dialect of pnut: every call of its unmodified Python library, pnutpy, and the answers to other requests."""

import functools
import http.client
import importlib
import io
import json
import re
import shutil
import sys
import tempfile
import types
import unittest
import zipfile
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode, urlsplit, urlunsplit

from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session
from dialect_site import ENDLESS, PASSWORD, DialectSite
from import_sources import png
from servers import BUILD
from serving import ServingTest, parley
from test_oauth import URI, Browser

sys.path += [str(path) for path in (BUILD / "tools" / "pnut").glob("lib/python3*/site-packages")]

import jsonschema  # noqa: E402
import pnutpy  # noqa: E402
import requests  # noqa: E402
from pnutpy import errors  # noqa: E402
from websockets.sync.client import connect  # noqa: E402

PM = "io.pnut.core.pm"
CHAT = "io.pnut.core.chat"


def public_calls():
    """The calls that the library binds, found by listing its class."""
    own = {name for name in vars(pnutpy.API) if not name.startswith("_")}
    return own - {name for name in vars(requests.Session)} - {"build_api", "request", "request_json", "add_authorization_token"}


COVERED = set()


def calls(*names):
    """The calls of the library that a test makes. It fails if it does not make them."""
    COVERED.update(names)

    def wrap(test):
        @functools.wraps(test)
        def run(self):
            test(self)
            self.assertLessEqual(set(names), {name for client in self.clients.values() for name in client.made})
        return run
    return wrap


SCHEMAS = json.loads((Path(__file__).parent / "schemas" / "pnut.json").read_text())
SHAPES = {kind: jsonschema.Draft202012Validator({"$ref": f"#/$defs/{kind}", **SCHEMAS}) for kind in SCHEMAS["$defs"]}
# The object of the answers of a path, without its prefix: the first that fits.
KINDS_OF_PATHS = [(re.compile(path), kind) for path, kind in (
    (r"/posts/streams/explore$", "explore"), (r"/markers$", "marker"), (r"/(users/me|posts/[^/]+)/(inter)?actions$", "interaction"),
    (r"(/users/[^/]+)?/presence$", "presence"), (r"/users/me/files$|/files", "file"), (r"/users/me/polls$|/polls", "poll"),
    (r"/users/me/channels/num_unread", "unread"), (r"/users/me/channels", "channel"), (r"/users/me/messages$", "message"),
    (r"/users/[^/]+/(posts|bookmarks|mentions)$", "post"), (r"/users", "user"), (r"/posts", "post"),
    (r"/channels/[^/]+/subscribers$", "user"), (r"/channels/([^/]+/)?(messages|sticky_messages)", "message"),
    (r"/channels", "channel"), (r"/token$", "token"), (r"/sys/config$", "config"), (r"/sys/stats$", "stats"), (r"/text/process$", "text"))]


def check_shape(path, status, answer):
    """Holds an answer to the schemas."""
    SHAPES["meta"].validate(answer["meta"])
    assert answer["meta"]["code"] == status, answer["meta"]
    assert ("data" in answer) == (status < 300) == ("error_message" not in answer["meta"]), answer
    if status < 300:
        kind = next(kind for pattern, kind in KINDS_OF_PATHS if pattern.match(path))
        for value in answer["data"] if isinstance(answer["data"], list) else [answer["data"]]:
            SHAPES[kind].validate(value)
        if "more" in answer["meta"]:
            assert answer["data"] or not answer["meta"]["more"], answer["meta"]


def check_answer(answer, **settings):
    """A hook of the session of the library, which does not change the answer."""
    path = urlsplit(answer.url).path
    if path.startswith("/v1/") and answer.headers.get("Content-Type", "").startswith("application/json"):
        check_shape(path.removeprefix("/v1"), answer.status_code, answer.json())


class Recording:
    """A client that records the names of its calls. Those that objects of the library make count, too."""

    def __init__(self, api):
        self.api = api
        self.made = set()
        api.hooks["response"].append(check_answer)

    def __getattr__(self, name):
        self.made.add(name)
        return getattr(self.api, name)


class PnutTest(DialectSite):
    flags = ("--dialects", "pnut", *ENDLESS)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.clients, cls.ids = {}, {}
        for name, token in cls.tokens.items():
            api = pnutpy.API.build_api(f"http://127.0.0.1:{cls.port}/v1", token)
            cls.clients[name] = Recording(api)
            cls.ids[name] = str(api.get_user("me")[0].id)
        # The first message of a stranger would be a request.
        cls.forum = cls.api("POST", "/forums", {"title": "Weavers", "visibility": "members"})["id"]
        for name in ("grace", "linus"):
            cls.api("PUT", f"/forums/{cls.forum}/members/me", {}, name)

    @classmethod
    def api(cls, method, path, body=None, name="ada"):
        answer = requests.request(method, f"http://127.0.0.1:{cls.port}/api/v1{path}", json=body,
                                  headers={"Authorization": f"Bearer {cls.tokens[name]}"})
        assert answer.status_code < 300, answer.text
        return answer.json() if answer.content else None

    def setUp(self):
        self.ada, self.grace, self.linus = (self.clients[name] for name in ("ada", "grace", "linus"))
        for client in self.clients.values():
            client.made.clear()

    def ask(self, method, path, body=None, name="ada", **fields):
        """The status and the JSON of an answer."""
        if name:
            fields.setdefault("Authorization", f"Bearer {self.tokens[name]}")
        if body is not None and not isinstance(body, (bytes, str)):
            body, fields = json.dumps(body), {"Content-Type": "application/json", **fields}
        status, _, data = self.request(method, "/v1" + path, body, **fields)
        answer = json.loads(data)
        check_shape(path.split("?")[0], status, answer)
        return status, answer

    def post(self, text, client=None, **more):
        return (client or self.ada).create_post(data={"text": text, **more})[0]

    def texts(self, found):
        return [it.content.text for it in found]


class EveryCall(PnutTest):
    def test_every_call_of_the_library_has_a_test(self):
        self.assertGreater(len(public_calls()), 80)
        self.assertEqual(public_calls() - COVERED, set())

    # Posts.

    @calls("create_post", "get_post", "delete_post")
    def test_a_post_is_created_read_and_deleted(self):
        post, meta = self.ada.create_post(data={"text": "pizza #food @grace https://wool.example/a"})
        self.assertEqual(meta.code, 201)
        self.assertEqual(post.content.text, "pizza #food @grace https://wool.example/a")
        self.assertEqual((post.user.username, post.user.id), ("ada", int(self.ids["ada"])))
        self.assertEqual(post.thread_id, str(post.id))
        entities = post.content.entities
        self.assertEqual([(it.text, it.pos, it.len) for it in entities.tags], [("food", 6, 5)])
        self.assertEqual([(it.id, it.text, it.pos) for it in entities.mentions], [(self.ids["grace"], "grace", 12)])
        self.assertEqual([(it.url, it.pos) for it in entities.links], [("https://wool.example/a", 19)])
        self.assertIn('<span data-tag-name="food" itemprop="tag">#food</span>', post.content.html)
        self.assertEqual(dict(post.counts, _api=None), {"_api": None, "bookmarks": 0, "replies": 0, "reposts": 0, "threads": 0})
        read, meta = self.grace.get_post(post)
        self.assertEqual((meta.code, read.content.text), (200, post.content.text))
        self.assertEqual(self.api("GET", f"/messages/{post.id}")["text"], post.content.text)
        deleted, _ = self.ada.delete_post(post)
        self.assertTrue(deleted.is_deleted)
        self.assertNotIn("content", deleted)
        self.assertTrue(self.ada.delete_post(post)[0].is_deleted)

    @calls("repost_post", "unrepost_post", "bookmark_post", "unbookmark_post", "users_bookmarked_posts")
    def test_posts_are_reposted_and_bookmarked(self):
        post = self.post("yarn")
        acted, meta = self.grace.repost_post(post)
        self.assertEqual((meta.code, acted.id, acted.you_reposted, acted.counts.reposts), (201, post.id, True, 1))
        entry = next(it for it in self.grace.users_posts("me")[0] if it.get("repost_of"))
        self.assertEqual((entry.repost_of.id, entry.repost_of.content.text), (post.id, "yarn"))
        # The original is acted on in place of the repost.
        self.assertEqual(self.linus.bookmark_post(entry)[0].id, post.id)
        self.assertEqual([it.id for it in self.linus.users_bookmarked_posts("me")[0]], [post.id])
        with self.assertRaises(errors.PnutMissing):
            self.grace.users_bookmarked_posts(self.ids["linus"])
        shown, _ = self.linus.get_post(post, include_bookmarked_by=True, include_reposted_by=True)
        self.assertEqual([it.username for it in shown.starred_by], ["linus"])
        self.assertEqual([it.username for it in shown.reposters], ["grace"])
        plain = self.post("plain")
        found, _ = self.linus.get_posts(ids=f"{post.id},{plain.id}", include_bookmarked_by=True, include_reposted_by=True)
        self.assertEqual([[it.username for it in one.starred_by] for one in found], [["linus"], []])
        self.assertEqual([[it.username for it in one.reposters] for one in found], [["grace"], []])
        self.assertFalse(self.linus.unbookmark_post(post)[0].you_bookmarked)
        self.assertFalse(self.grace.unrepost_post(post)[0].you_reposted)
        self.assertEqual(self.linus.users_bookmarked_posts("me")[0], [])

    @calls("get_posts", "users_posts", "users_mentioned_posts", "posts_with_hashtag", "post_search")
    def test_posts_are_found(self):
        one, two = self.post("first #Loom"), self.post("second @linus")
        ids = f"{two.id}, {one.id},9007199254740990,{two.id}"
        self.assertEqual([it.id for it in self.grace.get_posts(ids=ids)[0]], [two.id, one.id, two.id])
        posts, meta = self.grace.users_posts("@ada", count=2)
        self.assertEqual([it.id for it in posts], [two.id, one.id])
        self.assertEqual((meta.min_id, meta.max_id), (str(one.id), str(two.id)))
        self.assertEqual([it.id for it in self.linus.users_mentioned_posts("me")[0]], [two.id])
        self.assertEqual([it.id for it in self.linus.posts_with_hashtag("loom")[0]], [one.id])
        self.assertEqual([it.id for it in self.linus.post_search(q="second", creator_id=self.ids["ada"])[0]], [two.id])
        self.assertEqual(self.linus.post_search(q="nowhere")[0], [])

    @calls("posts_thread")
    def test_a_thread_has_replies_to_replies(self):
        root = self.post("knit?")
        reply = self.post("yes", self.grace, reply_to=root.id)
        answer = self.post("good", self.linus, reply_to=str(reply.id))
        self.assertEqual((reply.reply_to, answer.reply_to), (str(root.id), str(reply.id)))
        self.assertEqual((reply.thread_id, answer.thread_id), (str(root.id), str(root.id)))
        for start in (root, reply, answer):
            self.assertEqual([it.id for it in self.ada.posts_thread(start)[0]], [answer.id, reply.id, root.id])
        self.assertEqual(self.ada.get_post(root)[0].counts.replies, 1)

    def test_a_long_thread_has_its_newest_replies(self):
        root = self.post("root")
        for number in range(205):
            self.post(str(number), reply_to=root.id)
        thread, meta = self.ada.posts_thread(root, count=3)
        self.assertEqual((self.texts(thread), meta.more), (["204", "203", "202"], True))
        found = self.ask("GET", f"/posts/{root.id}/interactions")[1]["data"]
        self.assertEqual({it["objects"][0]["content"]["text"] for it in found}, {str(number) for number in range(5, 205)})

    @calls("users_post_streams_me", "users_post_streams_unified", "posts_streams_global",
           "get_explore_streams", "get_explore_stream")
    def test_streams(self):
        self.grace.follow_user("@linus")
        followed, mention, other = self.post("a", self.linus), self.post("for @grace"), self.post("b")
        own = self.post("c", self.grace)
        mine = [it.id for it in self.grace.users_post_streams_me(since_id=followed.id - 1)[0]]
        self.assertEqual(mine, [own.id, followed.id])
        unified = [it.id for it in self.grace.users_post_streams_unified(since_id=followed.id - 1)[0]]
        self.assertEqual(unified, [own.id, mention.id, followed.id])
        everything = [own.id, other.id, mention.id, followed.id]
        self.assertEqual([it.id for it in self.grace.posts_streams_global(since_id=followed.id - 1)[0]], everything)
        streams, _ = self.grace.get_explore_streams()
        self.assertEqual([it.id for it in streams], ["posts", "photos"])
        posts, _ = self.grace.get_explore_stream(streams[0], count=4)
        self.assertEqual([it.id for it in posts], everything)
        self.assertNotIn(own.id, [it.id for it in self.grace.get_explore_stream("photos")[0]])
        self.grace.unfollow_user("@linus")

    @calls("interactions_with_user")
    def test_interactions_are_mentions_and_replies(self):
        post = self.post("ask", self.linus)
        reply = self.post("told", reply_to=post.id)
        found, _ = self.linus.interactions_with_user(count=1)
        self.assertEqual([(it.action, it.objects[0].id, it.users[0].username) for it in found], [("reply", reply.id, "ada")])
        self.assertIsNotNone(found[0].event_date.tzinfo)

    def test_facts_about_a_post(self):
        post = self.post("hnak")
        status, revised = self.ask("PUT", f"/posts/{post.id}", {"text": "hank"})
        self.assertEqual((status, revised["data"]["content"]["text"], revised["data"]["is_revised"]), (201, "hank", True))
        self.assertEqual([it["content"]["text"] for it in self.ask("GET", f"/posts/{post.id}/revisions")[1]["data"]], ["hnak"])
        self.grace.repost_post(post)
        reply = self.post("nice", self.linus, reply_to=post.id)
        found = self.ask("GET", f"/posts/{post.id}/interactions")[1]["data"]
        self.assertEqual([(it["action"], it["users"][0]["username"]) for it in found], [("reply", "linus"), ("repost", "grace")])
        self.assertEqual(found[0]["objects"][0]["id"], str(reply.id))
        self.assertEqual(self.ask("POST", f"/posts/{reply.id}/report", {"reason": "spam"}, "grace")[0], 200)
        self.assertEqual([it["message_id"] for it in self.api("GET", "/reports")["data"]], [str(reply.id)])
        self.assertEqual(self.ask("POST", f"/posts/{reply.id}/report", {}, "grace")[0], 400)

    def test_the_newest_revisions_are_listed(self):
        post = self.post("0")
        for number in range(1, 203):
            self.assertEqual(self.ask("PUT", f"/posts/{post.id}", {"text": str(number)})[0], 201)
        texts = [it["content"]["text"] for it in self.ask("GET", f"/posts/{post.id}/revisions")[1]["data"]]
        self.assertEqual(texts, [str(number) for number in range(201, 1, -1)])

    # Users.

    @calls("get_user", "get_users", "update_user", "patch_user")
    def test_users_are_read_and_changed(self):
        me, meta = self.grace.get_user("me")
        self.assertEqual((meta.code, me.username, me.type, me.name), (200, "grace", "human", "grace"))
        self.assertEqual(set(me.counts) - {"_api"}, {"bookmarks", "clients", "followers", "following", "posts"})
        changed, _ = self.grace.patch_user("me", data={"name": "Grace H", "content": {"text": "See [a](https://wool.example/b)"}})
        self.assertEqual((changed.name, changed.content.text), ("Grace H", "See a [wool.example]"))
        # The whole user comes back, with the text as it was shown.
        changed.name = "Grace"
        changed.locale, changed.timezone = "de_DE", "Europe/Berlin"
        changed.update_user()
        self.assertEqual((self.ada.get_user("@grace")[0].locale, self.ada.get_user("@grace")[0].timezone), ("de_DE", "Europe/Berlin"))
        self.assertEqual(self.api("GET", "/me", name="grace")["bio"], "See [a](https://wool.example/b)")
        self.assertEqual(self.api("GET", "/me", name="grace")["display_name"], "Grace")
        replaced, _ = self.grace.update_user("me", data={"name": "grace", "content": {"text": ""}})
        self.assertEqual((replaced.name, replaced.content.text), ("grace", ""))
        users, _ = self.ada.get_users(ids=f"{self.ids['grace']},{self.ids['ada']},9007199254740990")
        self.assertEqual([it.username for it in users], ["grace", "ada"])
        with self.assertRaises(errors.PnutPermissionDenied):
            self.grace.patch_user("@ada", data={"name": "x"})
        with self.assertRaises(errors.PnutMissing):
            self.grace.get_user("@nobody")

    @calls("update_avatar", "update_cover")
    def test_the_avatar_is_uploaded(self):
        before, _ = self.linus.get_user("me")
        self.assertTrue(before.content.avatar_image.is_default)
        after, _ = self.linus.update_avatar("me", files={"avatar": ("avatar.png", io.BytesIO(png(8)), "image/png")})
        image = after.content.avatar_image
        self.assertEqual((image.is_default, image.width, image.height), (False, 8, 8))
        self.assertEqual(requests.get(image.url).headers["Content-Type"], "image/png")
        self.assertTrue(after.content.cover_image.is_default)
        covered, _ = self.linus.update_cover("me", files={"cover": ("cover.png", io.BytesIO(png(16, 4)), "image/png")})
        image = covered.content.cover_image
        self.assertEqual((image.is_default, image.width, image.height), (False, 16, 4))
        for address in (image.url, f"http://127.0.0.1:{self.port}/v1/users/@linus/cover"):
            self.assertEqual(requests.get(address, headers={"Authorization": f"Bearer {self.tokens['ada']}"}).content, png(16, 4))
        self.assertTrue(self.ask("DELETE", "/users/me/cover", name="linus")[1]["data"]["content"]["cover_image"]["is_default"])
        with self.assertRaises(errors.PnutBadRequestAPIException):
            self.linus.update_cover("me", files={"cover": ("cover.txt", io.BytesIO(b"wool"), "text/plain")})

    def test_a_refused_change_of_a_user_changes_nothing(self):
        before = self.ask("GET", "/users/me", name="linus")[1]["data"]
        for wrong in ({"name": "x" * 1_000}, {"content": {"text": "a\0b"}}, {"timezone": "Europe/Berlin "}):
            self.assertEqual(self.ask("PATCH", "/users/me", {"name": "Loom", "locale": "fr", **wrong}, "linus")[0], 400)
        after = self.ask("GET", "/users/me", name="linus")[1]["data"]
        self.assertEqual((after["name"], after.get("locale")), (before["name"], before.get("locale")))

    def test_staff_delete_pictures_of_others(self):
        for name in ("avatar", "cover"):
            with self.subTest(name=name):
                getattr(self.linus, f"update_{name}")("me", files={name: (f"{name}.png", io.BytesIO(png(8)), "image/png")})
                self.assertEqual(self.ask("DELETE", f"/users/@linus/{name}", name="grace")[0], 403)
                self.assertEqual(self.ask("DELETE", f"/users/@unknown/{name}", name="grace")[0], 404)
                self.assertFalse(self.linus.get_user("me")[0].content[f"{name}_image"]["is_default"])
                status, answer = self.ask("DELETE", f"/users/@linus/{name}")
                self.assertEqual((status, answer["data"]["content"][f"{name}_image"]["is_default"]), (200, True))

    @calls("follow_user", "unfollow_user", "users_following", "users_followers")
    def test_users_follow(self):
        user, _ = self.linus.follow_user("@ada")
        self.assertEqual((user.username, user.you_follow, user.follows_you), ("ada", True, False))
        self.assertEqual([it.username for it in self.linus.users_following("me")[0]], ["ada"])
        followers, meta = self.ada.users_followers("me")
        self.assertEqual(([it.username for it in followers], meta.more), (["linus"], False))
        self.assertTrue(self.ada.get_user("@linus")[0].follows_you)
        self.assertFalse(self.linus.unfollow_user("@ada")[0].you_follow)

    @calls("mute_user", "unmute_user", "users_muted_users", "users_muted_users_ids",
           "block_user", "unblock_user", "users_blocked_users")
    def test_users_are_muted_and_blocked(self):
        self.assertTrue(self.grace.mute_user("@linus")[0].you_muted)
        self.assertEqual([it.username for it in self.grace.users_muted_users("me")[0]], ["linus"])
        self.assertEqual([it.username for it in self.grace.users_muted_users_ids("me")[0]], ["linus"])
        with self.assertRaises(errors.PnutPermissionDenied):
            self.grace.users_muted_users(self.ids["linus"])
        self.assertFalse(self.grace.unmute_user("@linus")[0].you_muted)
        blocked, _ = self.grace.block_user("@linus")
        self.assertEqual((blocked.you_blocked, blocked.you_can_follow), (True, False))
        self.assertEqual([it.username for it in self.grace.users_blocked_users("me")[0]], ["linus"])
        self.assertFalse(self.grace.unblock_user("@linus")[0].you_blocked)

    @calls("user_search")
    def test_users_are_searched(self):
        self.assertEqual([it.username for it in self.ada.user_search(q="gra")[0]], ["grace"])
        self.assertEqual(self.ada.user_search(q="zzz")[0], [])

    def test_the_export_of_a_user_has_the_profile_of_the_dialect(self):
        self.assertEqual(self.ask("PATCH", "/users/me", {"locale": "de", "timezone": "Europe/Berlin"}, "linus")[0], 200)
        with tempfile.TemporaryDirectory(prefix="parley-") as folder:
            path = Path(folder) / "linus.zip"
            self.say("export", str(path), "--user", "linus")
            with zipfile.ZipFile(path) as archive:
                profile = json.loads(archive.read("profile.jsonl"))
        self.assertEqual((profile["locale"], profile["time_zone"]), ("de", "Europe/Berlin"))

    @calls("user_presence", "get_users_presence", "update_users_presence")
    def test_presence_is_the_status_text(self):
        set_, meta = self.linus.update_users_presence("me", data={"presence": "knitting"})
        self.assertEqual((meta.code, set_["presence"], set_["username"]), (200, "knitting", "linus"))
        self.assertEqual(self.api("GET", "/me", name="linus")["status_text"], "knitting")
        self.assertEqual(self.ada.get_users_presence("@linus")[0]["presence"], "knitting")
        self.ada.follow_user("@linus")
        self.assertEqual([it["presence"] for it in self.ada.user_presence()[0]], ["knitting"])
        self.ada.unfollow_user("@linus")
        self.assertEqual(self.linus.update_users_presence("me", presence=0)[0]["presence"], "offline")

    # Channels and messages.

    def make_channel(self, client=None, **lists):
        acl = {name: {"user_ids": [], "immutable": False, **lists.get(name, {})} for name in ("full", "write", "read")}
        return (client or self.ada).create_channel(data={"type": "com.example.wool", "acl": acl})[0]

    @calls("create_channel", "get_channel", "get_channels", "users_channels", "update_channel")
    def test_channels(self):
        channel, meta = self.ada.create_channel(data={
            "type": "com.example.wool",
            "acl": {"full": {"user_ids": []}, "write": {"user_ids": [self.ids["grace"]]}, "read": {"any_user": True}}})
        self.assertEqual((meta.code, channel.type, channel.user.username), (201, "com.example.wool", "ada"))
        self.assertEqual((channel.acl.write.user_ids, channel.acl.read.any_user), ([self.ids["grace"]], True))
        self.assertEqual((channel.acl.full.you, channel.you_subscribed), (True, True))
        self.assertEqual(self.grace.get_channel(channel)[0].acl.write.you, True)
        self.assertEqual(self.linus.get_channel(channel)[0].acl.write.you, False)
        self.assertEqual([it.id for it in self.linus.get_channels(ids=f"{channel.id},1")[0]], [channel.id])
        self.assertEqual(self.ada.users_channels(count=1)[0][0].id, channel.id)
        changed, _ = self.ada.update_channel(channel, data={
            "acl": {"write": {"user_ids": [self.ids["linus"]]}, "read": {"any_user": False}}})
        self.assertEqual((changed.acl.write.user_ids, changed.acl.read.any_user), ([self.ids["linus"]], False))
        with self.assertRaises(errors.PnutMissing):
            self.grace.get_channel(channel)
        with self.assertRaises(errors.PnutPermissionDenied):
            self.linus.update_channel(channel, data={"acl": {"read": {"any_user": True}}})

    @calls("subscribe_channel", "unsubscribe_channel", "subscribed_users", "subscribed_channels",
           "mute_channel", "unmute_channel", "muted_channels")
    def test_channels_are_subscribed_and_muted(self):
        channel = self.make_channel(read={"any_user": True})
        self.assertFalse(self.grace.get_channel(channel.id)[0].you_subscribed)
        self.assertTrue(self.grace.subscribe_channel(channel.id)[0].you_subscribed)
        self.assertEqual({it.username for it in self.ada.subscribed_users(channel.id)[0]}, {"ada", "grace"})
        self.assertIn(channel.id, [it.id for it in self.grace.subscribed_channels()[0]])
        self.assertTrue(self.grace.mute_channel(channel.id)[0].you_muted)
        self.assertEqual([it.id for it in self.grace.muted_channels()[0]], [channel.id])
        self.assertFalse(self.grace.unmute_channel(channel.id)[0].you_muted)
        self.assertFalse(self.grace.unsubscribe_channel(channel.id)[0].you_subscribed)

    @calls("channel_search")
    def test_chats_are_the_rooms_of_forums(self):
        made = self.ada.create_channel(data={
            "type": CHAT, "acl": {"read": {"any_user": True}, "write": {"any_user": True}},
            "raw": {"io.pnut.core.chat-settings": [{"name": "Spindles", "description": "For spinners"}]}})[0]
        found, _ = self.grace.channel_search(channel_types=CHAT, include_raw=True)
        self.assertEqual({it.raw["io.pnut.core.chat-settings"][0]["name"]: it.id for it in found}["Spindles"], made.id)
        self.assertEqual(len(found), 2)
        self.assertTrue(self.grace.subscribe_channel(made.id)[0].you_subscribed)
        message, _ = self.grace.create_message(made.id, data={"text": "hello"})
        self.assertEqual([it["text"] for it in self.api("GET", f"/conversations/{made.id}/messages")["data"]], ["hello"])
        self.assertEqual(message.channel_id, made.id)

    @calls("existing_pm", "num_unread_pm_channels")
    def test_private_channels(self):
        with self.assertRaises(errors.PnutMissing):
            self.grace.existing_pm(ids=f"{self.ids['linus']},{self.ids['ada']}")
        status, made = self.ask("POST", "/channels/pm/messages", {"text": "psst", "destinations": ["@linus"]}, "grace")
        self.assertEqual((status, made["data"]["content"]["text"]), (201, "psst"))
        channel, _ = self.grace.existing_pm(ids="@linus")
        self.assertEqual((channel.id, channel.type), (made["data"]["channel_id"], PM))
        self.assertNotIn("user", channel)
        self.assertEqual(sorted(channel.acl.write.user_ids, key=int), sorted([self.ids["grace"], self.ids["linus"]], key=int))
        self.assertTrue(channel.acl.write.immutable)
        before = self.linus.num_unread_pm_channels()[0][PM]
        self.assertGreaterEqual(before, 1)
        status, again = self.ask("POST", "/channels/pm/messages", {"text": "again", "destinations": [self.ids["linus"]]}, "grace")
        self.assertEqual(again["data"]["channel_id"], channel.id)
        self.api("PUT", f"/conversations/{channel.id}/read", {"message_id": again["data"]["id"]}, "linus")
        self.assertEqual(self.linus.num_unread_pm_channels()[0][PM], before - 1)
        self.ask("POST", "/channels/pm/messages", {"text": "more", "destinations": [self.ids["linus"]]}, "grace")
        self.assertEqual(self.ask("DELETE", "/users/me/channels/num_unread", name="linus")[1]["data"], {PM: 0})
        # A direct conversation has the same two users for ever.
        with self.assertRaises(errors.PnutPermissionDenied):
            self.linus.unsubscribe_channel(channel)
        status, group = self.ask("POST", "/channels/pm/messages", {"text": "all", "destinations": [self.ids["linus"], "@ada"]}, "grace")
        self.assertEqual(self.ada.existing_pm(ids=f"{self.ids['linus']},@grace")[0].id, group["data"]["channel_id"])
        self.assertFalse(self.linus.unsubscribe_channel(group["data"]["channel_id"])[0].you_subscribed)

    @calls("create_message", "get_message", "get_messages", "get_channel_messages", "users_messages", "delete_message",
           "message_search")
    def test_messages(self):
        channel = self.make_channel()
        one, meta = self.ada.create_message(channel.id, data={"text": "warp [x](https://wool.example/)"})
        two = self.ada.create_message(channel.id, data={"text": "weft #loops", "reply_to": one.id})[0]
        self.assertEqual((meta.code, one.channel_id, one.thread_id), (201, channel.id, str(one.id)))
        self.assertEqual((one.content.text, one.content.entities.links[0].amended_len), ("warp x [wool.example]", 16))
        self.assertNotIn("reply_to", one)
        self.assertEqual((two.reply_to, two.thread_id), (str(one.id), str(one.id)))
        self.assertEqual(self.ada.get_message(channel.id, one)[0].counts.replies, 1)
        self.assertEqual([it.id for it in self.ada.get_messages(ids=f"{one.id}, {two.id}")[0]], [one.id, two.id])
        self.assertEqual([it.id for it in self.ada.get_channel_messages(channel.id)[0]], [two.id, one.id])
        self.assertEqual([it.id for it in self.ada.users_messages(count=2)[0]], [two.id, one.id])
        self.assertEqual([it.id for it in self.ada.message_search(q="weft", channel_ids=channel.id)[0]], [two.id])
        for start in (one, two):
            thread = self.ask("GET", f"/channels/{channel.id}/messages/{start.id}/thread")[1]["data"]
            self.assertEqual([it["id"] for it in thread], [str(two.id), str(one.id)])
        self.assertTrue(self.ada.delete_message(channel.id, one)[0].is_deleted)
        self.assertEqual(self.ada.get_channel_messages(channel.id)[0][1].get("is_deleted"), True)
        self.assertEqual([it.id for it in self.ada.get_channel_messages(channel.id, include_deleted=0)[0]], [two.id])
        other = self.make_channel()
        with self.assertRaises(errors.PnutMissing):
            self.ada.get_message(other.id, two)
        with self.assertRaises(errors.PnutMissing):
            self.grace.get_channel_messages(channel.id)

    @calls("sticky_messages", "stick_message", "unstick_message")
    def test_sticky_messages(self):
        channel = self.make_channel()
        message = self.ada.create_message(channel.id, data={"text": "rules"})[0]
        self.assertTrue(self.ada.stick_message(channel.id, message)[0].is_sticky)
        self.assertEqual([it.id for it in self.ada.sticky_messages(channel.id)[0]], [message.id])
        self.assertTrue(self.ada.get_channel(channel.id)[0].has_sticky_messages)
        self.assertNotIn("is_sticky", self.ada.unstick_message(channel.id, message)[0])
        self.assertEqual(self.ada.sticky_messages(channel.id)[0], [])

    # Files and polls.

    @calls("create_file", "get_file", "get_files", "get_file_content", "delete_file", "get_my_files", "update_file",
           "set_file_content")
    def test_files(self):
        file, meta = self.ada.create_file(
            files={"content": ("loom.png", io.BytesIO(png(4, 2)), "image/png")}, data={"type": "com.example.loom", "kind": "image"})
        self.assertEqual((meta.code, file.name, file.kind, file.type), (201, "loom.png", "image", "com.example.loom"))
        self.assertEqual((file.is_complete, file.image_info.width, file.user.username), (True, 4, "ada"))
        self.assertEqual(self.ada.get_file(file)[0].id, file.id)
        self.assertEqual([it.id for it in self.ada.get_files(ids=file.id)[0]], [file.id])
        self.assertEqual(self.ada.get_my_files(count=1)[0][0].id, file.id)
        self.assertEqual(self.ada.get_file_content(file).content, png(4, 2))
        self.assertEqual(requests.get(file.url).content, png(4, 2))
        for change in (lambda: self.ada.update_file(file, data={"name": "x"}),
                       lambda: self.ada.set_file_content(file, files={"content": io.BytesIO(png(8))})):
            with self.assertRaises(errors.PnutPermissionDenied):
                change()
        with self.assertRaises(errors.PnutMissing):
            self.grace.get_file(file)
        post = self.post("see", raw={"io.pnut.core.oembed": [{"+io.pnut.core.file": {"file_id": file.id, "format": "oembed"}}]})
        shown, _ = self.grace.get_post(post, include_raw=True)
        self.assertEqual(shown.raw["io.pnut.core.oembed"][0]["width"], 4)
        with self.assertRaises(errors.PnutBadRequestAPIException):
            self.ada.delete_file(file)
        unused = self.ada.create_file(files={"content": ("a.txt", io.BytesIO(b"wool"), "text/plain")})[0]
        self.assertEqual(self.ada.delete_file(unused)[0].id, unused.id)
        with self.assertRaises(errors.PnutMissing):
            self.ada.get_file(unused)

    @calls("create_poll", "respond_to_poll", "get_poll", "delete_poll", "get_my_polls")
    def test_polls(self):
        poll, meta = self.ada.create_poll(data={
            "prompt": "Wool?", "duration": 60, "options": [{"text": "yes"}, {"text": "no"}], "max_options": 1})
        self.assertEqual((meta.code, poll.prompt, [it.text for it in poll.options]), (201, "Wool?", ["yes", "no"]))
        self.assertEqual([it.position for it in poll.options], [1, 2])
        voted, _ = self.grace.respond_to_poll(poll, 2)
        self.assertEqual([it.is_your_response for it in voted.options], [False, True])
        self.assertEqual(self.api("GET", f"/messages/{poll.id}")["poll"]["options"][1]["votes"], 1)
        self.assertNotIn("respondents", self.grace.get_poll(poll)[0].options[0])
        with self.assertRaises(errors.PnutBadRequestAPIException):
            self.grace.respond_to_poll(poll, 3)
        self.assertEqual([it.id for it in self.ada.get_my_polls()[0]], [poll.id])
        self.assertEqual(self.ada.delete_poll(poll)[0].id, poll.id)
        with self.assertRaises(errors.PnutMissing):
            self.ada.get_poll(poll)

    # The site.

    @calls("text_process", "get_token", "get_config", "get_stats")
    def test_the_site(self):
        text, _ = self.ada.text_process(data={"text": "#wool for @grace, [a](https://wool.example/)"})
        self.assertEqual((text.text, text.tags[0].text, text.mentions[0].id),
                         ("#wool for @grace, a [wool.example]", "wool", self.ids["grace"]))
        token, _ = self.grace.get_token()
        self.assertEqual((token.user.username, "write_post" in token.scopes), ("grace", True))
        self.assertGreater(token.storage.available, 0)
        config, _ = self.ada.get_config()
        self.assertEqual((config.post.max_length, config.message.max_length), (256, 2_048))
        self.assertGreaterEqual(self.ada.get_stats()[0].users.created, 3)
        # Statistics are for staff.
        with self.assertRaises(errors.PnutPermissionDenied):
            self.grace.get_stats()


class Markers(PnutTest):
    def test_a_marker_moves_and_keeps_the_furthest_position(self):
        channel = self.ada.create_channel(data={"type": "com.example.wool"})[0]
        ids = [str(self.ada.create_message(channel, data={"text": text})[0].id) for text in "abc"]
        name = f"channel:{channel.id}"
        self.assertEqual(dict(self.ada.get_channel_messages(channel)[1].marker, _api=None), {"_api": None, "name": name})
        status, answer = self.ask("POST", "/markers", [{"name": name, "id": ids[1], "percentage": "50"}])
        marker = answer["data"][0]
        self.assertEqual((status, marker["id"], marker["last_read_id"], marker["percentage"]), (200, ids[1], ids[1], 50))
        self.assertEqual(self.api("GET", f"/conversations/{channel.id}")["read_up_to"], 2)
        back = self.ask("POST", "/markers", {"name": name, "id": ids[0]})[1]["data"]
        self.assertEqual((back["id"], back["last_read_id"]), (ids[0], ids[1]))
        self.assertNotEqual(back["version"], marker["version"])
        self.assertEqual(self.api("GET", f"/conversations/{channel.id}")["read_up_to"], 2)
        reset = self.ask("POST", "/markers", {"name": name, "id": ids[0], "reset_read_id": True})[1]["data"]
        self.assertEqual(reset["last_read_id"], ids[0])
        self.assertEqual(self.ada.get_channel(channel, include_marker=True)[0].marker.id, ids[0])
        self.ada.create_message(channel, data={"text": "d"})
        self.assertEqual(self.ada.get_channel_messages(channel)[1].marker.id, ids[0])

    def test_streams_have_markers(self):
        post = self.post("x")
        self.assertEqual(self.ada.posts_streams_global()[1].marker.name, "global")
        for name in ("global", "personal", "mentions"):
            self.assertEqual(self.ask("POST", "/markers", {"name": name, "id": post.id})[1]["data"]["id"], str(post.id))
        self.assertEqual(self.ada.users_post_streams_me()[1].marker.last_read_id, str(post.id))
        self.assertEqual(self.api("GET", "/timeline/read")["message_id"], str(post.id))
        self.assertEqual(self.ask("GET", "/users/me/mentions")[1]["meta"]["marker"]["id"], str(post.id))

    def test_a_marker_is_read_from_each_type_of_body(self):
        post = self.post("x")
        marker = {"name": "global", "id": str(post.id)}
        form = requests.Request("POST", "http://localhost", data=marker, files={"x": b"x"}).prepare()
        for body, type_ in ((json.dumps(marker), "application/json"), (json.dumps([marker]), ""),
                            (urlencode(marker), "application/x-www-form-urlencoded"), (form.body, form.headers["Content-Type"])):
            with self.subTest(type=type_):
                status, answer = self.ask("POST", "/markers", body, Content_Type=type_)
                self.assertEqual(status, 200, answer)
                moved = answer["data"][0] if isinstance(answer["data"], list) else answer["data"]
                self.assertEqual(moved["id"], str(post.id))
        for body in ("", "[", '{"name":', "name=other&id=1"):
            self.assertEqual(self.ask("POST", "/markers", body)[0], 400)

    def test_other_names_are_refused(self):
        channel = self.ada.create_channel(data={"type": "com.example.wool"})[0]
        for body in ({"name": "other", "id": "1"}, {"name": "global"}, [], {"name": "global", "id": "1", "percentage": 101},
                     [{"name": "global", "id": "1"}] * 11):
            with self.subTest(body=body):
                status, answer = self.ask("POST", "/markers", body)
                self.assertEqual((status, answer.get("data")), (200, []) if body == [] else (400, None))
        self.assertEqual(self.ask("POST", "/markers", {"name": f"channel:{channel.id}", "id": "1"}, "grace")[0], 404)


class Pages(PnutTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        api = cls.clients["ada"]
        cls.posts = [int(api.create_post(data={"text": f"row {number}"})[0].id) for number in range(450)]

    def page(self, **query):
        posts, meta = self.ada.posts_streams_global(**query)
        return [self.posts.index(it.id) + 1 for it in posts], meta

    def test_the_cursor_walks_all_posts(self):
        walked = [it.id for it in pnutpy.cursor(self.ada.posts_streams_global)]
        self.assertEqual(walked, self.posts[::-1])
        walked = [it.id for it in pnutpy.cursor(self.ada.users_posts, "me", count=70)]
        self.assertEqual(walked, self.posts[::-1])

    def test_bounds_are_exclusive(self):
        last, fourth = self.posts[49], self.posts[3]
        self.assertEqual(self.page(since_id=fourth, before_id=self.posts[50], count=-20)[0], list(range(24, 4, -1)))
        self.assertEqual(self.page(since_id=fourth, before_id=self.posts[50])[0], list(range(50, 30, -1)))
        self.assertEqual(self.page(before_id=self.posts[5], count=4)[0], [5, 4, 3, 2])
        self.assertEqual(self.page(since_id=fourth, before_id=self.posts[5])[0], [5])
        self.assertEqual(self.page(since_id=self.posts[1], before_id=self.posts[8], count=2)[0], [8, 7])
        self.assertEqual(self.page(since_id=self.posts[1], before_id=self.posts[8], count=-2)[0], [4, 3])
        self.assertGreater(last, fourth)

    def test_more_is_true_only_with_items(self):
        self.assertEqual(self.page(count=0)[1].more, False)
        self.assertEqual(self.page(before_id=self.posts[0])[0], [])
        self.assertFalse(self.page(before_id=self.posts[0])[1].more)
        self.assertTrue(self.page(before_id=self.posts[2], count=1)[1].more)
        self.assertFalse(self.page(before_id=self.posts[1], count=1)[1].more)
        self.assertFalse(self.page(since_id=self.posts[-2])[1].more)

    def test_counts_are_lenient(self):
        self.assertEqual(len(self.page(count="many")[0]), 20)
        self.assertEqual(len(self.page(count=100_000)[0]), 200)
        self.assertEqual(self.page(count=-100_000)[0][-1], 1)

    def test_messages_of_a_channel_have_the_same_pages(self):
        channel = self.ada.create_channel(data={"type": "com.example.rows"})[0]
        ids = [self.ada.create_message(channel, data={"text": f"row {number}"})[0].id for number in range(12)]
        self.assertEqual([it.id for it in self.ada.get_channel_messages(channel, count=3)[0]], ids[:-4:-1])
        found, meta = self.ada.get_channel_messages(channel, before_id=ids[3])
        self.assertEqual(([it.id for it in found], meta.more), (ids[2::-1], False))
        found, meta = self.ada.get_channel_messages(channel, since_id=ids[3], count=-2)
        self.assertEqual(([it.id for it in found], meta.more), ([ids[5], ids[4]], True))
        # An id that is not of the channel is a bound, too.
        self.assertEqual(self.ada.get_channel_messages(channel, since_id=self.posts[0], count=-1)[0][0].id, ids[0])
        walked = [it.id for it in pnutpy.cursor(self.ada.get_channel_messages, channel, count=5)]
        self.assertEqual(walked, ids[::-1])

    def test_long_pages_have_little_html(self):
        channel = self.ada.create_channel(data={"type": "com.example.rows"})[0]
        for _ in range(10):
            self.api("POST", f"/conversations/{channel.id}/messages", {"text": '"' * 16_000})
        contents = [it["content"] for it in self.ask("GET", f"/channels/{channel.id}/messages")[1]["data"]]
        self.assertEqual([len(it["text"]) for it in contents], [16_000] * 10)
        self.assertEqual(["html" in it for it in contents], [True] * 8 + [False] * 2)
        self.assertIn("&quot;", contents[0]["html"])


class Refusals(PnutTest):
    def failed(self, status, method, path, body=None, name="ada", **fields):
        answer = self.ask(method, path, body, name, **fields)
        self.assertEqual((answer[0], answer[1]["meta"]["code"]), (status, status), answer)
        self.assertNotIn("data", answer[1])
        self.assertTrue(answer[1]["meta"]["error_message"])
        return answer[1]["meta"]

    def test_credentials(self):
        self.failed(401, "GET", "/users/me", name=None)
        self.assertEqual(self.failed(401, "GET", "/users/me", Authorization="Bearer x")["error_slug"], "invalid-token")
        token = self.tokens["ada"]
        self.assertEqual(self.ask("GET", f"/users/me?access_token={token}", name=None)[1]["data"]["username"], "ada")
        for type_, body in (("application/json", json.dumps({"text": "by body", "access_token": token})),
                            ("application/x-www-form-urlencoded", urlencode({"text": "by body", "access_token": token}))):
            self.assertEqual(self.ask("POST", "/posts", body, name=None, Content_Type=type_)[0], 201)
        self.assertEqual(self.request("GET", f"/api/v1/me?access_token={token}")[0], 401)
        self.assertNotIn(token, self.server.output())

    def test_cookies_do_not_count(self):
        status, fields, data = self.request(
            "POST", "/api/v1/sessions", json.dumps({"name": "ada", "password": PASSWORD, "cookie": True}),
            Content_Type="application/json", Origin=f"http://127.0.0.1:{self.port}")
        self.assertEqual(status, 201, data)
        cookie = next(it for it in fields.get_all("Set-Cookie") if it.startswith("parley=")).split(";")[0]
        self.failed(401, "GET", "/users/me", name=None, Cookie=cookie)

    def test_a_token_that_reads_writes_nothing(self):
        token = self.say("token", "grace", "--scope", "read").strip()
        self.assertEqual(self.ask("GET", "/token", Authorization=f"Bearer {token}")[1]["data"]["scopes"], ["basic", "stream", "messages"])
        self.failed(403, "POST", "/posts", {"text": "x"}, Authorization=f"Bearer {token}")

    def test_unknown_paths_and_methods(self):
        self.failed(404, "GET", "/nothing")
        self.failed(404, "POST", "/users/me/nothing", {})
        meta = self.failed(405, "DELETE", "/posts")
        self.assertEqual(meta["error_message"], "Method not allowed. Please use: GET,POST")

    def test_visitors_read_public_posts_alone(self):
        post = self.post("for users")
        self.failed(404, "GET", f"/posts/{post.id}", name=None)
        self.api("PATCH", f"/conversations/{self.api('GET', '/users/me/feed')['id']}", {"readers": {"open_to": "anyone"}, "from": "beginning"})
        status, answer = self.ask("GET", f"/posts/{post.id}", name=None)
        self.assertEqual((status, answer["data"]["content"]["text"]), (200, "for users"))
        self.api("PATCH", f"/conversations/{self.api('GET', '/users/me/feed')['id']}", {"readers": {"open_to": "users"}})

    def test_visitors_read_public_files(self):
        public, private = (self.ada.create_file(
            files={"content": ("a.txt", io.BytesIO(b"wool"), "text/plain")}, data={"is_public": flag})[0] for flag in ("true", "false"))
        answer = self.ask("GET", f"/files?ids={public.id},{private.id}", name=None)[1]
        self.assertEqual([it["id"] for it in answer["data"]], [str(public.id)])
        file = self.ask("GET", f"/files/{public.id}", name=None)[1]["data"]
        self.assertEqual(requests.get(file["url"]).content, b"wool")
        content = f"http://127.0.0.1:{self.port}/v1/files/{{}}/content"
        self.assertEqual(requests.get(content.format(public.id)).content, b"wool")
        self.assertEqual(requests.get(content.format(private.id)).status_code, 404)
        self.failed(404, "GET", f"/files/{private.id}", name=None)

    def test_messages_are_no_posts(self):
        channel = self.ada.create_channel(data={"type": "com.example.wool"})[0]
        message = self.ada.create_message(channel, data={"text": "x"})[0]
        post = self.post("x")
        self.failed(404, "GET", f"/posts/{message.id}")
        self.failed(404, "DELETE", f"/posts/{message.id}")
        self.failed(404, "PUT", f"/posts/{message.id}/bookmark")
        self.failed(404, "GET", f"/channels/{self.api('GET', '/users/me/feed')['id']}/messages")
        self.failed(404, "GET", f"/channels/{channel.id}/messages/{post.id}")

    def test_wrong_texts(self):
        self.failed(400, "POST", "/posts", {"text": "x" * 257})
        self.assertEqual(self.ask("POST", "/posts", {"text": "🧶" * 256})[0], 201)
        self.failed(400, "POST", "/posts", {"text": ""})
        self.failed(400, "POST", "/posts", {"text": "a\0b"})
        self.failed(400, "POST", "/posts", {"text": ["x"]})
        self.failed(400, "POST", "/posts", {"text": "x", "reply_to": "x"})
        self.failed(404, "POST", "/posts", {"text": "x", "reply_to": 1})

    def test_malformed_bodies(self):
        for body in (b'{"text": "\\ud800"}', b'{"text":', b"[1]", b'"x"', b"{" * 100_000, b'{"text": "\xff"}', b"\xff\xfe",
                     b'{"raw": {"com.example.a": 1}, "text": "x"}', b'{"raw": {"com.example.a": [1]}, "text": "x"}',
                     b'{"raw": {"io.pnut.core.other": [{}]}, "text": "x"}', b'{"text": 1e999}'):
            with self.subTest(body=body[:40]):
                self.failed(400, "POST", "/posts", body, Content_Type="application/json")
        form = urlencode({"text": "x", "raw": '{"com.example.a": [{"x": 1e999}]}'})
        self.failed(400, "POST", "/posts", form, Content_Type="application/x-www-form-urlencoded")
        self.failed(400, "POST", "/files", b"x", Content_Type="multipart/form-data")
        self.failed(400, "POST", "/files", b"--a\r\n", Content_Type="multipart/form-data; boundary=a")
        self.failed(400, "GET", "/posts/search?q=%ff")
        self.failed(400, "GET", "/posts?ids=" + ",".join(["1"] * 201))

    def test_numbers_out_of_range(self):
        least, most = -2**63, 2**63 - 1
        for path in ("/users/search?q=ada&", "/channels/search?", "/posts/streams/global?", "/users/me/posts?", "/channels?", "/users/me/following?"):
            for query in (f"count={least}", f"count={most}", f"since_id={least}&before_id={most}", f"since_id={most}&count=-1", f"before_id={least}"):
                with self.subTest(path=path, query=query):
                    self.assertEqual(self.ask("GET", path + query)[0], 200)
        self.assertEqual(self.ask("GET", f"/channels/search?count={least}", name=None)[0], 200)
        for end in (least, most, 0, -1, 10**12):
            self.failed(400, "PUT", "/users/me/presence", {"presence": "knitting", "expiration": str(end)})
        for body in ({"max_options": str(least)}, {"duration": str(least)}, {"duration": str(most)}):
            self.failed(400, "POST", "/polls", {"prompt": "?", "duration": 60, "options": ["a", "b"], **body})
        self.failed(400, "POST", "/markers", {"name": "global", "id": "1", "percentage": str(least)})

    def test_a_large_body(self):
        status, _, data = self.request(
            "POST", "/v1/posts", b"x" * 10_000_000, Authorization=f"Bearer {self.tokens['ada']}")
        self.assertIn(status, (400, 413))

    def test_a_large_body_is_not_collected_for_a_token(self):
        for method, path in (("PUT", "/files/1/content"), ("POST", "/files"), ("POST", "/users/me/avatar"), ("POST", "/users/me/cover")):
            # The answer comes before the body.
            with self.subTest(path=path), closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
                connection.putrequest(method, "/v1" + path)
                connection.putheader("Content-Length", "100000000")
                connection.endheaders()
                answer = connection.getresponse()
                self.assertEqual((answer.status, json.loads(answer.read())["meta"]["code"]), (400, 400))

    def test_a_private_channel_is_not_found_by_others(self):
        channel = self.ada.create_channel(data={"type": "com.example.wool"})[0]
        message = self.ada.create_message(channel, data={"text": "x"})[0]
        for method, path, body in (("GET", "", None), ("PUT", "", {}), ("DELETE", "", None), ("PUT", "/subscribe", None),
                                   ("PUT", "/mute", None), ("GET", "/subscribers", None), ("GET", "/messages", None),
                                   ("POST", "/messages", {"text": "x"}), ("GET", f"/messages/{message.id}", None),
                                   ("DELETE", f"/messages/{message.id}", None), ("GET", "/sticky_messages", None)):
            with self.subTest(method=method, path=path):
                unknown = self.failed(404, method, "/channels/1" + path, body, "grace")
                private = self.failed(404, method, f"/channels/{channel.id}" + path, body, "grace")
                self.assertEqual(unknown["error_message"], private["error_message"])

    def test_quota_fields(self):
        _, fields, _ = self.request("GET", "/v1/users/me", Authorization=f"Bearer {self.tokens['ada']}")
        self.assertEqual(fields["X-RateLimit-Limit"], fields["RateLimit-Limit"])
        self.assertIn("write_post", fields["X-OAuth-Scopes"].split(","))


class Rights(PnutTest):
    """Each call of the dialect beside its call of the API, by users with different rights."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, role in (("gail", "guest"), ("sam", "member"), ("bob", "member"), ("bea", "member")):
            cls.say("user", "create", name, "--role", role, "--password-stdin", given=PASSWORD + "\n")
            cls.tokens[name] = cls.say("token", name, "--scope", "admin").strip()
            cls.ids[name] = cls.api("GET", "/me", name=name)["id"]
        cls.api("PUT", f"/users/{cls.ids['bob']}/block")
        ada, grace = cls.clients["ada"], cls.clients["grace"]
        post = ada.create_post(data={"text": "post"})[0].id
        secret = ada.create_channel(data={"type": "com.example.wool", "acl": {"write": {"user_ids": [cls.ids["grace"]]}}})[0]
        own = grace.create_post(data={"text": "own"})[0].id
        cls.api("PATCH", f"/conversations/{cls.api('GET', '/users/me/feed', name='grace')['id']}", {"readers": {"open_to": "listed"}}, "grace")
        cls.things = {
            "ada": cls.ids["ada"], "post": post, "own": own, "secret": secret.id,
            "message": ada.create_message(secret, data={"text": "message"})[0].id,
            "file": ada.create_file(files={"content": ("a.txt", io.BytesIO(b"wool"), "text/plain")})[0].id,
            "poll": ada.create_poll(data={"prompt": "?", "duration": 60, "options": ["a", "b"]})[0].id,
        }
        cls.api("PUT", f"/users/{cls.ids['bea']}/ban", {"reason": "spam"})

    READ = [
        ("/users/{ada}", "/users/{ada}"), ("/users/{ada}/following", "/users/{ada}/following"),
        ("/users/{ada}/followers", "/users/{ada}/followers"), ("/users?ids={ada}", "/users?ids={ada}"),
        ("/users/search?q=ada", "/users?query=ada"), ("/users/{ada}/posts", "/users/{ada}/feed"), ("/posts/{post}", "/messages/{post}"),
        ("/posts/{own}", "/messages/{own}"), ("/posts?ids={own}", "/messages/{own}"), ("/posts/{own}/thread", "/messages/{own}/replies"),
        ("/posts/{own}/interactions", "/messages/{own}/actions"), ("/posts/streams/me", "/timeline"), ("/posts/{post}/revisions", "/messages/{post}/revisions"),
        ("/users/{ada}/bookmarks", "/users/{ada}/stars"), ("/channels/{secret}", "/conversations/{secret}"),
        ("/channels?ids={secret}", "/conversations/{secret}"), ("/channels/{secret}/messages", "/conversations/{secret}/messages"),
        ("/channels/{secret}/messages/{message}", "/messages/{message}"), ("/channels/messages?ids={message}", "/messages/{message}"),
        ("/channels/messages/search?channel_ids={secret}", "/conversations/{secret}/messages"),
        ("/channels/{secret}/subscribers", "/conversations/{secret}/participants"),
        ("/channels/{secret}/sticky_messages", "/conversations/{secret}/messages"), ("/files/{file}", "/files/{file}"),
        ("/files?ids={file}", "/files/{file}"), ("/users/me/files", "/files"), ("/polls/{poll}", "/messages/{poll}"),
        ("/users/me/channels/subscribed", "/conversations"), ("/users/me/actions", "/inbox"), ("/sys/stats", "/statistics"), ("/token", "/me"),
    ]
    CHANGE = [
        ("POST", "/posts", {"text": "x", "reply_to": "{post}"}, "POST", "/conversations/{feed}/messages", {"text": "x", "reply_to": "{post}"}),
        ("POST", "/posts", {"text": "x", "reply_to": "{own}"}, "GET", "/messages/{own}", None),
        ("PUT", "/posts/{own}/repost", None, "PUT", "/messages/{own}/actions/repost", None),
        ("PUT", "/posts/{own}/bookmark", None, "PUT", "/messages/{own}/actions/star", None),
        ("DELETE", "/posts/{post}", None, "DELETE", "/messages/{post}", None),
        ("PUT", "/posts/{post}", {"text": "y"}, "PATCH", "/messages/{post}", {"text": "y"}),
        ("PUT", "/users/{ada}/follow", None, "PUT", "/users/{ada}/follow", {}),
        ("POST", "/channels/{secret}/messages", {"text": "x"}, "POST", "/conversations/{secret}/messages", {"text": "x"}),
        ("POST", "/channels/pm/messages", {"text": "x", "destinations": ["{ada}"]}, "POST", "/conversations", {"kind": "direct", "participants": ["{ada}"]}),
        ("PUT", "/channels/{secret}", {"acl": {"read": {"any_user": True}}}, "PATCH", "/conversations/{secret}", {"readers": {"open_to": "users"}}),
        ("DELETE", "/channels/{secret}/messages/{message}", None, "DELETE", "/messages/{message}", None),
        ("PUT", "/channels/{secret}/messages/{message}/sticky", None, "PUT", "/messages/{message}/actions/pin", None),
        ("DELETE", "/files/{file}", None, "GET", "/files/{file}", None),
        ("PUT", "/polls/{poll}/response/1", None, "PUT", "/messages/{poll}/vote", {"options": [0]}),
        ("DELETE", "/polls/{poll}", None, "DELETE", "/messages/{poll}", None),
    ]

    def token(self, **more):
        """A token of linus."""
        return self.api("POST", "/me/tokens", {"name": "t", **more}, "linus")["token"]

    def asked_with(self, token, path):
        status, answer = self.ask("GET", path, Authorization=f"Bearer {token}")
        self.assertEqual(status, 200, answer)
        return answer["data"]

    def test_the_state_of_devices_is_shown_as_by_the_api(self):
        limited = self.token(scope="write", forums=[self.forum])
        path = f"/users/{self.ids['grace']}"
        with connect(f"ws://127.0.0.1:{self.port}/api/v1/realtime?topics=presence",
                     additional_headers={"Authorization": f"Bearer {self.tokens['grace']}"}) as socket:
            while json.loads(socket.recv(timeout=60)).get("event") != "complete":
                pass
            self.assertEqual(self.asked_with(self.tokens["linus"], f"{path}/presence")["presence"], "online")
            self.assertEqual(self.asked_with(self.tokens["linus"], f"{path}?include_presence=1")["presence"], "online")
            self.assertEqual(self.asked_with(limited, f"{path}/presence")["presence"], "offline")
            self.assertEqual(self.asked_with(limited, f"{path}?include_presence=1")["presence"], "offline")

    def app_tokens(self, scope):
        """The tokens of an app that linus allows, by the flow of Authlib."""
        app = self.say("apps", "create", "Ferry", URI, "--scope", "admin").strip()
        origin = f"http://127.0.0.1:{self.port}"
        session = OAuth2Session(
            app, scope=scope, redirect_uri=URI, code_challenge_method="S256", token_endpoint_auth_method="none")
        verifier = generate_token(48)
        url, _ = session.create_authorization_url(f"{origin}/oauth/authorize", code_verifier=verifier)
        status, location, text = Browser(origin, "linus").answer(url)
        self.assertEqual(status, 303, text)
        return session, session.fetch_token(f"{origin}/oauth/token", authorization_response=location, code_verifier=verifier)

    def test_an_app_of_oauth_calls_the_dialect_with_its_scopes_until_it_is_revoked(self):
        for scope, may_write in (("profile", False), ("read", False), ("write", True)):
            with self.subTest(scope=scope):
                session, tokens = self.app_tokens(scope)
                fields = {"Authorization": f"Bearer {tokens['access_token']}"}
                status, answer = self.ask("GET", "/users/me", **fields)
                self.assertEqual((status, answer["data"]["username"]), (200, "linus"))
                self.assertEqual(self.ask("GET", "/posts/streams/me", **fields)[0], 403 if scope == "profile" else 200)
                status, answer = self.ask("POST", "/posts", {"text": f"by an app that may {scope}"}, **fields)
                self.assertEqual(status, 201 if may_write else 403, answer)
                # The dialect knows the refreshed token, and neither of them after the end.
                refreshed = session.refresh_token(f"http://127.0.0.1:{self.port}/oauth/token", tokens["refresh_token"])
                fields = {"Authorization": f"Bearer {refreshed['access_token']}"}
                self.assertEqual(self.ask("GET", "/users/me", **fields)[0], 200)
                session.revoke_token(f"http://127.0.0.1:{self.port}/oauth/revoke", refreshed["refresh_token"])
                for token in (tokens["access_token"], refreshed["access_token"]):
                    self.assertEqual(self.ask("GET", "/users/me", Authorization=f"Bearer {token}")[0], 401)

    def test_tokens_of_forums_and_of_the_profile_see_no_relations(self):
        ada = f"/users/{self.ids['ada']}"
        self.linus.follow_user("@ada")
        self.addCleanup(self.linus.unfollow_user, "@ada")
        post = self.post("seen", self.linus)
        self.linus.bookmark_post(post)
        whole = self.asked_with(self.tokens["linus"], "/users/me")
        self.assertGreater(min(whole["counts"][name] for name in ("bookmarks", "following", "posts")), 0)
        self.assertTrue(self.asked_with(self.tokens["linus"], ada)["you_follow"])
        self.assertGreater(self.asked_with(self.tokens["linus"], "/token")["storage"]["total"], 0)
        for more in ({"scope": "write", "forums": [self.forum]}, {"scope": "profile"}):
            with self.subTest(**more):
                token = self.token(**more)
                self.assertEqual(set(self.asked_with(token, "/users/me")["counts"].values()), {0})
                self.assertEqual(self.asked_with(token, "/token")["storage"], {"available": 0, "total": 0})
                status, answer = self.ask("GET", ada, Authorization=f"Bearer {token}")
                self.assertEqual(status, 404 if "profile" in more.values() else 200)
                self.assertNotIn("you_follow", answer.get("data", {}))

    def test_tokens_of_forums_create_no_conversations(self):
        limited = self.token(scope="write", forums=[self.forum])
        for path, body in (("/posts", {"text": "x"}), ("/channels", {"type": "com.example.wool"}),
                           ("/channels/pm/messages", {"text": "x", "destinations": [self.ids["ada"]]}),
                           ("/polls", {"prompt": "?", "duration": 60, "options": ["a", "b"]})):
            with self.subTest(path=path):
                self.assertEqual(self.ask("POST", path, body, Authorization=f"Bearer {limited}")[0], 403)

    def test_a_marker_that_cannot_move_fails_no_message(self):
        limited = self.token(scope="write", forums=[self.forum])
        path = f"/channels/{self.api('GET', f'/forums/{self.forum}')['room_id']}/messages"
        status, answer = self.ask("POST", f"{path}?update_marker=1", {"text": "once"}, Authorization=f"Bearer {limited}")
        self.assertEqual((status, answer["data"]["content"]["text"]), (201, "once"))

    def of_api(self, method, path, body, name):
        fields = {"Authorization": f"Bearer {self.tokens[name]}"} if name else {}
        return requests.request(method, f"http://127.0.0.1:{self.port}/api/v1{path}", json=body, headers=fields).status_code

    def test_the_dialect_shows_no_more_than_the_api(self):
        denied = 0
        for name in (None, "gail", "sam", "bob", "bea", "grace", "ada"):
            for path, native in self.READ:
                with self.subTest(name=name, path=path):
                    status, answer = self.ask("GET", path.format(**self.things), name=name)
                    shown = status == 200 and answer["data"] != []
                    allowed = self.of_api("GET", native.format(**self.things), None, name) == 200
                    self.assertLessEqual(shown, allowed)
                    denied += not allowed
        self.assertGreater(denied, 60)

    def test_the_dialect_changes_no_more_than_the_api(self):
        feed = self.api("GET", "/users/me/feed")["id"]
        things = {**self.things, "feed": feed}

        def filled(body):
            return json.loads(json.dumps(body), object_hook=lambda it: {
                key: value.format(**things) if isinstance(value, str) else [part.format(**things) for part in value] if key in ("destinations", "participants") else value
                for key, value in it.items()})

        denied = 0
        for name in (None, "gail", "sam", "bob", "bea"):
            for method, path, body, native_method, native, native_body in self.CHANGE:
                with self.subTest(name=name, path=path):
                    allowed = self.of_api(native_method, native.format(**things), filled(native_body), name) < 300
                    status, answer = self.ask(method, path.format(**things), filled(body), name=name)
                    self.assertLessEqual(status < 300, allowed, answer)
                    denied += not allowed
        self.assertGreater(denied, 50)


class Limits(PnutTest):
    flags = ("--dialects", "pnut", "--rate-sending", "1", "--rate-sending-burst", "2")

    def test_posts_have_the_rate_of_the_api(self):
        self.post("one")
        self.post("two")
        with self.assertRaises(errors.PnutRateLimitAPIException):
            self.post("three")
        status, answer = self.ask("POST", "/posts", {"text": "three"})
        self.assertEqual(status, 429)
        self.assertGreater(answer["meta"]["retry_in"], 0)


class WritingLimits(PnutTest):
    """The limit of changes; joining the forum has taken one."""
    flags = ("--dialects", "pnut", "--rate-writing", "1", "--rate-writing-burst", "6")

    def test_each_marker_counts(self):
        markers = [{"name": "global", "id": "1"}] * 10
        self.assertEqual(self.ask("POST", "/markers", markers[:2], "grace")[0], 200)
        self.assertEqual(self.ask("POST", "/markers", markers, "grace")[0], 429)

    def test_each_participant_counts(self):
        status, answer = self.ask("POST", "/channels", {"type": "com.example.wool"}, "linus")
        self.assertEqual(status, 201)
        path = f"/channels/{answer['data']['id']}"
        for users in ([], [self.ids["ada"]]):
            self.ask("PUT", path, {"acl": {"write": {"user_ids": users}}}, "linus")
        self.assertEqual(self.ask("PUT", path, {"acl": {"write": {"user_ids": []}}}, "linus")[0], 429)


class SearchLimits(PnutTest):
    flags = ("--dialects", "pnut", *(flag for flag in ENDLESS if "searches" not in flag), "--rate-searches", "1", "--rate-searches-burst", "2")

    def test_a_long_thread_counts_as_searches(self):
        short, long = self.post("short"), self.post("long")
        for number in range(250):
            self.post(str(number), reply_to=long.id)
        self.post("reply", reply_to=short.id)
        for thread, statuses in ((short, [200] * 3), (long, [200, 429]), (short, [200])):
            self.assertEqual([self.ask("GET", f"/posts/{thread.id}/thread")[0] for _ in statuses], statuses)


class Translation(requests.adapters.HTTPAdapter):
    """Sends requests with the ids of this site in place of those that the tests of the library name, and back."""

    def __init__(self, ids):
        super().__init__()
        # By the word before them in a path. Answers have the users.
        self.ids = ids

    def translated(self, kind, text):
        return re.sub(r"[0-9]+", lambda found: self.ids[kind].get(found[0], found[0]), text)

    def path(self, path):
        parts = path.split("/")
        for index in range(1, len(parts)):
            if parts[index - 1] in self.ids:
                parts[index] = self.translated(parts[index - 1], parts[index])
        return "/".join(parts)

    def query(self, path, query):
        pairs = [pair.split("=", 1) for pair in query.split("&") if pair]
        kind = path.rsplit("/", 1)[-1]
        for pair in pairs:
            named = "channels" if pair[0] == "channel_ids" else kind if pair[0] == "ids" else None
            if named in self.ids:
                pair[1] = ",".join(self.translated(named, part) for part in pair[1].split("%2C"))
        return "&".join("=".join(pair) for pair in pairs)

    def send(self, request, **settings):
        url = urlsplit(request.url)
        request.url = urlunsplit(url._replace(path=self.path(url.path), query=self.query(url.path, url.query)))
        if isinstance(request.body, str):
            request.body = re.sub(r'"([0-9]+)"', lambda found: f'"{self.ids["users"].get(found[1], found[1])}"', request.body)
            request.headers["Content-Length"] = str(len(request.body.encode()))
        answer = super().send(request, **settings)
        known = {real: named for named, real in self.ids["users"].items()}
        answer._content = re.sub(rb'"([0-9]+)"', lambda found: b'"%s"' % known.get(found[1].decode(), found[1].decode()).encode(),
                                 answer.content)
        return answer


class OwnTests(PnutTest):
    """The tests in the source archive of the library, with the users, posts and channels that they name."""

    def channel(self, client, **lists):
        acl = {"write": {"any_user": True}, "read": {"any_user": True}, **lists}
        return client.create_channel(data={"type": "com.example.wool", "acl": acl})[0].id

    def test_the_tests_of_the_library_pass(self):
        self.api("PATCH", "/me", {"show_stars": True}, "linus")
        self.say("user", "create", "mary", "--password-stdin", given=PASSWORD + "\n")
        self.tokens["mary"] = self.say("token", "mary", "--scope", "admin").strip()
        mary = pnutpy.API.build_api(f"http://127.0.0.1:{self.port}/v1", self.tokens["mary"])
        self.api("PUT", f"/forums/{self.forum}/members/me", {}, "mary")
        # A channel without participants ends.
        left = self.channel(mary, write={"user_ids": [self.ids["linus"]]})
        gone = self.api("GET", "/me", name="mary")["id"]
        self.api("DELETE", "/me", {"password": PASSWORD}, "mary")
        posts = [str(self.post(f"post {number}").id) for number in range(4)]
        ids = {
            "users": {"3": self.ids["linus"], "9": self.ids["linus"], "1": self.ids["ada"], "2": self.ids["grace"], "213": gone},
            "posts": {"1309208": posts[3], "1": posts[0], "2": posts[1], "3": posts[2]},
            "channels": {"951": self.channel(self.ada), "178": self.channel(self.ada), "1001": self.channel(self.grace),
                         "85": self.channel(self.linus), "955": left},
        }
        api = pnutpy.API.build_api(f"http://127.0.0.1:{self.port}/v1", self.tokens["grace"])
        api.mount("http://", Translation(ids))
        folder = Path(self.folder) / "tests"
        shutil.copytree(BUILD / "tools" / "pnut-source" / "tests", folder)
        (folder / "data").mkdir(exist_ok=True)
        for name in ("avatar", "cover"):
            (folder / "data" / f"{name}.png").write_bytes(png(8))
        package, config = types.ModuleType("tests"), types.ModuleType("tests.config")
        package.__path__ = [str(folder)]
        config.PnutpyTestCase = type("PnutpyTestCase", (unittest.TestCase,), {"api": api, "username": "grace"})
        sys.modules |= {"tests": package, "tests.config": config}
        modules = [importlib.import_module(f"tests.{name}") for name in ("test_api", "test_models")]
        suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromModule(module) for module in modules)
        result = unittest.TestResult()
        suite.run(result)
        self.assertEqual([text for _, text in result.errors + result.failures], [])
        self.assertEqual(result.testsRun, 14)


class Off(ServingTest):
    def test_the_paths_of_a_dialect_that_is_off_are_unknown(self):
        with self.start(*parley(self.folder)) as server:
            answers = [requests.get(server.url + path) for path in ("/nothing/here", "/v1/users/me", "/v1/posts", "/v1/other")]
            for answer in answers:
                self.assertEqual(answer.status_code, 404)
                self.assertEqual({**answer.json(), "request": ""}, {**answers[0].json(), "request": ""})


if __name__ == "__main__":
    unittest.main()
