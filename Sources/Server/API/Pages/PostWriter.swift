// Messages as articles, in topics, rooms and feeds of users.

import Community
import ParleyJSON
import ParleyMarkup
import ParleyModel

/// The messages of a page with their authors and files.
struct PostList: Sendable {
  var messages: [MessageView]
  var authors: [ID<User>: Author]
  let files: [ID<File>: File]
  let words: PageText
  /// The types of files that browsers show.
  let inlineFiles: Set<ID<File>>
  /// The time of the page: a poll that closes then or before is closed.
  let time: Int64

  func name(of user: ID<User>) -> String { words.name(of: authors[user]) }

  /// The first picture of the messages.
  var picture: String? {
    for message in messages {
      for id in message.message.content?.attachments ?? [] {
        if let file = files[id], let picture = picture(of: file) { return picture.path }
      }
    }
    return nil
  }

  /// Originals up to this size are shown if they have no preview.
  static let maxOriginalBytes = 1 << 20

  func picture(of file: File) -> (path: String, width: Int, height: Int)? {
    if let preview = file.preview {
      return ("/api/v1/files/\(file.id)/preview", preview.width, preview.height)
    }
    guard file.kind == "image", inlineFiles.contains(file.id), file.size <= Self.maxOriginalBytes,
      let width = file.width, let height = file.height
    else { return nil }
    return (PageAddress.file(file), width, height)
  }

  /// The text and the pictures of a message, for a feed.
  ///
  /// - Parameter url: the absolute address of a path.
  func html(of view: MessageView, _ content: Message.Content, _ url: (String) -> String) -> String {
    var html = TagWriter()
    let placed = writeText(of: view, content, url, to: &html)
    for file in content.attachments.compactMap({ files[$0] }) where !placed.contains(file.id) {
      guard let picture = picture(of: file) else { continue }
      html.tag("p") { writeImage(picture, content.description(of: file.id) ?? file.name, url, to: &$0) }
    }
    return String(decoding: html.bytes, as: UTF8.self)
  }

  /// Writes the text. Pictures that it places get their previews, sizes and links; another file gets a link. Returns the placed
  /// pictures.
  func writeText(
    of view: MessageView, _ content: Message.Content, _ url: (String) -> String = { $0 }, to html: inout TagWriter
  ) -> Set<ID<File>> {
    var placed: Set<ID<File>> = []
    var rest = Array((view.html ?? "").utf8)[...]
    guard !content.attachments.isEmpty else {
      html.trusted(rest)
      return placed
    }
    while let image = PlacedImage(firstIn: rest) {
      html.trusted(rest[..<image.start])
      rest = rest[image.end...]
      guard
        let file = content.attachments.first(where: { File.address(of: $0) == image.address }).flatMap({ files[$0] })
      else {
        html.text(image.description)
        continue
      }
      let words = image.description.isEmpty ? content.description(of: file.id) ?? file.name : image.description
      html.tag("a", ["href": url(file.address)]) { html in
        guard let picture = picture(of: file) else { return html.text(words) }
        writeImage(picture, words, url, to: &html)
        placed.insert(file.id)
      }
    }
    html.trusted(rest)
    return placed
  }

  func writeImage(
    _ picture: (path: String, width: Int, height: Int), _ description: String, _ url: (String) -> String = { $0 },
    to html: inout TagWriter
  ) {
    html.void(
      "img",
      [
        "src": url(picture.path), "alt": description, "width": String(picture.width), "height": String(picture.height),
        "loading": "lazy",
      ])
  }
}

/// An image in the HTML of a text. The renderer writes no others, and escapes the text of users.
private struct PlacedImage {
  let start: Int
  let end: Int
  let address: String
  let description: String

  private static let open = Array("<img src=\"".utf8)
  private static let alt = Array("\" alt=\"".utf8)
  private static let close = Array("\" />".utf8)

  init?(firstIn html: ArraySlice<UInt8>) {
    guard let open = html.firstOccurrence(of: Self.open),
      let alt = html[open.upperBound...].firstOccurrence(of: Self.alt),
      let close = html[alt.upperBound...].firstOccurrence(of: Self.close)
    else { return nil }
    start = open.lowerBound
    end = close.upperBound
    address = String(decoding: html[open.upperBound..<alt.lowerBound], as: UTF8.self)
    var text = String(decoding: html[alt.upperBound..<close.lowerBound], as: UTF8.self)
    for (reference, sign) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")] {
      text = text.replacing(reference, with: sign)
    }
    description = text
  }
}

extension Author {
  var page: String? { user.summary.name.map { PageAddress.user($0) } }
}

/// Writes posts. The drawing of an author is written once, and referred to by later posts.
struct PostWriter {
  let list: PostList
  /// The message marked as the solution.
  var solution: ID<Message>?
  var canReply = true
  /// Posts of others that the owner of the page has reposted, and the name of the owner.
  var reposted: Set<ID<Message>> = []
  var reposter = ""
  private var drawn: Set<ID<User>> = []

  init(_ list: PostList, solution: ID<Message>? = nil, canReply: Bool = true) {
    self.list = list
    self.solution = solution
    self.canReply = canReply
  }

  mutating func writePosts(to html: inout TagWriter) {
    for message in list.messages { writePost(message, to: &html) }
  }

