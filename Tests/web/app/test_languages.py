"""The languages of the app and of the visitor pages: German, whose words are long, and Arabic, which is written from right to
left; how a language is chosen, and that the app starts in it offline."""

import json
import re

from browsers import TIMEOUT
from browsing import PASSWORD, SIZES, TOP, spread
from playwright.sync_api import expect
from test_offline import IS_CACHED
from test_pages import Site

# The main pages; the others have the same parts.
MAIN = (
    "inbox", "forums", "topics", "room", "about", "topic", "new-topic", "new-forum", "direct", "messages", "search", "user", "you", "profile",
    "appearance", "privacy", "admin", "settings", "invites", "order", "reports", "notifications", "groups", "bots", "webhooks", "endpoints", "rules", "gone")


def texts(code):
    return json.loads((TOP / "Public" / "lang" / f"{code}.json").read_text())


class Languages(Site):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        self = cls("nothing")
        lin = cls.tokens["lin"]
        self.call("PATCH", "/users/me", {"display_name": "عمر الخيّام"}, lin)
        self.say("صباح الخير! متى نزرع الطماطم (الصفراء)؟", "lin")
        self.say("Was @ada sagt: *erst* im Mai.", "lin", cls.topic["id"])
        self.call("POST", f"/forums/{cls.garden['id']}/conversations", {"title": "أفكار للحديقة (2026)", "text": "نبدأ في مارس."}, lin)

    def test_every_main_page_in_arabic(self):
        for size, names in spread(MAIN, SIZES).items():
            page = self.signed_in("ada", size, locale="ar")
            self.assertEqual(page.evaluate("[document.documentElement.lang, document.documentElement.dir]"), ["ar", "rtl"])
            for name in names:
                with self.subTest(page=f"{name}-{size}"):
                    self.go(page, self.addresses()[name])
                    self.look(page, f"ar-{name}-{size}")
            page.context.close()

    def test_every_main_page_fits_in_german(self):
        for size, names in spread(MAIN, SIZES).items():
            page = self.signed_in("ada", size, locale="de-DE")
            self.assertEqual(page.evaluate("[document.documentElement.lang, document.documentElement.dir]"), ["de", "ltr"])
            for name in names:
                with self.subTest(page=f"{name}-{size}"):
                    self.go(page, self.addresses()[name])
                    self.photograph(page, f"de-{name}-{size}")
                    self.assert_fits(page, name)
            page.context.close()

    def test_every_language_fits_a_phone(self):
        for code in ("es", "fr", "ja"):
            page = self.signed_in("ada", "phone", locale=code)
            for name in ("inbox", "room", "topic", "you", "appearance", "settings"):
                with self.subTest(page=f"{name}-{code}"):
                    self.go(page, self.addresses()[name])
                    self.photograph(page, f"{code}-{name}")
                    self.assert_fits(page, name)
            page.context.close()

    def test_sign_in_and_visitor_pages_in_arabic(self):
        for size in ("phone", "desktop"):
            page = self.page(self.context(size, locale="ar-EG"))
            for name, address in {"sign-in": "/sign-in", "invite": f"/i/{self.invite}"}.items():
                with self.subTest(page=f"{name}-{size}"):
                    self.open(page, address)
                    self.look(page, f"ar-{name}-{size}")
            garden = f"/f/{self.garden['id']}"
            for name, address in {"front": "/", "forum": garden, "room": f"{garden}/room", "topic": f"/t/{self.topic['id']}", "user": "/u/grace", "missing": "/t/999"}.items():
                with self.subTest(page=f"visitor-{name}-{size}"):
                    page.goto(self.origin + address)
                    self.assertEqual(page.evaluate("[document.documentElement.lang, document.documentElement.dir]"), ["ar", "rtl"])
                    self.photograph(page, f"ar-visitor-{name}-{size}")
                    self.assert_accessible(page, name)
                    self.assert_fits(page, name)
            page.context.close()

    def test_the_server_answers_in_the_language_of_the_request(self):
        context = self.context()
        for accepted, cookie, code in (
                ("de-AT, en;q=0.5", None, "de"), ("nl, fr-CA;q=0.8, en;q=0.9", None, "en"), ("nl, fr-CA;q=0.8", None, "fr"), ("*", None, "en"), ("x y;z", None, "en"),
                ("de;q=0, ja;q=0.1", None, "ja"), ("de", "ar", "ar"), ("de", "../en", "de"), ("de", "nl", "de"), ("", None, "en")):
            for path in ("/", "/sign-in", "/forums", "/t/999"):
                with self.subTest(accepted=accepted, cookie=cookie, path=path):
                    answer = context.request.get(self.origin + path, headers={"Accept-Language": accepted, **({"Cookie": f"language={cookie}"} if cookie else {})})
                    self.assertRegex(answer.text()[:80], f'<html lang="{code}" dir="{"rtl" if code == "ar" else "ltr"}">')
                    self.assertLessEqual({"Accept-Language", "Cookie"}, set(re.split(", *", answer.headers["vary"])))

    def test_a_browser_loads_only_its_language(self):
        context = self.context(locale="fr-CA")
        self.sign_in(context, "ada")
        page = self.page(context)
        loaded = []
        page.on("request", lambda it: loaded.append(it.url.removeprefix(self.origin)))
        self.open(page)
        expect(page).to_have_title(re.compile(f"{texts('fr')['navigation.inbox']} · The Allotment"))
        self.assertEqual([it for it in loaded if re.match(r"/app/.*\.json", it)], ["/app/fr.json"])

    def choose(self, page, name, code):
        """Chooses a language in the settings; the app loads again."""
        page.locator("select").first.select_option(label=name)
        page.wait_for_function("code => document.documentElement.lang === code && document.body?.dataset.ready", arg=code)

    def test_a_region_and_a_time_format_hold_at_once_and_on_the_next_device(self):
        page = self.signed_in("lin", anew=True)
        self.go(page, "/you/appearance")
        example = "Dates, times and numbers:"
        page.get_by_label("Region", exact=True).select_option("DE")
        expect(page.get_by_text(example)).to_contain_text("1.234,5")
        page.get_by_label("Time format").select_option("12")
        expect(page.get_by_text(example)).to_contain_text(re.compile(r"\d.[ap]m", re.IGNORECASE))
        self.photograph(page, "region")
        kept = lambda: self.call("GET", "/me", token=self.tokens["lin"])["preferences"]
        self.eventually(page, ("DE", "12"), lambda: (kept().get("region"), kept().get("clock")))
        other = self.signed_in("lin", anew=True)
        self.go(other, "/you/appearance")
        expect(other.get_by_text(example)).to_contain_text("1.234,5")
        self.call("PATCH", "/users/me", {"preferences": {}}, self.tokens["lin"])

    def test_a_chosen_language_holds_at_once_and_on_the_next_device(self):
        page = self.signed_in("grace", anew=True)
        self.go(page, "/you/appearance")
        language = page.get_by_label("Language")
        self.assertEqual(sorted(language.locator("option").all_inner_texts()), sorted([
            "Browser language", "Deutsch", "English", "Español", "Français", "العربية", "日本語"]))
        self.choose(page, "Deutsch", "de")
        expect(page.get_by_role("heading", name=texts("de")["settings.appearance"])).to_be_visible()
        self.assertEqual(page.evaluate("document.documentElement.lang"), "de")
        self.assertEqual(self.call("GET", "/me", token=self.tokens["grace"])["preferences"]["language"], "de")
        # The pages of the server too, and all of it after a restart of the browser.
        self.assertEqual({it["name"]: it["value"] for it in page.context.cookies()}["language"], "de")
        self.open(page)
        expect(page.get_by_role("heading", name=texts("de")["navigation.inbox"])).to_be_visible()

        other = self.page(self.context())
        self.open(other, "/sign-in")
        other.get_by_label("Username").fill("grace")
        other.get_by_label("Password").fill(PASSWORD)
        other.get_by_role("button", name="Sign in").click()
        expect(other.get_by_role("heading", name=texts("de")["navigation.inbox"])).to_be_visible()

        self.go(page, "/you/appearance")
        self.choose(page, texts("de")["appearance.language.browser"], "en")
        expect(page.get_by_role("heading", name="Appearance and shortcuts")).to_be_visible()
        self.assertNotIn("language", self.call("GET", "/me", token=self.tokens["grace"])["preferences"])

    def test_a_language_that_is_gone_gives_way_to_the_browsers(self):
        page = self.signed_in("ada", locale="de")
        page.evaluate("localStorage.setItem('language', 'nl')")
        self.open(page)
        expect(page.get_by_role("heading", name=texts("de")["navigation.inbox"])).to_be_visible()

    def test_times_have_the_region_of_the_browser(self):
        sent = self.say("What time is it?")
        for locale, pattern in (("en-US", r"^\d{1,2}:\d\d.[AP]M$"), ("en-GB", r"^\d\d:\d\d$"), ("de-CH", r"^\d\d:\d\d$")):
            with self.subTest(locale=locale):
                page = self.signed_in("ada", locale=locale)
                self.go(page, f"/f/{self.garden['id']}/room")
                time = page.locator(f".message[data-id='{sent['id']}'] time").last
                self.assertRegex(time.text_content(), pattern)
                page.context.close()

    def opened_offline(self, page):
        """Closes the page and opens the app in the same context without a network."""
        context = page.context
        context.set_offline(True)
        page.close()
        page = self.page(context)
        self.open(page)
        return page

    def test_a_language_chosen_while_the_worker_is_installed_is_the_one_offline(self):
        page = self.signed_in("ada", service_workers="allow")
        self.go(page, "/you/appearance")
        self.eventually(page, True, lambda: page.evaluate("async () => !!(await navigator.serviceWorker.getRegistration())"))
        self.choose(page, "العربية", "ar")
        self.eventually(page, True, lambda: page.evaluate(IS_CACHED))
        page = self.opened_offline(page)
        self.assertEqual(page.evaluate("[document.documentElement.lang, document.documentElement.dir]"), ["ar", "rtl"])

    def test_the_app_starts_offline_in_the_chosen_language(self):
        page = self.signed_in("ada", service_workers="allow")
        self.eventually(page, True, lambda: page.evaluate(IS_CACHED))
        self.go(page, "/you/appearance")
        self.choose(page, "العربية", "ar")
        page = self.opened_offline(page)
        self.assertEqual(page.evaluate("[document.documentElement.lang, document.documentElement.dir]"), ["ar", "rtl"])
        expect(page.get_by_role("heading", name=texts("ar")["navigation.inbox"])).to_be_visible()
        # Later pages have their texts.
        self.go(page, "/you/appearance")
        expect(page.get_by_role("heading", name=texts("ar")["settings.appearance"])).to_be_visible()
        # Without a network there is no other language: the app says so and stays.
        for language in ("Deutsch", "Français", "Deutsch"):
            page.locator("select").first.select_option(label=language)
        # The page shows the notice once.
        expect(page.get_by_text(texts("ar")["problem.network"])).to_be_visible(timeout=TIMEOUT)
