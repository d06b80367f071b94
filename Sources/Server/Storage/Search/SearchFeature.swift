// Features of a message beside its words, as terms of the index. A search for a hashtag, a file or an area intersects
// the readable scopes within the index, newest first, however rare the feature is.

import ParleyCrypto
public import ParleyModel

public enum SearchFeature: Sendable, Hashable {
  case author(ID<User>)
  case mention(ID<User>)
  /// In normalized form.
  case hashtag(String)
  /// A type of annotation.
  case annotation(String)
  case file, image, link
  /// The title of a topic.
  case title
  /// Area in which the message was written.
  case cell(GeoCell)

  public init(_ kind: ContentKind) {
    switch kind {
    case .file: self = .file
    case .image: self = .image
    case .link: self = .link
    }
  }

  /// Letters and digits only, so that the tokenizer does not split it. Names are digests, so that all have one length.
  func token() throws -> String {
    switch self {
    case .author(let id): SearchScope.token(of: id)
    case .mention(let id): "m\(id)"
    case .hashtag(let tag): "h\(try Self.digest(tag))"
    case .annotation(let type): "t\(try Self.digest(type))"
    case .file: "xfile"
    case .image: "ximage"
    case .link: "xlink"
    case .title: "xtitle"
    case .cell(let cell): "g\(cell.level)y\(cell.row)x\(cell.column)"
    }
  }

  /// Bytes of SHA-256 that identify a name.
  private static let digestBytes = 12

  private static func digest(_ name: String) throws -> String {
    let digest = try Digest.sha256(of: Array(name.utf8))
    return digest.prefix(digestBytes).map { byte in
      let digits = String(byte, radix: 16)
      return digits.utf8.count == 1 ? "0" + digits : digits
    }.joined()
  }
}

/// A square of degrees, in one of a few sizes.
public struct GeoCell: Sendable, Hashable {
  let level: Int
  let row: Int
  let column: Int

  /// Descending: 1,100 km to 1.1 km at the equator.
  static let sizes = [10.0, 1.0, 0.1, 0.01]

  /// Cells that contain a location, one of each size.
  static func cells(of location: Location) -> [GeoCell] {
    sizes.indices.map { level in
      GeoCell(level: level, latitude: location.latitude, longitude: location.longitude)
    }
  }

  fileprivate init(level: Int, latitude: Double, longitude: Double) {
    let size = Self.sizes[level]
    self.init(
      level: level, row: Int(((latitude + 90) / size).rounded(.down)),
      column: Int(((longitude + 180) / size).rounded(.down)))
  }

  init(level: Int, row: Int, column: Int) {
    self.level = level
    self.row = row
    self.column = column
  }
}
