public import ParleyJSON

/// A poll as all readers of its message see it. The text of the message is the question.
public struct Poll: Sendable, Hashable {
  /// Never changes, besides the counts.
  public var options: [Option]
  /// The options that one vote may name.
  public var choices: Int
  /// Whether the voters are hidden from all users.
  public var isAnonymous: Bool
  /// Milliseconds since 1970. From then on no vote is accepted; a poll that is closed early gets that time.
  public var closesAt: Int64?
  /// Users who have voted.
  public var voters: Int

  /// The number of options that a poll may have.
  public static let optionCounts = 2...10
  /// The maximum length of an option, in Unicode scalars.
  public static let maxOptionScalars = 80
  /// The longest duration: a year.
  public static let maxDuration: Int64 = 366 * 86_400_000

  /// A poll with its totals; `closesAt` is in milliseconds since 1970, nil while the poll has no end.
  public init(
    _ options: [Option], choices: Int = 1, isAnonymous: Bool = false, closesAt: Int64? = nil, voters: Int = 0
  ) {
    self.options = options
    self.choices = choices
    self.isAnonymous = isAnonymous
    self.closesAt = closesAt
    self.voters = voters
  }

  /// A poll without votes.
  public init(_ draft: PollDraft) {
    self.init(
      draft.options.map { Option($0) }, choices: draft.choices, isAnonymous: draft.isAnonymous,
      closesAt: draft.closesAt)
  }

  /// Whether the poll accepts no votes at a time, in milliseconds since 1970.
  public func isClosed(at time: Int64) -> Bool { closesAt.map { $0 <= time } ?? false }

  /// An option of a poll and its votes.
  public struct Option: Sendable, Hashable {
    /// Plain text.
    public var text: String
    /// The number of users that have chosen the option.
    public var votes: Int

    /// An option of a poll.
    public init(_ text: String, votes: Int = 0) {
      self.text = text
      self.votes = votes
    }
  }
}

extension Poll: JSONWritable {
  public func write(to json: inout JSONWriter) {
    json.object { json in writeMembers(to: &json, vote: nil) }
  }

  /// - Parameter vote: the viewer's vote; nil without a viewer.
  func writeMembers(to json: inout JSONWriter, vote: [Int]?) {
    json.field("options", options)
    json.field("choices", choices)
    json.field("anonymous", isAnonymous)
    json.field("closes_at", closesAt.map { Timestamp($0) })
    json.field("voters", voters)
    if let vote { json.field("mine", vote) }
  }
}

extension Poll: JSONReadable {
  /// Ignores unknown members: a newer server may send more.
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    let closesAt: Timestamp? = try object.optional("closes_at")
    self.init(
      try object.read("options"), choices: try object.int("choices", in: 1...Int.max),
      isAnonymous: try object.bool("anonymous"), closesAt: closesAt.map { Int64($0.milliseconds) },
      voters: try object.int("voters", in: 0...Int.max))
  }
}

extension Poll.Option: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("text", text)
      json.field("votes", votes)
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(try object.string("text"), votes: try object.int("votes", in: 0...Int.max))
  }
}

/// Request to add a poll to a new message.
public struct PollDraft: Sendable, Hashable {
  /// The texts of the options: 2 to 10, each of at most 80 Unicode scalars.
  public var options: [String]
  /// The number of options that one vote may name, from 1 to the number of options.
  public var choices: Int
  /// Whether the voters are hidden from all users, moderators included.
  public var isAnonymous: Bool
  /// Milliseconds since 1970.
  public var closesAt: Int64?

  /// A draft of a poll; `closesAt` is at most 366 days ahead, nil for a poll without an end.
  public init(_ options: [String], choices: Int = 1, isAnonymous: Bool = false, closesAt: Int64? = nil) {
    self.options = options
    self.choices = choices
    self.isAnonymous = isAnonymous
    self.closesAt = closesAt
  }
}

extension PollDraft: JSONReadable, JSONWritable {
  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    options = try object.read("options")
    choices = try object.optional("choices") ?? 1
    isAnonymous = try object.optional("anonymous") ?? false
    let closesAt: Timestamp? = try object.optional("closes_at")
    self.closesAt = closesAt.map { Int64($0.milliseconds) }
    try object.finish()
  }

  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("options", options)
      json.field("choices", choices)
      json.field("anonymous", isAnonymous)
      if let closesAt { json.field("closes_at", Timestamp(closesAt)) }
    }
  }
}

/// An option that a user has chosen in a poll.
public struct Vote: Sendable, Hashable {
  /// The index of the option.
  public var option: Int
  /// The user that has voted.
  public var user: ID<User>

  /// A vote for the option with an index, from 0.
  public init(option: Int, user: ID<User>) {
    self.option = option
    self.user = user
  }
}

extension Vote: JSONWritable, JSONReadable {
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("option", option)
      json.field("user_id", user)
    }
  }

  public init(json value: JSONValue) throws(JSONError) {
    var object = try value.object()
    self.init(option: try object.int("option", in: 0...Int.max), user: try object.read("user_id"))
  }
}
