import Foundation
import TestSupport
import Testing

@testable import API

@Suite struct ManifestTests {
  @Test func `the manifest has the name, the colour and the icon of the site`() async throws {
    try await Village.open(.inMemory) { village in
      try await village.changeSettings(["name": "The Allotment Society", "hue": 110])
      var manifest = try await village.page("/app.webmanifest")
      #expect(manifest.status == 200 && manifest.fields["content-type"] == "application/manifest+json")
      #expect(manifest["name"] == "The Allotment Society" && manifest["short_name"] == "The")
      #expect(manifest["theme_color"] == "#6d6e0a" && manifest["start_url"] == "/" && manifest["id"] == "/")
      #expect(manifest["icons.0.src"] == "/api/v1/icon" && manifest["icons.0.type"] == "image/svg+xml")
      #expect(manifest["icons.1.purpose"] == "maskable" && manifest["shortcuts.0.url"] == "/forums")
      #expect(manifest["share_target.action"] == "/share" && manifest["share_target.params.files.0.name"] == "files")

      var touch = try await village.page("/apple-touch-icon.png")
      #expect(touch.status == 302 && touch.fields["location"] == "/icon-touch.png")

      let icon = try await village.send(Photographs.png(), named: "icon.png", by: "ada")
      try await village.changeSettings(["name": "Allotment", "icon_file": try #require(icon["id"])])
      manifest = try await village.page("/app.webmanifest")
      #expect(manifest["short_name"] == "Allotment" && manifest["icons.0.type"] == "image/png")
      #expect(manifest["icons.0.sizes"] == "\(icon.int("width") ?? 0)x\(icon.int("height") ?? 0)")
      let isLarge = min(icon.int("width") ?? 0, icon.int("height") ?? 0) >= 144
      touch = try await village.page("/apple-touch-icon.png")
      #expect(touch.fields["location"] == (isLarge ? "/api/v1/icon" : "/icon-touch.png"))
      #expect(try await village.page("/share").fields["location"] == "/sign-in?back=/share")
    }
  }

  @Test(arguments: [
    ("Garden", "Garden"), ("Knitting club", "Knitting"), ("Garden of Eden", "Garden of"),
    ("Donaudampfschiff", "Donaudampfsc"), ("", ""),
  ])
  func `a short name has at most twelve characters`(name: String, short: String) {
    #expect(PageContext.shortName(name) == short)
  }
}
