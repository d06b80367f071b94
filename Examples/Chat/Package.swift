// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "chat",
  dependencies: [.package(name: "parley", path: "../..")],
  targets: [
    .executableTarget(
      name: "chat",
      dependencies: [
        .product(name: "ParleyKit", package: "parley"), .product(name: "ParleyTransport", package: "parley"),
      ],
      swiftSettings: [.defaultIsolation(MainActor.self)])
  ]
)
