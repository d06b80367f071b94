public import ParleyJSON

/// PATCH of an object of which all fields can be set. Absent members stay unchanged.
public struct RecordChange<Subject: Record>: Sendable, Equatable {
  /// New values of some fields of the object.
  public var fields: Patch<Subject>
  /// Refused with a conflict unless it is the current revision.
  public var ifRevision: Int?

  /// A change of the given fields, for any revision unless one is given.
  public init(_ fields: Patch<Subject> = [], ifRevision: Int? = nil) {
    self.fields = fields
    self.ifRevision = ifRevision
  }
}

extension RecordChange: JSONWritable {
  /// Decodes the body of a PATCH.
  public init(_ object: inout JSONObject) throws(JSONError) {
    fields = try Patch(&object)
    ifRevision = try object.optional("if_revision")
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      fields.writeMembers(to: &json)
      if let ifRevision { json.field("if_revision", ifRevision) }
    }
  }
}
