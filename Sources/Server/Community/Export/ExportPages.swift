import ParleyJSON
import ParleyMarkup
public import Storage

extension Community {
  /// Writes an export of a data folder to a new file, whether a server uses the folder or not.
  ///
  /// - Parameters:
  ///   - program: the version of Parley.
  ///   - now: milliseconds since 1970.
  ///   - check: called between steps; it cancels by throwing.
  public static func export(
    data: String, to path: String, _ scope: ExportScope, program: String, at now: Int64,
    check: @escaping () throws -> Void
  ) throws(BackupFault) -> ExportArchive.Report {
    try ExportArchive.write(data: data, to: path, scope, program: program, at: now, check: check) { site, names in
      ExportPages(site: site, names: names).writer
    }
  }
}

/// The pages of an export, which a browser opens without a server. All texts are those of users: they are escaped, the Markdown is
/// written by `MarkupDocument`, and the policy of each page allows no script and no request.
struct ExportPages {
  let site: String
  /// The names of users by id.
  let names: [Int: String]

  private static let style = """
    :root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}\
    article{margin:1.2rem 0;overflow-wrap:anywhere}header{font-weight:600}time,small{color:gray;font-weight:400;font-size:.85em}\
    img{max-width:100%;max-height:24rem;display:block}pre{overflow:auto}p{margin:.3em 0}blockquote{border-left:3px solid gray;\
    margin:.3em 0;padding-left:.8em}li{margin:.2em 0}
    """
  private static let pictures: Set<String> = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]

  var writer: ExportPageWriter {
    ExportPageWriter(
      index: index, path: Self.path, head: head, message: message, end: Self.end, style: Array(Self.style.utf8))
  }

  private static let end = Array("</main></body></html>\n".utf8)

  private static func path(of conversation: ExportedConversation) -> String { "conversations/\(conversation.id).html" }

  private func index(_ conversations: [ExportedConversation], at time: String) -> [UInt8] {
    var html = beginning(site, top: "")
    html += "<h1>\(Self.escaped(site))</h1><p><small>\(time)</small></p>"
    var heading: String?
    for conversation in conversations {
      let group = conversation.forum ?? ""
      if group != heading {
        html += heading == nil ? "" : "</ul>"
        html += "<h2>\(group.isEmpty ? "Messages" : Self.escaped(group))</h2><ul>"
        heading = group
      }
      html += "<li><a href=\"\(Self.path(of: conversation))\">\(Self.escaped(title(of: conversation)))</a> "
      html += "<small>\(conversation.messages)</small></li>"
    }
    html += heading == nil ? "<p>No messages.</p>" : "</ul>"
    return Array(html.utf8) + Self.end
  }

  private func head(of conversation: ExportedConversation) -> [UInt8] {
    let title = title(of: conversation)
    return Array(
      (beginning(title, top: "../")
        + "<p><a href=\"../index.html\">\(Self.escaped(site))</a></p><h1>\(Self.escaped(title))</h1>").utf8)
  }

  private func message(_ message: ExportedMessage, _ files: [ExportedAttachment]) -> [UInt8] {
    var html = "<article id=\"m\(message.id)\"><header>\(Self.escaped(names[message.author] ?? "")) "
    html += "<time>\(message.time)</time>\(message.isEdited ? " <small>(edited)</small>" : "")</header>"
    // The number of another file, or of one that is missing, shows the words alone.
    var text = MarkupDocument(message.text).html(pictures: files.map { Self.picture($0) ?? "" })
      .replacing("<img src=\"\" ", with: "<img ")
    var rest = ""
    for file in files {
      let name = Self.escaped(file.name)
      if let path = Self.picture(file) {
        let words = file.description.isEmpty ? name : Self.escaped(file.description)
        // The text of users is escaped: it has no other images.
        if text.contains("<img src=\"\(path)\" ") {
          text = text.replacing(
            "<img src=\"\(path)\" alt=\"\" />", with: "<img src=\"\(path)\" alt=\"\(words)\" />")
        } else {
          rest += "<a href=\"\(path)\"><img src=\"\(path)\" alt=\"\(words)\" loading=\"lazy\"></a>"
        }
      } else if let path = file.path {
        rest += "<p><a href=\"../\(path)\" download=\"\(name)\">\(name)</a></p>"
      }
    }
    return Array((html + text + rest + "</article>\n").utf8)
  }

  /// The address of a picture in the page of a conversation.
  private static func picture(_ file: ExportedAttachment) -> String? {
    pictures.contains(file.mimeType) ? file.path.map { "../\($0)" } : nil
  }

  private func beginning(_ title: String, top: String) -> String {
    "<!doctype html><html><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
      + "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'self' file:; "
      + "img-src 'self' file:\">"
      + "<title>\(Self.escaped(title))</title><link rel=\"stylesheet\" href=\"\(top)style.css\"></head><body><main>"
  }

  private func title(of conversation: ExportedConversation) -> String {
    if let title = conversation.title, !title.isEmpty { return title }
    if let forum = conversation.forum { return forum }
    return conversation.participants.isEmpty
      ? "\(conversation.kind) \(conversation.id)" : conversation.participants.joined(separator: ", ")
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
  }
}
