import ParleyJSON
import ParleyKit
import ParleyWire

extension Command {
  static let api = Command.client(
    "api", usage: "METHOD PATH [OPTION ...]", operands: ["METHOD", "PATH"], summary: "send any request of the API",
    description: """
      Sends a request as the signed-in user and prints the response. PATH is relative to /api/v1; /docs of every site lists
      all operations.

          parley api GET '/forums?limit=5' --pick 'data.*.title'
          parley api GET /conversations/12/messages --paginate --pick 'data.*.text'
          parley api POST /conversations/12/messages -f text=Hello
          parley api PATCH /forums/7 -F slow_seconds=30 -f title=Garden
          parley api POST /conversations -f kind=group -f title=Walk -f 'participants[]=@grace'
          parley api POST '/files?name=menu.pdf' --input menu.pdf -H 'Content-Type: application/pdf'

      Fields become the JSON body, or the query of GET, of HEAD and of a request with --input. Ids are strings (-f). A
      terminal shows the JSON indented. A refused request prints the problem on standard output; the exit status is 1.
      """,
    settings: [
      APICommand.rawField, APICommand.field, APICommand.header, APICommand.input, APICommand.include,
      APICommand.paginate, APICommand.pick,
    ], run: APICommand.run)
}

enum APICommand {
  fileprivate static let rawField = Setting(
    name: "raw-field", value: "KEY=VALUE", summary: "add a string; KEY may be name[member] or name[]",
    isRepeatable: true, isFlagOnly: true, letter: "f")
  fileprivate static let field = Setting(
    name: "field", value: "KEY=VALUE",
    summary: "add a number, true, false or null, the content of @FILE or @-, otherwise a string",
    isRepeatable: true, isFlagOnly: true, letter: "F")
  fileprivate static let header = Setting(
    name: "header", value: "NAME:VALUE", summary: "add a header field", isRepeatable: true, isFlagOnly: true,
    letter: "H")
  fileprivate static let input = Setting(
    name: "input", value: "FILE", summary: "send this file as the body; - is standard input", isFlagOnly: true)
  fileprivate static let include = Setting(
    name: "include", value: nil, summary: "print the status and the header fields, too", isFlagOnly: true, letter: "i")
  fileprivate static let paginate = Setting(
    name: "paginate", value: nil, summary: "request all pages of a list, one after the other", isFlagOnly: true)
  fileprivate static let pick = Setting(
    name: "pick", value: "PATH", summary: "print a part of the response, such as data.0.title or data.*.title",
    isFlagOnly: true, letter: "p")

  @Sendable static func run(_ settings: Settings) async throws -> Outcome {
    var request = try request(settings)
    let picker = try settings.text(pick).map { text throws(Settings.UsageError) in try JSONPicker(text) }
    let paginates = settings.isOn(paginate)
    guard !paginates || request.method == .get else {
      throw Settings.UsageError(message: "--paginate needs the method GET.")
    }
    let session = try CLISession(settings)
    while true {
      let response: RawResponse
      do throws(ClientFault) {
        response = try await session.client.send(request)
      } catch {
        guard let problem = error.problem else { throw error }
        try print(problem.representation.bytes, isJSON: true)
        throw error.isSignedOut ? error : CommandRefusal(message: "\(problem.status): \(problem.commandMessage)")
      }
      if settings.isOn(include) { Terminal.print(head(of: response)) }
      guard try print(response, picker), paginates, let next = try next(after: response) else { break }
      request = request.with("next", next)
    }
    return Outcome(.success, "")
  }

  // MARK: The request

