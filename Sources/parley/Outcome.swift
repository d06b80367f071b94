/// How a command went: what to say, and the exit status.
struct Outcome: Equatable {
  enum Status: Int32 {
    /// All is well.
    case well = 0
    /// Something was found to be wrong: a file that is no backup, a server that is not well.
    case wrong = 1
    /// It could not be done: the command makes no sense, or the system said no.
    case impossible = 2
  }

  let status: Status
  let sentence: String

  init(_ status: Status, _ sentence: String) {
    self.status = status
    self.sentence = sentence
  }

  /// Says it; the exit status.
  func tell() -> Int32 {
    switch status {
    case .well where sentence.isEmpty: break
    case .well: Terminal.print(printable + "\n")
    case .wrong, .impossible: Terminal.complain(printable)
    }
    return status.rawValue
  }

  /// The sentence may quote what stands in a file that others made, and a terminal obeys what it is told.
  var printable: String {
    String(
      String.UnicodeScalarView(
        sentence.unicodeScalars.map { scalar in
          scalar.value < 32 && scalar != "\n" || 127...159 ~= scalar.value ? "\u{fffd}" : scalar
        }))
  }
}
