// Writes an export: one zip archive for other programs, and for a browser without any.
//
//     export.json          format, version, scope, time, and the number of lines of each file
//     schema.json          the fields of each file, as JSON Schema
//     users.jsonl …        one JSON object per line
//     files/17.png         uploaded files, named by their id
//     index.html           the list of conversations; conversations/ID.html has the messages of one
//
// The database is copied first, or read in one transaction, so an export is one state of the site and delays no write.

import ParleyJSON
import ParleySQLite

/// Writes the pages of an export.
public struct ExportPageWriter {
  public let index: (_ conversations: [ExportedConversation], _ time: String) -> [UInt8]
  public let path: (ExportedConversation) -> String
  /// The beginning of the page of a conversation, before its messages.
  public let head: (ExportedConversation) -> [UInt8]
  public let message: (ExportedMessage, [ExportedAttachment]) -> [UInt8]
  public let end: [UInt8]
  /// The style sheet of all pages.
  public let style: [UInt8]

  public init(
    index: @escaping ([ExportedConversation], String) -> [UInt8], path: @escaping (ExportedConversation) -> String,
    head: @escaping (ExportedConversation) -> [UInt8],
    message: @escaping (ExportedMessage, [ExportedAttachment]) -> [UInt8],
    end: [UInt8], style: [UInt8]
  ) {
    (self.index, self.path, self.head, self.message) = (index, path, head, message)
    (self.end, self.style) = (end, style)
  }
}

public struct ExportArchive {
  /// Contents of an export.
  public struct Report: Sendable {
    public let conversations: Int
    public let messages: Int
    public let files: Int
    /// Uploaded files whose content is missing on the server.
    public let missing: Int
    /// In bytes.
    public let size: Int
  }

  /// The version of the format. A reader refuses a newer one.
  public static let version = 1
  private static let format = "parley-export"

  private let reader: ExportReader
  private let zip: ZipWriter
  /// Version of Parley.
  private let program: String
  private let now: Int64
  private let requireRoom: (_ bytes: Int) throws -> Void

  /// Makes the writer of the pages from the name of the site and the names of users by id.
  public typealias Pages = (_ site: String, _ names: [Int: String]) -> ExportPageWriter

  /// Writes an export of a data folder to a new file, whether a server uses the folder or not.
  ///
  /// - Parameters:
  ///   - now: milliseconds since 1970.
  ///   - check: called between steps; it cancels by throwing.
  public static func write(
    data: String, to path: String, _ scope: ExportScope, program: String, at now: Int64,
    check: @escaping () throws -> Void, pages: Pages
  ) throws(BackupFault) -> Report {
    try write(data: data, to: path, scope, from: .copy, program: program, at: now, check: check, pages: pages)
  }

  /// - Parameter requireRoom: called with the bytes of the uploaded files before the first line is written; it refuses by throwing.
  static func write(
    data: String, to path: String, _ scope: ExportScope, from source: ExportSource, program: String, at now: Int64,
    check: @escaping () throws -> Void, watch: (Connection) throws -> Void = { _ in },
    requireRoom: @escaping (_ bytes: Int) throws -> Void = { _ in }, pages: Pages
  ) throws(BackupFault) -> Report {
    do {
      return try ExportReader.write(data: data, to: path, scope, from: source, check: check, watch: watch) {
        reader, part in
        let zip = try ZipWriter(part, now: now)
        return try ExportArchive(reader: reader, zip: zip, program: program, now: now, requireRoom: requireRoom)
          .write(pages)
      }
    } catch let fault as BackupFault {
      throw fault
    } catch {
      throw .impossible("The export failed: \(error).")
    }
  }

  private func write(_ pages: Pages) throws -> Report {
    let (lines, conversations, missing) = try reader.reading(at: now) {
      try requireRoom(try reader.fileBytes())
      return try writeRows(pages)
    }
    // After the transaction: files may be large.
    let files = try reader.files { file in
      try zip.begin(file.path)
      try reader.content(of: file) { piece in try zip.append(piece) }
    }
    try zip.add("export.json", try description(lines))
    return Report(
      conversations: conversations, messages: lines.first { $0.table == "messages" }?.count ?? 0, files: files,
      missing: missing, size: try zip.finish())
  }

  private typealias Lines = [(table: String, count: Int)]

  private func writeRows(_ makePages: Pages) throws -> (lines: Lines, conversations: Int, missing: Int) {
    let pages = makePages(try reader.siteName(), try reader.names())
    var lines: Lines = []
    for table in reader.tables {
      try zip.begin("\(table.name).jsonl")
      lines.append((table.name, try reader.lines(of: table) { line in try zip.append(line) }))
    }
    let conversations = try reader.conversations()
    for conversation in conversations {
      try zip.begin(pages.path(conversation))
      try zip.append(pages.head(conversation))
      try reader.messages(of: conversation.id) { message in
        try zip.append(pages.message(message, try reader.attachments(of: message.id)))
      }
      try zip.append(pages.end)
    }
    try zip.add("index.html", pages.index(conversations, ExportReader.time(Int(now))))
    try zip.add("style.css", pages.style)
    try zip.add("schema.json", schema())
    return (lines, conversations.count, try reader.missingCount())
  }

  private func description(_ lines: Lines) throws -> [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.field("format", Self.format)
      json.field("version", Self.version)
      switch reader.scope {
      case .site:
        json.field("scope", "site")
        json.null("user_id")
      case .user(let user):
        json.field("scope", "user")
        json.field("user_id", user)
      }
      json.field("program", program)
      json.field("created_at", Timestamp(now))
      json.object("lines") { json in
        for (table, count) in lines { json.field(table, count) }
      }
    }
    return json.bytes + [UInt8(ascii: "\n")]
  }

  /// A JSON Schema with a definition for the lines of each file.
  private func schema() -> [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.field("$schema", "https://json-schema.org/draft/2020-12/schema")
      json.field("title", "\(Self.format) \(Self.version)")
      json.object("$defs") { json in
        for table in reader.tables {
          json.object(table.name) { json in
            json.field("description", table.summary)
            json.field("type", "object")
            json.object("properties") { json in
              for (name, kind) in table.fields { json.object(name) { json in kind.describe(to: &json) } }
            }
            json.array("required") { json in
              for (name, _) in table.fields { json.value(name) }
            }
          }
        }
      }
    }
    return json.bytes + [UInt8(ascii: "\n")]
  }
}

extension ExportTable.Kind {
  fileprivate func describe(to json: inout JSONWriter) {
    func types(_ name: String) {
      json.array("type") { json in
        json.value(name)
        json.value("null")
      }
    }
    switch self {
    case .id:
      types("string")
      json.field("pattern", "^[0-9]+$")
    case .text: types("string")
    case .number: types("integer")
    case .flag: types("boolean")
    case .time:
      types("string")
      json.field("format", "date-time")
    case .digest:
      types("string")
      json.field("pattern", "^[0-9a-f]{64}$")
    case .json: break
    }
  }
}
