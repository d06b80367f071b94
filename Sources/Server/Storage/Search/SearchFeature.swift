// What a message has beside its words, as words of the index: so that a look-up for a hashtag, a file or a stretch of the
// Earth meets the places that somebody may read in the index itself, newest first, however rare it is.

import ParleyCrypto
public import ParleyModel

public enum SearchFeature: Sendable, Hashable {
  case author(ID<Account>)
  case mention(ID<Account>)
  /// In the form in which they are compared.
  case hashtag(String)
  /// A type of annotation.
  case annotation(String)
  case file, image, link
  /// A stretch of the Earth in which the message was written.
  case cell(GeoCell)

  /// Letters and digits only, so that the tokenizer leaves it whole. Whatever people name has one length, as a digest.
  func token() throws -> String {
    switch self {
    case .author(let id): SearchScope.token(of: id)
    case .mention(let id): "m\(id)"
    case .hashtag(let tag): "h\(try Self.digest(tag))"
    case .annotation(let type): "t\(try Self.digest(type))"
    case .file: "xfile"
    case .image: "ximage"
    case .link: "xlink"
    case .cell(let cell): "g\(cell.level)y\(cell.row)x\(cell.column)"
    }
  }

  /// How many bytes of SHA-256 tell two names apart.
  private static let digestBytes = 12

  private static func digest(_ name: String) throws -> String {
    let digest = try Digest.sha256(of: Array(name.utf8))
    return digest.prefix(digestBytes).map { byte in
      let digits = String(byte, radix: 16)
      return digits.utf8.count == 1 ? "0" + digits : digits
    }.joined()
  }
}

/// A square of degrees, of one of a few sizes.
public struct GeoCell: Sendable, Hashable {
  let level: Int
  let row: Int
  let column: Int

  /// The largest first: from 1,100 km to 1.1 km at the equator.
  static let sizes = [10.0, 1.0, 0.1, 0.01]

  /// The cells in which a place lies, one of each size.
  static func cells(of place: Location) -> [GeoCell] {
    sizes.indices.map { level in
      GeoCell(level: level, latitude: place.latitude, longitude: place.longitude)
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
