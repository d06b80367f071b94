/// A request method (RFC 9110 §9). Methods are case-sensitive.
public enum Method: Sendable, Hashable {
  case get, head, post, put, patch, delete, options
  case other(String)

  public init(_ name: String) {
    switch name {
    case "GET": self = .get
    case "HEAD": self = .head
    case "POST": self = .post
    case "PUT": self = .put
    case "PATCH": self = .patch
    case "DELETE": self = .delete
    case "OPTIONS": self = .options
    default: self = .other(name)
    }
  }

  /// Parses the known methods without creating a string.
  init(_ bytes: Span<UInt8>, in range: Range<Int>) {
    func `is`(_ name: StaticString) -> Bool { bytes.equals(name, in: range) }
    switch range.count {
    case 3 where `is`("GET"): self = .get
    case 3 where `is`("PUT"): self = .put
    case 4 where `is`("POST"): self = .post
    case 4 where `is`("HEAD"): self = .head
    case 5 where `is`("PATCH"): self = .patch
    case 6 where `is`("DELETE"): self = .delete
    case 7 where `is`("OPTIONS"): self = .options
    default: self = .other(bytes.text(range))
    }
  }

  /// RFC 9110 §9.2.1: read-only.
  public var isSafe: Bool { self == .get || self == .head || self == .options }

  public var name: String {
    switch self {
    case .get: "GET"
    case .head: "HEAD"
    case .post: "POST"
    case .put: "PUT"
    case .patch: "PATCH"
    case .delete: "DELETE"
    case .options: "OPTIONS"
    case .other(let name): name
    }
  }
}
