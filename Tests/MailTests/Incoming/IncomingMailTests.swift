import ParleyJSON
import Testing

@testable import Mail

@Suite struct IncomingMailTests {
  private static let code = "r-7-2k-fx3-abcdefghijklmnop"

  private static func mail(_ header: String, _ body: String = "Yes.\r\n", to: String = "reply+\(code)@example.org")
    throws
    -> IncomingMail
  {
    try IncomingMail(Array("From: grace@example.org\r\nTo: \(to)\r\nMessage-ID: <1@x>\r\n\(header)\r\n\(body)".utf8))
  }

  @Test func `a plain reply has a code, a sender, an id and a text`() throws {
    let mail = try Self.mail("")
    #expect(mail.codes == [Self.code] && mail.from?.description == "grace@example.org" && mail.text == "Yes.")
    #expect(!mail.isAutomatic && mail.failure == nil && mail.attachmentCount == 0)
    #expect(mail.id == (try Self.mail("Received: again\r\n", "other\r\n")).id)
    var json = JSONWriter()
    json.object(mail.writeMembers)
    var object = try JSONValue(parsing: json.bytes, nullIsAbsent: false).object()
    #expect(try IncomingMail(&object) == mail)
  }

  @Test(arguments: [
    "reply+\(code)@example.org", "\"Reply\" <reply+\(code)@example.org>", "a@example.org, <REPLY+\(code)@EXAMPLE.ORG>",
    "=?utf-8?B?R8Okcw==?=\r\n <reply+\(code)@example.org>",
  ])
  func `the code is found in an address`(to: String) throws {
    #expect(try Self.mail("", to: to).codes == [Self.code])
  }

  @Test func `the recipient of the mail server comes first`() throws {
    let mail = try IncomingMail(
      Array("To: reply+b@example.org\r\nDelivered-To: reply+c@example.org\r\n\r\n".utf8),
      recipients: ["reply+a@example.org"])
    #expect(mail.codes == ["a", "c", "b"])
    let many = (0..<100).map { "reply+\($0)@example.org" }.joined(separator: ", ")
    #expect(try Self.mail("", to: many).codes.count == MailLimits.codes)
  }

  @Test(arguments: [
    ("grace@example.org", "grace@example.org"), ("Grace <grace@example.org>", "grace@example.org"),
    ("\"eve@example.org\" <grace@example.org>", "grace@example.org"),
    ("\"<eve@example.org>\" <grace@example.org>", "grace@example.org"),
    ("grace@example.org (eve@example.org)", "grace@example.org"), ("(a (b) c) grace@example.org", "grace@example.org"),
    ("\"a \\\" <eve@example.org>\" <grace@example.org>", "grace@example.org"),
    ("grace@example.org, eve@example.org", nil),
    ("<grace@example.org> <eve@example.org>", nil), ("\"grace@example.org", nil), ("", nil), ("grace", nil),
    ("<grace@example.org", nil), ("a: grace@example.org;", nil),
  ])
  func `one mailbox is a sender`(field: String, address: String?) {
    #expect(IncomingMail.mailbox(field)?.description == address)
  }

  @Test func `two senders are none`() throws {
    let text = "From: grace@example.org\r\nFrom: eve@example.org\r\n\r\n"
    #expect(try IncomingMail(Array(text.utf8)).from == nil)
  }

  @Test(arguments: [
    "Auto-Submitted: auto-replied", "Auto-Submitted: auto-generated; x=y", "Precedence: bulk", "Precedence: Junk",
    "X-Autoreply: yes", "List-Id: <a.example.org>", "Return-Path: <>", "Content-Type: multipart/report; boundary=x",
  ])
  func `the mail of a program is automatic`(field: String) throws {
    #expect(try Self.mail("\(field)\r\n").isAutomatic)
  }

  @Test(arguments: ["Auto-Submitted: no", "Precedence: first-class", "Return-Path: <grace@example.org>"])
  func `the mail of a user is not`(field: String) throws {
    #expect(try !Self.mail("\(field)\r\n").isAutomatic)
  }

  struct Encoded: Sendable, CustomTestStringConvertible {
    let type: String
    var encoding = "7bit"
    let body: [UInt8]
    let text: String?
    var testDescription: String { "\(type) \(encoding)" }
  }

