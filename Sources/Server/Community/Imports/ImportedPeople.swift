// Users, groups and custom emoji of a source.

import Imports
import Media
import ParleyModel
import Storage

extension Importer {
  /// Makes users that can't sign in, besides those of the site that stand for users of the source.
  func writeUsers(_ known: [String: ID<User>]) async throws(ImportFault) {
    let all = overview.users.values.sorted { $0.key < $1.key }
    for some in all.pages(of: Self.rowsPerWrite) {
      let (origin, bounds) = (origin, community.bounds)
      let written = try await write { tx throws(Refusal) in
        try some.map { user throws(Refusal) in try tx.importUser(user, as: known[user.key], from: origin, bounds) }
      }
      for (user, result) in zip(some, written) {
        users[user.key] = result.id
        names[user.key] = result.name
        if result.name.isEmpty { departed.insert(result.id) }
        guard result.isNew else { continue }
        report.made.users += 1
        if let avatar = user.avatar { try await setAvatar(avatar, of: result.id) }
      }
    }
  }

  private func setAvatar(_ content: SourceContent, of user: ID<User>) async throws(ImportFault) {
    let bounds = community.bounds
    guard
      let picture = try await picture(content, "avatar", of: user, bytes: bounds.pictureBytes, side: bounds.pictureSide)
    else { return }
    try await write { tx throws(Refusal) in
      let file = try tx.add(picture, in: FileQuota(user: .max, site: bounds.siteFileBytes))
      guard let user = try tx.user(user) else { return }
      try tx.setAvatar(file.id, of: user, by: user.summary.id)
    }
  }

  func writeGroups() async throws(ImportFault) {
    let (origin, importer) = (origin, importer)
    for group in overview.groups {
      let members = group.members.compactMap(present).sorted { $0.number < $1.number }
      let (id, isNew) = try await write { tx throws(Refusal) -> (ID<UserGroup>?, Bool) in
        if let earlier = try tx.imported(.group, group.key, from: origin) {
          return (try tx.userGroup(ID(earlier))?.id, false)
        }
        var new = UserGroup(id: ID(0))
        new.name = try tx.freeName(like: group.name, fallback: "group")
        new.hue = group.hue ?? new.hue
        let id = try tx.add(new, by: importer).id
        try tx.noteImported(.group, group.key, from: origin, as: id.number)
        return (id, true)
      }
      guard let id else { continue }
      if isNew { report.made.groups += 1 }
      guard !members.isEmpty, try await isMissing(.group, group.key + Self.membersKey) else { continue }
      for some in members.pages(of: Self.rowsPerWrite) {
        try await write { tx throws(Refusal) in
          for member in some { _ = try tx.addMember(member, toGroup: id, by: importer) }
        }
      }
      try await note(.group, group.key + Self.membersKey, as: id.number)
    }
  }

  func writeEmoji() async throws(ImportFault) {
    let (origin, importer, bounds) = (origin, importer, community.bounds)
    for emoji in overview.emoji {
      let isKnown = try await read { tx throws(Refusal) in
        if try tx.imported(.emoji, emoji.key, from: origin) != nil { return true }
        return try tx.hasCustomEmoji(named: emoji.name)
      }
      guard !isKnown, CustomEmoji.isName(emoji.name) else { continue }
      let picture = try await picture(
        emoji.picture, emoji.name, of: importer, bytes: bounds.emojiBytes, side: bounds.emojiSide)
      guard let picture else {
        leaveOut("custom emoji whose picture is too large")
        continue
      }
      let isMade = try await write { tx throws(Refusal) in
        guard try tx.settings().emoji.count < bounds.emoji else { return false }
        let file = try tx.add(picture, in: FileQuota(user: .max, site: bounds.siteFileBytes))
        let made = try tx.addCustomEmoji(emoji.name, file.id, by: importer)
        try tx.noteImported(.emoji, emoji.key, from: origin, as: made.id.number)
        return true
      }
      if isMade { report.made.emoji += 1 } else { leaveOut("custom emoji above the limit of the site") }
    }
  }

