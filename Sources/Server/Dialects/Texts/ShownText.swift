import ParleyJSON
import ParleyModel
import ParleyWire

/// A text as clients of App.net and pnut show it. A link in Markdown is shown as its words and the host in brackets. All other
/// markup is shown as it was written.
struct ShownText {
  /// An entity with its position in Unicode scalars of the shown text.
  struct Entity {
    let position: Int
    let length: Int
    let kind: Kind

    enum Kind {
      /// `isLeading`: only other mentions are before it.
      case mention(name: String, ID<User>, isLeading: Bool)
      case tag(String)
      /// `amended`: the length with the host in brackets behind it.
      case link(text: String, url: String, amended: Int?)
    }
  }

  /// Scalars of the shown text.
  private(set) var scalars: [Unicode.Scalar] = []
  /// In the order of the text, never nested.
  private(set) var entities: [Entity] = []

  var text: String { Self.text(scalars[...]) }

  /// - Parameter stored: the entities of the source: a JSON object, nil without any.
  init(_ source: String, _ stored: JSONRaw?) throws(JSONError) {
    let source = Array(source.unicodeScalars)
    var (position, isLeading) = (0, true)
    for found in try SourceEntity.all(in: stored) where found.position >= position && found.end <= source.count {
      let between = source[position..<found.position]
      if between.contains(where: { !$0.properties.isWhitespace }) { isLeading = false }
      scalars += between
      let slice = source[found.position..<found.end]
      switch found.kind {
      case .mention(let name, let user):
        add(slice, .mention(name: name, user, isLeading: isLeading))
      case .tag(let name):
        isLeading = false
        add(slice, .tag(name))
      case .link(let url):
        isLeading = false
        addLink(slice, to: url)
      }
      position = found.end
    }
    scalars += source[position...]
  }

  private mutating func add(_ shown: ArraySlice<Unicode.Scalar>, _ kind: Entity.Kind) {
    entities.append(Entity(position: scalars.count, length: shown.count, kind: kind))
    scalars += shown
  }

  private mutating func addLink(_ source: ArraySlice<Unicode.Scalar>, to url: String) {
    // Other addresses are no links there.
    guard let address = WebAddress(url.prefix { $0 != "#" }.description), [.http, .https].contains(address.scheme)
    else {
      scalars += source
      return
    }
    guard let words = Self.words(ofLink: source) else {
      return add(source, .link(text: Self.text(source), url: url, amended: nil))
    }
    let text = Self.text(words)
    guard !Self.names(address.host, in: text) else {
      return add(words, .link(text: text, url: url, amended: nil))
    }
    let host = Array(" [\(address.host)]".unicodeScalars)
    add(words, .link(text: text, url: url, amended: words.count + host.count))
    scalars += host
  }

  /// Whether a text has the host, not as a part of another name: `a.example` is not in `data.example`.
  private static func names(_ host: String, in text: String) -> Bool {
    let isPart = { (character: Character) in character.isLetter || character.isNumber || "-.".contains(character) }
    for var name in text.lowercased().split(whereSeparator: { !isPart($0) }) {
      while name.last == "." { name.removeLast() }
      if name == host { return true }
    }
    return false
  }

  /// The words of `[words](address)`; nil for another form.
  private static func words(ofLink source: ArraySlice<Unicode.Scalar>) -> ArraySlice<Unicode.Scalar>? {
    guard source.first == "[", source.last == ")" else { return nil }
    for index in source.indices.dropFirst(2).dropLast() where source[index] == "(" && source[index - 1] == "]" {
      let words = source[(source.startIndex + 1)..<(index - 1)]
      return words.contains { !$0.properties.isWhitespace } ? words : nil
    }
    return nil
  }

  private static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
    var text = String.UnicodeScalarView()
    text.append(contentsOf: scalars)
    return String(text)
  }

  // MARK: HTML

  /// The text with its entities as HTML.
  ///
  /// - Parameter tag: the tags of an entity around its text.
  func html(_ tags: (Entity) -> (before: String, after: String)) -> String {
    var html = ""
    var position = 0
    for entity in entities {
      let end = entity.position + entity.length
      let (before, after) = tags(entity)
      Self.write(scalars[position..<entity.position], to: &html)
      html += before
      Self.write(scalars[entity.position..<end], to: &html)
      html += after
      position = end
    }
    Self.write(scalars[position...], to: &html)
    return html
  }

  private static func write(_ scalars: ArraySlice<Unicode.Scalar>, to html: inout String) {
    for scalar in scalars {
      switch scalar {
      case "\n": html += "<br>"
      default: html += escaped(scalar)
      }
    }
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "&": "&amp;"
    case "<": "&lt;"
    case ">": "&gt;"
    case "\"": "&quot;"
    default: String(Character(scalar))
    }
  }

  /// A text as the value of an attribute.
  static func attribute(_ text: String) -> String { text.unicodeScalars.map(escaped).joined() }
}

/// A stored entity, with its position in the source.
private struct SourceEntity {
  let position: Int
  let length: Int
  let kind: Kind

  var end: Int { position + length }

  enum Kind {
    case mention(String, ID<User>)
    case tag(String)
    case link(String)
  }

  /// In the order of the text. Mentions of rooms and groups are left out.
  static func all(in stored: JSONRaw?) throws(JSONError) -> [SourceEntity] {
    guard let stored else { return [] }
    var (object, found) = (try JSONValue(parsing: stored.bytes).object(), [SourceEntity]())
    for mention in try object.value("mentions").array() {
      var mention = try mention.object()
      guard let user: ID<User> = try mention.optional("user_id") else { continue }
      let name = try mention.string("name")
      found.append(try SourceEntity(&mention, .mention(name, user)))
    }
    for tag in try object.value("hashtags").array() {
      var tag = try tag.object()
      let name = try tag.string("name")
      found.append(try SourceEntity(&tag, .tag(name)))
    }
    for link in try object.value("links").array() {
      var link = try link.object()
      let url = try link.string("url")
      found.append(try SourceEntity(&link, .link(url)))
    }
    return found.sorted { $0.position < $1.position }
  }

  private init(_ object: inout JSONObject, _ kind: Kind) throws(JSONError) {
    position = try object.int("pos", in: 0...Int.max)
    length = try object.int("len", in: 0...Int.max)
    self.kind = kind
  }
}
