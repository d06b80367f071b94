import ParleyJSON
public import ParleyModel

/// The few words that are kept between two runs of an app: who was here, and when the server was asked how it is set up.
public struct Notes: Sendable {
  public var read: @Sendable (_ name: String) -> String?
  /// Nil forgets.
  public var write: @Sendable (_ name: String, _ value: String?) -> Void

  public init(
    read: @escaping @Sendable (_ name: String) -> String?,
    write: @escaping @Sendable (_ name: String, _ value: String?) -> Void
  ) {
    self.read = read
    self.write = write
  }
}

/// One person's being signed in, as an app needs it each time it comes to the front.
public struct OwnSession: Sendable {
  public let client: Client
  private let notes: Notes
  /// Milliseconds since 1970.
  private let now: @Sendable () -> Int

  private static let day = 86_400_000

  public init(_ client: Client, notes: Notes, now: @escaping @Sendable () -> Int) {
    self.client = client
    self.notes = notes
    self.now = now
  }

  /// Signs in, and keeps the token in the client. What is written on a device belongs to one person: that is asked of
  /// `verify` before anything is read from it.
  @discardableResult
  public func signIn(_ name: String, password: String, device: String = "") async throws(ClientFault) -> String {
    let answer = try await client.send(
      Request<Resource<SignedIn>>.signIn(name, password: password, device: device).unsigned())
    guard let token = answer.token else { throw .notUnderstood("a session without a token") }
    client.token = token
    return token
  }

  /// The one way in: the token is good, and the person is the one of last time.
  ///
  /// - Throws: `accountChanged` once, when somebody else has signed in; what is held of the first one is then to be erased.
  /// - Returns: the person, and whether they should be asked to be found by others, which is told once.
  public func verify() async throws(ClientFault) -> (person: Resource<Person>, asksDiscoverability: Bool) {
    let person = try await client.send(.person(.me))
    let id = person.value.account.id.description
    let before = notes.read("person")
    notes.write("person", id)
    if let before, before != id {
      notes.write("asked", nil)
      throw .accountChanged
    }
    let asks = notes.read("asked") == nil
    notes.write("asked", "yes")
    notes.write("verified", String(now()))
    return (person, asks)
  }

  /// When `verify` last succeeded, in milliseconds since 1970.
  public var verifiedAt: Int? { notes.read("verified").flatMap { Int($0) } }

  /// How the server is set up; asked at most once a day.
  ///
  /// - Returns: what is known, and whether it was asked now. An answer that does not come leaves what was known.
  public func configurationIfDue() async throws(ClientFault) -> (
    configuration: Resource<PlaceDescription>, wasAsked: Bool
  ) {
    let held = heldConfiguration
    let age = notes.read("configured").flatMap { Int($0) }.map { now() - $0 }
    // A clock that was set back does not make it fresh for ever.
    if let held, let age, (0..<Self.day).contains(age) { return (held, false) }
    do throws(ClientFault) {
      let fresh = try await client.send(Request<Resource<PlaceDescription>>.server().unsigned())
      notes.write("configuration", String(decoding: fresh.representation.bytes, as: UTF8.self))
      notes.write("configured", String(now()))
      return (fresh, true)
    } catch {
      guard let held, error.isTemporary else { throw error }
      return (held, false)
    }
  }

  private var heldConfiguration: Resource<PlaceDescription>? {
    guard let text = notes.read("configuration") else { return nil }
    // What an older version of the app has kept and means nothing here is asked for again.
    do throws(JSONError) { return try Resource(json: JSONValue(parsing: Array(text.utf8))) } catch { return nil }
  }

  /// Ends the session at the server, and forgets the person. A server that can't be reached does not keep anybody signed in
  /// here.
  public func signOut() async throws(ClientFault) {
    let failure: ClientFault?
    do throws(ClientFault) {
      try await client.send(.endSession("current"))
      failure = nil
    } catch {
      failure = error.isSignedOut ? nil : error
    }
    client.token = nil
    for name in ["person", "asked", "verified"] { notes.write(name, nil) }
    if let failure { throw failure }
  }
}