  /// A picture of a permitted size; nil if it is none.
  private func picture(
    _ content: SourceContent, _ name: String, of owner: ID<User>, bytes: Int, side: Int
  ) async throws(ImportFault) -> NewFile? {
    guard case .stored(let file) = try await store(content, name: name, of: owner, limit: bytes),
      let width = file.width,
      let height = file.height, max(width, height) <= side, FileFormat(rawValue: file.mimeType)?.isPicture == true
    else { return nil }
    return file
  }
}

extension WriteTransaction {
  /// The user of the site for a user of the source.
  fileprivate func importUser(
    _ user: SourceUser, as known: ID<User>?, from source: String, _ bounds: Bounds
  ) throws(Refusal) -> (id: ID<User>, name: String, isNew: Bool) {
    if let earlier = try imported(.user, user.key, from: source), known == nil || earlier == known?.number {
      return (ID(earlier), try self.user(ID(earlier))?.summary.name ?? "", false)
    }
    if let known {
      try noteImported(.user, user.key, from: source, as: known.number, email: user.email)
      return (known, try self.user(known)?.summary.name ?? "", false)
    }
    let name = try freeName(like: user.name, fallback: "user")
    let shown = user.displayName ?? (user.name == name ? nil : user.name)
    var new = NewUser(
      name: name, role: .member,
      displayName: shown.flatMap { Texts.importedLine($0, scalars: bounds.displayNameScalars) })
    new.isImported = true
    new.bio = Texts.importedBlock(user.bio, scalars: bounds.bioScalars)
    new.createdAt = user.createdAt
    let id = try add(new)
    try noteImported(.user, user.key, from: source, as: id.number, email: user.email)
    return (id, name, true)
  }

  /// A name in the form of Parley that no user and no group has.
  func freeName(like text: String, fallback: String) throws(Refusal) -> String {
    let base = Self.name(like: text) ?? fallback
    // Thousands of users may share a base, such as those without a name: numbers in turn would take quadratic time.
    for attempt in 1...200 {
      let number = attempt <= 20 ? attempt : Int.random(in: 100...999_999)
      let suffix = number == 1 ? "" : "_\(number)"
      let candidate = "\(base.prefix(UserName.maxBytes - suffix.utf8.count))\(suffix)"
      guard UserName(candidate) != nil else { continue }
      if try self.user(named: candidate) == nil, try userGroup(named: candidate) == nil { return candidate }
    }
    throw .conflict
  }

  /// Letters, digits and single signs of a text; nil without a letter.
  static func name(like text: String) -> String? {
    var name = ""
    for scalar in text.unicodeScalars {
      if scalar.isASCII, scalar.properties.isAlphabetic || (0x30...0x39).contains(scalar.value) {
        name.unicodeScalars.append(scalar)
      } else if !name.isEmpty, name.last != "_", name.last != ".", name.last != "-" {
        name += scalar == "." || scalar == "-" ? String(scalar) : "_"
      }
    }
    while let last = name.last, "_.-".contains(last) { name.removeLast() }
    name = String(name.prefix(UserName.maxBytes - 6))
    while let last = name.last, "_.-".contains(last) { name.removeLast() }
    return UserName.isWellFormed(name) ? name : nil
  }
}

extension Texts {
  /// A line of another program, cut to a length; nil without a visible character.
  static func importedLine(_ text: String, scalars limit: Int) -> String? {
    var line = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      line.append(scalar.isLineBreakOrControl ? " " : scalar)
    }
    let trimmed = String(line).split(separator: " ").joined(separator: " ")
    let cut = String(String.UnicodeScalarView(trimmed.unicodeScalars.prefix(limit)))
    guard cut.isVisible else { return nil }
    return cut
  }

  /// A text of another program, cut to a length and without NUL.
  static func importedBlock(_ text: String, scalars limit: Int) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.lazy.filter { $0.value != 0 }.prefix(limit)))
  }
}
