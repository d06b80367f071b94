/// Location in a message.
public struct Location: Sendable, Hashable {
  /// The name of the place; nil without a name, or with one of more than 200 Unicode scalars.
  public var name: String?
  /// The latitude in degrees, from -90 to 90.
  public var latitude: Double
  /// The longitude in degrees, from -180 to 180.
  public var longitude: Double

  /// A place on Earth; latitude and longitude are in degrees.
  public init(name: String?, latitude: Double, longitude: Double) {
    self.name = name
    self.latitude = latitude
    self.longitude = longitude
  }
}
