// `raw` of pnut: the annotations of the API by type, the files of a message as `io.pnut.core.oembed`, and its poll as
// `io.pnut.core.poll-notice`.

import ParleyJSON
import ParleyModel

struct RawValues: JSONWritable {
  private var values: [(type: String, values: [JSONRaw])] = []

  static let file = "+io.pnut.core.file"
  static let poll = "+io.pnut.core.poll"
  private static let oembed = "io.pnut.core.oembed"
  private static let pollNotice = "io.pnut.core.poll-notice"

  /// - Parameter files: those that the reader may see.
  init(_ content: Message.Content, _ message: ID<Message>, _ files: [ID<File>: File], _ origin: String)
    throws(JSONError)
  {
    if let annotations = content.annotations {
      for annotation in try JSONValue(parsing: annotations.bytes).array() {
        var annotation = try annotation.object()
        let type = try annotation.string("type")
        add(try annotation.raw("value"), as: type)
      }
    }
    for file in content.attachments.compactMap({ files[$0] }) { add(Self.embedding(of: file, origin), as: Self.oembed) }
    if let poll = content.poll { add(Self.notice(of: poll, message, content.text), as: Self.pollNotice) }
  }

  private mutating func add(_ value: JSONRaw, as type: String) {
    if let index = values.firstIndex(where: { $0.type == type }) {
      values[index].values.append(value)
    } else {
      values.append((type, [value]))
    }
  }

  private static func embedding(of file: File, _ origin: String) -> JSONRaw {
    let isPhoto = file.kind == "image" && file.width != nil
    return json { json in
      json.field("version", "1.0")
      json.field("type", isPhoto ? "photo" : file.kind == "video" ? "video" : "rich")
      json.field("url", origin + file.address)
      json.field("title", file.name)
      json.field("file_id", file.id)
      if let width = file.width { json.field("width", width) }
      if let height = file.height { json.field("height", height) }
    }
  }

  private static func notice(of poll: Poll, _ id: ID<Message>, _ question: String) -> JSONRaw {
    json { json in
      json.field("poll_id", id)
      json.field("prompt", question)
      json.array("options") { json in
        for (index, option) in poll.options.enumerated() {
          json.object { json in
            json.field("position", index + 1)
            json.field("text", option.text)
          }
        }
      }
      if let end = poll.closesAt { json.field("closed_at", PnutCall.time(end)) }
    }
  }

  private static func json(_ members: (inout JSONWriter) -> Void) -> JSONRaw {
    var json = JSONWriter()
    json.object(members)
    return JSONRaw(trusted: json.bytes)
  }

  func write(to json: inout JSONWriter) {
    json.object { json in
      for (type, values) in values { json.field(type, values) }
    }
  }
}

/// `raw` in the body of a post or a message.
struct RawInput {
  /// A JSON array of the API; nil without any.
  private(set) var annotations: Annotations?
  /// The files that are named in place of a value.
  private(set) var files: [ID<File>] = []

  init(_ body: LenientBody) throws {
    guard let members = try body.members("raw") else { return }
    var (json, count) = (JSONWriter(), 0)
    try json.array { json in
      for (type, values) in members {
        for value in try values.array() {
          if try takeFile(value) { continue }
          json.object { json in
            json.field("type", type)
            json.field("value", value)
          }
          count += 1
        }
      }
    }
    if count > 0 { annotations = try Annotations(json: JSONValue(parsing: json.bytes)) }
  }

  /// Whether the value names a file or a poll instead of itself.
  private mutating func takeFile(_ value: JSONValue) throws -> Bool {
    guard value.kind == .object else { return false }
    var object = try value.object()
    guard object.member(RawValues.poll) == nil else {
      throw EnvelopeFailure(.badRequest, "A poll is a post of its own here. Create it with POST /polls.")
    }
    guard let named = object.member(RawValues.file) else { return false }
    guard let id = try LenientBody(try named.object()).text("file_id").flatMap({ ID<File>($0) }) else {
      throw Refusal.invalid("file_id", .invalid)
    }
    files.append(id)
    return true
  }
}
