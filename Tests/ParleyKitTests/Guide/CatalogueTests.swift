import Foundation
import TestSupport
import Testing

/// The documentation catalogue, converted by DocC.
@Suite struct CatalogueTests {
  @Test func `no link of the catalogue is broken, and no article is dropped`() throws {
    let folder = try Folder()
    defer { folder.remove() }
    let (symbols, pages) = (folder.path + "/symbols", folder.path + "/pages")
    try FileManager.default.createDirectory(atPath: symbols, withIntermediateDirectories: false)
    let libraries = ["Linux", "OpenSSL", "SQLite", "Zlib"].flatMap { library in
      ["-Xcc", "-fmodule-map-file=\(Checkout.root.path)/Sources/System/\(library)/module.modulemap"]
    }
    _ = try run(
      "swift-symbolgraph-extract",
      [
        "-module-name", "ParleyKit", "-target", Self.target, "-minimum-access-level", "public", "-skip-inherited-docs",
        "-I", Self.modules, "-output-dir", symbols,
      ] + libraries, in: folder)
    let output = try run(
      "docc",
      [
        "convert", Checkout.root.path + "/Sources/Kit/ParleyKit/ParleyKit.docc", "--output-path", pages,
        "--additional-symbol-graph-dir", symbols, "--fallback-display-name", "ParleyKit",
        "--fallback-bundle-identifier", "ParleyKit",
      ], in: folder)
    let faults = output.split(separator: "\n").filter { $0.hasPrefix("warning:") || $0.hasPrefix("error:") }
    // Many parameters say all with their names.
    #expect(faults.filter { !$0.hasSuffix("is missing documentation") } == [])
    let article = pages + "/data/documentation/parleykit/firstmessage.json"
    #expect(FileManager.default.fileExists(atPath: article))
  }

  #if arch(arm64)
  private static let target = "aarch64-unknown-linux-gnu"
  #else
  private static let target = "x86_64-unknown-linux-gnu"
  #endif

  /// Beside the test binary.
  private static let modules: String = {
    let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(filePath: tests).deletingLastPathComponent().appending(path: "Modules").path
  }()

  /// Runs a program of the toolchain and returns what it prints.
  private func run(_ program: String, _ arguments: [String], in folder: Folder) throws -> String {
    let path = "\(folder.path)/\(program).log"
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
    let log = try FileHandle(forWritingTo: URL(filePath: path))
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = log
    process.standardError = log
    try process.run()
    process.waitUntilExit()
    let output = try String(contentsOfFile: path, encoding: .utf8)
    try #require(process.terminationStatus == 0, "\(program): \(output)")
    return output
  }
}
