public import ParleyJSON
public import ParleyModel

/// The app's rules for the displayed date, the location and the index of messages.
public struct MessageIndexing: Sendable {
  /// The displayed date of a message; by default the date on which the server received it.
  public var displayDate: @Sendable (Message) -> Int64 = { $0.createdAt }
  /// The indexed types of annotations; nil for all.
  public var annotationTypes: Set<String>?
  /// Returns a name for an unnamed location, such as "Mission Street". Called when the message is saved, and again each time
  /// until there is a name.
  public var locationName: (@Sendable (Location) async -> String?)?
  /// Change it when the rules above change: the index is then rebuilt.
  public var version = 1
  /// The version of the tokens of `MessageFeature`.
  static let form = 2

  /// Indexes all annotations, with the locations that apps use.
  public init() {}

  /// The date of an annotation `{"type": type, "value": {"date": "…"}}`, or else the date on which the server received the
  /// message.
  public static func date(inAnnotation type: String, member: String = "date") -> @Sendable (Message) -> Int64 {
    { message in
      guard let value = message.content?.annotation(type), var object = try? value.object(),
        let date: Timestamp = try? object.read(member)
      else { return message.createdAt }
      return Int64(date.milliseconds)
    }
  }

  func index(_ message: Message, locationName known: String? = nil) -> MessageIndex {
    var index = MessageIndex(shownAt: displayDate(message))
    guard let content = message.content else { return index }
    index.words = SearchText.prepare(content.text)
    index.features = content.namedFeatures + ["a\(message.author)"]
    guard let annotations = content.parsedAnnotations else { return index }
    for type in Set(annotations.types) where annotationTypes?.contains(type) ?? true {
      index.features.append(MessageFeature.annotation(type).token)
    }
    guard let location = annotations.location else { return index }
    index.locationName = location.name ?? known
    guard let name = index.locationName else { return index }
    let named = Location(name: name, latitude: location.latitude, longitude: location.longitude)
    index.features += LocationPrecision.allCases.map { MessageFeature.location(named, $0).token }
    return index
  }
}

/// The distance within which locations with one name count as the same. The index has one cell of a grid for each precision; a
/// query reads the cell of its location and the eight around it, so that the edge of a cell separates nothing.
public enum LocationPrecision: Int, Sendable, CaseIterable {
  /// Decimals of the coordinates in degrees: 11 km, 1.1 km and 111 m. All locations within half of that are found, and none
  /// beyond it.
  case town = 1
  /// Two decimal places of a degree.
  case quarter = 2
  /// Three decimal places of a degree.
  case block = 3
}

/// An indexed property of a message.
public enum MessageFeature: Sendable, Hashable {
  /// A hashtag of the text, without `#`.
  case hashtag(String)
  /// A mentioned user.
  case mention(ID<User>)
  /// An annotation of this type.
  case annotation(String)
  /// The author.
  case author(ID<User>)
  /// The location at a precision.
  case location(Location, LocationPrecision)

  var token: String {
    switch self {
    case .hashtag(let name): "#" + Forum.key(name.hasPrefix("#") ? String(name.dropFirst()) : name)
    case .mention(let id): "@\(id)"
    case .annotation(let type): "t\(type)"
    case .author(let id): "a\(id)"
    case .location(let location, let precision):
      Self.token(Self.cell(location, precision), precision, named: location.name)
    }
  }

  /// The tokens of which a matching message has one.
  var alternatives: [String] {
    guard case .location(let location, let precision) = self else { return [token] }
    let (latitude, longitude) = Self.cell(location, precision)
    let count = 360 * Self.cellsPerDegree(precision)
    return (-1...1).flatMap { north in
      (-1...1).map { east in
        // The cells at 180° east and west are neighbors.
        let column = ((longitude + east) % count + count) % count
        return Self.token((latitude + north, column), precision, named: location.name)
      }
    }
  }

  private static func token(
    _ cell: (latitude: Int, longitude: Int), _ precision: LocationPrecision, named name: String?
  ) -> String {
    "p\(precision.rawValue) \(cell.latitude) \(cell.longitude) \(Forum.key(name ?? ""))"
  }

  /// The longitude counts from 0° to 360° east.
  private static func cell(_ location: Location, _ precision: LocationPrecision) -> (latitude: Int, longitude: Int) {
    func index(_ degrees: Double) -> Int {
      // Invalid coordinates must not trap.
      let scaled = min(max(degrees, -1_000), 1_000) * Double(cellsPerDegree(precision))
      return Int(exactly: scaled.rounded(.down)) ?? 0
    }
    let count = 360 * cellsPerDegree(precision)
    return (index(location.latitude), (index(location.longitude) % count + count) % count)
  }

  private static func cellsPerDegree(_ precision: LocationPrecision) -> Int {
    switch precision {
    case .town: 20
    case .quarter: 200
    case .block: 2_000
    }
  }
}

extension Message {
  /// The location, if it has no name.
  var unnamedLocation: Location? {
    guard let location = content?.parsedAnnotations?.location, location.name == nil else { return nil }
    return location
  }
}

extension Message.Content {
  /// The hashtags and mentions that the server found in the text.
  fileprivate var namedFeatures: [String] {
    guard let entities, let value = try? JSONValue(parsing: entities.bytes), var object = try? value.object() else {
      return []
    }
    var features: Set<String> = []
    for hashtag in (try? object.value("hashtags").array()) ?? [] {
      if var hashtag = try? hashtag.object(), let name = try? hashtag.string("name") {
        features.insert(MessageFeature.hashtag(name).token)
      }
    }
    for mention in (try? object.value("mentions").array()) ?? [] {
      if var mention = try? mention.object(), let id: ID<User> = try? mention.optional("user_id") {
        features.insert(MessageFeature.mention(id).token)
      }
    }
    return features.sorted()
  }

  /// The annotations with their location; nil without any or if they can't be read.
  public var parsedAnnotations: Annotations? {
    guard let annotations, let value = try? JSONValue(parsing: annotations.bytes) else { return nil }
    return try? Annotations(json: value)
  }

  /// The value of the first annotation of a type.
  public func annotation(_ type: String) -> JSONValue? {
    guard let annotations, let list = try? JSONValue(parsing: annotations.bytes).array() else { return nil }
    for item in list {
      guard var object = try? item.object(), (try? object.string("type")) == type else { continue }
      return try? object.value("value")
    }
    return nil
  }
}
