public import ParleyJSON

/// Typed values from programs, attached when a message is posted. They never change.
public struct Annotations: Sendable, Hashable {
  /// JSON array without whitespace between elements. Values are stored as received.
  public let json: JSONRaw
  /// In order, with duplicates.
  public let types: [String]
  /// The location in the annotations, as in a check-in; nil without a type for locations, or with invalid coordinates.
  public let location: Location?

  /// Whether there is no annotation.
  public var isEmpty: Bool { types.isEmpty }
}

extension Annotations {
  /// Reads annotations that were checked before they were stored.
  public init(stored json: JSONRaw) throws(JSONError) { try self.init(json: JSONValue(parsing: json.bytes)) }
}

extension Annotations: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var types: [String] = []
    var locations: [String: Location] = [:]
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
      if Self.locationTypes.contains(type), locations[type] == nil { locations[type] = Location(content) }
      types.append(type)
    }
    json = value.raw.compact
    self.types = types
    location = Self.locationTypes.lazy.compactMap { locations[$0] }.first
  }

  /// Types that contain a location. The first of these that is present counts.
  private static let locationTypes = ["net.app.core.checkin", "net.app.ohai.location", "net.app.core.geolocation"]
}

/// Types defined by earlier networks. Their values must match the definition; other names under their prefixes are
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
  /// Maximum length of an indexed location name, in Unicode scalars.
  private static let maxNameScalars = 200

  /// Nil for a value without valid coordinates. A name that can't be indexed is dropped.
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
