import Glibc
import ParleyModel

extension GeoCircle {
  /// The mean radius of the Earth (IUGG), in metres.
  private static let earth = 6_371_008.8
  /// Maximum number of cells per match; a circle with more small cells uses larger ones.
  private static let maxCells = 128

  /// Haversine of the radius.
  var haversine: Double {
    let half = sin(metres / Self.earth / 2)
    return half * half
  }

  /// Cells of one size that cover the circle closely.
  var cells: [GeoCell] {
    for level in GeoCell.sizes.indices.reversed() {
      let (rows, columns) = spans(of: level)
      if level == 0 || rows.count * columns.count <= Self.maxCells {
        let width = Int((360 / GeoCell.sizes[level]).rounded())
        // The 180th meridian has two values, and the last column begins at one of them.
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
    // A circle around a pole includes every longitude.
    guard north < 90, south > -90, ratio < 1 else { return (rows, 0...width) }
    let reach = asin(ratio) * 180 / .pi
    let columns = Self.cell(longitude - reach + 180, size)...Self.cell(longitude + reach + 180, size)
    return (rows, columns.count > width ? 0...width : columns)
  }

  private static func cell(_ degrees: Double, _ size: Double) -> Int { Int((degrees / size).rounded(.down)) }
}
