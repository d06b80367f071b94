import Glibc
import ParleyModel

extension GeoCircle {
  /// The mean radius of the Earth (IUGG), in metres.
  private static let earth = 6_371_008.8
  /// How many cells one match names; where the small ones are more, larger ones are taken.
  private static let mostCells = 128

  /// What the haversine of a distance is compared with.
  var haversine: Double {
    let half = sin(metres / Self.earth / 2)
    return half * half
  }

  /// Cells of one size that cover it, and little more.
  var cells: [GeoCell] {
    for level in GeoCell.sizes.indices.reversed() {
      let (rows, columns) = spans(of: level)
      if level == 0 || rows.count * columns.count <= Self.mostCells {
        let width = Int((360 / GeoCell.sizes[level]).rounded())
        // The 180th meridian has two names, and the last column begins at one of them.
        let wrapped = Set(columns.map { (($0 % width) + width) % width } + (columns.contains(width) ? [width] : []))
        return rows.flatMap { row in
          wrapped.sorted().map { GeoCell(level: level, row: row, column: $0) }
        }
      }
    }
    return []
  }

  private func spans(of level: Int) -> (rows: ClosedRange<Int>, columns: ClosedRange<Int>) {
    let size = GeoCell.sizes[level]
    let angle = metres / Self.earth
    let height = angle * 180 / .pi
    let (south, north) = (max(-90, latitude - height), min(90, latitude + height))
    let rows = Self.cell(south + 90, size)...Self.cell(north + 90, size)
    let width = Int((360 / size).rounded())
    let ratio = sin(angle) / cos(latitude * .pi / 180)
    // Around a pole every longitude is near.
    guard north < 90, south > -90, ratio < 1 else { return (rows, 0...width) }
    let reach = asin(ratio) * 180 / .pi
    let columns = Self.cell(longitude - reach + 180, size)...Self.cell(longitude + reach + 180, size)
    return (rows, columns.count > width ? 0...width : columns)
  }

  private static func cell(_ degrees: Double, _ size: Double) -> Int { Int((degrees / size).rounded(.down)) }
}
