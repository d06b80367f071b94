// The texts of the visitor pages, in English.

import ParleyJSON
import ParleyModel

enum PageText {
  static let forums = "Forums"
  static let room = "Room"
  static let topics = "Topics"
  static let signIn = "Sign in"
  static let createAccount = "Create account"
  static let signInToReply = "Sign in to reply"
  static let reply = "Reply"
  static let report = "Report"
  static let reportTitle = "Report a post"
  static let reportLead = "Tell the moderators what is wrong with this post."
  static let reportReason = "Reason"
  static let reportSend = "Send report"
  static let reportedTitle = "Report sent"
  static let reported = "Thank you. The moderators will review it."
  static let reportLimit = "Too many reports were sent from your network. Try again later."
  static let back = "Back to the post"
  static let skip = "Skip to content"
  static let next = "Next page"
  static let previous = "Previous page"
  static let older = "Older messages"
  static let newer = "Newer messages"
  static let feed = "Feed"
  static let solved = "Solved"
  static let solution = "Solution"
  static let locked = "Locked"
  static let pinned = "Pinned"
  static let poll = "Poll"
  static let openPoll = "Open"
  static let closedPoll = "Closed"
  static let closes = "Closes"
  static let edited = "Edited"
  static let noActivity = "No activity yet"
  static let noForums = "There are no public forums yet."
  static let noTopics = "No topics yet."
  static let allTopics = "All topics"
  static let privacy = "Privacy"
  static let contact = "Contact"
  static let noPosts = "No posts yet."
  static let noMessages = "No messages yet."
  static let posts = "Posts"
  static let newPost = "1 new post"
  /// The script replaces `{n}`.
  static let newPosts = "{n} new posts"
  static let utc = "All times are in UTC."
  static let formerMember = "Former member"
  static let unknownMember = "Unknown member"
  static let missingTitle = "Page not found"
  static let missing = "This page doesn't exist, or you don't have access to it."
  static let home = "Back to home"
  static let newTitle = "New community"
  static let newLead = "It isn't set up yet. Open the setup link from the server's log."
  static let breadcrumb = "Breadcrumb"
  static let pages = "Pages"
  static let mainNavigation = "Main navigation"
  static let conversation = "Conversation"

  static func posts(_ count: Int) -> String { count == 1 ? "1 post" : "\(grouped(count)) posts" }
  static func replies(_ count: Int) -> String { count == 1 ? "1 reply" : "\(grouped(count)) replies" }
  static func messages(_ count: Int) -> String { count == 1 ? "1 message" : "\(grouped(count)) messages" }
  static func members(_ count: Int) -> String {
    count == 1 ? "1 member" : "\(atMost(count, Forum.maxCounted)) members"
  }
  static func topics(_ count: Int) -> String { count == 1 ? "1 topic" : "\(atMost(count, Forum.maxCounted)) topics" }
  static func noTopics(tagged tag: String) -> String { "No topics with #\(tag)." }
  static func range(_ first: Int, _ last: Int) -> String { "posts \(first)–\(last)" }
  static func answered(by name: String) -> String { "Solved by \(name)" }
  static func joined(_ date: String) -> String { "Joined \(date)" }
  static let inReply = "In reply to another post"
  static func replyTo(_ name: String) -> String { "Reply to \(name)" }
  static func postsBy(_ name: String) -> String { "Posts by \(name)" }
  static func reacted(_ emoji: String, _ count: Int) -> String { "\(emoji) \(grouped(count))" }
  static func likes(_ count: Int) -> String { count == 1 ? "1 like" : "\(grouped(count)) likes" }

  static func votes(_ count: Int, share: Int) -> String {
    "\(count == 1 ? "1 vote" : "\(grouped(count)) votes") · \(share)%"
  }
  static func voters(_ count: Int) -> String {
    switch count {
    case 0: "No votes yet"
    case 1: "1 person voted"
    default: "\(grouped(count)) people voted"
    }
  }

  static func gone(_ tombstone: Message.Tombstone) -> String {
    let what =
      switch tombstone.deletion {
      case .author: "Deleted by the author"
      case .moderator: "Removed by a moderator"
      case .moved: "Moved to another topic"
      case .erased: "Deleted with the author's account"
      }
    return tombstone.reason.map { "\(what): \($0)" } ?? what
  }

  /// `5.2 MB`, as file managers write it.
  static func size(_ bytes: Int) -> String {
    var (value, unit) = (bytes * 10, 0)
    while value >= 10_000, unit < units.count - 1 { (value, unit) = (value / 1_000, unit + 1) }
    let isWhole = unit == 0 || value >= 100
    return (isWhole ? "\(value / 10)" : "\(value / 10).\(value % 10)") + " " + units[unit]
  }

  private static let units = ["B", "KB", "MB", "GB", "TB"]

  /// `1,042`.
  static func grouped(_ count: Int) -> String {
    var text = ""
    for (index, digit) in String(count).reversed().enumerated() {
      if index > 0, index.isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return String(text.reversed())
  }

  private static func atMost(_ count: Int, _ limit: Int) -> String {
    count >= limit ? "\(grouped(limit))+" : grouped(count)
  }
}

/// Dates in English, in UTC.
enum PageDate {
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// `3 May 2026`, of milliseconds since 1970.
  static func day(_ time: Int64) -> String {
    let days = Int(time) / 86_400_000
    let date = CivilDate(daysSince1970: days)
    return "\(date.day) \(months[date.month - 1]) \(date.year)"
  }

  /// `3 May 2026, 21:04`.
  static func minute(_ time: Int64) -> String {
    let minutes = Int(time) / 60_000 % 1_440
    let (hour, minute) = (minutes / 60, minutes % 60)
    return "\(day(time)), \(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
  }

  static func machine(_ time: Int64) -> String { Timestamp.format(Int(time)) }
}

extension TagWriter {
  mutating func time(_ time: Int64) {
    tag("time", ["datetime": PageDate.machine(time)], PageDate.minute(time))
  }
}
