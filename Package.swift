// swift-tools-version: 6.2
import PackageDescription

/// Swift 6, every warning an error, every unsafe expression marked.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

/// The Testing macros expand to code that strict memory safety would flag, so tests leave that one out.
let relaxed: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
]

func sources(
  _ name: String, in folder: String, exclude: [String] = [], settings: [SwiftSetting] = [],
  _ dependencies: Target.Dependency...
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: folder, exclude: ["README.md"] + exclude,
    swiftSettings: strict + settings)
}

/// Code that waits for people and networks more than it computes is optimized for size. Packages that depend on this one cannot use
/// such a target.
let cold: [SwiftSetting] = [.unsafeFlags(["-Osize"], .when(configuration: .release))]

/// `ParleyKit/Foundation` is part of ParleyKit on Apple platforms, where Foundation belongs to the system. On Linux it is part
/// of ParleyURLSession, so that a program without Foundation stays small.
func foundation(on platforms: [Platform]) -> [SwiftSetting] {
  [.define("PARLEY_FOUNDATION", .when(platforms: platforms))]
}

/// No program is loaded at run time, so it exports no symbols, and its relocations are packed: 2.4 MB less to read at
/// start. Only `lld` packs them.
let compact: [LinkerSetting] = [
  .unsafeFlags([
    "-use-ld=lld", "-Xlinker", "--no-export-dynamic", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
  ])
]

func program(_ name: String, in folder: String, _ dependencies: Target.Dependency...) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: folder, exclude: ["README.md"], swiftSettings: strict,
    linkerSettings: compact)
}

func tests(
  _ name: String, in folder: String? = nil, exclude: [String] = [], _ dependencies: Target.Dependency...
) -> Target {
  .testTarget(
    name: name, dependencies: dependencies, path: folder ?? "Tests/\(name)", exclude: exclude, swiftSettings: relaxed)
}

func support(_ name: String, in folder: String, exclude: [String] = [], _ dependencies: Target.Dependency...) -> Target
{
  .target(name: name, dependencies: dependencies, path: folder, exclude: exclude, swiftSettings: relaxed)
}

