extension Check {
  static let search = Check(
    "search", "the index holds the words of every live message that is for people, and no others"
  ) { examination in
    let count = try examination.number("select count(*) from message where deletion is null and machine_only = 0")
    examination.count(count, "messages")
    // The check prepares every text anew; an index of another version of that is made anew at the next start. Of nothing
    // there is one version, and a database that no server has opened yet has none.
    guard try count == 0 || SearchIndex.isUpToDate(examination.connection) else {
      return examination.fault("the index was made by another version; the next start of parley serve makes it anew")
    }
    let connection = examination.connection
    let messages = try connection.allowingTemporaryTables {
      try SearchCheck(connection).faults(limit: Verification.mostNamed)
    }
    for message in messages { examination.fault("the index holds other words of message \(message) than it says") }
  }
}
