import Foundation

/// A folder that is deleted after the test.
final class TemporaryFolder: Sendable {
  let path: String

  init() {
    var template = Array("/tmp/parley-web-XXXXXX".utf8CString)
    mkdtemp(&template)
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ name: String, _ text: String) { write(name, Array(text.utf8)) }

  func write(_ name: String, _ bytes: [UInt8]) {
    let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    precondition(
      descriptor >= 0 && Foundation.write(descriptor, bytes, bytes.count) == bytes.count, "\(name) was not written")
    close(descriptor)
  }

  func makeFolder(_ name: String) { mkdir("\(path)/\(name)", 0o755) }
  func makeFIFO(_ name: String) { mkfifo("\(path)/\(name)", 0o644) }
  func link(_ name: String, to target: String) { symlink(target, "\(path)/\(name)") }
  func move(_ name: String, to other: String) { rename("\(path)/\(name)", "\(path)/\(other)") }
  func delete(_ name: String) { unlink("\(path)/\(name)") }

  /// Seconds since 1970.
  func setModified(_ name: String, _ seconds: Int) {
    let times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
    utimensat(AT_FDCWD, "\(path)/\(name)", times, 0)
  }
}
