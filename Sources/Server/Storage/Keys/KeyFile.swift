import ParleyCrypto

/// A secret in a file of the data folder: hexadecimal digits and a newline.
struct KeyFile {
  let folder: String
  let name: String
  /// The length of the secret in bytes.
  let length: Int

  var path: String { "\(folder)/\(name)" }
  var exists: Bool { Disk.exists(path) }

  /// Runs a body that uses the file. Its errors are faults of the file.
  func using<Value>(_ body: (KeyFile) throws -> Value) throws(StoreFault) -> Value {
    do { return try body(self) } catch let fault as StoreFault {
      throw fault
    } catch {
      throw .unusableKey(path, reason: "\(error)")
    }
  }

  /// The secret; nil if the content is something else.
  func read(log: (String) -> Void) throws -> [UInt8]? {
    let file = try DiskFile.open(path)
    if try !file.isPrivate {
      log("\(path) can be read by other users of this computer. Run chmod 600 \(path).")
    }
    // One more byte shows a longer file.
    let text = String(decoding: try file.read(2 * length + 2), as: UTF8.self)
    guard text.last == "\n", let secret = Hex.bytes(String(text.dropLast())), secret.count == length else { return nil }
    return secret
  }

  /// The file has its name only when it is whole, of the right owner, and on the disk.
  func write(_ secret: [UInt8]) throws {
    try Disk.remove("\(path).part")
    let file = try DiskFile.make("\(path).part")
    try file.write(Array("\(Hex.text(secret))\n".utf8))
    try file.sync()
    try Disk.give("\(path).part", toOwnerOf: folder)
    try Disk.move("\(path).part", to: path)
    try Disk.sync(folder)
  }
}