  @Test(arguments: [
    Encoded(type: "text/plain; charset=utf-8", body: Array("Grüße 日本".utf8), text: "Grüße 日本"),
    Encoded(type: "text/plain; charset=\"UTF-8\"", encoding: "8bit", body: Array("Grüße".utf8), text: "Grüße"),
    Encoded(
      type: "text/plain; charset=utf-8", encoding: "base64", body: Array("R3LD\r\nvMOf ZQ==".utf8), text: "Grüße"),
    Encoded(
      type: "text/plain; charset=utf-8", encoding: "quoted-printable",
      body: Array("Gr=C3=BC=\r\n=c3=9fe=20\r\n=\r\n".utf8), text: "Grüße"),
    Encoded(
      type: "text/plain; charset=utf-8", encoding: "quoted-printable", body: Array("1 =3D 1 =zz =".utf8),
      text: "1 = 1 =zz"),
    Encoded(
      type: "text/plain; charset=iso-8859-1", body: [0x47, 0x72, 0xfc, 0xdf, 0x65, 0x20, 0x93, 0x94], text: "Grüße “”"),
    Encoded(type: "text/plain; charset=iso-8859-15", body: [0xa4, 0xe9], text: "€é"),
    Encoded(type: "text/plain; charset=windows-1256", body: [0xe3, 0xd1, 0xcd, 0xc8, 0xc7], text: "مرحبا"),
    Encoded(type: "text/plain; charset=iso-8859-6", body: [0xe5, 0xd1, 0xcd, 0xc8, 0xc7], text: "مرحبا"),
    Encoded(type: "text/plain", body: [0x47, 0xfc], text: "Gü"),
    Encoded(type: "text/plain; charset=iso-2022-jp", body: Array("\u{1b}$B".utf8), text: nil),
    Encoded(type: "text/plain", encoding: "x-uuencode", body: Array("x".utf8), text: nil),
    Encoded(type: "text/html; charset=utf-8", body: Array("<p>Grüße</p>".utf8), text: "Grüße"),
    Encoded(type: "image/png", body: Array("x".utf8), text: nil),
    Encoded(type: "text/plain; format=flowed", body: Array("one \r\ntwo\r\n".utf8), text: "one two"),
  ])
  func `texts in the encodings of mail are read`(encoded: Encoded) throws {
    let header = "Content-Type: \(encoded.type)\r\nContent-Transfer-Encoding: \(encoded.encoding)\r\n\r\n"
    #expect(try IncomingMail(Array(header.utf8) + encoded.body).text == encoded.text)
  }

  @Test func `the plain text of alternatives counts, and attachments are counted`() throws {
    let mail = try Self.mail(
      "Content-Type: multipart/mixed; boundary=\"a b\"\r\n",
      """
      preamble\r
      --a b\r
      Content-Type: multipart/alternative; boundary=in\r
      \r
      --in\r
      Content-Type: text/html\r
      \r
      <b>HTML</b>\r
      --in\r
      Content-Type: text/plain\r
      \r
      plain\r
      --in--\r
      --a b\r
      Content-Type: image/png; name=menu.png\r
      Content-Disposition: attachment; filename=menu.png\r
      Content-Transfer-Encoding: base64\r
      \r
      AAAA\r
      --a b\r
      Content-Type: image/png\r
      Content-Disposition: inline\r
      \r
      logo\r
      --a b\r
      Content-Type: application/pgp-signature\r
      Content-Disposition: attachment\r
      \r
      x\r
      --a b--\r
      epilogue\r

      """)
    #expect(mail.text == "plain" && mail.attachmentCount == 1)
  }

  @Test func `the first line of a mailbox file is no field`() throws {
    let text =
      "From grace@example.org Sun Nov 29 17:05:00 2026\nFrom: grace@example.org\nTo: reply+a@example.org\n\nYes.\n"
    let mail = try IncomingMail(Array(text.utf8))
    #expect(mail.from?.description == "grace@example.org" && mail.codes == ["a"] && mail.text == "Yes.")
  }

  // MARK: Reports

  /// A report as Postfix writes it.
  private static func report(_ groups: String, type: String = "multipart/report; report-type=delivery-status") -> String
  {
    """
    Return-Path: <>\r
    From: MAILER-DAEMON@mx.example.org (Mail Delivery System)\r
    To: bounces+b-7-2k-fx3-abcdefghijklmnop@example.org\r
    Auto-Submitted: auto-replied\r
    MIME-Version: 1.0\r
    Content-Type: \(type);\r
    \tboundary="4SdX.1764435900/mx.example.org"\r
    \r
    This is a MIME-encapsulated message.\r
    \r
    --4SdX.1764435900/mx.example.org\r
    Content-Description: Notification\r
    Content-Type: text/plain; charset=us-ascii\r
    \r
    I'm sorry to have to inform you that your message could not be delivered.\r
    \r
    --4SdX.1764435900/mx.example.org\r
    Content-Description: Delivery report\r
    Content-Type: message/delivery-status\r
    \r
    Reporting-MTA: dns; mx.example.org\r
    X-Postfix-Queue-ID: 4SdX\r
    \r
    \(groups.replacing("\n", with: "\r\n"))\r
    \r
    --4SdX.1764435900/mx.example.org\r
    Content-Description: Undelivered Message Headers\r
    Content-Type: text/rfc822-headers\r
    \r
    Subject: Ada\r
    \r
    --4SdX.1764435900/mx.example.org--\r

    """
  }

