import ParleyCrypto
public import ParleyModel

/// A request body with limits that need no database.
public protocol CheckedInput: Sendable {
  /// The input with trimmed texts. Throws the faults of all fields.
  func checked(_ bounds: Bounds) throws(Refusal) -> Self
}

/// An object whose drafts and changes have limits that need no database.
public protocol CheckedRecord: Record {
  /// The fields with trimmed texts. Throws the faults of all fields.
  static func checked(_ fields: Patch<Self>, _ bounds: Bounds) throws(Refusal) -> Patch<Self>
}

extension RecordDraft: CheckedInput where Subject: CheckedRecord {
  public func checked(_ bounds: Bounds) throws(Refusal) -> Self {
    var checked = self
    var check = FieldChecks()
    check { () throws(Refusal) in checked.fields = try Subject.checked(fields, bounds) }
    check { () throws(Refusal) in if let clientID { try Texts.checkClientID(clientID, bounds) } }
    try check.finish()
    return checked
  }
}

extension RecordChange: CheckedInput where Subject: CheckedRecord {
  public func checked(_ bounds: Bounds) throws(Refusal) -> Self {
    var checked = self
    checked.fields = try Subject.checked(fields, bounds)
    return checked
  }
}

extension RepeatableDraft {
  /// The digest that tells a repeated request from another one with the same `client_id`.
  func fingerprint() throws(Refusal) -> [UInt8] {
    do { return try Digest.sha256(of: content) } catch { throw .unavailable }
  }
}

/// Runs the checks of a request and throws their field faults together.
struct FieldChecks {
  private var faults: [FieldFault] = []
  private var other: Refusal?

  mutating func callAsFunction(_ check: () throws(Refusal) -> Void) {
    do throws(Refusal) {
      try check()
    } catch {
      if case .invalid(let found) = error { faults += found } else if other == nil { other = error }
    }
  }

  /// Throws the faults of all checks.
  func finish() throws(Refusal) {
    if let other { throw other }
    if !faults.isEmpty { throw .invalid(faults) }
  }
}
