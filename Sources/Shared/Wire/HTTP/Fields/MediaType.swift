/// A media type (RFC 9110 §8.3.1): `text/html; charset=utf-8`. Type, subtype and parameter names are lowercase.
public struct MediaType: Sendable, Hashable {
  public let type: String
  public let subtype: String
  private let parameters: FieldParameters

  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    var index = 0
    let end = bytes.count
    guard let type = FieldParameters.token(bytes.span, &index, end), index < end, bytes[index] == UInt8(ascii: "/")
    else {
      return nil
    }
    index += 1
    guard let subtype = FieldParameters.token(bytes.span, &index, end),
      let parameters = FieldParameters(bytes.span, from: index, to: end)
    else { return nil }
    self.type = type.lowercased()
    self.subtype = subtype.lowercased()
    self.parameters = parameters
  }

  /// `type/subtype`, without parameters.
  public var essence: String { "\(type)/\(subtype)" }

  /// The value of the parameter with this lowercase name.
  public subscript(_ parameter: String) -> String? { parameters[parameter] }

  public var isJSON: Bool { essence == "application/json" }
  public var isForm: Bool { essence == "application/x-www-form-urlencoded" }
  public var isMultipartForm: Bool { essence == "multipart/form-data" }
}
