/// A default picture of a user or a forum: a drawing in two tones, chosen by a digest and stable forever. A user is a
/// blossom, a forum is a quilt; both in one of 24 hues.
///
/// The tones are quiet, so that a list of pictures is no louder than its texts. In the light theme the ground is oklch .93 .03 h
/// and the figure .84 .06 h, in the dark theme .29 .035 h and .37 .055 h, into sRGB. The picture is decoration: a name or a title
/// stands beside it, and a forum of at most 32 points is its first letter.
///
/// A change here would change existing pictures: a test pins every drawing. The app draws the same ones
/// (`Public/js/app/core/pictures/identicons.js`).
public struct Picture: Sendable {
  /// The shapes, which take the colours of the element around them: the figure is `color`, the ground is `fill`.
  public let shapes: String
  private let tones: Tones

  /// Picture of a user, from a digest of the name. Uses at most eight bytes.
  public static func blossom(_ digest: [UInt8]) -> Picture {
    var choice = Choice(digest)
    let tones = choice.of(palette)
    let petals = choice.of([5, 6, 8, 9, 10, 12])
    let half = 360 / petals / 2
    let turn = choice.of([0, half])
    var drawing = figure(ring(choice.of(outerPetals), count: petals, from: turn + half))
    let middle = choice.of(middlePetals)
    drawing += ring(middle, count: petals, from: turn + choice.of([0, half]))
    let inner = choice.of(innerPetals)
    if !inner.isEmpty { drawing += figure(ring(inner, count: petals, from: turn + half)) }
    for (index, radius) in choice.of(hearts).enumerated() {
      drawing += "<circle\(index % 2 == 0 ? fillOfFigure : "") r=\"\(radius)\"/>"
    }
    return Picture("<g transform=\"translate(50 50)\">\(drawing)</g>", tones)
  }

  /// Picture of a forum, from a digest of the title. Its corners mirror one another. Uses nine bytes.
  public static func quilt(_ digest: [UInt8]) -> Picture {
    var choice = Choice(digest)
    let tones = choice.of(palette)
    var corner = ""
    for index in 0..<4 {
      let (x, y) = (index % 2 * 25, index / 2 * 25)
      let patch = choice.of(patches)
      let turned = path(patch, "translate(\(x) \(y)) rotate(\(choice.of([0, 90, 180, 270])) 12.5 12.5)")
      // Every other square is a patch of the ground on the figure.
      corner += x == y ? figure("<path d=\"M\(x) \(y)h25v25h-25Z\"/>") + turned : figure(turned)
    }
    let drawing = ["1 0 0 1 0 0", "-1 0 0 1 100 0", "1 0 0 -1 0 100", "-1 0 0 -1 100 100"].map { mirror in
      "<g transform=\"matrix(\(mirror))\">\(corner)</g>"
    }
    return Picture("<g transform=\"translate(4 4) scale(.92)\">\(drawing.joined())</g>", tones)
  }

  private init(_ drawing: String, _ tones: Tones) {
    shapes = "<path d=\"M0 0H100V100H0Z\"/>\(drawing)"
    self.tones = tones
  }

  /// An image, which takes the theme of the page around it.
  public var svg: String {
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"\(Self.viewBox)\" fill=\"#\(tones.ground)\" color=\"#\(tones.figure)\">"
      + "<style>@media(prefers-color-scheme:dark){svg{fill:#\(tones.darkGround);color:#\(tones.darkFigure)}}</style>"
      + "\(shapes)</svg>\n"
  }

  /// The colour of the ground for an element of a page, in both themes.
  public var ground: String { "light-dark(#\(tones.ground),#\(tones.darkGround))" }

  /// The colour of the figure for an element of a page, in both themes.
  public var figure: String { "light-dark(#\(tones.figure),#\(tones.darkFigure))" }

  /// Begins the entity tags of drawings, so that no cache shows those of another version.
  public static let version = "2"

  /// The coordinates of every picture.
  public static let viewBox = "0 0 100 100"

  private struct Tones {
    let ground: String
    let figure: String
    let darkGround: String
    let darkFigure: String

    init(_ ground: String, _ figure: String, _ darkGround: String, _ darkFigure: String) {
      self.ground = ground
      self.figure = figure
      self.darkGround = darkGround
      self.darkFigure = darkFigure
    }
  }

