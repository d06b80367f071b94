/// Circle on Earth: a point and a radius in metres.
public struct GeoCircle: Sendable, Hashable {
  public let latitude: Double
  public let longitude: Double
  public let metres: Double

  /// Maximum radius; a larger circle would exclude hardly anything.
  public static let maxMetres = 1_000_000

  public init(latitude: Double, longitude: Double, metres: Double) {
    self.latitude = latitude
    self.longitude = longitude
    self.metres = metres
  }
}