  @Test(arguments: [
    (
      "Final-Recipient: rfc822; grace@example.org\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 no such user",
      "5.1.1", true
    ),
    ("Final-Recipient: rfc822;grace@example.org\nAction: FAILED\nStatus: 5.2.2 (mailbox full)", "5.2.2", true),
    ("Action: failed\nStatus: 5.0.0", "5.0.0", true), ("Action: failed\nStatus: 5.4.4", "5.4.4", true),
    ("Action: failed\nStatus: 5.7.1", "5.7.1", false), ("Action: failed\nStatus: 5.1.8", "5.1.8", false),
    ("Action: failed\nStatus: 4.4.1", "4.4.1", false), ("Action: delayed\nStatus: 4.4.1", nil, false),
    ("Action: delivered\nStatus: 2.0.0", nil, false), ("Action: failed", nil, false),
    ("Action: failed\nStatus: 5.1", nil, false), ("Action: failed\nStatus: 5.1.1.1", nil, false),
    ("Action: delivered\nStatus: 2.0.0\n\nAction: failed\nStatus: 5.1.1", "5.1.1", true),
  ])
  func `a report has the status of a failed delivery`(groups: String, status: String?, endsAddress: Bool) throws {
    let mail = try IncomingMail(Array(Self.report(groups).utf8))
    #expect(mail.codes == ["b-7-2k-fx3-abcdefghijklmnop"] && mail.isAutomatic)
    #expect(mail.failure?.description == status && (mail.failure?.endsAddress ?? false) == endsAddress)
  }

  @Test func `a report within another message says nothing`() throws {
    let report = Self.report("Action: failed\nStatus: 5.1.1", type: "multipart/mixed; report-type=delivery-status")
    #expect(try IncomingMail(Array(report.utf8)).failure == nil)
  }

  // MARK: Limits

  @Test func `parts within parts are read to a depth`() throws {
    var text = "Yes."
    for depth in 0..<40 {
      text = "Content-Type: multipart/mixed; boundary=b\(depth)\n\n--b\(depth)\n\(text)\n--b\(depth)--\n"
    }
    #expect(try IncomingMail(Array(text.utf8)).text == nil)
    text = "Content-Type: text/plain\n\nYes."
    for depth in 0..<MailLimits.depth {
      text = "Content-Type: multipart/mixed; boundary=b\(depth)\n\n--b\(depth)\n\(text)\n--b\(depth)--\n"
    }
    #expect(try IncomingMail(Array(text.utf8)).text == "Yes.")
  }

  @Test func `parts, fields and texts are bounded`() throws {
    let part = "--b\nContent-Type: image/png\nContent-Disposition: attachment\n\nx\n"
    let many = "Content-Type: multipart/mixed; boundary=b\n\n" + String(repeating: part, count: 10_000)
    #expect(try IncomingMail(Array(many.utf8)).attachmentCount <= MailLimits.parts)
    let fields = String(repeating: "X: y\n", count: 100_000) + "Auto-Submitted: auto-replied\n\nYes."
    let read = try IncomingMail(Array(fields.utf8))
    #expect(!read.isAutomatic && read.text == "Yes.")
    let long = try IncomingMail(Array(("\n" + String(repeating: "x", count: 1_000_000)).utf8))
    #expect(long.text?.utf8.count == MailLimits.text)
  }

  @Test func `a message that was cut has no text`() throws {
    #expect(try IncomingMail(Array("\nYes.".utf8), isWhole: false).text == nil)
  }

  /// Changes bytes of a whole mail, and cuts it at each byte: nothing ends the program.
  @Test func `no bytes end the program`() throws {
    let mails = [
      Self.report("Action: failed\nStatus: 5.1.1"), "Content-Type: text/html\n\n<p>a &amp; <blockquote>b</blockquote>",
    ]
    var random = Xorshift(seed: 29)
    for mail in mails {
      let bytes = Array(mail.utf8)
      for count in stride(from: 0, to: bytes.count, by: 3) { _ = try IncomingMail(Array(bytes.prefix(count))) }
      for _ in 0..<500 {
        var changed = bytes
        for _ in 0..<8 {
          changed[Int.random(in: changed.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        _ = try IncomingMail(changed)
      }
    }
  }
}

private struct Xorshift: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}
