public import ParleyJSON

/// Saved filter of a user for timelines. A post is listed if it meets `include` and does not meet `exclude`.
public struct TimelineFilter: Sendable, Hashable {
  /// The name of the filter, unique for its user; at most 64 characters.
  public var name: String
  /// A post has one value of each list that is not empty.
  public var include: PostCriteria<ID<User>>
  /// A post has no value of any list.
  public var exclude: PostCriteria<ID<User>>

  /// A filter with a name; by default without criteria.
  public init(
    name: String, include: PostCriteria<ID<User>> = PostCriteria(), exclude: PostCriteria<ID<User>> = PostCriteria()
  ) {
    self.name = name
    self.include = include
    self.exclude = exclude
  }
}

/// Request to store a filter. Users may be named.
public struct TimelineFilterDraft: Sendable, Hashable {
  /// A post has one value of each list that is not empty. A list has at most 100 values, `words` at most 20.
  public var include: PostCriteria<UserReference>
  /// A post has no value of any list. A list has at most 100 values, `words` at most 20.
  public var exclude: PostCriteria<UserReference>

  /// The criteria to store under a name; by default none.
  public init(
    include: PostCriteria<UserReference> = PostCriteria(), exclude: PostCriteria<UserReference> = PostCriteria()
  ) {
    self.include = include
    self.exclude = exclude
  }
}

/// Content of a message, for filters.
public enum ContentKind: String, Sendable, Hashable, CaseIterable {
  /// An attached file of any type, an attached image, or a link in the text.
  case file, image, link
}

extension ContentKind: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) { self = try value.word() }

  public func write(to json: inout JSONWriter) { json.value(rawValue) }
}

/// Lists of values that posts may have. `User` is the form of a user: an id, or a reference in a request.
public struct PostCriteria<User: Sendable & Hashable>: Sendable, Hashable {
  /// Authors of posts, and users that reposted them.
  public var authors: [User]
  /// Users that the post mentions.
  public var mentions: [User]
  /// Without `#`.
  public var hashtags: [String]
  /// Words, `"phrases"` and `begin*`, compared without case and accents.
  public var words: [String]
  /// Kinds of content in the post.
  public var has: [ContentKind]
  /// Whether reposts meet the criteria.
  public var reposts: Bool

  /// Criteria for posts; by default none.
  public init(
    authors: [User] = [], mentions: [User] = [], hashtags: [String] = [], words: [String] = [],
    has: [ContentKind] = [], reposts: Bool = false
  ) {
    self.authors = authors
    self.mentions = mentions
    self.hashtags = hashtags
    self.words = words
    self.has = has
    self.reposts = reposts
  }

  /// Whether all lists are empty and `reposts` is false.
  public var isEmpty: Bool { self == PostCriteria() }
}

extension PostCriteria: JSONReadable where User: JSONReadable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    try self.init(&object)
  }

  fileprivate init(_ object: inout JSONObject) throws(JSONError) {
    self.init(
      authors: try object.optional("authors") ?? [], mentions: try object.optional("mentions") ?? [],
      hashtags: try object.optional("hashtags") ?? [], words: try object.optional("words") ?? [],
      has: try object.optional("has") ?? [], reposts: try object.optional("reposts") ?? false)
  }
}

extension PostCriteria: JSONWritable where User: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("authors", authors)
      json.field("mentions", mentions)
      json.field("hashtags", hashtags)
      json.field("words", words)
      json.field("has", has)
      json.field("reposts", reposts)
    }
  }
}

extension TimelineFilter: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(
      name: try object.string("name"), include: try object.read("include"), exclude: try object.read("exclude"))
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("name", name)
      json.field("include", include)
      json.field("exclude", exclude)
    }
  }
}

extension TimelineFilterDraft: JSONWritable {
  /// Decodes the body of a request to store a filter; unknown members of its criteria are refused.
  public init(_ object: inout JSONObject) throws(JSONError) {
    include = try Self.criteria(&object, "include")
    exclude = try Self.criteria(&object, "exclude")
  }

  private static func criteria(
    _ object: inout JSONObject, _ name: String
  ) throws(JSONError) -> PostCriteria<UserReference> {
    try object.optional(name) { value throws(JSONError) in
      var object = try value.object()
      let criteria = try PostCriteria<UserReference>(&object)
      try object.finish()
      return criteria
    } ?? PostCriteria()
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("include", include)
      json.field("exclude", exclude)
    }
  }
}
