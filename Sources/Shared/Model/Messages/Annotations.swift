public import ParleyJSON

/// What programs hang on a message as it is made: values with the names of their types. They never change.
public struct Annotations: Sendable, Hashable {
  /// A JSON array without space between. What is in a value stays as it came.
  public let json: JSONRaw
  /// In their order, one name as often as it came.
  public let types: [String]
  public let location: Location?

  public var isEmpty: Bool { types.isEmpty }
}

extension Annotations: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var types: [String] = []
    var places: [String: Location] = [:]
    for element in try value.array() {
      var annotation = try element.object()
      let name = try annotation.value("type")
      let content = try annotation.value("value")
      try annotation.finish()
      let type = try name.string()
      guard TypeName.isWellFormed(type) else { throw name.error(.invalid) }
      guard content.kind == .object else { throw content.error(.wrongType(expected: .object)) }
      if let core = TypeName.core(type) {
        guard let known = CoreAnnotation(rawValue: String(core)) else { throw name.error(.invalid) }
        try known.check(content)
      }
      if Self.placing.contains(type), places[type] == nil { places[type] = Location(content) }
      types.append(type)
    }
    json = value.raw.compact
    self.types = types
    location = Self.placing.lazy.compactMap { places[$0] }.first
  }

  /// The types that say where a message was written. The first of them that there is counts.
  private static let placing = ["net.app.core.checkin", "net.app.ohai.location", "net.app.core.geolocation"]
}

/// The types whose meaning was settled before us. What calls itself so has to be it; other names under their prefixes are
/// refused.
private enum CoreAnnotation: String {
  case checkin, geolocation, oembed, crosspost, language
  case fallbackURL = "fallback_url"
  case invite = "channel.invite"

  func check(_ value: JSONValue) throws(JSONError) {
    var object = try value.object()
    switch self {
    case .checkin: _ = try object.string("name")
    case .geolocation: break
    case .oembed: _ = try object.string("type")
    case .crosspost: _ = try object.string("canonical_url")
    case .language: _ = try object.string("language")
    case .fallbackURL: _ = try object.string("url")
    case .invite: _ = try object.string("channel_id")
    }
    guard self == .checkin || self == .geolocation else { return }
    for (name, range) in [("latitude", -90.0...90), ("longitude", -180.0...180)] {
      let member = try object.value(name)
      guard range.contains(try member.double()) else { throw member.error(.outOfRange) }
    }
  }
}

extension Location {
  /// How much of a place's name is looked up, in Unicode scalars.
  private static let maxNameScalars = 200

  /// Nil where the value gives no place on Earth. A name that nobody could look up is none.
  fileprivate init?(_ value: JSONValue) {
    guard var object = try? value.object(), let latitude = try? object.double("latitude"),
      let longitude = try? object.double("longitude"), (-90.0...90).contains(latitude),
      (-180.0...180).contains(longitude)
    else { return nil }
    let name = (try? object.string("name")).flatMap { name in
      name.isEmpty || name.utf8.contains(0) || name.unicodeScalars.count > Self.maxNameScalars ? nil : name
    }
    self.init(name: name, latitude: latitude, longitude: longitude)
  }
}
