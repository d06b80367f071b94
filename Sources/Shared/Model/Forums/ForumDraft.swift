public import ParleyJSON

/// Request to create a forum.
public struct ForumDraft: Sendable {
  /// The title, and other fields without defaults.
  public var fields: Patch<Forum>
  /// Idempotency key of 1 to 64 characters: a repeated request creates no second forum.
  public var clientID: String?

  /// A forum to create; set its other fields in `fields`.
  ///
  /// - Parameter visibility: nil for the default of the server, `members`.
  public init(title: String, visibility: Visibility? = nil, clientID: String? = nil) {
    fields = [.set(\.title, title)]
    if let visibility { fields.set(\.visibility, to: visibility) }
    self.clientID = clientID
  }

  /// Decodes the body of a request to create a forum.
  public init(_ object: inout JSONObject) throws(JSONError) {
    _ = try object.string("title")
    fields = try Patch(
      &object,
      only: [
        \.title, \.about, \.iconURL, \.icon, \.visibility, \.write, \.startTopics, \.roomMention, \.section, \.position,
        \.slowSeconds, \.isSolvable, \.showsRevisions, \.isDefault, \.readGroups, \.writeGroups, \.callURL,
      ])
    clientID = try object.optional("client_id")
  }

  /// Whether the draft sets a field of staff: the position in the list, or whether new users join.
  public var changesStaffFields: Bool {
    fields.fills(\.section) || fields.contains(\.position) || fields[\.isDefault] == true
  }
}

extension ForumDraft: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      fields.writeMembers(to: &json)
      if let clientID { json.field("client_id", clientID) }
    }
  }
}
