import Glibc
import Networking

/// Words for the person who started the program: what was asked for on standard output, all else on standard error.
/// Unbuffered, so that whoever waits for a line gets it.
enum Terminal {
  static func print(_ text: String) { Descriptor.writeAll(Array(text.utf8), to: STDOUT_FILENO) }

  static func complain(_ sentence: String) {
    Descriptor.writeAll(Array("parley: \(sentence)\n".utf8), to: STDERR_FILENO)
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
