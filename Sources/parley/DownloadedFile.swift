import Glibc
import ParleyNetworking

/// A file that a download writes. It has its name only when it is complete.
final class DownloadedFile: Sendable {
  private let path: String
  private let temporary: String
  private let descriptor: Descriptor

  init(_ path: String, overwrites: Bool) throws(Settings.UsageError) {
    guard overwrites || !FileSystem.exists(path) else {
      throw Settings.UsageError(message: "\(path) exists. --force replaces it, --output FILE sets another path.")
    }
    self.path = path
    temporary = path + ".part"
    descriptor = try FileSystem.create(temporary)
  }

  /// - Returns: false if the file can't be written.
  func append(_ bytes: [UInt8]) -> Bool { Descriptor.writeAll(bytes, to: descriptor.number) }

  /// Deletes an incomplete file.
  func discard() throws(Settings.UsageError) { try FileSystem.remove(temporary) }

  func finish() throws(Settings.UsageError) { try FileSystem.move(temporary, to: path) }
}
