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

private let blossoms = digests.map { Picture.blossom($0) }
private let quilts = digests.map { Picture.quilt($0) }

@Test func `drawings are stable across releases`() throws {
  let users = try Digest.sha256(of: Array(blossoms.map(\.svg).joined().utf8))
  let forums = try Digest.sha256(of: Array(quilts.map(\.svg).joined().utf8))
  #expect(Hex.text(users) == "be503621daf50834a824849e02c24841d79ec61c1dd32e067b49d70aefe7b9c5")
  #expect(Hex.text(forums) == "b2cb09e819c3ee0610de5ed00212dc52195c899dedd43ab5e1f2e83cee7b75df")
}

@Test func `drawings differ between digests`() {
  #expect(Set(blossoms.map(\.svg)).count > 900)
  #expect(Set(quilts.map(\.svg)).count == digests.count)
}

@Test func `a drawing is small, well-formed and without external references`() {
  let short = [[], [255]].flatMap { [Picture.blossom($0), Picture.quilt($0)] }
  for svg in (blossoms.prefix(100) + quilts.prefix(100) + short).map(\.svg) {
    #expect(svg.utf8.count < 4_096)
    #expect(isWellFormed(svg))
    #expect(!svg.contains("href") && !svg.contains("script") && !svg.contains("url("))
  }
}

@Test(arguments: 0..<24)
func `a drawing has two tones in each theme, which are quiet and differ`(hue: UInt8) throws {
  for picture in [Picture.blossom([hue]), Picture.quilt([hue])] {
    let found = picture.svg.matches(of: try Regex("#([0-9a-f]{6})")).compactMap { match in
      match.output[1].substring.flatMap { UInt32($0, radix: 16) }
    }
    #expect(found.count == 4, "and no white")
    for (page, tones) in [(0xffffff, found.prefix(2)), (0x100e13, found.suffix(2))] as [(UInt32, ArraySlice<UInt32>)] {
      let (ground, figure) = try (#require(tones.first), #require(tones.last))
      #expect((1.1...1.8).contains(contrast(page, ground)))
      #expect((1.1...1.8).contains(contrast(ground, figure)))
    }
    #expect(picture.ground.hasPrefix("light-dark(#") && picture.figure.hasPrefix("light-dark(#"))
  }
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
