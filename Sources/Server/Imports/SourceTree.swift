/// The files of a source: a folder, or a zip archive.
final class SourceTree {
  private enum Storage {
    case folder(SourceFolder)
    case archive(ZipReader)
  }

  private let storage: Storage
  /// Paths of all files, sorted.
  let names: [String]
  let path: String

  init(_ path: String) throws(ImportFault) {
    self.path = path
    if SourceFolder.exists(path) {
      let folder = try SourceFolder(path)
      storage = .folder(folder)
      names = try folder.names()
    } else {
      let archive = try ZipReader(try SourceFile(path: path))
      storage = .archive(archive)
      names = archive.entries.map(\.name).sorted()
    }
  }

  var archive: ZipReader? {
    switch storage {
    case .archive(let archive): archive
    case .folder: nil
    }
  }

  /// Nil if there is no such file.
  func source(_ name: String) throws(ImportFault) -> (any ByteSource)? {
    switch storage {
    case .folder(let folder): return try folder.file(name)?.source()
    case .archive(let archive):
      guard let entry = archive.entry(name) else { return nil }
      return try archive.source(of: entry)
    }
  }

  func has(_ name: String) throws(ImportFault) -> Bool {
    switch storage {
    case .folder(let folder): try folder.file(name) != nil
    case .archive(let archive): archive.entry(name) != nil
    }
  }
}

extension SourceTree {
  /// A part of a file, which the archive stores without compression.
  func source(_ name: String, _ range: Range<Int>) throws(ImportFault) -> any ByteSource {
    if let archive {
      guard let entry = archive.entry(name) else { throw ImportFault("\(path) has no \(name). Make the export again.") }
      guard !entry.isDeflated else {
        throw ImportFault("\(path) was compressed again. Unpack it and import the folder.")
      }
      let start = try archive.dataOffset(of: entry)
      guard range.upperBound <= entry.size else { throw ImportFault("\(name) became shorter. Import again.") }
      return archive.file.source(start + range.lowerBound..<start + range.upperBound)
    }
    guard let file = try file(name) else { throw ImportFault("\(name) is gone. Import again.") }
    return file.source(range)
  }

  private func file(_ name: String) throws(ImportFault) -> SourceFile? {
    guard case .folder(let folder) = storage else { return nil }
    return try folder.file(name)
  }
}
