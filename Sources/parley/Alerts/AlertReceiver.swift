import ParleyCrypto
import ParleyHTTPClient
import ParleyJSON
import ParleyNetworking
import ParleyWire

/// The receiver of `--alert`: a URL or a program.
struct AlertReceiver: Sendable {
  enum Target: Sendable {
    case url(WebAddress)
    case program(ChildProgram)
  }

  let target: Target
  /// Signs requests to a URL.
  let secret: [UInt8]?

  /// Seconds for a request or a run of the program.
  private static let timeout = 30
  private static let secretPrefix = "whsec_"
  private static let maxAnswer = 65_536

  /// Nil without `--alert`.
  init?(_ settings: Settings) throws(Settings.UsageError) {
    let secret = try settings.secret(.alertSecretFile)
    guard let text = settings.text(.alert) else {
      guard secret == nil else { throw settings.mistake(.alertSecretFile, "needs \(Setting.alert.flag), a URL.") }
      return nil
    }
    if text.hasPrefix("https://") || text.hasPrefix("http://") {
      guard let url = WebAddress(text) else {
        throw settings.mistake(.alert, "takes a URL with percent-encoding and without a #, or a program.")
      }
      target = .url(url)
    } else {
      let program = try settings.program(.alert, text, kinds: "a URL, or a program")
      guard secret == nil else { throw settings.mistake(.alertSecretFile, "signs requests to a URL, not programs.") }
      target = .program(program)
    }
    if let secret {
      // The secrets of Standard Webhooks have 24 to 64 bytes.
      guard secret.hasPrefix(Self.secretPrefix),
        let key = Base64.decode(String(secret.dropFirst(Self.secretPrefix.count))),
        24...64 ~= key.count
      else {
        throw settings.mistake(
          .alertSecretFile, "has no secret of Standard Webhooks. Make one: echo whsec_$(openssl rand -base64 32).")
      }
      self.secret = key
    } else {
      self.secret = nil
    }
  }

  /// Sends an alert. Returns the reason of a failure.
  func send(_ message: AlertMessage) async -> String? {
    switch target {
    case .url(let url): await post(message, to: url)
    case .program(let program): await run(program, message)
    }
  }

  private func run(_ program: ChildProgram, _ message: AlertMessage) async -> String? {
    let result = await program.run(
      input: "\(message.title)\n\n\(message.finding.sentence)\n",
      environment: [
        "PARLEY_ALERT_CODE": message.finding.code.rawValue, "PARLEY_ALERT_LEVEL": message.finding.level.rawValue,
        "PARLEY_ALERT_SENTENCE": message.finding.sentence, "PARLEY_ALERT_SITE": message.site,
      ], within: Self.timeout)
    return result.isSuccess ? nil : result.reason
  }

  private func post(_ message: AlertMessage, to url: WebAddress) async -> String? {
    guard let destination = Destination(url) else { return "the URL has no valid port" }
    do {
      let client = try HTTPClient()
      defer { client.close() }
      let body = message.body(topic: url.topic)
      let request = ClientRequest(
        .post, url.target, try message.fields(of: body, signedBy: secret, now: Clock.wall() / 1_000_000_000),
        body: .bytes(body), maxResponseBytes: Self.maxAnswer, timeout: .seconds(Self.timeout))
      let response = try await client.send(request, to: destination)
      let answer = try await response.body()
      guard !(200..<300).contains(response.status.code) else { return nil }
      return
        "it answers \(response.status.code): \(Terminal.plain(String(decoding: answer.prefix(200), as: UTF8.self)))"
    } catch {
      return "\(error)"
    }
  }
}

extension WebAddress {
  /// The value of `topic` in the query. ntfy takes JSON at its root, with the topic in it.
  fileprivate var topic: String? {
    query?.split(separator: "&").first { $0.hasPrefix("topic=") }.map { String($0.dropFirst("topic=".count)) }
  }
}

/// An alert as its receiver gets it.
struct AlertMessage: Sendable {
  /// The same for all attempts.
  let id: String
  let finding: Finding
  /// The name of the site, and its origin.
  let site: String
  let origin: String
  /// In milliseconds since 1970.
  let createdAt: Int64

  var title: String { "\(finding.level == .error ? "Error" : "Warning") of \(site)" }

  /// JSON for Slack and its relatives (`text`), ntfy (`topic`, `title`, `message`, `priority`, `tags`) and programs
  /// (`type`, `timestamp`, `data`, as Standard Webhooks names them).
  func body(topic: String?) -> [UInt8] {
    let isError = finding.level == .error
    var json = JSONWriter()
    json.object { json in
      json.field("type", "alert")
      json.field("timestamp", Timestamp(createdAt))
      json.field("text", "\(title) (\(origin)): \(finding.sentence)")
      if let topic { json.field("topic", topic) }
      json.field("title", title)
      json.field("message", finding.sentence)
      json.field("priority", isError ? 5 : 4)
      json.array("tags") { json in json.value(isError ? "rotating_light" : "warning") }
      json.object("data") { json in
        json.field("code", finding.code.rawValue)
        json.field("level", finding.level.rawValue)
        json.field("sentence", finding.sentence)
        json.field("site", site)
        json.field("origin", origin)
        json.field("version", version)
      }
    }
    return json.bytes
  }

  /// The fields of a request (Standard Webhooks, https://www.standardwebhooks.com).
  func fields(of body: [UInt8], signedBy secret: [UInt8]?, now: Int64) throws(CryptoError) -> Fields {
    var fields: Fields = ["Content-Type": "application/json", "User-Agent": "Parley"]
    guard let secret else { return fields }
    let content = Array("\(id).\(now).".utf8) + body
    fields.add("webhook-id", id)
    fields.add("webhook-timestamp", "\(now)")
    fields.add("webhook-signature", "v1,\(Base64.encode(try HMAC.sha256(of: content, key: secret)))")
    return fields
  }
}
