public import ParleyJSON

/// Request to create an object of which all fields can be set.
public struct RecordDraft<Subject: Record>: Sendable, Equatable {
  /// A patch of `Subject.blank`.
  public var fields: Patch<Subject>
  /// Idempotency key of 1 to 64 characters: a repeated request creates no second object.
  public var clientID: String?

  /// An object to create from these fields; the others have defaults.
  public init(_ fields: Patch<Subject>, clientID: String? = nil) {
    self.fields = fields
    self.clientID = clientID
  }
}

extension RecordDraft: JSONWritable {
  /// Decodes the body of a request to create an object.
  public init(_ object: inout JSONObject) throws(JSONError) {
    fields = try Patch(&object)
    clientID = try object.optional("client_id")
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      fields.writeMembers(to: &json)
      if let clientID { json.field("client_id", clientID) }
    }
  }
}
