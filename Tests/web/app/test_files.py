"""Static checks: texts, modules and files, and that user content is never parsed as HTML."""

import gzip
import json
import re
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
PUBLIC = TOP / "Public"
APP = sorted((PUBLIC / "js" / "app").rglob("*.js"))
# Keys built from a fixed part and a value; the value is checked at its source.
DYNAMIC = re.compile(r"(?:say|knows)\(`([\w.]+)\$\{")
# The keys of the visitor pages.
PAGE_TEXTS = TOP / "Sources" / "Server" / "API" / "Pages" / "PageText.swift"
# Events have names like keys of texts.
EVENTS = set(re.findall(r'"([\w.]+)": "#/components/schemas/\w+Event"', (PUBLIC / "openapi.json").read_text()))


def messages():
    return json.loads((PUBLIC / "lang" / "en.json").read_text())


class Texts(unittest.TestCase):
    def test_every_used_text_is_defined(self):
        known = messages()
        for file in APP:
            with self.subTest(file=file.name):
                asked = set(re.findall(r"'((?:[a-z]\w*\.)+[\w.]+)'", file.read_text()))
                families = {key.split(".")[0] for key in known}
                wanted = {key for key in asked - EVENTS if key.split(".")[0] in families and not key.endswith((".js", ".json"))}
                self.assertEqual({key for key in wanted if key not in known}, set())

    def test_no_text_is_unused(self):
        everything = "\n".join(file.read_text() for file in APP)
        prefixes = tuple(DYNAMIC.findall(everything)) + ("problem.",)
        of_pages = {*re.findall(r'^    case \w+ = "([\w.]+)"$', PAGE_TEXTS.read_text(), re.MULTILINE), "page.needsScript"}
        left = {key for key in messages() if f"'{key}'" not in everything and not key.startswith(prefixes) and key not in of_pages}
        self.assertEqual(left, set())

    def test_plural_forms_are_complete(self):
        for key, text in messages().items():
            if isinstance(text, dict):
                with self.subTest(key=key):
                    self.assertEqual(set(text), {"one", "other"})

    def test_the_voice_is_calm(self):
        for key, text in messages().items():
            for form in text.values() if isinstance(text, dict) else (text,):
                with self.subTest(key=key):
                    self.assertNotRegex(form, r"!|Oops|Successfully|\b[Uu]sers?\b|\bchannel\b")


