import Glibc

/// Words for the person who started the program: what was asked for on standard output, all else on standard error.
enum Terminal {
  static func print(_ text: String) { write(text, to: STDOUT_FILENO) }

  static func complain(_ sentence: String) { write("parley: \(sentence)\n", to: STDERR_FILENO) }

  /// Unbuffered, so that whoever waits for a line gets it.
  private static func write(_ text: String, to descriptor: Int32) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { return }
      rest = rest.dropFirst(written)
    }
  }

  static var environment: [String: String] {
    var all: [String: String] = [:]
    var place = unsafe environ
    while let entry = unsafe place.pointee {
      let pair = unsafe String(cString: entry).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if pair.count == 2 { all[String(pair[0])] = String(pair[1]) }
      unsafe place += 1
    }
    return all
  }
}
