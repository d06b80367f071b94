/// The negotiated parameters of permessage-deflate (RFC 7692).
public struct PerMessageDeflate: Sendable, Hashable {
  public static let name = "permessage-deflate"

  /// Whether the server's messages may refer to earlier ones. Requires a zlib stream per connection on both sides.
  public var serverKeepsContext: Bool
  public var clientKeepsContext: Bool
  /// The base-2 logarithm of the server's window.
  public var serverWindowBits: Int
  public var clientWindowBits: Int

  /// The local settings for the negotiation.
  public struct Policy: Sendable, Hashable {
    /// Off: no connection has a zlib stream between messages. On, if the peer agrees: smaller messages, about 200 KB
    /// per connection.
    public var keepsContext: Bool
    /// The window of each side, 9 to 15 bits.
    public var windowBits: Int

    public init(keepsContext: Bool = false, windowBits: Int = 15) {
      self.keepsContext = keepsContext
      self.windowBits = min(max(windowBits, 9), 15)
    }
  }
}

/// The four parameters (RFC 7692 §7.1) of an offer or a response.
private struct DeflateParameters {
  enum ClientWindow: Equatable {
    case absent, any, bits(Int)
  }

  var serverKeepsContext = true
  var clientKeepsContext = true
  var serverWindowBits: Int?
  var clientWindow = ClientWindow.absent

  /// Returns nil if a parameter is unknown, repeated or has an invalid value: the offer is then declined (RFC 7692 §7),
  /// the response rejected.
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
  /// Server: selects the first acceptable offer and returns the response to it.
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
      // RFC 7692 §7.1.2.2: only if the client announced support for the parameter.
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

  /// Client: the offer.
  static func offer(_ policy: Policy) -> String {
    var offer = name
    if !policy.keepsContext { offer += "; server_no_context_takeover; client_no_context_takeover" }
    if policy.windowBits < 15 { offer += "; server_max_window_bits=\(policy.windowBits)" }
    return offer + "; client_max_window_bits"
  }

  /// Client: evaluates the response to `offer`; nil if it does not match the offer.
  static func read(_ answer: ExtensionElement, to policy: Policy) -> PerMessageDeflate? {
    guard answer.name == name, let accepted = DeflateParameters(answer) else { return nil }
    // RFC 7692 §7.1.1.1 and §7.1.2.1: a server accepts these by repeating them.
    if !policy.keepsContext, accepted.serverKeepsContext { return nil }
    let serverWindowBits = accepted.serverWindowBits ?? 15
    guard serverWindowBits <= policy.windowBits else { return nil }
    var clientWindowBits = policy.windowBits
    switch accepted.clientWindow {
    case .absent: break
    // RFC 7692 §7.1.2.2: a response must have a value.
    case .any: return nil
    case .bits(let bits): clientWindowBits = min(clientWindowBits, bits)
    }
    return PerMessageDeflate(
      serverKeepsContext: accepted.serverKeepsContext,
      clientKeepsContext: policy.keepsContext && accepted.clientKeepsContext,
      serverWindowBits: serverWindowBits, clientWindowBits: clientWindowBits)
  }
}
