public import ParleyJSON

/// Request to create an object of which all fields can be set.
public struct RecordDraft<Subject: Record>: Sendable, Equatable {
  /// A patch of `Subject.blank`.
  public var fields: Patch<Subject>
  public var clientID: String?

  public init(_ fields: Patch<Subject>, clientID: String? = nil) {
    self.fields = fields
    self.clientID = clientID
  }
}

extension RecordDraft: JSONWritable {
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
