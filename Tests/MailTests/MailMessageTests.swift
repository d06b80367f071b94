import Foundation
import ParleyModel
import ParleyWire
import Testing

@testable import Mail

@Suite struct MailMessageTests {
  private static func message(
    subject: String = "Hello", name: String = "Garden", text: String = "Hi", html: String? = nil
  ) throws -> MailMessage {
    MailMessage(
      from: try #require(MailAddress("noreply@example.org")), name: name,
      to: try #require(MailAddress("ada@example.org")), subject: subject, text: text, html: html,
      date: 1_795_833_000_000, id: "12.34", language: "de", unsubscribe: "https://example.org/unsubscribe/1-a",
      listID: "notifications.example.org")
  }

  private static func headers(_ message: MailMessage) -> [String] {
    let text = String(decoding: message.encoded(), as: UTF8.self)
    return (text.components(separatedBy: "\r\n\r\n").first ?? "").replacing("\r\n ", with: " ").components(
      separatedBy: "\r\n")
  }

  @Test func `a message has the fields of automatic mail`() throws {
    let headers = Self.headers(try Self.message())
    #expect(headers.contains("From: Garden <noreply@example.org>"))
    #expect(headers.contains("To: <ada@example.org>"))
    #expect(headers.contains("Message-ID: <12.34@example.org>"))
    #expect(headers.contains("Auto-Submitted: auto-generated"))
    #expect(headers.contains("List-Unsubscribe: <https://example.org/unsubscribe/1-a>"))
    #expect(headers.contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click"))
    #expect(headers.contains { $0.hasPrefix("Date: ") && $0.hasSuffix(" +0000") })
  }

  @Test(arguments: [
    "x\r\nBcc: eve@example.org", "x\nBcc: eve@example.org", "x\rBcc: eve@example.org", "x\u{2028}Bcc: eve@example.org",
    "x\u{85}Bcc: y", "x\0Bcc: y", "\r\n\r\nbody",
  ])
  func `no text adds a field`(text: String) throws {
    let plain = Self.headers(try Self.message()).count
    #expect(Self.headers(try Self.message(subject: text)).count == plain)
    #expect(Self.headers(try Self.message(name: text)).count == plain)
    #expect(!Self.headers(try Self.message(subject: text)).contains { $0.hasPrefix("Bcc") })
  }

  @Test func `an empty name or subject is no encoded word`() throws {
    let headers = Self.headers(try Self.message(subject: "", name: ""))
    #expect(headers.contains("From:  <noreply@example.org>") && headers.contains("Subject: "))
  }

  @Test(arguments: [
    "Hello", "", "Grüße aus dem Garten", "👩‍👩‍👧‍👦 " + String(repeating: "äöü ", count: 60), "=?utf-8?Q?x?=",
    String(repeating: "word ", count: 60), String(repeating: "x", count: 900), "two  spaces",
  ])
  func `lines are short and ASCII`(subject: String) throws {
    let message = try Self.message(
      subject: subject, name: subject, text: String(repeating: subject, count: 40) + "\n.\n..\n \nend ",
      html: "<p>\(subject)</p>")
    for line in String(decoding: message.encoded(), as: UTF8.self).components(separatedBy: "\r\n") {
      #expect(line.utf8.count <= 78, "\(line)")
      #expect(line.utf8.allSatisfy { $0 >= 32 && $0 < 127 }, "\(line)")
    }
  }

  @Test(arguments: [
    "plain", "a = b", "Grüße", "ends with a space ", "日本語のメール", "one\ntwo\r\nthree\rfour", "tab\there",
    String(repeating: "long line ", count: 50), "",
  ])
  func `both encodings keep the text`(text: String) throws {
    let text = TransferEncoding.normalized(text)
    #expect(!text.contains("\r"))
    let encoded = TransferEncoding.base64(text).joined()
    let decoded = try #require(Data(base64Encoded: encoded))
    #expect(String(decoding: decoded, as: UTF8.self).replacing("\r\n", with: "\n") == text)
    var lines = TransferEncoding.quotedPrintable(text).joined(separator: "\n")
    lines = lines.replacing("=\n", with: "")
    var bytes: [UInt8] = []
    var rest = Array(lines.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "=") {
        bytes.append(try #require(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)))
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    #expect(String(decoding: bytes, as: UTF8.self) == text)
  }
}
