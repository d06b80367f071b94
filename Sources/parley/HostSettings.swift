// What the commands about people can be told.

import ParleyJSON
import ParleyNetworking
import ParleyWire

extension Setting {
  static let role = Setting(
    name: "role", value: "ROLE", meaning: "what they are at the place: owner, admin, moderator, member, bot or guest",
    fallback: "member", isFlagOnly: true)
  static let passwordStdin = Setting(
    name: "password-stdin", value: nil, meaning: "the password is the first line of standard input", isFlagOnly: true)
  static let json = Setting(name: "json", value: nil, meaning: "one JSON object a line", isFlagOnly: true)
  static let uses = Setting(
    name: "uses", value: "N", meaning: "how many may come by it", fallback: "any number", isFlagOnly: true)
  static let expires = Setting(
    name: "expires", value: "WHEN", meaning: "how long it is good for, such as 12h, 7d or 4w, or until when",
    fallback: "for ever", isFlagOnly: true)
  static let forum = Setting(
    name: "forum", value: "ID", meaning: "a forum whose member they become", isFlagOnly: true)
  static let scope = Setting(
    name: "scope", value: "SCOPE", meaning: "what it is good for: read, write or admin", fallback: "read",
    isFlagOnly: true)
  static let name = Setting(
    name: "name", value: "TEXT", meaning: "what it is for, as its owner sees it", fallback: "parley token",
    isFlagOnly: true)
}

extension Settings {
  /// A time from `now` on, in milliseconds, or a point in time: as the API takes it.
  func moment(_ setting: Setting, now: Int64 = Clock.wall() / 1_000_000) throws(Mistake) -> String? {
    guard let text = text(setting) else { return nil }
    if let last = text.last, let hours = Self.hours[last], let count = Int(text.dropLast()), (1...9_999).contains(count)
    {
      return Timestamp.format(Int(now) + count * hours * 3_600_000)
    }
    guard Timestamp.parse(text) != nil else {
      throw Mistake(sentence: "\(setting.flag) takes a time such as 12h, 7d or 4w, or a date, not \"\(text)\".")
    }
    return text
  }

  private static let hours: [Character: Int] = ["h": 1, "d": 24, "w": 168]
}
