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
let tests: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
  name: "parley",
  targets: [
    .systemLibrary(name: "CLinux", path: "Sources/CLinux"),
    .systemLibrary(name: "COpenSSL", path: "Sources/COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
      name: "CSQLite", path: "Sources/CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CZlib", path: "Sources/CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

    .target(name: "JSON", exclude: ["README.md"], swiftSettings: strict),
    .target(name: "Crypto", dependencies: ["COpenSSL"], exclude: ["README.md"], swiftSettings: strict),
    .target(name: "Wire", dependencies: ["CZlib", "Crypto", "JSON"], exclude: ["README.md"], swiftSettings: strict),
    .target(name: "Networking", dependencies: ["CLinux", "COpenSSL"], exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "Outgoing", dependencies: ["Calling", "Networking", "Wire"], exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "Previews", dependencies: ["Outgoing", "Media", "Wire", "JSON"], exclude: ["README.md"],
      swiftSettings: strict),
    .target(name: "SQLite", dependencies: ["CSQLite", "Crypto"], exclude: ["README.md"], swiftSettings: strict),
    .target(name: "Markup", exclude: ["README.md"], swiftSettings: strict),
    .target(name: "Media", exclude: ["README.md"], swiftSettings: strict),
    .target(name: "Model", dependencies: ["JSON"], exclude: ["README.md"], swiftSettings: strict),
    .target(name: "PubSub", dependencies: ["Model"], exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "Storage", dependencies: ["SQLite", "Model", "Crypto", "JSON"], exclude: ["README.md"],
      swiftSettings: strict),
    .target(
      name: "Community", dependencies: ["Model", "Markup", "Media", "Storage", "PubSub", "Crypto"],
      exclude: ["README.md"],
      swiftSettings: strict),
    .target(
      name: "API", dependencies: ["Community", "PubSub", "Model", "Previews", "Web", "Wire", "JSON"],
      exclude: ["README.md"], swiftSettings: strict),
    .target(name: "Web", dependencies: ["Wire", "JSON"], exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "Serving", dependencies: ["Networking", "Wire", "Web", "JSON"], exclude: ["README.md"],
      swiftSettings: strict),
    .target(name: "Calling", dependencies: ["Networking", "Wire"], exclude: ["README.md"], swiftSettings: strict),
    .target(
      name: "ParleyKit", dependencies: ["SQLite", "Model", "Markup", "Crypto", "JSON"], exclude: ["README.md"],
      swiftSettings: strict),
    .target(
      name: "ParleyTransport", dependencies: ["ParleyKit", "Calling", "Networking", "Wire"], exclude: ["README.md"],
      swiftSettings: strict),

    .executableTarget(
      name: "parley",
      dependencies: [
        "API", "Community", "PubSub", "Serving", "Networking", "Outgoing", "Previews", "ParleyKit", "ParleyTransport",
        "Wire", "Web", "Storage", "Model", "JSON", "Crypto",
      ],
      exclude: ["README.md"], swiftSettings: strict),
    .executableTarget(
      name: "parley-bench",
      dependencies: [
        "Serving", "Networking", "Wire", "Web", "Storage", "SQLite", "Model", "ParleyKit", "ParleyTransport", "JSON",
        "Crypto",
      ],
      exclude: ["README.md"], swiftSettings: strict),

    .target(name: "SeededRandom", path: "Tests/SeededRandom", swiftSettings: tests),
    .testTarget(name: "JSONTests", dependencies: ["JSON", "SeededRandom"], swiftSettings: tests),
    .testTarget(name: "ModelTests", dependencies: ["Model", "JSON", "Crypto", "SeededRandom"], swiftSettings: tests),
    .testTarget(name: "PubSubTests", dependencies: ["PubSub", "Model", "SeededRandom"], swiftSettings: tests),
    .testTarget(name: "CryptoTests", dependencies: ["Crypto"], swiftSettings: tests),
    .testTarget(name: "WireTests", dependencies: ["Wire", "SeededRandom"], swiftSettings: tests),
    .testTarget(name: "NetworkingTests", dependencies: ["Networking", "SeededRandom"], swiftSettings: tests),
    .target(name: "CannedServer", path: "Tests/CannedServer", swiftSettings: tests),
    .testTarget(
      name: "OutgoingTests", dependencies: ["Outgoing", "Networking", "Wire", "Serving", "Web", "CannedServer"],
      swiftSettings: tests),
    .testTarget(
      name: "PreviewsTests",
      dependencies: ["Previews", "Outgoing", "Wire", "JSON", "CannedServer", "Pictures", "SeededRandom"],
      swiftSettings: tests),
    .target(name: "CFaultyVFS", dependencies: ["CSQLite"], path: "Tests/CFaultyVFS"),
    .target(
      name: "FaultyDisk", dependencies: ["CFaultyVFS", "SQLite"], path: "Tests/FaultyDisk", swiftSettings: tests),
    .testTarget(
      name: "SQLiteTests", dependencies: ["SQLite", "FaultyDisk", "Crypto", "SeededRandom"], swiftSettings: tests),
    .testTarget(
      name: "StorageTests",
      dependencies: ["Storage", "SQLite", "Model", "JSON", "Crypto", "FaultyDisk", "Promises", "SeededRandom"],
      swiftSettings: tests),
    .testTarget(
      name: "CommunityTests", dependencies: ["Community", "Storage", "Model"], swiftSettings: tests),
    .testTarget(
      name: "APITests",
      dependencies: [
        "API", "Community", "PubSub", "Storage", "SQLite", "Model", "Crypto", "Serving", "Networking", "Web", "Wire",
        "JSON", "Pictures", "SeededRandom", "Previews", "Outgoing", "CannedServer",
      ],
      swiftSettings: tests),
    .testTarget(
      name: "CheckerTests",
      dependencies: [
        "API", "Community", "ParleyKit", "PubSub", "Storage", "SQLite", "Model", "Crypto", "Web", "Wire", "JSON",
        "SeededRandom",
      ],
      swiftSettings: tests),
    .target(
      name: "Promises", dependencies: ["Storage", "SQLite", "Model"], path: "Tests/Promises", swiftSettings: tests),
    .executableTarget(
      name: "crash-writer", dependencies: ["Promises", "Storage", "Model", "SeededRandom"], path: "Tests/CrashWriter",
      swiftSettings: tests),
    .testTarget(
      name: "CrashTests", dependencies: ["crash-writer", "Promises", "Storage", "SQLite", "SeededRandom"],
      swiftSettings: tests),
    .testTarget(
      name: "MarkupTests", dependencies: ["Markup", "SeededRandom"], exclude: ["cases.json"], swiftSettings: tests),
    .target(name: "Pictures", path: "Tests/Pictures", swiftSettings: tests),
    .testTarget(name: "MediaTests", dependencies: ["Media", "Pictures", "SeededRandom"], swiftSettings: tests),
    .testTarget(name: "WebTests", dependencies: ["Web"], swiftSettings: tests),
    .testTarget(
      name: "ServingTests", dependencies: ["Serving", "Networking", "Wire", "Web", "SeededRandom"], swiftSettings: tests
    ),
    .testTarget(
      name: "CallingTests", dependencies: ["Calling", "Serving", "Networking", "Web", "Wire"], swiftSettings: tests),
    .target(
      name: "Samples", dependencies: ["ParleyKit", "Model", "JSON"], path: "Tests/Samples", swiftSettings: tests),
    .testTarget(
      name: "ParleyKitTests",
      dependencies: [
        "parley", "Samples", "ParleyKit", "ParleyTransport", "Calling", "API", "Community", "PubSub", "Storage",
        "SQLite", "Model", "Crypto", "Serving", "Networking", "Web", "Wire", "JSON", "SeededRandom", "Pictures",
      ],
      swiftSettings: tests),
    .testTarget(name: "BenchTests", dependencies: ["parley-bench", "Networking"], swiftSettings: tests),
    .testTarget(name: "CommandTests", dependencies: ["parley", "Storage", "JSON"], swiftSettings: tests),
    .testTarget(name: "ArchitectureTests", dependencies: ["Crypto"], swiftSettings: tests),
  ]
)
