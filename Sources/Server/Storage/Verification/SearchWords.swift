extension Check {
  static let search = Check(
    "search", "the index contains exactly the words of the messages that are not deleted or machine-only"
  ) { examination in
    let count = try examination.number("select count(*) from message where deletion is null and machine_only = 0")
    examination.count(count, "messages")
    // The check prepares every text again; the next start rebuilds an index of another version. An empty index has any
    // version, and a database never opened by a server has none.
    guard try count == 0 || SearchIndex.isUpToDate(examination.connection) else {
      return examination.fault("the index was built by another version; the next start of parley serve rebuilds it")
    }
    let connection = examination.connection
    let messages = try connection.allowingTemporaryTables {
      try SearchCheck(connection).faults(limit: Verification.maxListed)
    }
    for message in messages { examination.fault("the index entry of message \(message) differs from its text") }
  }
}
