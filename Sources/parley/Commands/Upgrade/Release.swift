import Glibc
import ParleyCrypto
import ParleyKit
import ParleyNetworking

/// A release archive whose signature is right.
struct Release {
  /// The verified copy.
  let path: String
  let version: ReleaseVersion

  /// The suffix of the file with the signature.
  private static let signature = ".minisig"
  private static let sums = "SHA256SUMS"
  private static let pieceSize = 1 << 20
  /// The architecture of this program, as Debian names it.
  static let architecture: String = {
    #if arch(x86_64)
    "amd64"
    #elseif arch(arm64)
    "arm64"
    #else
    "unknown"
    #endif
  }()

  /// Copies an archive, and verifies the signature of the copy, and its line in SHA256SUMS if that file is beside the archive. Another
  /// user may change the archive itself meanwhile.
  init(_ path: String, copy: String, key: ReleaseKey) async throws(Settings.UsageError) {
    self.path = copy
    guard FileSystem.exists(path) else { throw Settings.UsageError(message: "The file \(path) does not exist.") }
    let beside = path + Self.signature
    guard FileSystem.exists(beside) else {
      throw Settings.UsageError(
        message: "\(path) has no signature. Download \(Self.name(of: beside)) into the same folder.")
    }
    guard let signature = ReleaseSignature(String(decoding: try FileSystem.read(beside), as: UTF8.self)) else {
      throw Settings.UsageError(message: "\(beside) is no signature of minisign. Download it again.")
    }
    guard signature.isMade(by: key) else {
      throw Settings.UsageError(
        message:
          "\(beside) was made with another key than that of this program. Do not install the file: it is not from "
          + "this project, or the key has changed (SECURITY.md).")
    }
    let digests = try await Self.copy(path, to: copy)
    guard signature.isRight(forDigest: digests.blake2b, by: key) else {
      throw Settings.UsageError(
        message: "The signature of \(path) is wrong: the file is damaged or not from this project. Download it again.")
    }
    guard let name = signature.name, let named = Self.parts(of: name) else {
      throw Settings.UsageError(
        message: "\(path) is no archive of Parley. Name a file like parley-0.2.0-linux-\(Self.architecture).tar.gz.")
    }
    try Self.checkSum(path, name, Hex.text(digests.sha256))
    guard named.architecture == Self.architecture else {
      throw Settings.UsageError(
        message: "\(name) is for \(named.architecture), and this machine runs \(Self.architecture). Download "
          + "parley-\(named.version)-linux-\(Self.architecture).tar.gz.")
    }
    version = named.version
  }

  /// The parts of `parley-VERSION-linux-ARCH.tar.gz`.
  private static func parts(of name: String) -> (version: ReleaseVersion, architecture: String)? {
    guard name.hasPrefix("parley-"), name.hasSuffix(".tar.gz") else { return nil }
    let parts = name.dropFirst("parley-".count).dropLast(".tar.gz".count).split(separator: "-")
    guard parts.count >= 3, parts[parts.count - 2] == "linux",
      let version = ReleaseVersion(parts.dropLast(2).joined(separator: "-"))
    else { return nil }
    return (version, String(parts[parts.count - 1]))
  }

  private static func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

  /// Copies a file. Returns the digests of the copy.
  private static func copy(
    _ path: String, to copy: String
  ) async throws(Settings.UsageError) -> (blake2b: [UInt8], sha256: [UInt8]) {
    let source = try FileSystem.source(path)
    try FileSystem.remove(copy)
    let target = try FileSystem.create(copy)
    do {
      var signed = try Digest(.blake2b)
      var summed = try Digest(.sha256)
      var offset = 0
      while offset < source.size {
        let piece = try await source.read(offset, min(pieceSize, source.size - offset))
        guard !piece.isEmpty else { break }
        guard Descriptor.writeAll(piece, to: target.number) else { throw SystemError("write", code: errno) }
        try signed.update(piece)
        try summed.update(piece)
        offset += piece.count
      }
      return (try signed.finish(), try summed.finish())
    } catch {
      throw Settings.UsageError(message: "Can't copy \(path) to \(copy): \(error).")
    }
  }

  private static func checkSum(_ path: String, _ name: String, _ sum: String) throws(Settings.UsageError) {
    let file = "\(FileSystem.parent(of: path))/\(sums)"
    guard FileSystem.exists(file) else { return }
    let text = String(decoding: try FileSystem.read(file), as: UTF8.self)
    guard text.split(separator: "\n").contains("\(sum)  \(name)") else {
      throw Settings.UsageError(
        message: "\(file) has another sum of \(name), or none. Download both from the same release.")
    }
  }
}

/// The version of a release (semver.org), without build metadata.
struct ReleaseVersion: Comparable, CustomStringConvertible {
  let description: String
  private let numbers: [Int]
  /// Identifiers of a pre-release; empty for a release.
  private let stage: [Substring]

  init?(_ text: String) {
    let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    let numbers = parts[0].split(separator: ".", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
    guard numbers.count == 3, numbers.allSatisfy({ $0 >= 0 }), text.allSatisfy({ $0.isASCII && $0 != "/" }) else {
      return nil
    }
    description = text
    self.numbers = numbers
    stage = parts.count == 2 ? String(parts[1]).split(separator: ".", omittingEmptySubsequences: false) : []
  }

  static func == (one: ReleaseVersion, other: ReleaseVersion) -> Bool {
    one.numbers == other.numbers && one.stage == other.stage
  }

  static func < (one: ReleaseVersion, other: ReleaseVersion) -> Bool {
    if one.numbers != other.numbers { return one.numbers.lexicographicallyPrecedes(other.numbers) }
    if one.stage.isEmpty || other.stage.isEmpty { return !one.stage.isEmpty && other.stage.isEmpty }
    return one.stage.lexicographicallyPrecedes(other.stage) { left, right in
      switch (Int(left), Int(right)) {
      case (let left?, let right?): left < right
      case (nil, nil): left < right
      case (let number, _): number != nil
      }
    }
  }
}
