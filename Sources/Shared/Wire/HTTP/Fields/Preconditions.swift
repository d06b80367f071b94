/// The preconditions of a request (RFC 9110 §13).
public struct Preconditions: Sendable {
  public enum Outcome: Sendable, Hashable {
    case proceed
    /// Send 304.
    case notModified
    /// Send 412.
    case failed
  }

  /// The current representation; nil if there is none.
  public struct Current: Sendable {
    public let tag: EntityTag?
    /// Seconds since 1970.
    public let modified: Int?

    public init(tag: EntityTag?, modified: Int? = nil) {
      self.tag = tag
      self.modified = modified
    }
  }

  private let fields: Fields
  private let isRead: Bool
  private let now: Int

  /// `now` in seconds, to resolve two-digit years.
  public init(_ method: Method, _ fields: Fields, now: Int) {
    self.fields = fields
    isRead = method == .get || method == .head
    self.now = now
  }

  /// Evaluates in the order of §13.2.2.
  public func evaluate(_ current: Current?) -> Outcome {
    if fields.has("if-match") {
      guard ifMatch(current) else { return .failed }
    } else if let date = date("if-unmodified-since"), let modified = current?.modified {
      guard modified <= date else { return .failed }
    }
    if fields.has("if-none-match") {
      guard ifNoneMatch(current) else { return isRead ? .notModified : .failed }
    } else if isRead, let date = date("if-modified-since"), let modified = current?.modified {
      guard modified > date else { return .notModified }
    }
    return .proceed
  }

  /// §13.1.5: whether Range applies; otherwise send the whole representation. A weak tag or a malformed value never
  /// matches, and a date must match exactly.
  public func allowsRange(_ current: Current) -> Bool {
    let values = fields.all("if-range")
    guard let value = values.first else { return true }
    guard values.count == 1 else { return false }
    if let tag = EntityTag(parsing: value) { return current.tag.map { tag.isStronglyEqual(to: $0) } ?? false }
    guard let date = HTTPDate.parse(value, now: now), let modified = current.modified else { return false }
    return date == modified
  }

  /// §13.1.1: strong comparison. A malformed list matches nothing.
  private func ifMatch(_ current: Current?) -> Bool {
    guard let current else { return false }
    let value = fields.all("if-match").joined(separator: ", ")
    if value == "*" { return true }
    guard let tag = current.tag else { return false }
    return EntityTag.list(value)?.contains { $0.isStronglyEqual(to: tag) } ?? false
  }

  /// §13.1.2: weak comparison. Returns true if the request proceeds.
  private func ifNoneMatch(_ current: Current?) -> Bool {
    guard let current else { return true }
    let value = fields.all("if-none-match").joined(separator: ", ")
    if value == "*" { return false }
    guard let tag = current.tag else { return true }
    return !(EntityTag.list(value)?.contains { $0.isWeaklyEqual(to: tag) } ?? false)
  }

  /// §13.1.3: a repeated or malformed date is ignored.
  private func date(_ name: StaticString) -> Int? {
    let values = fields.all(name)
    guard values.count == 1, let value = values.first else { return nil }
    return HTTPDate.parse(value, now: now)
  }
}
