extension Check {
  static let search = Check(
    "search",
    "the index contains exactly the words of the messages that are not deleted, machine-only or reposts, of titles and of users"
  ) { examination in
    let count = try examination.number(
      "select count(*) from message where deletion is null and machine_only = 0 and repost_of is null")
    examination.count(count, "messages")
    let connection = examination.connection
    // The check prepares every text again; the next start rebuilds an index of another version. An empty index has any
    // version, and a database never opened by a server has none.
    guard try SearchIndex.isUpToDate(connection) else {
      if count > 0 {
        examination.fault("the index was built by another version; the next start of parley serve rebuilds it")
      }
      return
    }
    let faults = try connection.allowingTemporaryTables {
      try SearchCheck(connection).faults(limit: Verification.maxListed)
    }
    for id in faults {
      let isTopic = try connection.first("select 1 from conversation where id = $1", id) { _ in true } ?? false
      examination.fault(
        isTopic
          ? "the index entry of topic \(id) differs from its title"
          : "the index entry of message \(id) differs from its text")
    }
    var terms = 0
    try UserTermIndex.eachUser(connection) { user, expected in
      let found = try connection.all("select term from user_term where user_id = $1", user) { row in try row.text(0) }
      terms += found.count
      if Set(found) != expected { examination.fault("the index entries of user \(user) differ from the names") }
    }
    let stray = try examination.number("select count(*) from user_term") - terms
    if stray > 0 { examination.fault("the index has \(stray) entries of users without a name") }
  }
}
