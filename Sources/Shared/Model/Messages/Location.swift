/// Location in a message.
public struct Location: Sendable, Hashable {
  public var name: String?
  public var latitude: Double
  public var longitude: Double

  public init(name: String?, latitude: Double, longitude: Double) {
    self.name = name
    self.latitude = latitude
    self.longitude = longitude
  }
}
