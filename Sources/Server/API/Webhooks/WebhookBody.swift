// Reads the body of a request to a webhook as one Markdown text, whatever product its sender knows.

import Community
import ParleyJSON
import ParleyModel
import ParleyWire
import Web

/// The format of a request to a webhook.
enum WebhookFormat: String, ListedWord {
  /// The default, since most senders know it.
  case slack
  case discord
  /// Parley's own: Markdown that is not changed.
  case markdown

  /// Whether a text over the limit is cut, as these products do, instead of refused.
  var cutsText: Bool { self != .markdown }
}

struct WebhookBody: Sendable {
  /// Has `MarkdownText.mention` in place of the `@` of meant mentions, but in Parley's own format.
  var text: String
  /// The name that the sender sets for this message.
  var name: String?
  var clientID: String?

  /// The text of the message. A name other than the webhook's is its first line.
  ///
  /// - Parameter cut: the limits to which the text is cut; nil to leave it.
  func message(named webhook: String, cutTo cut: Bounds?, _ bounds: Bounds) -> String {
    let name = MarkdownText.line(name ?? "", limit: bounds.webhookNameScalars)
    let prefix = name.isEmpty || name == webhook ? "" : "**\(MarkdownText.escaped(name))**\n"
    let isBlank = text.unicodeScalars.allSatisfy(\.properties.isWhitespace)
    let whole = isBlank ? "" : prefix + text
    guard let limit = cut?.messageScalars else { return whole }
    // Settled after the cut, which may open a span of code.
    let message = MarkdownText.settlingMentions(Self.cut(whole, to: limit))
    guard message.unicodeScalars.count > limit else { return message }
    // Each backslash takes a place.
    let signs = whole.unicodeScalars.prefix(limit).count { $0 == "@" }
    return MarkdownText.settlingMentions(Self.cut(whole, to: max(limit - signs, 1)))
  }

  private static func cut(_ text: String, to limit: Int) -> String {
    guard text.unicodeScalars.count > limit else { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit - 1))) + "…"
  }

  /// `message`, of a long text in the background.
  func messageOffLoop(named webhook: String, cutTo cut: Bounds?, _ bounds: Bounds) async -> String {
    guard text.utf8.count > Self.maxInlineBytes else { return message(named: webhook, cutTo: cut, bounds) }
    return await messageInBackground(named: webhook, cutTo: cut, bounds)
  }

  @concurrent private func messageInBackground(
    named webhook: String, cutTo cut: Bounds?, _ bounds: Bounds
  ) async -> String {
    message(named: webhook, cutTo: cut, bounds)
  }

  /// - Parameter json: a JSON text.
  init(_ json: [UInt8], _ format: WebhookFormat) throws(JSONError) {
    switch format {
    case .slack:
      let value = try JSONValue(parsing: json)
      _ = try value.object()
      let body = LooseJSON(value)
      self.init(text: SlackMessage(body).markdown, name: body["username"].text, clientID: body["client_id"].text)
    case .discord:
      let value = try JSONValue(parsing: json)
      _ = try value.object()
      let body = LooseJSON(value)
      self.init(text: DiscordMessage(body).markdown, name: body["username"].text, clientID: body["client_id"].text)
    case .markdown:
      var body = try JSONValue(parsing: json, nullIsAbsent: false).object()
      self.init(
        text: try body.string("text"), name: try body.optional("username"), clientID: try body.optional("client_id"))
      try body.finish()
    }
  }

  private init(text: String, name: String?, clientID: String?) {
    self.text = text
    self.name = name
    self.clientID = clientID
  }

  /// A large body takes milliseconds, in which the loop serves its other connections.
  @concurrent fileprivate static func inBackground(
    _ json: [UInt8], _ format: WebhookFormat
  ) async throws(JSONError) -> WebhookBody {
    try WebhookBody(json, format)
  }

  /// Bodies up to this size are read on the event loop.
  fileprivate static let maxInlineBytes = 8_192
}

extension RequestContext {
  func webhookBody(_ format: WebhookFormat) async throws -> WebhookBody {
    let json = try await webhookJSON(format)
    guard json.count > WebhookBody.maxInlineBytes else { return try WebhookBody(json, format) }
    return try await WebhookBody.inBackground(json, format)
  }

  /// The JSON of the body, or of a form's field, as Slack and Discord name it. Senders of Slack's format often name no
  /// type, and `curl -d` names that of a form. No browser form can do harm here: the secret is the only credential.
  private func webhookJSON(_ format: WebhookFormat) async throws -> [UInt8] {
    let type = request.fields["content-type"].flatMap { MediaType($0) }
    let isForm = type?.essence == "application/x-www-form-urlencoded"
    let isText = type == nil || type?.essence == "text/plain"
    guard type?.isJSON == true || format != .markdown && (isForm || isText) else {
      throw Problem.unsupportedMediaType
    }
    var bytes = try await request.body.collect()
    if bytes.starts(with: Self.byteOrderMark) { bytes.removeFirst(Self.byteOrderMark.count) }
    guard isForm, bytes.first(where: { !Self.whitespace.contains($0) }) != UInt8(ascii: "{") else { return bytes }
    do {
      let form = try FormPairs(bytes.span)
      guard let payload = form["payload"] ?? form["payload_json"] else { throw Refusal.invalid("payload", .missing) }
      return Array(payload.utf8)
    } catch is FormPairs.Refusal {
      throw Refusal.invalid("payload", .invalid)
    }
  }

  private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]
  /// White space of JSON.
  private static let whitespace: [UInt8] = [0x20, 0x09, 0x0a, 0x0d]
}

/// A JSON value of an unknown sender: members that are missing or of another type are empty.
struct LooseJSON {
  private let value: JSONValue?

  init(_ value: JSONValue?) { self.value = value }

  /// A member of an object.
  subscript(_ name: String) -> LooseJSON {
    guard let value, value.kind == .object else { return LooseJSON(nil) }
    do throws(JSONError) {
      var object = try value.object()
      return LooseJSON(object.member(name))
    } catch {
      return LooseJSON(nil)
    }
  }

  /// The elements of an array.
  var items: [LooseJSON] {
    guard let value, value.kind == .array else { return [] }
    do throws(JSONError) { return try value.array().map { LooseJSON($0) } } catch { return [] }
  }

  var isObject: Bool { value?.kind == .object }

  /// A string with LF at its line ends and without NUL, or the digits of a number; nil for an empty one.
  var text: String? {
    guard let value else { return nil }
    switch value.kind {
    case .string:
      do throws(JSONError) {
        let text = Self.cleaned(try value.string())
        return text.isEmpty ? nil : text
      } catch {
        return nil
      }
    case .number, .bool: return String(decoding: value.raw.bytes, as: UTF8.self)
    case .object, .array, .null: return nil
    }
  }

  private static func cleaned(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == 0 || $0 == 0x0d }) else { return text }
    var cleaned = String.UnicodeScalarView()
    var last: Unicode.Scalar?
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\0": break
      case "\r": cleaned.append("\n")
      case "\n" where last == "\r": break
      default: cleaned.append(scalar)
      }
      last = scalar
    }
    return String(cleaned)
  }

  var int: Int? {
    guard let value, value.kind == .number else { return nil }
    do throws(JSONError) { return try value.int() } catch { return nil }
  }

  var isTrue: Bool { value?.kind == .bool && text == "true" }

  var isFalse: Bool { value?.kind == .bool && text == "false" }
}
