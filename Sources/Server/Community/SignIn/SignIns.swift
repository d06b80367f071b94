public import ParleyModel
import Storage

/// The origin of a request to sign in.
public struct SignInOrigin: Sendable {
  /// The network of the client; nil for a client without one.
  public let address: String?
  /// The client's program and system in short words; empty if unknown.
  public let program: String
  /// The cookie of the device from an earlier sign-in.
  public let deviceCookie: String?

  public init(address: String? = nil, program: String = "", deviceCookie: String? = nil) {
    self.address = address
    self.program = program
    self.deviceCookie = deviceCookie
  }

  /// The name of the device: the one that the client gave, or else its program.
  func name(of device: String) -> String { device.isEmpty ? program : device }
}

extension CommunityView {
  /// The caller's sign-ins and failed attempts of the last 90 days, newest first.
  public func listSignIns(_ page: PageRequest, for caller: Caller) throws(Refusal) -> ListPage<SignIn> {
    let user = try caller.requireUser()
    return try read { tx throws(Refusal) in
      try ListPage(page, by: { ListKey($0.id) }) { slice throws(Refusal) in try tx.signIns(of: user, slice) }
    }
  }
}

extension Community {
  /// Records a failed attempt in the background: the answer does not wait for the disk, which would tell that the name
  /// exists. A lost entry is no fault.
  func noteFailure(
    _ method: SignIn.Method, _ result: SignIn.Outcome, of user: ID<User>, on device: String, from origin: SignInOrigin
  ) {
    let name = origin.name(of: device)
    Task {
      _ = try? await store.write { tx throws(Refusal) in
        // The user may have been deleted meanwhile.
        guard let state = try tx.user(user)?.standing?.state, !state.hasGone else { return }
        try tx.addSignIn(method, result, of: user, on: name, from: origin.address)
      }
    }
  }
}
