public import ParleyModel
import Storage

extension Community {
  /// Tells owners and admins about a state of the server in their inbox.
  public func alertStaff(_ alert: String) async throws(Refusal) {
    try await store.write { [bounds] tx throws(Refusal) in try tx.alertStaff(alert, limit: bounds.reportRecipients) }
  }
}
