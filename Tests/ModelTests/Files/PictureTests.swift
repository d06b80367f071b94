import Foundation
import FoundationXML
import ParleyCrypto
import ParleyModel
import TestSupport
import Testing

/// 1,000 digests over all hues.
private let digests: [[UInt8]] = {
  var random = Seeded(seed: 7)
  return (0..<1_000).map { number in
    [UInt8(number % 24)] + (0..<31).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }
}()

private func isWellFormed(_ svg: String) -> Bool {
  XMLParser(data: Data(svg.utf8)).parse()
}

@Test func `drawings are stable across releases`() throws {
  let blossoms = try Digest.sha256(of: Array(digests.map(Picture.blossom).joined().utf8))
  let quilts = try Digest.sha256(of: Array(digests.map(Picture.quilt).joined().utf8))
  #expect(Hex.text(blossoms) == "79c9016ae1479eb175b77433d59bbec6a0668e1d9151f3a3433b35fc7d2e761f")
  #expect(Hex.text(quilts) == "30ff912431960f51f53262aad127bfe992cd5694a758fc49f231ed732322ff3c")
}

@Test func `drawings differ between digests`() {
  #expect(Set(digests.map(Picture.blossom)).count > 900)
  #expect(Set(digests.map(Picture.quilt)).count == digests.count)
}

@Test func `a drawing is small, well-formed and without external references`() {
  for digest in digests.prefix(100) + [[], [255]] {
    for svg in [Picture.blossom(digest), Picture.quilt(digest)] {
      #expect(svg.utf8.count < 4_096)
      #expect(isWellFormed(svg))
      #expect(!svg.contains("href") && !svg.contains("style") && !svg.contains("script") && !svg.contains("url("))
    }
  }
}

@Test(arguments: 0..<24)
func `every hue has contrast to light and dark pages, and its shapes to the hue`(hue: UInt8) throws {
  for companion in 0..<5 as Range<UInt8> {
    let fills = try Regex("fill=\"#([0-9a-f]{6})\"")
    let colors = Picture.quilt([hue, companion]).matches(of: fills).compactMap { match in
      match.output[1].substring.flatMap { UInt32($0, radix: 16) }
    }
    let ground = try #require(colors.first)
    let dark = try #require(colors.first { $0 != ground })
    let light = try #require(colors.first { $0 != ground && $0 != dark })
    for page in [0xfbfaf8, 0xffffff, 0x141217, 0x100e13] as [UInt32] { #expect(contrast(ground, page) >= 3) }
    for color in [light, 0xf6f4f1] {
      #expect(contrast(color, ground) >= 3)
      #expect(contrast(color, dark) >= 3)
    }
  }
}

@Test func `a hue has five companions`() {
  let lights = Set((0..<5).map { Picture.quilt([0, $0, 0, 0, 0, 0, 0, 0, 0, 0]) })
  #expect(lights.count == 5)
}

/// WCAG 2.2, relative luminance and contrast ratio.
private func contrast(_ one: UInt32, _ other: UInt32) -> Double {
  let (darker, lighter) = (min(luminance(one), luminance(other)), max(luminance(one), luminance(other)))
  return (lighter + 0.05) / (darker + 0.05)
}

private func luminance(_ color: UInt32) -> Double {
  let parts = [16, 8, 0].map { shift in
    let value = Double(color >> UInt32(shift) & 0xff) / 255
    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
  }
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
}