  /// By hue, 15 degrees apart.
  private static let palette = [
    Tones("fae0e7", "edbbc9", "3a242b", "58333e"),
    Tones("fbe0e1", "efbbbe", "3b2426", "593336"),
    Tones("fbe1dc", "efbdb4", "3b2521", "59342e"),
    Tones("fae2d8", "edbfab", "3a261d", "583627"),
    Tones("f8e4d4", "e9c2a4", "382719", "553820"),
    Tones("f4e6d2", "e2c69f", "362917", "513b1c"),
    Tones("f0e7d2", "dac99e", "322b16", "4b3e1b"),
    Tones("eae9d3", "d0cda0", "2e2c17", "44411d"),
    Tones("e5ebd5", "c5d1a5", "292e1a", "3c4421"),
    Tones("dfedd9", "bad4ad", "242f1e", "334628"),
    Tones("dbeede", "b0d6b6", "1e3022", "294830"),
    Tones("d6efe3", "a7d8c1", "1a3127", "204938"),
    Tones("d3efe8", "a0d8cc", "16312c", "174941"),
    Tones("d2efee", "9dd7d7", "143131", "124949"),
    Tones("d2eef3", "9dd6e0", "143035", "134850"),
    Tones("d4edf7", "a1d4e8", "162f38", "1a4656"),
    Tones("d7ebfa", "a8d1ee", "1b2e3b", "22435a"),
    Tones("dbe9fc", "b1cdf2", "1f2c3d", "2b415c"),
    Tones("e0e7fd", "bbc9f3", "242b3d", "343e5d"),
    Tones("e5e6fc", "c6c6f1", "29293c", "3d3b5c"),
    Tones("ebe4fa", "d0c2ed", "2e273a", "443959"),
    Tones("f0e2f6", "dabfe6", "322637", "4b3754"),
    Tones("f4e1f2", "e2bddd", "352534", "50354e"),
    Tones("f8e0ec", "e8bbd3", "38242f", "553446"),
  ]

  /// Petals point up from the middle.
  private static let outerPetals = [
    "M0 0C-22 -22 -16 -47 0 -47S22 -22 0 0Z", "M0 0Q-24 -30 0 -50Q24 -30 0 0Z",
    "M0 0C-9 -18 -26 -40 0 -46C26 -40 9 -18 0 0Z", "M0 0L-15 -32L0 -49L15 -32Z",
  ]
  private static let middlePetals = [
    "M0 0C-15 -15 -12 -38 0 -38S15 -15 0 0Z", "M0 -4Q-16 -24 0 -41Q16 -24 0 -4Z",
    "M0 0C-6 -14 -18 -32 0 -37C18 -32 6 -14 0 0Z", "M0 -6L-8 -26L0 -40L8 -26Z",
  ]
  private static let innerPetals = [
    "", "M0 0C-8 -8 -7 -22 0 -22S8 -8 0 0Z", "M0 0Q-9 -14 0 -25Q9 -14 0 0Z", "M-2 -12A3 3 0 1 1 -2 -11.9Z",
  ]
  /// Radii of circles in turns of figure and ground.
  private static let hearts = [[], [9], [9, 5], [11, 8, 4]]

  /// Patches are 25 by 25.
  private static let patches = [
    "M0 0H25A25 25 0 0 1 0 25Z", "M0 0A25 25 0 0 1 25 25A25 25 0 0 1 0 0Z", "M0 0H25L0 25Z",
    "M12.5 3A9.5 9.5 0 1 1 12.4 3Z", "M0 0H25A12.5 12.5 0 0 1 0 0Z",
    "M0 0A12.5 12.5 0 0 0 12.5 12.5A12.5 12.5 0 0 0 0 25Z",
  ]

  private static let fillOfFigure = " fill=\"currentColor\""

  private static func figure(_ shapes: String) -> String { "<g\(fillOfFigure)>\(shapes)</g>" }

  private static func path(_ shape: String, _ transform: String) -> String {
    "<path transform=\"\(transform)\" d=\"\(shape)\"/>"
  }

  private static func ring(_ petal: String, count: Int, from turn: Int) -> String {
    (0..<count).map { path(petal, "rotate(\(turn + $0 * 360 / count))") }.joined()
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
