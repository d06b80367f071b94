/// Default pictures of users and forums: SVG drawn from a digest, stable forever. A user is a blossom, a forum is a
/// quilt; both in one of 24 hues and a companion.
///
/// The colours are quiet, so that a list of pictures is no louder than its texts: a ground (oklch .55 .08 h, into sRGB), a dark
/// colour (.45 .07 h), and a light one of a near hue (.88 .05), which has 3:1 against both. The ground has 3:1 against light and
/// dark pages.
///
/// A change here would change existing pictures: a test pins every drawing.
public enum Picture {
  /// Picture of a user, from a digest of the name. Uses at most eight bytes.
  public static func blossom(_ digest: [UInt8]) -> String {
    var choice = Choice(digest)
    let colors = pickColors(&choice)
    let petals = choice.of([5, 6, 8, 9, 10])
    let step = 360 / petals
    let turn = choice.of([0, step / 2])
    var drawing = ring(choice.of(outerPetals), count: petals, from: turn + step / 2, fill: colors.dark)
    drawing += ring(choice.of(middlePetals), count: petals, from: turn, fill: colors.light)
    if choice.of([true, false]) {
      drawing += ring(choice.of(innerPetals), count: petals, from: turn + step / 2, fill: pale)
    }
    let hearts = [[(pale, 8)], [(colors.ground, 9), (pale, 5)], [(pale, 9), (colors.ground, 4)]]
    for (fill, radius) in choice.of(hearts) { drawing += "<circle fill=\"\(fill)\" r=\"\(radius)\"/>" }
    return svg(ground(colors) + "<g transform=\"translate(50 50)\">\(drawing)</g>")
  }

  /// Picture of a forum, from a digest of the title. Its corners mirror one another. Uses ten bytes.
  public static func quilt(_ digest: [UInt8]) -> String {
    var choice = Choice(digest)
    let colors = pickColors(&choice)
    var corner = ""
    for index in 0..<4 {
      let (x, y) = (index % 2 * 25, index / 2 * 25)
      if x == y { corner += "<path fill=\"\(colors.dark)\" d=\"M\(x) \(y)h25v25h-25Z\"/>" }
      let patch = choice.of(patches)
      let turn = choice.of([0, 90, 180, 270])
      let place = "translate(\(x) \(y)) rotate(\(turn) 12.5 12.5)"
      corner += "<path fill=\"\(colors.light)\" transform=\"\(place)\" d=\"\(patch)\"/>"
    }
    let drawing = ["1 0 0 1 0 0", "-1 0 0 1 100 0", "1 0 0 -1 0 100", "-1 0 0 -1 100 100"].map { mirror in
      "<g transform=\"matrix(\(mirror))\">\(corner)</g>"
    }
    // Frame in the ground colour, so that a light patch does not merge with a light page.
    return svg(ground(colors) + "<g transform=\"translate(4 4) scale(.92)\">\(drawing.joined())</g>")
  }

  /// The shapes of a picture without their `svg` element, for a page with an element of its own.
  public static func shapes(of svg: String) -> String {
    let start = svg.utf8.firstIndex(of: UInt8(ascii: ">")).map { svg.utf8.index(after: $0) } ?? svg.startIndex
    let end = svg.utf8.index(svg.endIndex, offsetBy: -"</svg>\n".utf8.count, limitedBy: start) ?? start
    return String(svg[start..<end])
  }

  /// The coordinates of every picture.
  public static let viewBox = "0 0 100 100"

  private struct Colors {
    let ground: String
    let light: String
    let dark: String
  }

  /// Ground and dark of a hue, light of a companion.
  private static func pickColors(_ choice: inout Choice) -> Colors {
    let hue = choice.of(Array(palette.indices))
    let companion = palette[(hue + choice.of(companions)) % palette.count]
    return Colors(ground: palette[hue].ground, light: companion.light, dark: palette[hue].dark)
  }

