public import ParleyWire

/// Connection and server state that a handler needs besides the request. A class: handlers pass it on without a copy.
public final class Context {
  public let id: RequestID
  /// Arrival of the request, in milliseconds since 1970.
  public let now: Int64
  /// Arrival of the request on the monotonic clock, in milliseconds, for intervals and rates.
  public let uptime: Int64
  /// The event loop of the connection. The handler runs on it, and its child tasks may.
  public let loop: any Actor
  /// The other end of the connection: a client, or a proxy; nil over a Unix socket.
  public let peer: IPAddress?
  /// Whether the connection itself is encrypted.
  public let isEncrypted: Bool
  /// Objects of this event loop, shared by its connections.
  public let locals: Locals
  /// The memory budget, which counts the memory of a handler until it responds.
  public let memory: (any RequestMemory)?
  private let request: Request
  private let addresses: Addresses

  public init(
    id: RequestID, now: Int64, uptime: Int64, loop: any Actor, peer: IPAddress?, isEncrypted: Bool, request: Request,
    addresses: Addresses, locals: Locals = Locals(), memory: (any RequestMemory)? = nil
  ) {
    self.id = id
    self.now = now
    self.uptime = uptime
    self.loop = loop
    self.peer = peer
    self.isEncrypted = isEncrypted
    self.addresses = addresses
    self.locals = locals
    self.memory = memory
    self.request = request
  }

  /// The client address behind trusted proxies.
  public var client: IPAddress? { addresses.client(peer: peer, request.fields) }

  /// The peer, if it sends forwarding fields although it is no trusted proxy.
  public func untrustedProxy(_ fields: Fields) -> IPAddress? {
    guard let peer, !addresses.trusts(peer),
      fields.has("x-forwarded-for") || fields.has("x-forwarded-proto") || fields.has("x-forwarded-host")
    else { return nil }
    return peer
  }

  /// The public origin of this server, such as `https://chat.example.org`.
  public var origin: String { addresses.origin(peer: peer, isEncrypted: isEncrypted, request.head) }

  /// The main public origin that the operator has set. Clients can't choose it, in contrast to `origin` without one.
  public var publicOrigin: String? { addresses.publicOrigins.first?.origin }

  /// The same address at the main public origin, for a request to an earlier origin of the site.
  var newAddress: String? { addresses.newAddress(peer: peer, isEncrypted: isEncrypted, request.head) }

  /// The origins of the site, the main one first.
  public var ownOrigins: [String] { addresses.publicOrigins.isEmpty ? [origin] : addresses.publicOrigins.map(\.origin) }

  /// Whether TLS is used, here or at the proxy.
  public var isSecure: Bool { origin.hasPrefix("https:") }

  /// Whether the client sent this request over TLS: to this server, or to the trusted proxy that states it. The public origin
  /// does not tell, since a request may come by another way.
  public var isFromTLS: Bool { addresses.isFromTLS(peer: peer, isEncrypted: isEncrypted, request.fields) }

  /// Whether a program of this machine sent the request, and no proxy passed it on.
  public var isFromThisMachine: Bool { (peer?.isLoopback ?? true) && !Addresses.isForwarded(request.fields) }

  /// Whether a page with this Origin is one of ours.
  public func isOwnOrigin(_ text: String) -> Bool {
    addresses.isOwn(text, peer: peer, isEncrypted: isEncrypted, request.head)
  }
}

/// The memory of a request beside its body and its response.
public protocol RequestMemory: AnyObject {
  /// Counts the bytes until the response is sent. Returns false above the memory budget.
  func reserve(_ bytes: Int) -> Bool
}

/// Objects of one event loop, at most one of each type: a publisher's list of sockets, a read connection to the
/// database. They are not shared between loops, so they need no lock.
public final class Locals {
  private var objects: [ObjectIdentifier: AnyObject] = [:]

  public init() {}

  /// The loop's object of this type, created by the first call.
  public func object<Object: AnyObject>(_ type: Object.Type, make: () -> Object) -> Object {
    if let object = objects[ObjectIdentifier(type)] as? Object { return object }
    let object = make()
    objects[ObjectIdentifier(type)] = object
    return object
  }
}
