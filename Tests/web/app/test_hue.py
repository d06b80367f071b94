"""The colours of the site's hue: on the first visit, on a later one, and after a change."""

import re

from test_flows import Village

ACCENT = "() => getComputedStyle(document.querySelector('.sidebar-link[aria-current]')).color"


class Hue(Village):
    def accent(self, page):
        return page.evaluate(ACCENT)

    def test_the_colours_follow_the_hue_and_are_kept_on_the_device(self):
        ada = self.tokens["ada"]
        page = self.signed_in("grace")
        usual = self.accent(page)
        self.call("PATCH", "/settings", {"hue": 150}, ada)
        page.reload()
        self.settle(page)
        self.eventually(page, False, lambda: self.accent(page) == usual)
        green = self.accent(page)
        # A later visit computes no colours.
        page.route(re.compile(r"/hue\.\w+\.js"), lambda route: route.abort())
        page.reload()
        self.settle(page)
        self.assertEqual(self.accent(page), green)
        self.call("PATCH", "/settings", {"hue": 260}, ada)
        page.reload()
        self.settle(page)
        self.eventually(page, usual, lambda: self.accent(page))

    def test_a_slider_shows_its_hue_at_once(self):
        page = self.signed_in("ada")
        usual = self.accent(page)
        self.go(page, "/admin/settings")
        slider = page.get_by_role("slider")
        for value in ("20", "90"):
            slider.fill(value)
        self.eventually(page, False, lambda: self.accent(page) == usual)
        amber = self.accent(page)
        slider.fill("260")
        self.eventually(page, usual, lambda: self.accent(page))
        slider.fill("90")
        self.eventually(page, amber, lambda: self.accent(page))
