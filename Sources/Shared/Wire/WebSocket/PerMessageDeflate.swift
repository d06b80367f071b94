/// What both sides agreed about permessage-deflate (RFC 7692).
public struct PerMessageDeflate: Sendable, Hashable {
  public static let name = "permessage-deflate"

  /// Whether what the server sends may refer to its earlier messages. It costs both sides a zlib stream per connection.
  public var serverKeepsContext: Bool
  public var clientKeepsContext: Bool
  /// The base-2 logarithm of how far back the server's messages may refer.
  public var serverWindowBits: Int
  public var clientWindowBits: Int

  /// What this side is willing to do.
  public struct Policy: Sendable, Hashable {
    /// Off: between messages no connection holds a zlib stream. On, where the peer agrees: shorter messages, and some
    /// 200 KB a connection.
    public var keepsContext: Bool
    /// The window of each side, 9 to 15 bits.
    public var windowBits: Int

    public init(keepsContext: Bool = false, windowBits: Int = 15) {
      self.keepsContext = keepsContext
      self.windowBits = min(max(windowBits, 9), 15)
    }
  }
}

/// The four parameters (RFC 7692 §7.1), as they stand in an offer or in an answer.
private struct DeflateParameters {
  enum ClientWindow: Equatable {
    case absent, any, bits(Int)
  }

  var serverKeepsContext = true
  var clientKeepsContext = true
  var serverWindowBits: Int?
  var clientWindow = ClientWindow.absent

  /// Nil when a parameter is unknown, stands twice or has a value that it may not have: the offer is then declined
  /// (RFC 7692 §7), the answer refused.
  init?(_ element: ExtensionElement) {
    var seen: Set<String> = []
    for (name, value) in element.parameters {
      guard seen.insert(name).inserted else { return nil }
      switch (name, value) {
      case ("server_no_context_takeover", nil): serverKeepsContext = false
      case ("client_no_context_takeover", nil): clientKeepsContext = false
      case ("server_max_window_bits", let value?):
        guard let bits = Self.windowBits(value) else { return nil }
        serverWindowBits = bits
      case ("client_max_window_bits", nil): clientWindow = .any
      case ("client_max_window_bits", let value?):
        guard let bits = Self.windowBits(value) else { return nil }
        clientWindow = .bits(bits)
      default: return nil
      }
    }
  }

  /// RFC 7692 §7.1.2: a decimal integer from 8 to 15 without leading zeros.
  private static func windowBits(_ value: String) -> Int? {
    switch value {
    case "8": 8
    case "9": 9
    case "10": 10
    case "11": 11
    case "12": 12
    case "13": 13
    case "14": 14
    case "15": 15
    default: nil
    }
  }
}

extension PerMessageDeflate {
  /// The server's choice: the first of the client's offers that it can keep to, with the answer that says so.
  static func accept(_ offers: [ExtensionElement], by policy: Policy) -> (agreed: PerMessageDeflate, answer: String)? {
    for offer in offers where offer.name == name {
      guard let offered = DeflateParameters(offer) else { continue }
      var agreed = PerMessageDeflate(
        serverKeepsContext: policy.keepsContext && offered.serverKeepsContext,
        clientKeepsContext: policy.keepsContext && offered.clientKeepsContext,
        serverWindowBits: min(policy.windowBits, offered.serverWindowBits ?? 15), clientWindowBits: 15)
      var answer = name
      if !agreed.serverKeepsContext { answer += "; server_no_context_takeover" }
      if !agreed.clientKeepsContext { answer += "; client_no_context_takeover" }
      if offered.serverWindowBits != nil || agreed.serverWindowBits < 15 {
        answer += "; server_max_window_bits=\(agreed.serverWindowBits)"
      }
      // RFC 7692 §7.1.2.2: only to a client that said that it knows the parameter.
      switch offered.clientWindow {
      case .absent: break
      case .any: agreed.clientWindowBits = policy.windowBits
      case .bits(let bits): agreed.clientWindowBits = min(policy.windowBits, bits)
      }
      if agreed.clientWindowBits < 15 { answer += "; client_max_window_bits=\(agreed.clientWindowBits)" }
      return (agreed, answer)
    }
    return nil
  }

  /// The client's offer.
  static func offer(_ policy: Policy) -> String {
    var offer = name
    if !policy.keepsContext { offer += "; server_no_context_takeover; client_no_context_takeover" }
    if policy.windowBits < 15 { offer += "; server_max_window_bits=\(policy.windowBits)" }
    return offer + "; client_max_window_bits"
  }

  /// The client's reading of the answer to `offer`; nil when the answer goes beyond it or falls short of it.
  static func read(_ answer: ExtensionElement, to policy: Policy) -> PerMessageDeflate? {
    guard answer.name == name, let accepted = DeflateParameters(answer) else { return nil }
    // RFC 7692 §7.1.1.1 and §7.1.2.1: a server accepts these by saying them too.
    if !policy.keepsContext, accepted.serverKeepsContext { return nil }
    let serverWindowBits = accepted.serverWindowBits ?? 15
    guard serverWindowBits <= policy.windowBits else { return nil }
    var clientWindowBits = policy.windowBits
    switch accepted.clientWindow {
    case .absent: break
    // RFC 7692 §7.1.2.2: in an answer it has a value.
    case .any: return nil
    case .bits(let bits): clientWindowBits = min(clientWindowBits, bits)
    }
    return PerMessageDeflate(
      serverKeepsContext: accepted.serverKeepsContext,
      clientKeepsContext: policy.keepsContext && accepted.clientKeepsContext,
      serverWindowBits: serverWindowBits, clientWindowBits: clientWindowBits)
  }
}
