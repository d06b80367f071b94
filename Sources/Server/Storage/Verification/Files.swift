import Glibc
import ParleyCrypto
import ParleySQLite

extension Check {
  /// Outside the snapshot, a page of files at a time, so that no reader blocks the log while gigabytes are read.
  static let files = Check(
    "files", "each file named by a row exists with the recorded size and hash"
  ) { examination in
    examination.expect(
      try examination.number(
        """
        select coalesce(sum(size), 0) + coalesce(sum(preview_size), 0)
        from file
        """))
    var counted = (files: 0, bytes: 0)
    for query in [uploads, previews] {
      var after: [UInt8] = []
      while true {
        let page = try examination.connection.all(query, after) { row in
          NamedFile(digest: try row.bytes(0), id: try row.int(1), minSize: try row.int(2), maxSize: try row.int(3))
        }
        guard let last = page.last else { break }
        for file in page {
          counted.files += 1
          counted.bytes += try check(at: file, examination)
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

  /// Returns the size of the file.
  private static func check(at file: NamedFile, _ examination: Examination) throws -> Int {
    let path = "\(examination.folder)/\(file.path)"
    var contents = try FileContents(of: path) { count in try examination.step(by: count) }
    if case .missing = contents, try examination.connection.isReferenced(file.digest) {
      // Removed or replaced meanwhile: a file is a fault only if it is missing while it is named.
      contents = try FileContents(of: path) { count in try examination.step(by: count) }
      if case .missing = contents { examination.fault("\(file) is missing") }
    }
    switch contents {
    case .missing: return 0
    case .unreadable(let reason): examination.fault("\(file) can't be read: \(reason)")
    case .read(let digest, let size):
      if digest != file.digest {
        examination.fault("\(file) has the hash \(Hex.text(digest))")
      } else if size != file.minSize || size != file.maxSize {
        examination.fault("\(file) has \(size) bytes, but a row records another size")
      }
      return size
    }
    return 0
  }
}

/// Content named by rows, one of which has this id.
private struct NamedFile: CustomStringConvertible {
  let digest: [UInt8]
  let id: Int
  /// Sizes recorded in the rows.
  let minSize: Int
  let maxSize: Int

  var path: String {
    let name = Hex.text(digest)
    return "files/\(name.prefix(2))/\(name.dropFirst(2).prefix(2))/\(name)"
  }

  var description: String { "\(path) of file \(id)" }
}

extension Check {
  static let fileUse = Check(
    "file use", "the recorded disk usage of each user and of the site is the sum of their files"
  ) { examination in
    examination.count(try examination.number("select count(*) from file_use"), "sums")
    try examination.expectNone(
      """
      select coalesce(u.owner_id, s.owner_id), coalesce(u.bytes, 0), coalesce(s.bytes, 0)
      from (
        select owner_id, sum(size + coalesce(preview_size, 0)) as bytes
        from file
        group by owner_id
        union all
        select 0, coalesce(sum(size + coalesce(preview_size, 0)), 0)
        from file
      ) s
      full join file_use u on u.owner_id = s.owner_id
      where coalesce(u.bytes, 0) <> coalesce(s.bytes, 0)
      """
    ) { row in
      "the files of user \(try row.int(0)) have \(try row.int(2)) bytes, but the recorded usage is \(try row.int(1))"
    }
  }
}

/// Contents of a file, as hash and size.
enum FileContents {
  case missing
  case unreadable(String)
  case read(digest: [UInt8], size: Int)

  private static let pieceSize = 262_144

  /// Reads the whole file; `chunk` is called with the size of each chunk.
  init(of path: String, chunk: (Int) throws -> Void) throws {
    // Non-blocking, in case it is not a regular file.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      self = errno == ENOENT ? .missing : .unreadable(DiskError.reason(errno))
      return
    }
    defer { close(descriptor) }
    var digest = try Digest(.sha256)
    var buffer = [UInt8](repeating: 0, count: Self.pieceSize)
    var size = 0
    while true {
      let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        self = .unreadable(DiskError.reason(errno))
        return
      }
      if count == 0 { break }
      try digest.update(buffer.span.extracting(first: count))
      size += count
      try chunk(count)
    }
    self = .read(digest: try digest.finish(), size: size)
  }
}