/// C libraries of the system.
let system: [Target] = [
  .systemLibrary(name: "CParleyLinux", path: "Sources/System/Linux"),
  .systemLibrary(
    name: "CParleyOpenSSL", path: "Sources/System/OpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
  .systemLibrary(
    name: "CParleySQLite", path: "Sources/System/SQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
  .systemLibrary(
    name: "CParleyZlib", path: "Sources/System/Zlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
]

/// Targets that the server and the kit share. Their names have a prefix, because a package that depends on the kit may
/// have a target named `Model` or `JSON` of its own.
let shared: [Target] = [
  sources("ParleyJSON", in: "Sources/Shared/JSON"),
  // Apple platforms have CryptoKit instead.
  sources(
    "ParleyCrypto", in: "Sources/Shared/Crypto", .target(name: "CParleyOpenSSL", condition: .when(platforms: [.linux]))),
  sources("ParleyWire", in: "Sources/Shared/Wire", "CParleyZlib", "ParleyCrypto", "ParleyJSON"),
  sources("ParleyNetworking", in: "Sources/Shared/Networking", "CParleyLinux", "CParleyOpenSSL"),
  sources("ParleyHTTPClient", in: "Sources/Shared/HTTPClient", "ParleyNetworking", "ParleyWire"),
  sources("ParleySQLite", in: "Sources/Shared/SQLite", "CParleySQLite", "ParleyCrypto"),
  sources("ParleyMarkup", in: "Sources/Shared/Markup"),
  sources("ParleyModel", in: "Sources/Shared/Model", "ParleyJSON"),
]

let server: [Target] = [
  sources("Media", in: "Sources/Server/Media"),
  sources("PubSub", in: "Sources/Server/PubSub", "ParleyModel"),
  sources(
    "ACME", in: "Sources/Server/ACME", settings: cold, "ParleyHTTPClient", "ParleyNetworking", "ParleyWire",
    "ParleyCrypto",
    "ParleyJSON"),
  sources(
    "OIDC", in: "Sources/Server/OIDC", settings: cold, "OAuth", "ParleyModel", "ParleyCrypto", "ParleyWire",
    "ParleyJSON"),
  sources(
    "Issuers", in: "Sources/Server/Issuers", settings: cold, "OIDC", "ParleyHTTPClient", "ParleyNetworking",
    "ParleyWire"),
  sources(
    "Mail", in: "Sources/Server/Mail", settings: cold, "ParleyModel", "ParleyHTTPClient", "ParleyNetworking",
    "ParleyWire",
    "ParleyCrypto", "ParleyJSON"),
  sources("WebPush", in: "Sources/Server/WebPush", "ParleyCrypto", "ParleyWire", "ParleyJSON"),
  sources(
    "WebAuthn", in: "Sources/Server/WebAuthn", settings: cold, "ParleyModel", "ParleyCrypto", "ParleyWire", "ParleyJSON"
  ),
  sources(
    "OAuth", in: "Sources/Server/OAuth", settings: cold, "ParleyModel", "ParleyCrypto", "ParleyWire", "ParleyJSON"),
  sources(
    "Imports", in: "Sources/Server/Imports", settings: cold, "ParleyCrypto", "ParleyWire", "ParleyJSON"),
  sources(
    "Storage", in: "Sources/Server/Storage", "CParleyLinux", "ParleySQLite", "ParleyModel", "ParleyCrypto", "ParleyJSON"
  ),
  sources(
    "Community", in: "Sources/Server/Community",
    exclude: [
      "Access/README.md", "Forums/README.md", "Messages/README.md", "SignIn/README.md", "Users/README.md",
      "Webhooks/README.md",
    ], "ParleyModel", "ParleyMarkup", "Media", "Imports", "Storage", "PubSub",
    "WebPush", "WebAuthn", "OAuth", "OIDC", "Mail", "ParleyCrypto", "ParleyJSON"),
  sources(
    "Previews", in: "Sources/Server/Previews", settings: cold, "ParleyHTTPClient", "Media", "ParleyWire", "ParleyJSON"),
  sources(
    "Webhooks", in: "Sources/Server/Webhooks", settings: cold, "Community", "Storage", "PubSub", "ParleyModel",
    "ParleyHTTPClient",
    "ParleyWire", "ParleyCrypto", "ParleyJSON"),
  sources("Web", in: "Sources/Server/Web", "ParleyWire", "ParleyJSON"),
  sources("Serving", in: "Sources/Server/Serving", "ParleyNetworking", "ParleyWire", "Web", "ParleyJSON"),
  sources(
    "API", in: "Sources/Server/API", "Community", "WebAuthn", "OAuth", "OIDC", "Mail", "PubSub", "ParleyModel",
    "ParleyMarkup",
    "Previews",
    "Web",
    "ParleyWire",
    "ParleyJSON"),
  sources(
    "Dialects", in: "Sources/Server/Dialects", settings: cold, "API", "Community", "Storage", "PubSub", "ParleyModel",
    "Web",
    "ParleyWire", "ParleyCrypto", "ParleyJSON"),
]

let kit: [Target] = [
  sources(
    "ParleyKit", in: "Sources/Kit/ParleyKit", settings: foundation(on: [.macOS, .iOS, .tvOS, .watchOS, .visionOS]),
    "ParleySQLite", "ParleyModel", "ParleyMarkup", "ParleyCrypto", "ParleyJSON"),
  sources(
    "ParleyTransport", in: "Sources/Kit/ParleyTransport", "ParleyKit", "ParleyHTTPClient", "ParleyNetworking",
    "ParleyWire"),
  sources(
    "ParleyURLSession", in: "Sources/Kit/ParleyURLSession", settings: foundation(on: [.linux]), "ParleyKit"),
]

/// An executable can't be imported by another one, so `ParleyProgram` has all but the call of it.
let programs: [Target] = [
  sources(
    "ParleyProgram", in: "Sources/parley", exclude: ["Main"], settings: cold, "API", "Dialects", "Community", "PubSub",
    "Serving",
    "ParleyNetworking", "ParleyHTTPClient", "Previews", "Webhooks", "WebPush", "Mail", "ACME", "OIDC", "Issuers",
    "ParleyKit",
    "ParleyTransport", "ParleyWire", "Web", "Storage", "ParleyModel", "ParleyJSON", "ParleyCrypto", "CParleyLinux"),
  program("parley", in: "Sources/parley/Main", "ParleyProgram"),
  program(
    "parley-bench", in: "Tests/bench/parley-bench", "Serving", "ParleyNetworking", "ParleyWire", "Web", "Storage",
    "ParleySQLite", "ParleyModel", "ParleyKit", "ParleyTransport", "ParleyJSON", "ParleyCrypto"),
]

/// `Samples` is a target of its own to show that apps need only the public part of the kit.
let testSupport: [Target] = [
  .target(name: "CFaultyVFS", dependencies: ["CParleySQLite"], path: "Tests/TestSupport/CFaultyVFS"),
  support(
    "TestSupport", in: "Tests/TestSupport", exclude: ["CFaultyVFS"], "CFaultyVFS", "ParleySQLite", "Storage",
    "ParleyModel", "ParleyCrypto", "ParleyWire"),
  support("Samples", in: "Tests/Samples", "ParleyKit"),
  .executableTarget(
    name: "crash-writer", dependencies: ["TestSupport", "Storage", "ParleyModel"], path: "Tests/Crash/crash-writer",
    swiftSettings: relaxed),
  .executableTarget(
    name: "cache-holder", dependencies: ["ParleyKit"], path: "Tests/SharedCache/cache-holder", swiftSettings: relaxed),
  .executableTarget(
    name: "parley-loopback", dependencies: ["ParleyProgram", "ParleyHTTPClient", "ParleyWire"],
    path: "Tests/Loopback/parley-loopback", swiftSettings: strict, linkerSettings: compact),
]

let testTargets: [Target] = [
  tests("ArchitectureTests", "ParleyCrypto"),
  tests("JSONTests", "ParleyJSON", "TestSupport"),
  tests("CryptoTests", "ParleyCrypto"),
  tests("WireTests", "ParleyWire", "TestSupport"),
  tests("NetworkingTests", "ParleyNetworking", "TestSupport"),
  tests(
    "HTTPClientTests", "ParleyHTTPClient", "ParleyNetworking", "ParleyWire", "Serving", "Web", "TestSupport"),
  tests("SQLiteTests", "ParleySQLite", "ParleyCrypto", "TestSupport"),
  tests("MarkupTests", "ParleyMarkup", "TestSupport"),
  tests("ModelTests", "ParleyModel", "ParleyJSON", "ParleyCrypto", "TestSupport"),
  tests("MediaTests", "Media", "TestSupport"),
  tests("ImportsTests", "Imports", "ParleyCrypto", "ParleyJSON", "ParleyWire", "TestSupport"),
  tests("PubSubTests", "PubSub", "ParleyModel", "TestSupport"),
  tests("StorageTests", "Storage", "ParleySQLite", "ParleyModel", "ParleyJSON", "ParleyCrypto", "TestSupport"),
  tests("CrashTests", in: "Tests/Crash/CrashTests", "crash-writer", "Storage", "ParleySQLite", "TestSupport"),
  tests("CommunityTests", "Community", "Storage", "ParleyModel"),
  tests("PreviewsTests", "Previews", "ParleyHTTPClient", "ParleyWire", "ParleyJSON", "TestSupport"),
  tests("WebTests", "Web"),
  tests("WebPushTests", "WebPush", "ParleyCrypto", "ParleyWire", "ParleyJSON"),
  tests("WebAuthnTests", "WebAuthn", "ParleyModel", "ParleyCrypto", "ParleyWire", "ParleyJSON", "TestSupport"),
  tests("OIDCTests", "OIDC", "ParleyModel", "ParleyCrypto", "ParleyWire", "ParleyJSON"),
  tests("OAuthTests", "OAuth", "ParleyModel", "ParleyWire", "ParleyJSON"),
  tests("ACMETests", "ACME", "ParleyNetworking", "ParleyCrypto", "ParleyWire", "ParleyJSON"),
  tests("MailTests", "Mail", "ParleyModel", "ParleyNetworking", "ParleyWire", "ParleyJSON"),
  tests("ServingTests", "Serving", "ParleyNetworking", "ParleyWire", "Web", "TestSupport"),
  tests(
    "APITests", "API", "Dialects", "Community", "PubSub", "Storage", "ParleySQLite", "ParleyModel", "ParleyCrypto",
    "Serving",
    "ParleyNetworking", "Web", "ParleyWire", "ParleyJSON", "ParleyMarkup", "Previews", "Webhooks", "WebPush",
    "WebAuthn", "OAuth",
    "OIDC",
    "Mail",
    "ParleyHTTPClient",
    "TestSupport"),
  tests(
    "CheckerTests", "API", "Community", "ParleyKit", "PubSub", "Storage", "ParleySQLite", "ParleyModel",
    "ParleyCrypto", "Web", "ParleyWire", "ParleyJSON", "TestSupport"),
  tests(
    "ParleyKitTests", exclude: ["README.md"], "parley", "cache-holder", "Samples", "ParleyKit", "ParleyTransport",
    "ParleyURLSession",
    "ParleyHTTPClient",
    "API", "Community", "WebPush",
    "PubSub", "Storage", "ParleySQLite", "ParleyModel", "ParleyCrypto", "Serving", "ParleyNetworking", "Web",
    "ParleyWire", "ParleyJSON", "TestSupport"),
  tests("CommandTests", "ParleyProgram", "Storage", "ParleyJSON"),
  tests("BenchTests", "parley-bench", "ParleyNetworking"),
]

/// The programs are no products: a product makes SwiftPM compare the names of all its targets with those of a package that
/// depends on the kit. The platforms are those of `Array.span`, `UTF8Span` and `InlineArray`; `Mutex` and Observation came earlier.
let package = Package(
  name: "parley",
  platforms: [.macOS(.v26), .iOS(.v26), .tvOS(.v26), .watchOS(.v26), .visionOS(.v26)],
  products: [
    .library(name: "ParleyKit", targets: ["ParleyKit"]),
    .library(name: "ParleyTransport", targets: ["ParleyTransport"]),
    .library(name: "ParleyURLSession", targets: ["ParleyURLSession"]),
  ],
  targets: system + shared + server + kit + programs + testSupport + testTargets
)
