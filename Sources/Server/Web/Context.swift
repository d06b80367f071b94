public import ParleyWire

/// What the server knows beside the request itself.
public struct Context {
  public let id: RequestID
  /// Milliseconds since 1970 when the request came.
  public let now: Int64
  /// The loop that serves the connection. The handler runs on it, and so may what it starts.
  public let loop: any Actor
  /// The other end of the connection: a client, or a proxy; nil over a Unix socket.
  public let peer: IPAddress?
  /// Whether the connection itself is encrypted.
  public let isEncrypted: Bool
  /// What lives on this loop: one of a kind, shared by its connections.
  public let locals: Locals
  private let head: RequestHead
  private let addresses: Addresses

  public init(
    id: RequestID, now: Int64, loop: any Actor, peer: IPAddress?, isEncrypted: Bool, head: RequestHead,
    addresses: Addresses, locals: Locals = Locals()
  ) {
    self.id = id
    self.now = now
    self.loop = loop
    self.peer = peer
    self.isEncrypted = isEncrypted
    self.addresses = addresses
    self.locals = locals
    self.head = head
  }

  /// Who is asking, after trusted proxies were looked through.
  public var client: IPAddress? { addresses.client(peer: peer, head.fields) }

  /// The address that users use for this server, such as `https://chat.example.org`.
  public var origin: String { addresses.origin(peer: peer, isEncrypted: isEncrypted, head) }

  /// Whether users use it over TLS, here or at the proxy.
  public var isSecure: Bool { origin.hasPrefix("https:") }

  /// Whether a page with this Origin is one of ours.
  public func isOwnOrigin(_ text: String) -> Bool {
    addresses.isOwn(text, peer: peer, isEncrypted: isEncrypted, head)
  }
}

/// Objects that live on one loop, at most one of each type: a publisher's list of the sockets here, a database
/// connection for reading. None of them is shared between loops, so none of them locks.
public final class Locals {
  private var objects: [ObjectIdentifier: AnyObject] = [:]

  public init() {}

  /// The loop's object of this type, made at the first call.
  public func object<Object: AnyObject>(_ type: Object.Type, make: () -> Object) -> Object {
    if let object = objects[ObjectIdentifier(type)] as? Object { return object }
    let object = make()
    objects[ObjectIdentifier(type)] = object
    return object
  }
}
