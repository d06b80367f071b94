import ParleyJSON
public import ParleyModel
import ParleyWire

/// One message, as plain text and as HTML.
public struct MailMessage: Sendable, Hashable {
  public let from: MailAddress
  /// The display name of the sender.
  public let name: String
  public let to: MailAddress
  public let subject: String
  public let text: String
  public let html: String?
  /// Milliseconds since 1970.
  public let date: Int64
  /// The left part of the `Message-ID`. A repeated message has the same.
  public let id: String
  /// The code of the language.
  public let language: String?
  /// The URL that ends such messages with a POST (RFC 8058).
  public let unsubscribe: String?
  /// RFC 2919.
  public let listID: String?
  /// Takes replies; nil if the sender does.
  public var replyTo: MailAddress?
  public var returnPath = ReturnPath.sender

  /// The sender of the envelope, who gets the reports of mail servers.
  public enum ReturnPath: Sendable, Hashable {
    case sender
    case address(MailAddress)
    /// The null sender: the message can't come back.
    case none
  }

  /// Nil for the null sender (RFC 5321 §4.5.5).
  var envelopeSender: MailAddress? {
    switch returnPath {
    case .sender: from
    case .address(let address): address
    case .none: nil
    }
  }

  public init(
    from: MailAddress, name: String, to: MailAddress, subject: String, text: String, html: String?, date: Int64,
    id: String, language: String? = nil, unsubscribe: String? = nil, listID: String? = nil
  ) {
    self.from = from
    self.name = name
    self.to = to
    self.subject = subject
    self.text = text
    self.html = html
    self.date = date
    self.id = id
    self.language = language
    self.unsubscribe = unsubscribe
    self.listID = listID
  }

  /// RFC 2046 §5.1.1.
  private static let maxBoundary = 70

  /// The message for SMTP (RFC 5322, MIME): ASCII, lines of at most 998 bytes that end with CR LF.
  public func encoded() -> [UInt8] {
    var lines = [
      "From: \(HeaderText.name(name))\(HeaderText.fold)<\(from)>",
      "To: <\(to)>",
      "Subject: \(HeaderText.value(subject, after: "Subject: ".utf8.count))",
      "Date: \(HTTPDate.format(Int(date / 1_000)).replacing("GMT", with: "+0000"))",
      "Message-ID: <\(HeaderText.atom(id))@\(from.domain)>",
      "MIME-Version: 1.0",
      // RFC 3834: no automatic answers.
      "Auto-Submitted: auto-generated",
      "X-Auto-Response-Suppress: All",
    ]
    if let replyTo { lines.append("Reply-To: <\(replyTo)>") }
    if let language { lines.append("Content-Language: \(HeaderText.atom(language))") }
    if let listID { lines.append("List-Id: <\(HeaderText.atom(listID))>") }
    if let unsubscribe {
      lines.append("List-Unsubscribe:\(HeaderText.fold)<\(HeaderText.url(unsubscribe))>")
      lines.append("List-Unsubscribe-Post: List-Unsubscribe=One-Click")
    }
    // Neither encoding has `=_` (RFC 2045 §6.7), so no part has the boundary.
    let boundary = "=_\(HeaderText.atom(id).prefix(Self.maxBoundary - 2))"
    if let html {
      lines.append("Content-Type: multipart/alternative; boundary=\"\(boundary)\"")
      lines.append("")
      for (type, content) in [("text/plain", text), ("text/html", html)] {
        lines += ["--\(boundary)"] + Self.part(type, content)
      }
      lines.append("--\(boundary)--")
    } else {
      lines += Self.part("text/plain", text)
    }
    return Array((lines.joined(separator: "\r\n") + "\r\n").utf8)
  }

  /// The headers and the lines of a part, in the shorter of two encodings.
  private static func part(_ type: String, _ content: String) -> [String] {
    let content = TransferEncoding.normalized(content)
    let (quoted, encoded) = (TransferEncoding.quotedPrintable(content), TransferEncoding.base64(content))
    let size = { (lines: [String]) in lines.reduce(0) { $0 + $1.utf8.count + 2 } }
    let isQuoted = size(quoted) <= size(encoded)
    return [
      "Content-Type: \(type); charset=utf-8",
      "Content-Transfer-Encoding: \(isQuoted ? "quoted-printable" : "base64")", "",
    ] + (isQuoted ? quoted : encoded)
  }
}
