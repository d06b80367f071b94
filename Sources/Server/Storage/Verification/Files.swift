import ParleyCrypto
import ParleySQLite

extension Check {
  /// Outside of the picture, some files at a time, so that no reader holds up the log while gigabytes are read.
  static let files = Check(
    "files", "each file that a row names is in the files folder, of the length and with the hash that it is named by"
  ) { examination in
    examination.expect(
      try examination.number(
        """
        select coalesce(sum(size), 0) + coalesce(sum(preview_size), 0)
        from file
        """))
    var counted = (files: 0, bytes: 0)
    for namings in [uploads, previews] {
      var after: [UInt8] = []
      while true {
        let page = try examination.connection.all(namings, after) { row in
          NamedFile(digest: try row.bytes(0), id: try row.int(1), least: try row.int(2), most: try row.int(3))
        }
        guard let last = page.last else { break }
        for file in page {
          counted.files += 1
          counted.bytes += try look(at: file, examination)
        }
        after = last.digest
      }
    }
    examination.count(counted.files, "files")
    examination.count(counted.bytes, "bytes")
  }

  private static let uploads: SQL =
    """
    select digest, min(id), min(size), max(size)
    from file
    where digest > $1
    group by digest
    order by digest
    limit 200
    """

  private static let previews: SQL =
    """
    select preview_digest, min(id), coalesce(min(preview_size), -1), coalesce(max(preview_size), -1)
    from file
    where preview_digest > $1
    group by preview_digest
    order by preview_digest
    limit 200
    """

  /// How many bytes it has.
  private static func look(at file: NamedFile, _ examination: Examination) throws -> Int {
    let path = "\(examination.folder)/\(file.path)"
    var contents = try FileContents(of: path) { count in try examination.step(by: count) }
    if case .missing = contents, try examination.connection.isNamed(file.digest) {
      // Collected a moment ago, or made anew: only what is missing while it is named is a fault.
      contents = try FileContents(of: path) { count in try examination.step(by: count) }
      if case .missing = contents { examination.fault("\(file) is not there") }
    }
    switch contents {
    case .missing: return 0
    case .unreadable(let reason): examination.fault("\(file) can't be read: \(reason)")
    case .read(let digest, let size):
      if digest != file.digest {
        examination.fault("\(file) has the hash \(Hex.text(digest))")
      } else if size != file.least || size != file.most {
        examination.fault("\(file) has \(size) bytes, and a row says another number")
      }
      return size
    }
    return 0
  }
}

/// Bytes that rows name, one of them by this id.
private struct NamedFile: CustomStringConvertible {
  let digest: [UInt8]
  let id: Int
  /// What the rows say of its size.
  let least: Int
  let most: Int

  var path: String {
    let name = Hex.text(digest)
    return "files/\(name.prefix(2))/\(name.dropFirst(2).prefix(2))/\(name)"
  }

  var description: String { "\(path), which file \(id) names," }
}
