public import ParleyJSON

/// PATCH of a forum. Absent members stay unchanged.
public struct ForumChange: Sendable, Equatable {
  /// New values of the settings of the forum.
  public var fields: Patch<Forum>
  /// With a wider visibility: start of the history that is open to new readers.
  public var from: HistoryStart?
  /// The reason in the audit log, at most 1,000 characters.
  public var reason: String?
  /// Refused with a conflict unless it is the current revision.
  public var ifRevision: Int?

  /// Start of the history that a change opens to new readers: the time of the change, or the first message.
  public enum HistoryStart: String, CaseIterable, Sendable {
    /// From the change on, or from the first message.
    case now, beginning
  }

  /// A change of the given fields; absent parameters change no field.
  public init(
    _ fields: Patch<Forum> = [], from: HistoryStart? = nil, reason: String? = nil, ifRevision: Int? = nil
  ) {
    self.fields = fields
    self.from = from
    self.reason = reason
    self.ifRevision = ifRevision
  }

  /// Whether the change concerns the forum itself and not only its moderation.
  public var changesForum: Bool { fields.changesFields(except: \.slowSeconds, \.isLocked) }

  /// Whether the change sets a field of staff: the position in the list, or whether new users join.
  public var changesStaffFields: Bool {
    fields.contains(\.section) || fields.contains(\.position) || fields.contains(\.isDefault)
  }
}

extension ForumChange: JSONWritable {
  /// Decodes the body of a PATCH of a forum.
  public init(_ object: inout JSONObject) throws(JSONError) {
    fields = try Patch(&object)
    from = try object.optionalWord("from")
    reason = try object.optional("reason")
    ifRevision = try object.optional("if_revision")
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      fields.writeMembers(to: &json)
      if let from { json.field("from", from.rawValue) }
      if let reason { json.field("reason", reason) }
      if let ifRevision { json.field("if_revision", ifRevision) }
    }
  }
}

extension Change {
  /// The value after the change.
  public func applied(to value: Value?) -> Value? {
    switch self {
    case .unchanged: value
    case .cleared: nil
    case .set(let value): value
    }
  }
}