class Files(unittest.TestCase):
    def test_the_worker_caches_files_that_the_page_does_not_name(self):
        text = (PUBLIC / "service-worker.js").read_text()
        listed = set(re.findall(r"'(/[^']*)'", re.search(r"const FILES = \[(.*?)\];", text, re.DOTALL)[1]))
        page = (PUBLIC / "app" / "index.en.html").read_text()
        wanted = set(re.findall(r'href="(/[^"]+)"', page)) - set(re.findall(r'rel="stylesheet" href="([^"]+)"', page))
        wanted -= set(re.findall(r'rel="preload" href="([^"]+)"', page))
        # The server writes the manifest: a new name of the site is no new version of the app.
        self.assertEqual(wanted - listed, {"/app.webmanifest"})
        for path in listed - {"/"}:
            with self.subTest(path=path):
                self.assertTrue((PUBLIC / path[1:]).is_file())

    def test_every_module_belongs_to_the_app(self):
        # Apps of others load the library's OAuth client and its timeline by themselves.
        library = [PUBLIC / "js" / "parley" / name for name in ("oauth.js", "timeline.js")]
        left, found = [PUBLIC / "js" / "app" / "main.js", *library], set()
        while left:
            file = left.pop().resolve()
            if file not in found:
                found.add(file)
                # Without types: `import('./store.js').Change`.
                names = re.findall(r"(?:from |import |import\()'(\.[^']+)'(?!\)\.[A-Z])", file.read_text())
                left += [file.parent / name for name in names]
        self.assertEqual({it.name for it in (PUBLIC / "js").rglob("*.js") if it.resolve() not in found}, set())

    def test_every_dynamic_import_names_its_module(self):
        """The bundler cannot follow a computed path."""
        for file in APP:
            with self.subTest(file=file.name):
                self.assertNotRegex(re.sub(r"//.*|/\*.*?\*/", "", file.read_text(), flags=re.DOTALL), r"\bimport\((?!'\.)")

    def test_later_pages_load_their_texts(self):
        later = set(re.findall(r"\"(\w+)\"", re.search(r"^LATER = .*$", (TOP / "Tests/tools/webapp").read_text(), re.MULTILINE)[0]))
        pages = (PUBLIC / "js/app/shell/pages.js").read_text()
        named = set(re.findall(r"=> later\(import\('\.\./pages/(\w+)\.js'\)", pages))
        for file in (PUBLIC / "js/app/pages").glob("*.js"):
            named |= set(re.findall(r"import\('\./(\w+)\.js'\), loadMoreText\(\)", file.read_text()))
        self.assertEqual(named, later)

    def test_the_page_names_every_sheet_once(self):
        named = [it for name in ("app", "later") for it in re.findall(r'@import "\./([^"]+)"', (PUBLIC / f"css/{name}.css").read_text())]
        sheets = {str(file.relative_to(PUBLIC / "css")) for file in (PUBLIC / "css").rglob("*.css")}
        later = re.search(r"^LATER_SHEETS = .*$", (TOP / "Tests/tools/webapp").read_text(), re.MULTILINE)[0]
        # The sheets of the visitor pages and of parts that load their own.
        others = {"app.css", "pages.css", *re.findall(r'"css/([^"]+)"', later)}
        self.assertEqual(sorted(named), sorted(sheets - others))

    def test_bundled_texts_are_all_texts_of_the_app(self):
        for file in (PUBLIC / "lang").glob("*.json"):
            with self.subTest(language=file.stem):
                first, more = (json.loads((PUBLIC / "app" / f"{name}.json").read_text()) for name in (file.stem, f"{file.stem}.more"))
                of_pages = {key: text for key, text in json.loads(file.read_text()).items() if key.startswith("page.")}
                self.assertEqual(first | more | of_pages, json.loads(file.read_text()))
                self.assertEqual(set(first) & set(more), set())

    def test_each_language_has_a_page_that_loads_its_texts(self):
        codes = sorted(file.stem for file in (PUBLIC / "lang").glob("*.json"))
        for code in codes:
            with self.subTest(language=code):
                page = (PUBLIC / "app" / f"index.{code}.html").read_text()
                texts = json.loads((PUBLIC / "lang" / f"{code}.json").read_text())
                self.assertIn(f'<html lang="{code}" dir="{texts["language.direction"]}">', page)
                self.assertIn(f'<link rel="preload" href="/app/{code}.json"', page)
                self.assertIn(f'<meta name="languages" content="{" ".join(codes)}">', page)

    def test_bundled_files_name_each_other(self):
        """Each import of a script names a file, and the page and its list name every script."""
        page = (PUBLIC / "app" / "index.en.html").read_text()
        rest = (PUBLIC / re.search(r'<meta name="rest" content="/([^"]+)"', page)[1]).read_text()
        scripts = list((PUBLIC / "app").glob("*.js"))
        pages = (PUBLIC / "app" / "pages").read_text()
        self.assertEqual(set(re.findall(r"/app/([\w.]+\.js)\b", page + rest + pages)), {it.name for it in scripts})
        for script in scripts:
            for name in re.findall(r"\./([\w.]+\.js)\"", script.read_text()):
                with self.subTest(script=script.name):
                    self.assertTrue((PUBLIC / "app" / name).is_file(), name)

    def test_bundled_files_are_compressed(self):
        for file in (PUBLIC / "app").iterdir():
            if file.suffix in (".js", ".css", ".json"):
                with self.subTest(file=file.name):
                    self.assertEqual(gzip.decompress(Path(f"{file}.gz").read_bytes()), file.read_bytes())

    def test_no_page_has_a_script_or_a_style_within(self):
        for page in PUBLIC.rglob("*.html"):
            with self.subTest(page=page.name):
                text = page.read_text()
                self.assertNotRegex(text, r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=")

    def test_no_text_is_parsed_as_html(self):
        forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setHTML|DOMParser|createContextualFragment"
        for file in [*APP, *sorted((PUBLIC / "js" / "parley").rglob("*.js"))]:
            with self.subTest(file=file.name):
                code = re.sub(r"//.*|/\*.*?\*/", "", file.read_text(), flags=re.DOTALL) if file.name == "markup.js" else file.read_text()
                self.assertNotRegex(code, forbidden)

    def test_used_icons_exist(self):
        drawn = set(re.findall(r"^  '?([\w-]+)'?:", (PUBLIC / "js" / "app" / "core" / "pictures" / "icons.js").read_text(), re.MULTILINE))
        for file in APP:
            text = file.read_text()
            asked = set(re.findall(r"\bicon\('([\w-]+)'", text)) | set(re.findall(r"picture: '([\w-]+)'", text))
            asked |= set(re.findall(r"iconButton\('([\w-]+)'", text))
            with self.subTest(file=file.name):
                self.assertEqual(asked - drawn, set())


if __name__ == "__main__":
    unittest.main()
