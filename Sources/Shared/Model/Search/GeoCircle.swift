/// Everything within so many metres of a point on Earth.
public struct GeoCircle: Sendable, Hashable {
  public let latitude: Double
  public let longitude: Double
  public let metres: Double

  /// Beyond it the whole world would be near.
  public static let maxMetres = 1_000_000

  public init(latitude: Double, longitude: Double, metres: Double) {
    self.latitude = latitude
    self.longitude = longitude
    self.metres = metres
  }
}
