// swift-tools-version: 6.2
import PackageDescription

/// Targets of this package. Parley has or had targets of the same names, and SwiftPM refuses two targets of one name.
let own = [
  "ACME", "API", "CFaultyVFS", "CLinux", "COpenSSL", "CSQLite", "CZlib", "Calling", "Community", "Crypto", "Dialects",
  "HTTPClient",
  "Imports", "Issuers", "JSON", "Mail", "Markup", "Media", "Model", "Networking", "OAuth", "OIDC", "Previews", "PubSub",
  "SQLite", "Samples", "Serving",
  "Storage",
  "TestSupport", "Web", "WebAuthn", "WebPush", "Webhooks", "Wire",
]

let kit: [Target.Dependency] = [
  .product(name: "ParleyKit", package: "parley"), .product(name: "ParleyTransport", package: "parley"),
]

func program(_ name: String, _ settings: SwiftSetting...) -> Target {
  .executableTarget(
    name: name, dependencies: kit + own.map { .target(name: $0) },
    swiftSettings: [.treatAllWarnings(as: .error)] + settings)
}

let modules: [Target] = own.map { name in
  .target(name: name, path: "Own", exclude: own.filter { $0 != name }.map { "\($0).swift" })
}

let package = Package(
  name: "consumer",
  dependencies: [.package(name: "parley", path: "../..")],
  targets: modules + [
    program("plain"),
    program("strict", .enableUpcomingFeature("MemberImportVisibility"), .defaultIsolation(MainActor.self)),
    // The program of /docs/libraries
    .executableTarget(name: "hello", dependencies: kit),
    // Examples/Chat
    program("chat", .enableUpcomingFeature("MemberImportVisibility"), .defaultIsolation(MainActor.self)),
  ]
)
