// Facts that clients of App.net and pnut show beside users, posts and files. Each of them is shown by the API in another form.

public import ParleyModel
import Storage

/// The relations between the caller and another user.
public struct UserTies: Sendable, Hashable {
  public var follows = false
  public var isFollowedBy = false
  public var mutes = false
  public var blocks = false
  /// Neither has blocked the other.
  public var mayFollow = true
}

extension CommunityView {
  /// The relations between the caller and users that the caller sees, without the caller itself. None for a credential that does
  /// not read them.
  public func ties(of caller: Caller, to users: [ID<User>]) throws(Refusal) -> [ID<User>: UserTies] {
    guard let viewer = caller.user, caller.readsWholeSite else { return [:] }
    return try read { tx throws(Refusal) in
      var ties: [ID<User>: UserTies] = [:]
      for user in Set(users) where user != viewer {
        var found = UserTies()
        found.follows = try tx.has(.follow, viewer, to: user)
        found.isFollowedBy = try tx.has(.follow, user, to: viewer)
        found.mutes = try tx.has(.mute, viewer, to: user)
        found.blocks = try tx.has(.block, viewer, to: user)
        found.mayFollow = try !tx.isBlocked(viewer, user)
        ties[user] = found
      }
      return ties
    }
  }

  /// The time of the newest message up to an id, in milliseconds since 1970: the place of an id in lists by time, whether the
  /// caller may read that message or not. Nil before the first message.
  public func time(upTo message: ID<Message>) throws(Refusal) -> Int? {
    try read { tx throws(Refusal) in try tx.time(upTo: message) }
  }

  /// The entities of a text that is not posted.
  public func entities(of text: String, for caller: Caller) throws(Refusal) -> MessageEntities {
    _ = try caller.requireUser()
    try Texts.checkMessage(text, community.bounds, canBeEmpty: true)
    return try read { tx throws(Refusal) in try tx.entities(of: [text])[0] }
  }

  /// The uploaded pictures of users that the caller sees; none for users with a generated one.
  public func pictures(of users: [ID<User>]) throws(Refusal) -> [ID<User>: File] {
    try read { tx throws(Refusal) in
      var found: [ID<User>: File] = [:]
      for user in Set(users) {
        guard let picture = try tx.avatar(of: user) else { continue }
        found[user] = try tx.keptFile(picture)?.file
      }
      return found
    }
  }

  /// The bytes of the caller's files, and their limit.
  public func fileUse(of caller: Caller) throws(Refusal) -> (used: Int, max: Int) {
    let owner = try caller.requireUser()
    return try read { tx throws(Refusal) in
      (try tx.fileUse(of: owner), try tx.quota(of: caller, community.bounds).user)
    }
  }
}
