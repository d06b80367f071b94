public import ParleyJSON
public import ParleyModel

/// What the app decides about how messages are dated, placed and found.
public struct MessageIndexing: Sendable {
  /// When a message is shown to have been said; usually when the server took it.
  public var displayDate: @Sendable (Message) -> Int64 = { $0.createdAt }
  /// The types of annotations that are looked up; nil for all.
  public var annotationTypes: Set<String>?
  /// A name for a place that has none, such as "Mission Street". Asked when a message that needs it is kept, and until there
  /// is one whenever it is kept again.
  public var placeName: (@Sendable (Location) async -> String?)?
  /// Change it when the decisions above change: all is indexed anew then.
  public var version = 1

  public init() {}

  /// An annotation's date, where there is one: `{"type": type, "value": {"date": "…"}}`, else when the server took it.
  public static func date(inAnnotation type: String, member: String = "date") -> @Sendable (Message) -> Int64 {
    { message in
      guard let value = message.content?.annotation(type), var object = try? value.object(),
        let date: Timestamp = try? object.read(member)
      else { return message.createdAt }
      return Int64(date.milliseconds)
    }
  }

  func index(_ message: Message, placeName known: String? = nil) -> MessageIndex {
    var index = MessageIndex(shownAt: displayDate(message))
    guard let content = message.content else { return index }
    index.words = SearchText.prepare(content.text)
    index.features = content.namedFeatures + ["a\(message.author)"]
    guard let annotations = content.parsedAnnotations else { return index }
    for type in Set(annotations.types) where annotationTypes?.contains(type) ?? true {
      index.features.append(MessageFeature.annotation(type).token)
    }
    guard let location = annotations.location else { return index }
    index.placeName = location.name ?? known
    guard let name = index.placeName else { return index }
    let place = Location(name: name, latitude: location.latitude, longitude: location.longitude)
    index.features += LocationPrecision.allCases.map { MessageFeature.place(place, $0).token }
    return index
  }
}

/// How near two places of one name have to be to be one.
public enum LocationPrecision: Int, Sendable, CaseIterable {
  /// About 11 kilometres, 1.1 kilometres, 111 metres: so many decimals of the degrees.
  case town = 1
  case quarter = 2
  case house = 3
}

/// What a message is looked up by.
public enum MessageFeature: Sendable, Hashable {
  case hashtag(String)
  case mention(ID<Account>)
  case annotation(String)
  case author(ID<Account>)
  case place(Location, LocationPrecision)

  var token: String {
    switch self {
    case .hashtag(let name): "#" + Forum.key(name.hasPrefix("#") ? String(name.dropFirst()) : name)
    case .mention(let id): "@\(id)"
    case .annotation(let type): "t\(type)"
    case .author(let id): "a\(id)"
    case .place(let place, let precision):
      "p\(precision.rawValue) \(Self.cell(place.latitude, precision)) \(Self.cell(place.longitude, precision)) "
        + Forum.key(place.name ?? "")
    }
  }

  private static func cell(_ degrees: Double, _ precision: LocationPrecision) -> Int {
    let scale: Double =
      switch precision {
      case .town: 10
      case .quarter: 100
      case .house: 1_000
      }
    // Also what no place on Earth has must not end the process.
    return Int(exactly: (min(max(degrees, -1_000), 1_000) * scale).rounded()) ?? 0
  }
}

extension Message {
  /// Where it was written, if that has no name.
  var namelessPlace: Location? {
    guard let place = content?.parsedAnnotations?.location, place.name == nil else { return nil }
    return place
  }
}

extension Message.Content {
  /// What the server found in the text.
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
      if var mention = try? mention.object(), let id: ID<Account> = try? mention.optional("user_id") {
        features.insert(MessageFeature.mention(id).token)
      }
    }
    return features.sorted()
  }

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
