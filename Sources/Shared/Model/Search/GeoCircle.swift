/// Circle on Earth: a point and a radius in metres.
public struct GeoCircle: Sendable, Hashable {
  /// The latitude of the centre in degrees, from -90 to 90.
  public let latitude: Double
  /// The longitude of the centre in degrees, from -180 to 180.
  public let longitude: Double
  /// The radius in metres, at most `maxMetres`.
  public let metres: Double

  /// Maximum radius; a larger circle would exclude hardly anything.
  public static let maxMetres = 1_000_000

  /// A circle around a point; latitude and longitude are in degrees.
  public init(latitude: Double, longitude: Double, metres: Double) {
    self.latitude = latitude
    self.longitude = longitude
    self.metres = metres
  }
}
