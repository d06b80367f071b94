// The colours of the site's hue, as `Public/js/app/core/hue.js` computes them for the app. The lightness is fixed, so
// that text is readable on any hue; the chroma is reduced until the colour is in the gamut of sRGB.

import Glibc
import ParleyModel
import Web

enum SiteColors {
  /// The hue of `tokens.css`.
  static let defaultHue = 260

  /// The path of the style sheet of a hue; nil for the default.
  static func path(_ hue: Int) -> String? { hue == defaultHue ? nil : "/css/hue/\(hue).css" }

  private struct Token {
    let name: String
    let light: (lightness: Double, chroma: Double)
    let dark: (lightness: Double, chroma: Double)
  }

  private static let tokens = [
    Token(name: "accent", light: (0.52, 0.19), dark: (0.52, 0.19)),
    Token(name: "accent-hover", light: (0.45, 0.17), dark: (0.48, 0.18)),
    Token(name: "accent-ink", light: (0.45, 0.17), dark: (0.77, 0.13)),
    Token(name: "accent-soft", light: (0.94, 0.03), dark: (0.28, 0.06)),
  ]

  /// The accent of light pages, as `#rrggbb`.
  static func accent(hue: Int) -> String { hex(tokens[0].light, hue) }

  static func css(hue: Int) -> String {
    let lines = tokens.map { token in
      let (light, dark) = (hex(token.light, hue), hex(token.dark, hue))
      return "  --\(token.name): light-dark(\(light), \(dark));\n"
    }
    return ":root {\n\(lines.joined())}\n"
  }

  /// oklch to sRGB (CSS Color 4 §18), as `#rrggbb`.
  private static func hex(_ color: (lightness: Double, chroma: Double), _ hue: Int) -> String {
    var chroma = color.chroma
    while true {
      let rgb = linear(color.lightness, max(0, chroma), hue).map(gamma)
      if chroma <= 0 || rgb.allSatisfy({ $0 >= -0.0005 && $0 <= 1.0005 }) {
        return "#"
          + rgb.map { part in
            let value = Int((255 * min(1, max(0, part))).rounded())
            return (value < 16 ? "0" : "") + String(value, radix: 16)
          }.joined()
      }
      chroma -= 0.004
    }
  }

  private static func linear(_ lightness: Double, _ chroma: Double, _ hue: Int) -> [Double] {
    let angle = Double(hue) * .pi / 180
    let (a, b) = (chroma * cos(angle), chroma * sin(angle))
    let l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b)
    let m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b)
    let s = cube(lightness - 0.0894841775 * a - 1.291485548 * b)
    return [
      4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
      -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
      -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
    ]
  }

  private static func cube(_ value: Double) -> Double { value * value * value }

  private static func gamma(_ value: Double) -> Double {
    value <= 0.0031308 ? 12.92 * value : 1.055 * pow(value, 1 / 2.4) - 0.055
  }
}

extension PageContext {
  /// The style sheet of a hue. It depends on nothing else.
  func hueSheet() throws(Refusal) -> Response {
    let name = request.parameters["hue"] ?? ""
    guard name.hasSuffix(".css"), let hue = Int(name.dropLast(".css".count)), SiteSettings.hues ~= hue,
      SiteColors.path(hue)?.hasSuffix("/\(name)") == true
    else { throw .notFound }
    return Self.file(Array(SiteColors.css(hue: hue).utf8), .forExtension("css"), caching: "public, max-age=86400")
  }
}
