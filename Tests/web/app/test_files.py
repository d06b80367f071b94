"""Static checks: texts, modules and files, and that user content is never parsed as HTML."""

import json
import re
import unittest
from pathlib import Path

PUBLIC = Path(__file__).resolve().parents[3] / "Public"
APP = sorted((PUBLIC / "js" / "app").rglob("*.js"))
# Keys built from a fixed part and a value; the value is checked at its source.
DYNAMIC = re.compile(r"(?:say|knows)\(`([\w.]+)\$\{")


def messages():
    return json.loads((PUBLIC / "lang" / "en.json").read_text())


class Texts(unittest.TestCase):
    def test_every_used_text_is_defined(self):
        known = messages()
        for file in APP:
            with self.subTest(file=file.name):
                asked = set(re.findall(r"'((?:[a-z]\w*\.)+[\w.]+)'", file.read_text()))
                families = {key.split(".")[0] for key in known}
                wanted = {key for key in asked if key.split(".")[0] in families and not key.endswith((".js", ".json", ".created"))}
                self.assertEqual({key for key in wanted if key not in known}, set())

    def test_no_text_is_unused(self):
        everything = "\n".join(file.read_text() for file in APP)
        prefixes = tuple(DYNAMIC.findall(everything)) + ("problem.",)
        left = {key for key in messages() if f"'{key}'" not in everything and not key.startswith(prefixes)}
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
        page = (PUBLIC / "index.html").read_text()
        wanted = set(re.findall(r'href="(/[^"]+)"', page)) - set(re.findall(r'rel="stylesheet" href="([^"]+)"', page))
        wanted -= {"/api/v1/openapi.json"} | set(re.findall(r'rel="modulepreload" href="([^"]+)"', page))
        self.assertEqual(wanted - listed, set())
        for path in listed - {"/"}:
            with self.subTest(path=path):
                self.assertTrue((PUBLIC / path[1:]).is_file())

    def test_every_module_belongs_to_the_app(self):
        left, found = [PUBLIC / "js" / "app" / "main.js"], set()
        while left:
            file = left.pop().resolve()
            if file not in found:
                found.add(file)
                text = file.read_text()
                left += [file.parent / name for name in re.findall(r"(?:from |import\()'(\.[^']+)'", text)]
                # Modules loaded on demand are named by their address.
                left += [PUBLIC / name for name in re.findall(r"'/(js/[^']+\.js)'", text)]
        self.assertEqual({it.name for it in (PUBLIC / "js").rglob("*.js") if it.resolve() not in found}, set())

    def test_preloaded_modules_are_imported_dynamically(self):
        """Static imports are in the start bundle anyway, and preloading an unused module wastes a request."""
        named = re.findall(r'rel="modulepreload" href="/(js/[^"]+)"', (PUBLIC / "index.html").read_text())
        later = {(file.parent / name).resolve() for file in APP for name in re.findall(r"import\('(\.[^']+)'", file.read_text())}
        self.assertEqual([name for name in named if (PUBLIC / name).resolve() not in later], [])
        self.assertEqual(len(named), len(set(named)))
        self.assertLessEqual(len(named), 20)

    def test_the_page_names_every_sheet_once(self):
        page = (PUBLIC / "index.html").read_text()
        named = re.findall(r'<link rel="stylesheet" href="/(css/[^"]+)">', page)
        sheets = {str(file.relative_to(PUBLIC)) for file in (PUBLIC / "css").rglob("*.css")}
        # The sheet of the visitor pages.
        self.assertEqual(sorted(named), sorted(sheets - {"css/pages.css"}))

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
        drawn = set(re.findall(r"^  '?([\w-]+)'?:", (PUBLIC / "js" / "app" / "core" / "icons.js").read_text(), re.MULTILINE))
        for file in APP:
            text = file.read_text()
            asked = set(re.findall(r"\bicon\('([\w-]+)'", text)) | set(re.findall(r"picture: '([\w-]+)'", text))
            asked |= set(re.findall(r"iconButton\('([\w-]+)'", text))
            with self.subTest(file=file.name):
                self.assertEqual(asked - drawn, set())


if __name__ == "__main__":
    unittest.main()
