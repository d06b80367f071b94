// A message that a mail server hands over, reduced to what the site needs. The message is hostile: the program `parley mail-in`
// reads it in a process of its own, and the daemon receives the result alone.

public import ParleyCrypto
public import ParleyJSON
public import ParleyModel

public struct IncomingMail: Sendable, Hashable {
  /// The texts behind `+` in the addresses of the recipients: among them is the code of the mail that was sent.
  public var codes: [String]
  /// Nil without a sender, and with several.
  public var from: MailAddress?
  /// A digest of the `Message-ID`, or of the message without one: a message that is handed over twice has the same.
  public var id: String
  /// Whether a program has written it.
  public var isAutomatic: Bool
  /// The status code of a delivery that has failed.
  public var failure: EnhancedStatus?
  /// Without quotes and the signature; nil if there is no text that can be read.
  public var text: String?
  public var attachmentCount: Int

  /// Bytes of a digest that `id` has.
  private static let idBytes = 16

  /// - Parameters:
  ///   - isWhole: false if the message goes on.
  ///   - recipients: addresses that the mail server names, besides those of the header.
  public init(_ bytes: [UInt8], isWhole: Bool = true, recipients: [String] = []) throws(CryptoError) {
    let part = MailPart(bytes)
    let header = part.header
    let named = ["delivered-to", "x-original-to", "envelope-to", "to", "cc"].flatMap { header.all($0) }
    codes = Self.codes(in: recipients + named)
    let senders = header.all("from")
    from = senders.count == 1 ? Self.mailbox(senders[0]) : nil
    let source = header["message-id"].map { Array($0.utf8) } ?? bytes
    id = Hex.text(Array(try Digest.sha256(of: source).prefix(Self.idBytes)))
    failure = Self.failure(part)
    isAutomatic = Self.isAutomatic(header, part.type)
    let body = ReplyBody(part)
    // The end of the message may be missing in the middle of its text.
    text = isWhole ? body.text : nil
    attachmentCount = body.attachmentCount
  }

  /// The codes of addresses with a `+`, without those of other programs.
  private static func codes(in fields: [String]) -> [String] {
    var codes: [String] = []
    for field in fields {
      let words = field.split { " \t<>,;:\"()[]".contains($0) }
      for word in words {
        guard codes.count < MailLimits.codes, let address = MailAddress(String(word)) else { continue }
        let code = address.local.split(separator: "+", maxSplits: 1).dropFirst().first.map { $0.lowercased() }
        if let code, MailCode.isWellFormed(code), !codes.contains(code) { codes.append(code) }
      }
    }
    return codes
  }

  /// The address of a field with one mailbox (RFC 5322 §3.4). A quoted name or a comment may look like an address.
  static func mailbox(_ field: String) -> MailAddress? {
    var plain = ""
    var (isQuoted, depth) = (false, 0)
    var rest = field[...]
    while let character = rest.popFirst() {
      if character == "\\", isQuoted || depth > 0 {
        rest = rest.dropFirst()
      } else if character == "\"", depth == 0 {
        isQuoted.toggle()
      } else if !isQuoted, character == "(" {
        depth += 1
      } else if !isQuoted, character == ")", depth > 0 {
        depth -= 1
      } else if !isQuoted, depth == 0 {
        plain.append(character)
      }
    }
    guard !isQuoted, depth == 0, !plain.contains(",") else { return nil }
    guard let open = plain.firstIndex(of: "<") else { return MailAddress(plain.trimmed) }
    let inside = plain[plain.index(after: open)...]
    guard let close = inside.firstIndex(of: ">"), String(inside[inside.index(after: close)...]).trimmed.isEmpty else {
      return nil
    }
    return MailAddress(String(inside[..<close]).trimmed)
  }

  /// RFC 3834 §2, and the marks of programs that do not know it.
  private static func isAutomatic(_ header: MailHeader, _ type: ParameterizedValue) -> Bool {
    if let submitted = header["auto-submitted"], ParameterizedValue(submitted).value != "no" { return true }
    if let precedence = header["precedence"]?.lowercased(),
      ["bulk", "junk", "list", "auto_reply"].contains(precedence)
    {
      return true
    }
    if ["x-autoreply", "x-autorespond", "x-autoresponder", "list-id"].contains(where: { header.has($0) }) {
      return true
    }
    if header["return-path"] == "<>" { return true }
    return type.value == "multipart/report"
  }

  /// The status of the first recipient whose delivery has failed (RFC 3464).
  private static func failure(_ message: MailPart) -> EnhancedStatus? {
    guard message.type.value == "multipart/report" else { return nil }
    var found: EnhancedStatus?
    message.visit { part in
      guard found == nil, part.type.value == "message/delivery-status",
        let report = part.content(limit: MailLimits.report)
      else { return }
      var position = 0
      while position < report.count, found == nil {
        // A group of fields for the message, then one for each recipient.
        let group = MailHeader(report[...], from: &position)
        guard group["action"]?.lowercased() == "failed" else { continue }
        found = group["status"].flatMap { EnhancedStatus($0) }
      }
    }
    return found
  }
}

/// The code of a mail, which its recipient or a mail server sends back. It has the letters of an address that no mail server
/// changes.
public enum MailCode {
  public static let maxBytes = 46

  public static func isWellFormed(_ text: String) -> Bool {
    1...maxBytes ~= text.utf8.count
      && text.utf8.allSatisfy { $0 &- 0x30 < 10 || $0 &- 0x61 < 26 || $0 == UInt8(ascii: "-") }
  }
}

extension IncomingMail: JSONMembers {
  public init(_ object: inout JSONObject) throws(JSONError) {
    codes = try object.read("codes")
    let from: String? = try object.optional("from")
    self.from = from.flatMap { MailAddress($0) }
    id = try object.string("id")
    isAutomatic = try object.bool("automatic")
    let failure: String? = try object.optional("failure")
    self.failure = failure.flatMap { EnhancedStatus($0) }
    text = try object.optional("text")
    attachmentCount = try object.int("attachments")
  }

  /// Leaves absent members out: in a request null is no value.
  public func writeMembers(to json: inout JSONWriter) {
    json.field("codes", codes)
    if let from { json.field("from", from.description) }
    json.field("id", id)
    json.field("automatic", isAutomatic)
    if let failure { json.field("failure", failure.description) }
    if let text { json.field("text", text) }
    json.field("attachments", attachmentCount)
  }
}
