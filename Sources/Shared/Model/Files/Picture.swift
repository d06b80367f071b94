/// Default pictures of users and forums: SVG drawn from a digest, stable forever. A user is a blossom, a forum is a
/// quilt; both in one of twelve hues and its two companions.
///
/// The ground is a fill of the web app (oklch .52 .19 h, into sRGB); with it go a light colour 50° on (.88 .10) and a
/// dark one (.44 .16). Light and white have 3:1 against ground and dark, and the ground has 3:1 against light and dark
/// pages.
///
/// A change here would change existing pictures: a test pins every drawing.
public enum Picture {
  /// Picture of a user, from a digest of the name. Uses at most eight bytes.
  public static func blossom(_ digest: [UInt8]) -> String {
    var choice = Choice(digest)
    let colors = choice.of(palette)
    let petals = choice.of([5, 6, 8, 9, 10])
    let step = 360 / petals
    let turn = choice.of([0, step / 2])
    var drawing = ring(choice.of(outerPetals), count: petals, from: turn + step / 2, fill: colors.dark)
    drawing += ring(choice.of(middlePetals), count: petals, from: turn, fill: colors.light)
    if choice.of([true, false]) {
      drawing += ring(choice.of(innerPetals), count: petals, from: turn + step / 2, fill: white)
    }
    let hearts = [[(white, 8)], [(colors.ground, 9), (white, 5)], [(white, 9), (colors.ground, 4)]]
    for (fill, radius) in choice.of(hearts) { drawing += "<circle fill=\"\(fill)\" r=\"\(radius)\"/>" }
    return svg(ground(colors) + "<g transform=\"translate(50 50)\">\(drawing)</g>")
  }

  /// Picture of a forum, from a digest of the title. Its corners mirror one another. Uses thirteen bytes.
  public static func quilt(_ digest: [UInt8]) -> String {
    var choice = Choice(digest)
    let colors = choice.of(palette)
    var corner = ""
    for index in 0..<4 {
      let (x, y) = (index % 2 * 25, index / 2 * 25)
      if x == y { corner += "<path fill=\"\(colors.dark)\" d=\"M\(x) \(y)h25v25h-25Z\"/>" }
      let patch = choice.of(patches)
      let turn = choice.of([0, 90, 180, 270])
      let fill = choice.of([colors.light, white, colors.light])
      corner += "<path fill=\"\(fill)\" transform=\"translate(\(x) \(y)) rotate(\(turn) 12.5 12.5)\" d=\"\(patch)\"/>"
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

  private static let white = "#ffffff"
  private static let palette = [
    Colors(ground: "#b72164", light: "#fecbaf", dark: "#92194f"),
    Colors(ground: "#be2517", light: "#fad18a", dark: "#971c11"),
    Colors(ground: "#9a5502", light: "#dbde8f", dark: "#7b4200"),
    Colors(ground: "#816501", light: "#b5e8a9", dark: "#665002"),
    Colors(ground: "#607201", light: "#91edcd", dark: "#4c5a01"),
    Colors(ground: "#017f38", light: "#80ecf1", dark: "#00642b"),
    Colors(ground: "#027a6b", light: "#a6e1ff", dark: "#036054"),
    Colors(ground: "#047685", light: "#c2d9ff", dark: "#005e6a"),
    Colors(ground: "#0070a6", light: "#d6d1fe", dark: "#025884"),
    Colors(ground: "#4159d4", light: "#f4c4ff", dark: "#3246a9"),
    Colors(ground: "#7c44c3", light: "#ffc4de", dark: "#62359c"),
    Colors(ground: "#a1319b", light: "#ffc8c6", dark: "#80257b"),
  ]

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
