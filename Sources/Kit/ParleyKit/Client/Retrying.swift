/// How often, and after which pauses, what may go well later is tried again by itself.
public struct Retrying: Sendable {
  /// In all, the first one included.
  public var attempts = 4
  /// Milliseconds before the second one; each further pause is twice as long.
  public var first = 500
  public var longest = 8_000
  /// If the server wants a longer pause than this, the caller hears of it instead.
  public var mostAsked = 20_000
  /// Between 0 and 1: so that a thousand clients do not come back at the same moment.
  public var chance: @Sendable () -> Double = { Double.random(in: 0...1) }
  public var pause: @Sendable (_ milliseconds: Int) async throws -> Void = { milliseconds in
    try await Task.sleep(for: .milliseconds(milliseconds))
  }

  public init() {}

  /// Everything is tried once.
  public static var never: Retrying {
    var retrying = Retrying()
    retrying.attempts = 1
    return retrying
  }

  /// Milliseconds before the attempt after so many; between half of it and all.
  func delay(after tries: Int) -> Int {
    let whole = min(longest, first << min(max(0, tries - 1), 16))
    return whole / 2 + Int(Double(whole - whole / 2) * chance())
  }

  /// Nil where it is not tried again.
  func delay(after tries: Int, of fault: ClientFault, isRepeatable: Bool) -> Int? {
    guard tries < attempts, fault.isTemporary, isRepeatable || fault.isUndone else { return nil }
    guard case .refused(let problem) = fault, let seconds = problem.retryAfter else { return delay(after: tries) }
    let asked = min(seconds, 86_400) * 1_000
    return asked <= mostAsked ? max(asked, delay(after: tries)) : nil
  }
}