  private static let pale = "#f6f4f1"
  private static let palette = [
    Colors(ground: "#9a5d69", light: "#f6cbd1", dark: "#76444e"),
    Colors(ground: "#9b5e5b", light: "#f7cbc8", dark: "#784543"),
    Colors(ground: "#9a614f", light: "#f6cdc0", dark: "#774738"),
    Colors(ground: "#966444", light: "#f3cfba", dark: "#744a2f"),
    Colors(ground: "#91683b", light: "#eed2b5", dark: "#6f4d27"),
    Colors(ground: "#886d37", light: "#e8d5b3", dark: "#685123"),
    Colors(ground: "#7e7238", light: "#e0d8b3", dark: "#605624"),
    Colors(ground: "#72773d", light: "#d7dcb6", dark: "#555929"),
    Colors(ground: "#647b47", light: "#cedebb", dark: "#4a5d31"),
    Colors(ground: "#557e52", light: "#c5e1c3", dark: "#3d5f3b"),
    Colors(ground: "#468060", light: "#bde2cb", dark: "#306146"),
    Colors(ground: "#37816d", light: "#b7e3d4", dark: "#236251"),
    Colors(ground: "#2d817a", light: "#b3e3dd", dark: "#18625c"),
    Colors(ground: "#2a7f86", light: "#b2e2e6", dark: "#156066"),
    Colors(ground: "#307d91", light: "#b3e0ee", dark: "#1c5e6f"),
    Colors(ground: "#3c7999", light: "#b8def4", dark: "#275c76"),
    Colors(ground: "#4a769e", light: "#bedbf8", dark: "#34587a"),
    Colors(ground: "#5971a1", light: "#c6d8f9", dark: "#40557c"),
    Colors(ground: "#666da0", light: "#cfd5f9", dark: "#4c517c"),
    Colors(ground: "#73699c", light: "#d8d2f6", dark: "#574e79"),
    Colors(ground: "#7f6596", light: "#e1cff2", dark: "#604a73"),
    Colors(ground: "#88618d", light: "#e8cdeb", dark: "#68486c"),
    Colors(ground: "#905f82", light: "#eecbe3", dark: "#6f4663"),
    Colors(ground: "#965e76", light: "#f3cbda", dark: "#734459"),
  ]
  /// The hues, after that of the ground, that a light colour may have.
  private static let companions = [0, 2, 4, 20, 22]

  /// Petals point up from the middle.
  private static let outerPetals = [
    "M0 0C-22 -22 -16 -47 0 -47S22 -22 0 0Z", "M0 0Q-24 -30 0 -50Q24 -30 0 0Z",
    "M0 0C-9 -18 -26 -40 0 -46C26 -40 9 -18 0 0Z",
  ]
  private static let middlePetals = [
    "M0 0C-15 -15 -12 -38 0 -38S15 -15 0 0Z", "M0 -4Q-16 -24 0 -41Q16 -24 0 -4Z",
    "M0 0C-6 -14 -18 -32 0 -37C18 -32 6 -14 0 0Z",
  ]
  private static let innerPetals = [
    "M0 0C-8 -8 -7 -22 0 -22S8 -8 0 0Z", "M0 0Q-9 -14 0 -25Q9 -14 0 0Z", "M-2 -12A3 3 0 1 1 -2 -11.9Z",
  ]

  /// Patches are 25 by 25.
  private static let patches = [
    "M0 0H25A25 25 0 0 1 0 25Z", "M0 0A25 25 0 0 1 25 25A25 25 0 0 1 0 0Z", "M0 0H25L0 25Z",
    "M12.5 3A9.5 9.5 0 1 1 12.4 3Z", "M0 0H25A12.5 12.5 0 0 1 0 0Z",
    "M0 0A12.5 12.5 0 0 0 12.5 12.5A12.5 12.5 0 0 0 0 25Z",
  ]

  private static func ground(_ colors: Colors) -> String {
    "<path fill=\"\(colors.ground)\" d=\"M0 0H100V100H0Z\"/>"
  }

  private static func ring(_ petal: String, count: Int, from turn: Int, fill: String) -> String {
    (0..<count).map { "<path fill=\"\(fill)\" transform=\"rotate(\(turn + $0 * 360 / count))\" d=\"\(petal)\"/>" }
      .joined()
  }

  private static func svg(_ drawing: String) -> String {
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"\(viewBox)\">\(drawing)</svg>\n"
  }
}

/// Reads a digest byte by byte, cyclically.
private struct Choice {
  private let digest: [UInt8]
  private var position = 0

  init(_ digest: [UInt8]) { self.digest = digest }

  mutating func of<Value>(_ values: [Value]) -> Value {
    let byte = digest.isEmpty ? 0 : Int(digest[position % digest.count])
    position += 1
    return values[byte % values.count]
  }
}
