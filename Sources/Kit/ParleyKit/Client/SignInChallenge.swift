public import ParleyJSON

/// The server has accepted the password and asks for a code of the authenticator app, or a recovery code.
public struct SignInChallenge: Sendable, Hashable {
  /// For `confirmSignIn`.
  public let text: String
  /// After that the user begins with the password again.
  public let expiresAt: Timestamp

  /// Nil if the sign-in failed for another reason.
  public init?(_ fault: ClientFault) {
    guard let problem = fault.problem, problem.code == "second_factor_required" else { return nil }
    do throws(JSONError) {
      var object = try JSONValue(parsing: problem.representation.bytes).object()
      var params = try object.object("params")
      text = try params.string("challenge")
      expiresAt = try params.read("expires_at")
    } catch {
      return nil
    }
  }
}
