"""Reactions with the names behind them, the emoji picker, quotes, formatting, pictures and code in conversations."""

import os
import re
import struct
import zlib
from pathlib import Path

from playwright.sync_api import expect
from test_flows import Village


def png(width, height, shade=None):
    """A grey picture; without a shade, noise that does not compress."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
    rows = b"".join(b"\0" + (os.urandom(width) if shade is None else bytes([shade]) * width) for _ in range(height))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Reactions(Village):
    def test_a_chip_names_the_authors_of_a_reaction(self):
        said = self.say("The pump works again")
        for name in ("ada", "lin"):
            self.call("PUT", f"/messages/{said['id']}/actions/reaction:%F0%9F%8E%89", {}, self.tokens[name])
        page = self.signed_in("grace")
        self.room(page)
        chip = page.locator(".message").filter(has_text="The pump works again").locator(".reaction")
        chip.hover()
        expect(chip.get_by_role("tooltip")).to_have_text(re.compile("^(Ada and Lin|Lin and Ada) reacted with 🎉$"))
        self.photograph(page, "reaction-names-light")
        self.assert_accessible(page, "reaction names")

    def test_the_picker_remembers_a_skin_tone(self):
        self.say("Shall we?")
        page = self.signed_in("grace")
        self.room(page)
        page.get_by_role("button", name="Emoji", exact=False).last.click()
        tones = page.get_by_role("group", name="Skin tone")
        tones.get_by_role("button", name="Medium", exact=True).click()
        expect(tones.get_by_role("button", name="Medium", exact=True)).to_have_attribute("aria-pressed", "true")
        self.photograph(page, "emoji-tones")
        page.locator(".emoji-picker input").fill("thumbs up")
        page.locator(".emoji-box button").first.click()
        field = page.get_by_role("textbox", name="Write a message")
        expect(field).to_have_value("👍🏽")
        field.fill("")
        message = page.locator(".message").filter(has_text="Shall we?").last
        message.hover()
        message.get_by_role("button", name="React", exact=True).click()
        page.locator(".emoji-picker input").fill("clap")
        page.locator(".emoji-box button").first.click()
        expect(message.locator(".reaction").filter(has_text="👏🏽")).to_be_visible()

    def test_the_face_stands_at_the_foot_of_an_emoji(self):
        self.say("🎉", "lin")
        page = self.signed_in("ada")
        self.room(page)
        message = page.locator(".message").filter(has=page.locator(".is-emoji")).last
        foot = lambda node: self.box(node)["y"] + self.box(node)["height"]
        self.assertAlmostEqual(foot(message.locator(".message-avatar")), foot(message.locator(".bubble")), delta=2)

    def test_a_chip_keeps_its_distance_to_the_next_bubble(self):
        for number, text in enumerate(("The gate is shut", "And the shed, too", "Who has the key?")):
            said = self.say(text, "grace")
            if number < 2:
                self.call("PUT", f"/messages/{said['id']}/actions/reaction:%F0%9F%8E%89", {}, self.tokens["lin"])
        page = self.signed_in("ada")
        self.room(page)
        message = lambda text: page.locator(".message").filter(has_text=text).last
        expect(message("And the shed, too").locator(".reaction")).to_be_visible()
        for text, following in (("The gate is shut", "And the shed, too"), ("And the shed, too", "Who has the key?")):
            chip = self.box(message(text).locator(".reaction"))
            self.assertGreaterEqual(self.box(message(following).locator(".bubble"))["y"] - chip["y"] - chip["height"], 6)

    def test_a_permalink_has_one_frame(self):
        said = self.say("The water is off on Monday", "grace")
        page = self.signed_in("ada")
        self.go(page, f"/m/{said['id']}")
        message = page.locator(f'.message[data-id="{said["id"]}"]')
        frames = message.evaluate("""node => [node, ...node.querySelectorAll('*')].filter((it) => {
            const { outlineStyle, boxShadow } = getComputedStyle(it);
            return (outlineStyle !== 'none' && it.matches(':focus-visible')) || (it.matches('.bubble') && boxShadow.includes('2px'));
        }).length""")
        self.assertEqual(frames, 1)

    def test_quick_reactions_and_the_picker_stand_at_the_message(self):
        self.say("Who waters on Sunday?")
        page = self.signed_in("ada")
        self.room(page)
        message = page.locator(".message").filter(has_text="Who waters on Sunday?").last
        message.hover()
        expect(message.locator(".quick-reaction")).to_have_count(3)
        message.get_by_role("button", name="React", exact=True).click()
        picker = page.get_by_role("dialog", name="React")
        expect(picker).to_be_visible()
        # Beside the message, without dimming.
        self.assertEqual(picker.evaluate("it => it.tagName"), "DIV")
        self.photograph(page, "emoji-picker-light")
        self.assert_accessible(page, "emoji picker")
        page.keyboard.type("rocket")
        page.keyboard.press("Enter")
        expect(picker).to_have_count(0)
        expect(message.locator(".reaction").filter(has_text="🚀")).to_be_visible()
        # The last one used is the first of the quick ones.
        self.say("And on Monday?")
        other = page.locator(".message").filter(has_text="And on Monday?").last
        other.hover()
        expect(other.locator(".quick-reaction").first).to_have_text("🚀")
        other.locator(".quick-reaction").first.click()
        expect(other.locator(".reaction").filter(has_text="🚀")).to_be_visible()

    def test_the_picker_has_all_emoji_by_group(self):
        self.say("Who is in the pond?")
        for size in ("desktop", "phone"):
            with self.subTest(size=size):
                page = self.signed_in("ada", size)
                self.room(page)
                page.get_by_role("button", name="Emoji").first.click()
                picker = page.get_by_role("dialog")
                groups = picker.get_by_role("heading", level=3)
                expect(groups).to_have_text(["Smileys and people", "Animals and nature", "Food and drink", "Activities", "Travel and places", "Objects", "Symbols", "Flags"])
                self.assertGreater(picker.locator(".emoji").count(), 1_300)
                self.assert_accessible(page, "all emoji")
                self.assert_fits(page, "all emoji")
                self.photograph(page, f"emoji-groups-{size}")
                search = picker.get_by_role("searchbox", name="Search emoji")
                search.fill("japan")
                expect(picker.get_by_role("button", name="Japan", exact=True)).to_have_text("🇯🇵")
                search.fill("otter")
                search.press("Enter")
                expect(picker).to_have_count(0)
                expect(page.get_by_role("textbox", name="Write a message")).to_have_value("🦦")
                page.context.close()

    def test_a_person_card_opens_in_place(self):
        self.say("Here I am")
        page = self.signed_in("ada")
        self.room(page)
        page.locator(".message-name").filter(has_text="Grace").last.click()
        card = page.get_by_role("dialog", name="Grace")
        expect(card.get_by_role("button", name="Message")).to_be_visible()
        expect(page).to_have_url(re.compile("/room$"))
        self.photograph(page, "user-card-light")
        self.assert_accessible(page, "user card")
        page.keyboard.press("Escape")
        expect(card).to_have_count(0)
        page.locator(".message-name").filter(has_text="Grace").last.click()
        card.get_by_role("link", name="Grace").click()
        expect(page).to_have_url(re.compile("/u/grace$"))

    def test_facts_that_come_late_do_not_move_a_card(self):
        """Not even a card that would have no room below its anchor with them."""
        self.call("PUT", f"/forums/{self.garden['id']}/members/me", {}, self.tokens["grace"])
        for who in ("lin", "grace"):
            self.say("\n".join(f"Line {number}" for number in range(60)), who)
        page = self.signed_in("ada")
        self.room(page)
        held = []
        page.route("**/api/v1/forums?*shared_with*", lambda route: held.append(route))
        name = page.locator(".message-name").filter(has_text="Grace").last
        name.click()
        card = page.get_by_role("dialog", name="Grace")
        expect(card.get_by_role("button", name="Follow")).to_be_visible()
        height = self.box(card)["height"]
        page.keyboard.press("Escape")
        # The card ends just above the edge of the window.
        name.evaluate("(it, room) => { it.closest('.stream').scrollTop += it.getBoundingClientRect().bottom - innerHeight + room; }", height + 12)
        self.frames(page)
        name.click()
        expect(card.get_by_role("button", name="Follow")).to_be_visible()
        self.frames(page)
        before = self.box(card)
        for route in held:
            route.continue_()
        expect(card.get_by_role("navigation", name="Forums in common")).to_be_visible()
        self.frames(page)
        after = self.box(card)
        # No further than the window demands.
        self.assertLessEqual(before["y"] - after["y"], max(0, before["y"] + after["height"] + 4 - page.viewport_size["height"]) + 1)

    def test_the_card_of_a_user_has_the_menu_of_the_profile(self):
        self.say("A word too much", "lin")
        for name, wanted in (("grace", ["Mute", "Block", "Report"]), ("ada", ["Mute", "Block", "Report", "Warn", "Silence", "Ban"])):
            page = self.signed_in(name)
            self.room(page)
            page.locator(".message-name").filter(has_text="Lin").last.click()
            page.get_by_role("dialog", name="Lin").get_by_role("button", name="More").click()
            expect(page.get_by_role("dialog", name="Lin")).to_have_count(0)
            menu = page.get_by_role("menu")
            for words in wanted:
                expect(menu.get_by_role("menuitem", name=words, exact=True)).to_be_visible()
            expect(menu.get_by_role("menuitem", name="Ban", exact=True)).to_have_count(int("Ban" in wanted))
            self.photograph(page, f"user-menu-{name}-light")
            if name == "grace":
                menu.get_by_role("menuitem", name="Mute", exact=True).click()
                self.eventually(page, ["lin"], lambda: [it["name"] for it in self.call("GET", "/me/muted", token=self.tokens["grace"])["data"]])
                expect(page).to_have_url(re.compile("/room$"))
            page.context.close()


class Writing(Village):
    def test_selected_text_has_a_bar_of_formats(self):
        page = self.signed_in("grace")
        self.room(page)
        field = page.get_by_role("textbox", name="Write a message")
        field.fill("The pump works")
        bar = page.get_by_role("group", name="Format")
        expect(bar).to_have_count(0)
        field.press("Control+Shift+ArrowLeft")
        expect(bar).to_be_visible()
        self.photograph(page, "selection-bar")
        self.assert_accessible(page, "selection bar")
        bar.get_by_role("button", name="Bold").click()
        expect(field).to_have_value("The pump **works**")
        expect(field).to_be_focused()
        field.press("End")
        expect(bar).to_be_hidden()
        field.select_text()
        expect(bar).to_be_visible()
        page.get_by_role("link", name="Topics").focus()
        expect(bar).to_be_hidden()
        phone = self.signed_in("grace", "phone")
        self.room(phone)
        field = phone.get_by_role("textbox", name="Write a message")
        field.fill("The pump works")
        field.select_text()
        expect(phone.get_by_role("group", name="Format")).to_have_count(0)

    def test_keys_and_the_emoji_button_format_the_text(self):
        page = self.signed_in("ada")
        self.room(page)
        field = page.get_by_role("textbox", name="Write a message")
        for key, wanted in (("b", "**beds**"), ("i", "*beds*"), ("k", "[beds](https://)")):
            field.fill("beds")
            field.select_text()
            page.keyboard.press(f"Control+{key}")
            expect(field).to_have_value(wanted)
        expect(page.get_by_role("combobox", name="Command menu")).to_have_count(0)
        field.fill("Well done ")
        page.get_by_role("button", name="Emoji", exact=True).click()
        picker = page.get_by_role("dialog", name="Emoji")
        picker.get_by_role("button", name="party tada").first.click()
        expect(field).to_have_value("Well done 🎉")
        expect(field).to_be_focused()
        field.fill("")

    def test_an_emoji_has_its_names_and_is_replaced_when_typed_in_full(self):
        page = self.signed_in("ada")
        self.room(page)
        field = page.get_by_role("textbox", name="Write a message")
        field.press_sequentially("Well done :tad")
        expect(page.get_by_role("option", name=":tada:")).to_be_visible()
        field.press_sequentially("a:")
        expect(field).to_have_value("Well done 🎉")
        field.press_sequentially(", see 10:30: and :nothing:")
        expect(field).to_have_value("Well done 🎉, see 10:30: and :nothing:")
        field.fill("")
        # Not in code.
        field.press_sequentially("Write `:tada: @a")
        expect(field).to_have_value("Write `:tada: @a")
        expect(page.get_by_role("option")).to_have_count(0)
        field.press_sequentially("` :tada:")
        expect(field).to_have_value("Write `:tada: @a` 🎉")
        field.fill("")

    def test_a_file_that_is_too_large_for_the_draft_is_told(self):
        page = self.signed_in("ada")
        self.room(page)
        field = page.get_by_role("textbox", name="Write a message")
        large = Path(self.folder) / "large.bin"
        large.write_bytes(bytes(50_000_001))
        page.locator("input[type=file]").first.set_input_files(large)
        expect(page.get_by_text("Some files are too large for the draft.")).to_be_visible()
        # Once.
        field.press_sequentially("Look")
        expect(page.get_by_text("Some files are too large for the draft.")).to_have_count(1)
        page.get_by_role("button", name="Remove large.bin").click()
        field.fill("")

    def test_a_selection_is_quoted(self):
        said = self.say("The frost comes in October. Cover the beds by then.")
        page = self.signed_in("ada")
        self.room(page)
        text = page.locator(f".message[data-id='{said['id']}'] .rich p")
        text.evaluate("""it => {
            const range = document.createRange();
            range.setStart(it.firstChild, 0);
            range.setEnd(it.firstChild, 27);
            getSelection().removeAllRanges();
            getSelection().addRange(range);
        }""")
        page.get_by_role("button", name="Quote", exact=True).click()
        field = page.get_by_role("textbox", name="Write a message")
        expect(field).to_have_value("> The frost comes in October.\n\n")
        expect(field).to_be_focused()
        field.fill("")
        page.keyboard.press("Escape")


class Compact(Village):
    def test_name_and_text_stand_on_one_line(self):
        self.call("PATCH", "/users/me", {"preferences": {"density": "compact"}}, self.tokens["lin"])
        lines = [self.say(text, who) for who, text in (
            ("grace", "Who has the key?"), ("grace", "I need it at noon"), ("lin", "It is on the hook"), ("lin", "🎉"), ("ada", "Thank you"))]
        long = self.say("A long line about the beds, the paths and the well. " * 8)
        for size in ("desktop", "phone"):
            with self.subTest(size=size):
                page = self.signed_in("lin", size)
                self.room(page)
                line = lambda said: page.locator(f"[data-id='{said['id']}']")
                for said in lines:
                    expect(line(said)).to_be_visible()
                    self.assertLessEqual(self.box(line(said))["height"], 28, said["text"])
                # The name once in a group, beside the text.
                expect(line(lines[1]).locator(".message-name")).to_have_count(0)
                for said in (lines[0], long):
                    name, text = self.box(line(said).locator(".message-name")), self.box(line(said).locator(".bubble"))
                    self.assertAlmostEqual(name["y"], text["y"], delta=2)
                    self.assertGreaterEqual(text["x"], name["x"] + name["width"])
                own = line(lines[2]).locator(".message-body").evaluate("it => getComputedStyle(it, '::before').content")
                self.assertEqual(own, '"Lin"')
                if size == "desktop":
                    line(lines[1]).hover()
                    expect(line(lines[1]).get_by_role("button", name="More")).to_be_visible()
                    self.assertLessEqual(self.box(line(lines[1]))["height"], 28)
                    page.mouse.move(0, 0)
                self.photograph(page, f"compact-{size}")
                self.assert_accessible(page, f"compact {size}")
                self.assert_fits(page, f"compact {size}")
                page.context.close()
        self.call("PATCH", "/users/me", {"preferences": {}}, self.tokens["lin"])


class Motion(Village):
    def test_an_own_message_and_a_dialog_move_unless_the_user_reduces_motion(self):
        self.say("Who is there?")
        for preference, moves in (("no-preference", True), ("reduce", False)):
            with self.subTest(preference=preference):
                page = self.signed_in("ada", reduced_motion=preference)
                page.evaluate("""() => {
                    window.moved = new Set();
                    const note = ({ target, animationName: name }) => {
                        if (target.getAnimations().some((it) => it.effect.getComputedTiming().duration > 0)) window.moved.add(name);
                    };
                    document.addEventListener("animationstart", note, true);
                }""")
                self.room(page)
                expect(page.locator(".message").first).to_be_visible()
                # The answer draws the message anew.
                page.route("**/messages", lambda route: None if route.request.method == "POST" else route.fallback())
                expect(self.write(page, f"Moving, {preference}")).to_be_visible()
                page.keyboard.press("Control+k")
                expect(page.get_by_role("dialog")).to_be_visible()
                self.frames(page)
                moved = set(page.evaluate("[...window.moved]"))
                # A slow page shows its activity.
                self.assertEqual(moved - {"activity"} if moves else moved, {"arrive", "float-in"} if moves else set())
                page.context.close()


class Seeing(Village):
    def upload(self, context, width, height, shade):
        answer = context.request.post(f"{self.origin}/api/v1/files?name=bed{shade}.png", data=png(width, height, shade), headers={
            "Content-Type": "image/png", "Authorization": f"Bearer {self.tokens['grace']}"})
        self.assertEqual(answer.status, 201, answer.text())
        return answer.json()["id"]

    def test_pictures_stand_in_a_grid(self):
        page = self.signed_in("ada")
        for count in (1, 2, 3, 4, 6):
            files = [self.upload(page.context, 300, 200 + 20 * number, 60 + 20 * number) for number in range(count)]
            self.say(f"{count} pictures", attachments=files)
        self.room(page)
        for count in (1, 2, 3, 4, 6):
            message = page.locator(".message").filter(has_text=f"{count} pictures")
            expect(message.locator(".picture:visible")).to_have_count(min(count, 4))
        expect(message.locator(".picture-more")).to_have_text("+2")
        four = page.locator(".message").filter(has_text="4 pictures").locator(".picture")
        boxes = [self.box(four.nth(number)) for number in range(4)]
        self.assertEqual(boxes[0]["y"], boxes[1]["y"])
        self.assertEqual(boxes[0]["x"], boxes[2]["x"])
        self.photograph(page, "picture-grid-light")
        self.assert_accessible(page, "picture grid")

    def test_pictures_have_their_place_before_they_load(self):
        sides = [(300, 900), (900, 300), (1000, 1000), (40, 30)]
        writer = self.context()
        for number, (width, height) in enumerate(sides):
            self.say(f"{width} by {height}", attachments=[self.upload(writer, width, height, 140 + number)])
        self.say("Two by side", attachments=[self.upload(writer, 300, 200, 150), self.upload(writer, 200, 400, 151)])
        for size in ("desktop", "phone", "unknown"):
            with self.subTest(size=size):
                page = self.signed_in("ada", "phone" if size == "phone" else "desktop")
                if size == "unknown":
                    page.route(re.compile(r"/api/v1/files\?ids="), self.answer_without_size)
                self.assert_places_stay(page, size)
                page.context.close()

    def answer_without_size(self, route):
        answer = route.fetch()
        page = answer.json()
        route.fulfill(response=answer, json={**page, "data": [{**it, "width": None, "height": None} for it in page["data"]]})

    def test_the_files_of_a_room_are_fetched_together(self):
        room = self.call("POST", "/forums", {"title": "Archive", "visibility": "members"}, self.tokens["grace"])["room_id"]
        writer = self.context()
        for number in range(12):
            self.say(f"Sheet {number}", "grace", room, attachments=[self.upload(writer, 30, 20, number + 1) for _ in range(2)])
        page = self.signed_in("ada")
        asked = []
        page.on("request", lambda it: asked.append(it.url) if re.search(r"/api/v1/files(\?|/\d+$)", it.url) else None)
        self.go(page, f"/c/{room}")
        expect(page.locator(".message").last.locator(".picture img")).to_have_count(2)
        expect(page.locator(".message .picture img")).to_have_count(24)
        self.assertEqual(len(asked), 1, asked)
        self.assertIn("/files?ids=", asked[0])

    def assert_places_stay(self, page, size):
        held = []
        page.route(re.compile(r"/files/\d+/content"), lambda route: held.append(route))
        self.room(page)
        messages = page.locator(".message").filter(has_text=re.compile(r"\d by \d|Two by side"))
        pictures = messages.locator(".picture img")
        expect(pictures).to_have_count(6)
        heights = lambda: messages.evaluate_all("all => all.map((it) => Math.round(it.offsetHeight))")
        shapes = lambda: pictures.evaluate_all("all => all.map((it) => [it.offsetWidth, it.offsetHeight])")
        before = heights(), shapes()
        self.photograph(page, f"picture-heights-{size}")

        def is_loaded(picture):
            while held:
                held.pop().continue_()
            return picture.evaluate("it => it.complete && it.naturalWidth > 0")

        for number in range(6):
            picture = pictures.nth(number)
            picture.scroll_into_view_if_needed()
            self.eventually(page, True, lambda picture=picture: is_loaded(picture))
        self.assertEqual((heights(), shapes()), before)

    def test_a_large_picture_is_shown_on_request(self):
        page = self.signed_in("ada")
        answer = page.context.request.post(f"{self.origin}/api/v1/files?name=plan.png", data=png(1200, 1000), headers={
            "Content-Type": "image/png", "Authorization": f"Bearer {self.tokens['grace']}"})
        self.say("The plan", attachments=[answer.json()["id"]])
        self.room(page)
        message = page.locator(".message").filter(has_text="The plan")
        expect(message.locator(".picture")).to_have_count(0)
        message.get_by_role("button", name="Show picture (1.2 MB)").click()
        expect(message.locator(".picture img")).to_be_visible()

    def test_code_is_highlighted_when_its_language_is_known(self):
        self.say("```swift\n// rows\nlet beds = rows.map { $0.width * 2 }\n```")
        self.say("```\nno language\n```")
        page = self.signed_in("ada")
        asked = []
        page.on("request", lambda it: asked.append(it.url))
        self.room(page)
        code = page.locator(".code").filter(has_text="let beds")
        expect(code.locator(".code-keyword")).to_have_text(["let"])
        expect(code.locator(".code-comment")).to_have_text("// rows")
        expect(code.locator(".code-number").last).to_have_text("2")
        expect(page.locator(".code").filter(has_text="no language").locator("span[class^='code-']")).to_have_count(0)
        self.photograph(page, "code-light")
        page.emulate_media(color_scheme="dark")
        self.photograph(page, "code-dark")
        self.assert_accessible(page, "code dark", ["color-contrast"])


class Playing(Village):
    def test_audio_and_video_play_in_place(self):
        page = self.signed_in("ada")
        wave = b"RIFF" + struct.pack("<I", 36 + 8000) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8) + b"data" + struct.pack("<I", 8000) + b"\x80" * 8000
        sent = page.context.request.post(f"{self.origin}/api/v1/files?name=bees.wav", data=wave, headers={
            "Content-Type": "audio/wav", "Authorization": f"Bearer {self.tokens['grace']}"})
        self.assertEqual(sent.json()["mime_type"], "audio/wav")
        self.say("Listen", attachments=[sent.json()["id"]])
        self.room(page)
        audio = page.locator(".message").filter(has_text="Listen").locator("audio")
        expect(audio).to_have_attribute("aria-label", "Audio: bees.wav")
        self.eventually(page, 1, lambda: round(audio.evaluate("it => it.duration || 0")))
        self.photograph(page, "audio-light")
        self.assert_accessible(page, "audio")
        # The panel lists it.
        page.get_by_role("button", name="About this forum").click()
        expect(page.get_by_role("complementary", name="Details").get_by_role("link").filter(has_text="bees.wav")).to_be_visible()

    def test_the_details_of_a_forum_name_creator_and_time(self):
        page = self.signed_in("lin")
        self.go(page, f"/f/{self.garden['id']}/about")
        line = page.locator(".forum-created")
        expect(line).to_contain_text(re.compile(r"Created by Ada on \w+day,? \d+ \w+ \d{4} at \d\d:\d\d"))
        expect(line.locator("img")).to_be_visible()
        # Side by side, also before any other page has loaded its styles.
        self.assertGreater(self.box(line.locator("span"))["x"], self.box(line.locator("img"))["x"])
        expect(line.get_by_role("link", name="Ada")).to_have_attribute("href", "/u/ada")
