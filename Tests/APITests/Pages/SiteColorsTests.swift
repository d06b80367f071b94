import Testing

@testable import API

@Suite struct SiteColorsTests {
  /// Accent, accent-ink and accent-soft of `hueTokens` in `Public/js/app/core/hue.js`, light and dark.
  @Test(arguments: [
    (0, ["#b72164, #b72164", "#991451, #f78fb1", "#fee3ea, #401b28"]),
    (29, ["#be241b, #be241b", "#9e1710, #fc9384", "#ffe4e0, #421c17"]),
    (110, ["#6d6e0a, #6d6e0a", "#595901, #b9bb50", "#ecedd7, #2b2b01"]),
    (200, ["#0c777c, #0c777c", "#096165, #0accd5", "#d5f2f3, #052f31"]),
    (300, ["#7c44c3, #7c44c3", "#6635a3, #c1a0fb", "#eee7fd, #2e2142"]),
    (359, ["#b72166, #b72166", "#981453, #f790b2", "#fde3eb, #401b28"]),
  ])
  func `colours equal those of the app`(hue: Int, colors: [String]) {
    let css = SiteColors.css(hue: hue)
    for (name, pair) in zip(["accent", "accent-ink", "accent-soft"], colors) {
      #expect(css.contains("--\(name): light-dark(\(pair));"), "\(css)")
    }
  }

  @Test func `pages of a site with a hue link its style sheet`() async throws {
    try await Village.open(.inMemory) { village in
      #expect(try await village.page("/").attributes("href", after: "<link rel=\"stylesheet\"") == ["/css/page.css"])
      try await village.changeSettings(["hue": 120])
      let sheets = try await village.page("/").attributes("href", after: "<link rel=\"stylesheet\"")
      #expect(sheets == ["/css/page.css", "/css/hue/120.css"])
      let sheet = try await village.page(sheets[1])
      #expect(sheet.status == 200 && sheet.fields["content-type"] == "text/css; charset=utf-8")
      for path in ["/css/hue/360.css", "/css/hue/-1.css", "/css/hue/012.css", "/css/hue/x", "/css/hue/260.css"] {
        #expect(try await village.page(path).status == 404)
      }
    }
  }
}