  mutating func writePost(_ view: MessageView, id: String? = nil, to html: inout TagWriter) {
    let message = view.message
    guard let content = message.content else { return writeTombstone(message, to: &html) }
    let author = list.authors[message.author]
    html.tag("article", ["class": "post", "id": id ?? "m\(message.id)"]) { html in
      writeAvatar(of: message.author, size: 36, to: &html)
      html.tag("div", ["class": "post-body"]) { html in
        if reposted.contains(message.id) {
          html.tag("p", ["class": "second"]) { html in html.tag("bdi", [:], html.words.reposted(by: reposter)) }
        }
        html.tag("header", ["class": "post-head"]) { html in
          html.tag("a", ["class": "author", "href": author?.page]) { $0.tag("bdi", [:], list.name(of: message.author)) }
          html.tag("a", ["class": "second", "href": PageAddress.message(message.id), "rel": "nofollow"]) { html in
            html.time(message.createdAt)
          }
          if let edit = content.edit {
            html.tag("span", ["class": "second", "title": html.words.minute(edit.at)], html.words[.edited])
          }
          if message.id == solution { html.mark(html.words[.solution], isGood: true) }
        }
        if let replyTo = message.replyTo { writeReplyLink(to: replyTo, &html) }
        var placed: Set<ID<File>> = []
        html.tag("div", ["class": "rich", "dir": "auto"]) { placed = list.writeText(of: view, content, to: &$0) }
        if let poll = content.poll { poll.write(to: &html, at: list.time) }
        writeFiles(of: content, without: placed, to: &html)
        writeFoot(message, content, to: &html)
      }
    }
  }

  private func writeTombstone(_ message: Message, to html: inout TagWriter) {
    guard let tombstone = message.tombstone else { return }
    html.tag("article", ["class": "post tombstone", "id": "m\(message.id)"]) { html in
      html.tag("p", ["class": "second"]) { html in
        html.text(html.words.gone(tombstone) + " ")
        if let copy = tombstone.movedTo {
          html.tag("a", ["href": PageAddress.message(copy)]) { $0.time(tombstone.at) }
        } else {
          html.time(tombstone.at)
        }
      }
    }
  }

  /// An avatar, or the drawing of the name as an inline SVG. Decoration: the name stands beside it.
  mutating func writeAvatar(of user: ID<User>, size: Int, to html: inout TagWriter) {
    let side = String(size)
    guard let author = list.authors[user] else {
      html.tag("span", ["class": "avatar"]) { _ in }
      return
    }
    guard let picture = author.drawing?.picture else {
      html.void(
        "img",
        [
          "class": "avatar", "src": author.user.summary.avatar, "alt": "", "width": side, "height": side,
          "loading": "lazy",
        ])
      return
    }
    let isFirst = drawn.insert(user).inserted
    html.tag(
      "svg", ["class": "avatar", "viewBox": Picture.viewBox, "width": side, "height": side, "aria-hidden": "true"]
    ) { html in
      if isFirst {
        html.tag("g", ["id": "u\(user)", "fill": picture.ground, "color": picture.figure]) { html in
          html.trusted(picture.shapes)
        }
      } else {
        html.tag("use", ["href": "#u\(user)"]) { _ in }
      }
    }
  }

  private func writeReplyLink(to id: ID<Message>, _ html: inout TagWriter) {
    let target = list.messages.first { $0.message.id == id }
    html.tag("p", ["class": "second"]) { html in
      html.tag("a", ["href": target == nil ? PageAddress.message(id) : "#m\(id)", "rel": "nofollow"]) { html in
        html.tag(
          "bdi", [:], target.map { html.words.replyTo(list.name(of: $0.message.author)) } ?? html.words[.inReply])
      }
    }
  }

  private func writeFiles(of content: Message.Content, without placed: Set<ID<File>>, to html: inout TagWriter) {
    let files = content.attachments.compactMap { list.files[$0] }.filter { !placed.contains($0.id) }
    guard !files.isEmpty else { return }
    html.tag("ul", ["class": "files"]) { html in
      for file in files {
        html.tag("li") { html in
          html.tag("a", ["href": PageAddress.file(file)]) { html in
            if let picture = list.picture(of: file) {
              list.writeImage(picture, content.description(of: file.id) ?? file.name, to: &html)
            } else {
              html.tag("bdi", [:], file.name)
              html.text(" (\(html.words.size(file.size)))")
            }
          }
        }
      }
    }
  }

  private func writeFoot(_ message: Message, _ content: Message.Content, to html: inout TagWriter) {
    html.tag("footer", ["class": "post-foot second"]) { html in
      for action in content.actions {
        if action.type == "like" { html.tag("span", [:], html.words.likes(action.count)) }
        if action.type.hasPrefix("reaction:") {
          html.tag("span", [:], html.words.reacted(String(action.type.dropFirst("reaction:".count)), action.count))
        }
      }
      if canReply {
        let address = PageAddress.signIn(back: PageAddress.message(message.id))
        html.tag("a", ["href": address, "rel": "nofollow"], html.words[.reply])
      }
      html.tag("a", ["href": PageAddress.report(message.id), "rel": "nofollow"], html.words[.report])
    }
  }
}

extension Message {
  /// The text without markup, of at most this many scalars.
  func plainText(limit: Int) -> String {
    content.map { MarkupDocument($0.text).plainText(limit: limit) } ?? ""
  }

  /// The text on one line, for descriptions.
  func line(limit: Int) -> String {
    plainText(limit: limit).split(whereSeparator: \.isNewline).joined(separator: " ")
  }

  func count(of action: String) -> Int { content?.actions.first { $0.type == action }?.count ?? 0 }
}
