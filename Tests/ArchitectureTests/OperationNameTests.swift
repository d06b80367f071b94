import Foundation
import Testing

/// One operation has one name: `operationId`, handler of the route, function of Community, ParleyKit.
/// `Tests/web/sdk/endpoints.test.mjs` compares the JavaScript SDK.
@Suite struct OperationNameTests {
  /// The name of each operation of the contract, by `method path`.
  private static func operations() throws -> [String: String] {
    let data = try Data(contentsOf: Package.root.appending(path: "Public/openapi.json"))
    let document = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let paths = try #require(document["paths"] as? [String: [String: Any]])
    var names: [String: String] = [:]
    for (path, methods) in paths {
      for (method, operation) in methods {
        guard let operation = operation as? [String: Any], operation["responses"] != nil else { continue }
        names["\(method) \(path)"] = try #require(operation["operationId"] as? String, "\(method) \(path)")
      }
    }
    return names
  }

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: Package.root.appending(path: path), encoding: .utf8)
  }

  @Test func `each route's handler has the name of its operation`() throws {
    let route = try Regex(#"Endpoint\(\s*\.(\w+), "([^"]+)",[^"]*?(\w+)\),?\n"#)
    var handlers: [String: String] = [:]
    for match in try Self.text("Sources/Server/API/Routes.swift").matches(of: route) {
      let parts = (1...3).compactMap { match.output[$0].substring.map(String.init) }
      handlers["\(parts[0]) \(parts[1])"] = parts[2]
    }
    let operations = try Self.operations()
    #expect(operations.count > 100)
    #expect(handlers == operations)
  }

  /// Operations without a public function of this name below a folder.
  private static func missing(under folder: String) throws -> Set<String> {
    let declaration = try Regex(#"public (?:static )?func (\w+)"#)
    var names: Set<String> = []
    for file in try Package.files(under: folder, ending: ".swift") {
      names.formUnion(file.text.matches(of: declaration).compactMap { $0.output[1].substring.map(String.init) })
    }
    return Set(try operations().values).subtracting(names)
  }

  @Test func `ParleyKit has each operation by its name`() throws {
    #expect(try Self.missing(under: "Sources/Kit/ParleyKit/Client") == [])
  }

  @Test func `Community has each operation by its name`() throws {
    #expect(try Self.missing(under: "Sources/Server/Community") == Self.withoutFunction)
  }

  /// Operations that share a function with others, or need none: they stream bytes or events.
  private static let withoutFunction: Set<String> = [
    "blockUser", "followUser", "muteUser", "unblockUser", "unfollowUser", "unmuteUser", "listBlockedUsers",
    "listMutedUsers", "listSessions", "listTokens", "markDelivered", "markRead", "resetConversationLevel",
    "resetForumLevel", "createLinkPreview", "getLinkPreviewPicture", "getFileContent",
    "getFilePreview", "openRealtime", "streamEvents", "sync", "uploadFile",
  ]
}
