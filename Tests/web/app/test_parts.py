"""Every UI part in every state: light and dark, 100 % and 200 %, left to right and right to left."""

from browsing import AXE, IS_THOROUGH, BrowsingTest


class Parts(BrowsingTest):
    options = ("--dev",)
    # Otherwise axe copies imported style sheets into the page, which the policy of the page forbids.
    axe = {**AXE, "preload": False}

    def test_every_part_in_every_state(self):
        page = self.page(self.context())
        for theme in ("light", "dark"):
            for scale in (1, 2):
                for direction in ("ltr", "rtl"):
                    name = f"parts-{theme}-{scale}-{direction}"
                    with self.subTest(name=name):
                        page.set_viewport_size({"width": 1000, "height": 900})
                        self.open(page, f"/dev/parts?theme={theme}&scale={scale}&dir={direction}")
                        if IS_THOROUGH:
                            page.set_viewport_size({"width": 1000, "height": page.evaluate("document.querySelector('.parts').scrollHeight")})
                        self.photograph(page, name)
                        # Dark changes only colours, scale and direction only size and side.
                        if scale == 1 and direction == "ltr":
                            self.assert_accessible(page, name, None if theme == "light" else ["color-contrast"])
                        self.assertFalse(page.evaluate("document.querySelector('.parts').scrollWidth > innerWidth"))

    def test_a_badge_counts_to_999(self):
        page = self.page(self.context())
        self.open(page, "/dev/parts?part=Badge")
        shown = page.evaluate("""async () => {
            const { badge } = await import("/js/app/parts/navigation/badge.js");
            return [1, 999, 1000, 12000].map((n) => badge(n).firstChild.data);
        }""")
        self.assertEqual(shown, ["1", "999", "999+", "999+"])

    def test_a_missing_text_is_detected(self):
        page = self.page(self.context())
        self.open(page, "/dev/parts?lang=en-XA&part=Composer")
        placeholder = page.get_by_role("textbox").first.get_attribute("placeholder")
        self.assertTrue(placeholder.startswith("⟦"), placeholder)

    def test_parts_on_a_phone(self):
        page = self.page(self.context("phone"))
        self.open(page, "/dev/parts")
        self.assert_accessible(page, "parts on a phone")


class PartsInProduction(BrowsingTest):
    def test_parts_are_served_in_development_only(self):
        for path in ("/dev/parts", "/dev/parts.html", "/dev/parts.js", "/%64ev/parts.html"):
            with self.subTest(path=path):
                status, _ = self.curl_headers(self.origin + path)
                self.assertEqual(status, 404)