  static func request(_ settings: Settings) throws -> Request<RawResponse> {
    let (methodName, text) = (settings.operands[0], settings.operands[1])
    guard let method = RequestMethod(rawValue: methodName.uppercased()) else {
      throw Settings.UsageError(
        message: "\"\(methodName)\" is not a method: GET, POST, PUT, PATCH, DELETE or HEAD. parley api METHOD PATH.")
    }
    var request = Request<RawResponse>(method, try path(text), query: try query(text))
    let isQuery = method == .get || method == .head || settings.text(input) != nil
    var body: RequestFields?
    for (setting, isTyped) in [(rawField, false), (field, true)] {
      for argument in settings.all(setting) {
        guard let equals = argument.firstIndex(of: "=") else {
          throw Settings.UsageError(message: "\(setting.flag) takes KEY=VALUE, not \"\(argument)\".")
        }
        let (key, text) = (String(argument[..<equals]), String(argument[argument.index(after: equals)...]))
        let value = isTyped && text.hasPrefix("@") ? try content(of: String(text.dropFirst())) : text
        if isQuery {
          request.query.append(QueryItem(key, value))
        } else {
          let json = isTyped && !text.hasPrefix("@") ? RequestFields.typed(value) : RequestFields.string(value)
          body = body ?? .object([])
          try body?.set(key, json)
        }
      }
    }
    if let body {
      var json = JSONWriter()
      json.value(body)
      request.body = .json(JSONRaw(trusted: json.bytes))
    }
    var type = "application/json"
    for text in settings.all(header) {
      guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else {
        throw Settings.UsageError(message: "--header takes NAME:VALUE, not \"\(text)\".")
      }
      let (name, value) = (String(text[..<colon]), String(text[text.index(after: colon)...].drop { $0 == " " }))
      guard (name + value).unicodeScalars.allSatisfy({ $0.value >= 32 && $0.value != 127 }) else {
        throw Settings.UsageError(message: "--header contains a control character.")
      }
      if name.lowercased() == "content-type" {
        type = value
      } else {
        request.fields.append(TransportRequest.Field(name, value))
      }
    }
    if let path = settings.text(input) { request.body = try fileBody(path, type) }
    return request
  }

  private static func fileBody(_ path: String, _ type: String) throws(Settings.UsageError) -> RequestBody {
    if path == "-" { return .bytes(Terminal.inputBytes(), type: type) }
    let file = try FileSystem.source(path)
    return .file(file, 0..<file.size, type: type)
  }

  /// The path below `/api/v1`, percent-encoded.
  private static func path(_ text: String) throws(Settings.UsageError) -> String {
    guard !text.contains("://") else {
      throw Settings.UsageError(message: "PATH is relative to /api/v1 of the signed-in server, such as /forums.")
    }
    var path = text.prefix { $0 != "?" }
    if path.hasPrefix("/") { path = path.dropFirst() }
    if path.hasPrefix("api/v1/") { path = path.dropFirst("api/v1/".count) }
    var encoded = "/"
    for byte in path.utf8 {
      switch byte {
      case 33, 36...59, 61, 64...91, 93, 95, 97...122, 126: encoded.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        encoded += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
      }
    }
    return encoded
  }

  private static func query(_ text: String) throws(Settings.UsageError) -> [QueryItem] {
    guard let mark = text.firstIndex(of: "?") else { return [] }
    do throws(FormPairs.Refusal) {
      return try FormPairs(String(text[text.index(after: mark)...])).pairs.map { QueryItem($0.name, $0.value) }
    } catch {
      throw Settings.UsageError(message: "The query of \"\(text)\" is not valid.")
    }
  }

  private static func content(of path: String) throws(Settings.UsageError) -> String {
    path == "-" ? Terminal.input() : String(decoding: try FileSystem.read(path), as: UTF8.self)
  }

  // MARK: The response

  private static func head(of response: RawResponse) -> String {
    let fields = response.fields.map { "\($0.name): \($0.value)\n" }.joined()
    return "\(response.status)\n\(fields)\n"
  }

  /// - Returns: false if standard output is closed.
  private static func print(_ response: RawResponse, _ picker: JSONPicker?) throws -> Bool {
    guard let picker else {
      let isJSON = response["content-type"]?.lowercased().contains("json") == true
      return try print(response.body, isJSON: isJSON)
    }
    do {
      let picked = try picker.pick(from: JSONValue(parsing: response.body))
      return Terminal.print(picked.map { shown($0) + "\n" }.joined())
    } catch let missing as JSONPicker.Missing {
      throw CommandRefusal(message: missing.message)
    } catch {
      throw CommandRefusal(message: "--pick needs a JSON response.")
    }
  }

  @discardableResult
  private static func print(_ body: [UInt8], isJSON: Bool) throws -> Bool {
    guard isJSON, !body.isEmpty else { return body.isEmpty || Terminal.print(body) }
    guard Terminal.isOutputTerminal else { return Terminal.print(body.last == 10 ? body : body + [10]) }
    return Terminal.print(shown(try JSONText.indented(JSONValue(parsing: body))))
  }

  /// A terminal would execute control characters of the text.
  private static func shown(_ text: String) -> String {
    Terminal.isOutputTerminal ? Terminal.plainLines(text).joined(separator: "\n") : text
  }

  private static func next(after response: RawResponse) throws -> String? {
    var object = try JSONValue(parsing: response.body).object()
    return try object.optional("next")
  }
}
