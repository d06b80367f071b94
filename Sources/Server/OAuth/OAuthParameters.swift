import ParleyWire

/// The parameters of a query or of a form. None may come twice; an empty one counts as absent (RFC 6749 §3.1, §3.2).
public struct OAuthParameters: Sendable {
  private let values: [String: String]

  /// Bytes of a form. The longest parameters are the redirect URI and the state.
  public static let maxFormBytes = 8_192
  private static let maxCount = 50

  public init(_ text: String) throws(OAuthError) {
    let pairs: [FormPairs.Pair]
    do throws(FormPairs.Refusal) { pairs = try FormPairs(text, limit: Self.maxCount).pairs } catch {
      throw OAuthError(.invalidRequest, "The parameters can't be read.")
    }
    var values: [String: String] = [:]
    for pair in pairs where !pair.value.isEmpty {
      guard values.updateValue(pair.value, forKey: pair.name) == nil else {
        throw OAuthError(.invalidRequest, "A parameter is given twice.")
      }
    }
    self.values = values
  }

  public subscript(_ name: String) -> String? { values[name] }

  public func require(_ name: String) throws(OAuthError) -> String {
    guard let value = values[name] else { throw .missing(name) }
    return value
  }
}
