"""Pastes of formatted text into the composer."""

from playwright.sync_api import expect
from test_flows import Village

PASTE = """(field, [html, text, shift]) => {
  const data = new DataTransfer();
  if (html) data.setData("text/html", html);
  data.setData("text/plain", text);
  field.focus();
  if (shift) field.dispatchEvent(new KeyboardEvent("keydown", { key: "V", code: "KeyV", ctrlKey: true, shiftKey: true, bubbles: true }));
  field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}"""


class Pasting(Village):
    def test_pasted_html_becomes_markdown_and_with_shift_plain_text(self):
        page = self.signed_in("grace")
        self.room(page)
        field = page.get_by_role("textbox", name="Write a message")
        html = "<p>Plant <b>early</b>, see <a href='https://example.org/'>the list</a></p><ul><li>peas</li><li>beans</li></ul><script>window.pasted = 1</script>"
        field.evaluate(PASTE, [html, "Plant early, see the list", False])
        expect(field).to_have_value("Plant **early**, see [the list](https://example.org/)\n\n- peas\n- beans")
        self.photograph(page, "rich-paste")
        page.keyboard.press("Control+z")
        expect(field).to_have_value("")
        field.evaluate(PASTE, [html, "Plant early", True])
        self.assertEqual(field.evaluate("it => it.value"), "")
        field.evaluate(PASTE, ["<span style='color: red'>plain</span>", "plain *text*", False])
        expect(field).to_have_value("plain *text*")
        self.assertIsNone(page.evaluate("window.pasted ?? null"))
