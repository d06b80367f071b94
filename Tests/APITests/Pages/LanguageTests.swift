import ParleyWire
import TestSupport
import Testing

@testable import API

@Suite struct LanguageTests {
  @Test(arguments: [
    ("ar", "", "ar"), ("ar-EG, en;q=0.5", "", "ar"), ("en;q=0.5, AR;q=0.9", "", "ar"), ("fr, ar;q=0.1", "", "ar"),
    ("fr, *", "", "en"), ("ar;q=0", "", "en"), ("", "", "en"), ("a;;q=2, ,", "", "en"), ("ar", "language=en", "en"),
    ("en", "language=ar", "ar"), ("ar", "language=fr", "ar"), ("en", "language=../ar", "en"),
  ])
  func `the cookie chooses a language, then the browser`(accepted: String, cookie: String, code: String) {
    var fields: Fields = ["Accept-Language": accepted]
    if !cookie.isEmpty { fields.add("Cookie", cookie) }
    #expect(Village.languages.code(for: fields) == code)
  }

  @Test func `a request without preferences is answered in English`() {
    #expect(Village.languages.code(for: Fields()) == "en")
  }

  @Test func `a file without a text is refused`() {
    #expect(throws: (any Error).self) { try Languages(["en": Array(#"{"navigation.forums": "Forums"}"#.utf8)]) }
  }

  @Test(arguments: [
    ("en", [0: "other", 1: "one", 2: "other", 1_000_000: "other"]),
    ("de", [0: "other", 1: "one", 2: "other"]),
    ("fr", [0: "one", 1: "one", 2: "other", 1_000_000: "many", 1_000_001: "other"]),
    ("es", [0: "other", 1: "one", 2: "other", 2_000_000: "many"]),
    ("ja", [0: "other", 1: "other"]),
    ("ar", [0: "zero", 1: "one", 2: "two", 3: "few", 10: "few", 11: "many", 99: "many", 100: "other", 103: "few"]),
    ("ru", [1: "one", 3: "few", 5: "many", 11: "many", 21: "one", 112: "many"]),
    ("pl", [1: "one", 2: "few", 5: "many", 21: "many", 22: "few"]),
    ("cs", [1: "one", 4: "few", 5: "other"]),
    ("pt-BR", [0: "one", 2: "other"]), ("zh-Hant", [1: "other"]),
  ])
  func `a number has the plural category of its language`(language: String, categories: [Int: String]) {
    for (count, category) in categories {
      #expect(PluralRule.category(of: count, in: language) == category, "\(count)")
    }
  }

  @Test func `Arabic has its forms, dates and isolated names`() throws {
    let words = Village.languages.words(for: ["Accept-Language": "ar"])
    #expect(
      [0, 1, 2, 3, 11, 100].map { words.replies($0) } == ["لا ردود", "رد واحد", "ردّان", "3 ردود", "11 ردًا", "100 رد"])
    #expect(words.minute(1_777_842_240_000) == "3 مايو 2026، 21:04")
    #expect(words.replyTo("Grace {name}") == "رد على \u{2068}Grace {name}\u{2069}")
    #expect(words.forms(.newPosts).contains(#""other":"{n} مشاركة جديدة""#))
  }

  @Test func `a page has the language of its request`() async throws {
    try await Village.open(.inMemory) { village in
      let (forum, _) = try await village.garden("Garden", "public")
      let topic = try await village.topic("Frost", in: forum)
      let id = try await village.post("Cover the beds.", in: topic, by: "grace")
      let paths = [
        "/", "/forums", "/f/\(forum)", "/f/\(forum)/room", "/t/\(topic)", "/u/ada", "/m/\(id)/report", "/t/404",
      ]
      for path in paths {
        let english = try await village.page(path)
        #expect(english.text.contains(#"<html lang="en" dir="ltr">"#), "\(path)")
        let arabic = try await village.page(path, fields: ["Accept-Language": "ar"])
        #expect(arabic.text.contains(#"<html lang="ar" dir="rtl">"#), "\(path)")
        #expect(arabic.text.contains("المنتديات") && !arabic.text.contains("Sign in"), "\(path)")
        let kept = Set(arabic.fields.list("vary").map { $0.lowercased() })
        #expect(kept.isSuperset(of: ["accept-language", "cookie"]), "\(path)")
        // The tag of one language does not stand for another.
        if let tag = english.fields["etag"] {
          let other = try await village.page(path, fields: ["Accept-Language": "ar", "If-None-Match": tag])
          #expect(other.status == 200, "\(path)")
        }
      }
    }
  }
}
