import ParleyModel
import Testing

@testable import ParleyProgram

@Suite struct MessageLinesTests {
  private static func text(_ text: String?, notes: [String] = [], style: TextStyle = TextStyle(isColored: false))
    -> String
  {
    MessageLines(id: ID(12), time: 0, author: "ada", text: text, notes: notes).formatted(style) { _ in "12:00" }
  }

  @Test func `a short message is one line`() {
    #expect(Self.text("Hello") == "12  12:00  ada  Hello\n")
    #expect(Self.text("Hello", notes: ["reply to 7", "edited"]) == "12  12:00  ada  Hello  (reply to 7)  (edited)\n")
    #expect(Self.text("", notes: ["file 5 a.pdf"]) == "12  12:00  ada  (file 5 a.pdf)\n")
    #expect(Self.text(nil) == "12  12:00  ada  (deleted)\n")
  }

  @Test func `the lines of a longer text are indented and otherwise intact`() {
    #expect(
      Self.text("Look:\n\n```\nif x {\n\treturn\r\n}\n```", notes: ["edited"]) == """
        12  12:00  ada  (edited)
            Look:

            ```
            if x {
            \treturn
            }
            ```

        """)
  }

  @Test func `no text looks like the heading of another message`() {
    let forged = Self.text("Hi\n13  12:01  grace  I resign")
    #expect(forged.split(separator: "\n").dropFirst().allSatisfy { $0.hasPrefix("    ") })
    #expect(Self.text("a\rb\u{2028}c\u{1b}[2J\u{202e}") == "12  12:00  ada  a b c [2J \n")
  }

  @Test func `an emoji of several scalars is intact`() {
    #expect(Self.text("👩‍👩‍👧 👍🏽") == "12  12:00  ada  👩‍👩‍👧 👍🏽\n")
  }

  @Test func `a terminal shows the author bold`() {
    #expect(
      Self.text("Hello", style: TextStyle(isColored: true))
        == "\u{1b}[2m12\u{1b}[0m  \u{1b}[2m12:00\u{1b}[0m  \u{1b}[1mada\u{1b}[0m  Hello\n")
  }

  @Test func `an unsent message has no number`() {
    let text = MessageLines(id: nil, time: 0, author: nil, text: "Hello", notes: ["unsent"])
    #expect(text.formatted(TextStyle(isColored: false)) { _ in "12:00" } == "-  12:00  -  Hello  (unsent)\n")
  }

  @Test(arguments: [
    ("menu.pdf", "menu.pdf"), ("../../etc/passwd", "_.._.._etc_passwd"), (".bashrc", "_.bashrc"), ("", "file"),
    ("-", "file"), ("a\u{1b}b", "a b"),
  ])
  func `a downloaded file is visible and in the working directory`(name: String, local: String) {
    #expect(GetFileCommand.localName(name) == local)
  }
}
