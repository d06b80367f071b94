import Foundation
import Testing

@testable import API

/// Helpers for tests of pages: what a browser or a search engine takes from one.
extension Answer {
  /// The values of an attribute in the document order, such as `href` of `<link rel="next"`.
  func attributes(_ name: String, after start: String) -> [String] {
    text.components(separatedBy: start).dropFirst().compactMap { rest in
      let tag = rest.prefix { $0 != ">" }
      guard let found = tag.range(of: " \(name)=\"") else { return nil }
      return tag[found.upperBound...].prefix { $0 != "\"" }.replacingOccurrences(of: "&amp;", with: "&")
    }
  }

  func attribute(_ name: String, after start: String) -> String? { attributes(name, after: start).first }

  /// The text between two strings.
  func between(_ start: String, _ end: String) -> String? {
    guard let from = text.range(of: start), let to = text.range(of: end, range: from.upperBound..<text.endIndex)
    else { return nil }
    return String(text[from.upperBound..<to.lowerBound])
  }

  /// The JSON-LD documents, by their type.
  func structuredData() throws -> [String: [String: Any]] {
    var found: [String: [String: Any]] = [:]
    for part in text.components(separatedBy: "<script type=\"application/ld+json\">").dropFirst() {
      let json = try #require(part.components(separatedBy: "</script>").first)
      let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
      #expect(object["@context"] as? String == "https://schema.org")
      found[try #require(object["@type"] as? String)] = object
    }
    return found
  }

  /// The ids of the posts.
  var posts: [String] { attributes("id", after: "<article class=\"post").map { String($0.dropFirst()) } }

  /// The paths of all links and resources of the site.
  var paths: Set<String> {
    var paths: Set<String> = []
    for name in ["href", "src", "content"] {
      for address in attributes(name, after: "<") {
        let path = address.replacingOccurrences(of: "http://localhost", with: "")
        if path.hasPrefix("/"), !path.hasPrefix("//") { paths.insert(String(path.prefix { $0 != "#" })) }
      }
    }
    for part in text.components(separatedBy: "<loc>http://localhost").dropFirst() {
      paths.insert(String(part.prefix { $0 != "<" }))
    }
    return paths
  }
}

extension Village {
  /// Follows every link from these paths as a visitor does, and returns each answer.
  func crawl(from paths: [String]) async throws -> [String: Answer] {
    var seen: [String: Answer] = [:]
    var waiting = paths
    while let path = waiting.popLast() {
      guard seen[path] == nil, !path.hasPrefix("/css/"), !path.hasPrefix("/js/") else { continue }
      let answer = try await page(path)
      seen[path] = answer
      if let location = answer.fields["location"] { waiting.append(String(location.prefix { $0 != "#" })) }
      if answer.fields["content-type"]?.contains("json") != true { waiting += answer.paths }
    }
    return seen
  }

  func makeSolvable(_ forum: String) async throws {
    let answer = try await request(.patch, "/forums/\(forum)", as: "ada", ["solvable": true])
    #expect(answer.status == 200, "\(answer.text)")
  }

  /// Posts to a topic as `name`; returns the ids.
  func posts(_ texts: [String], in topic: String, by name: String = "grace") async throws -> [String] {
    var ids: [String] = []
    for text in texts { ids.append(try await post(text, in: topic, by: name)) }
    return ids
  }
}
