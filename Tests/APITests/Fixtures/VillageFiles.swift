import Foundation
import ParleyModel
import ParleyWire
import Testing

@testable import API
@testable import Community
@testable import Storage

/// Uploads over the API.
extension Village {
  /// Uploads raw bytes; expects success.
  @discardableResult
  func send(_ bytes: [UInt8], named name: String, by owner: String, _ more: String = "") async throws -> Answer {
    let answer = try await send(
      .post, "/files?name=\(name)\(more)", as: owner, bytes, fields: ["Content-Type": "application/octet-stream"])
    #expect(answer.status == 201 || answer.status == 200, "\(answer.text)")
    return answer
  }

  func content(_ file: String, as name: String?, _ fields: Fields = Fields()) async throws -> Answer {
    try await request(.get, "/files/\(file)/content", as: name, fields: fields)
  }

  /// A multipart form with parts of name, file name and bytes.
  static func form(_ parts: [(name: String, file: String?, bytes: [UInt8])]) -> (body: [UInt8], fields: Fields) {
    var body: [UInt8] = []
    for part in parts {
      let file = part.file.map { "; filename=\"\($0)\"" } ?? ""
      body += Array("--edge\r\nContent-Disposition: form-data; name=\"\(part.name)\"\(file)\r\n\r\n".utf8)
      body += part.bytes + Array("\r\n".utf8)
    }
    return (body + Array("--edge--\r\n".utf8), ["Content-Type": "multipart/form-data; boundary=edge"])
  }

  /// Temporary files of uploads in progress.
  var incoming: [String] {
    get throws {
      let folder = self.folder + "/files/tmp"
      guard FileManager.default.fileExists(atPath: folder) else { return [] }
      return try FileManager.default.contentsOfDirectory(atPath: folder)
    }
  }

  /// Digests of the stored files.
  var stored: Set<String> {
    let all = FileManager.default.enumerator(atPath: folder + "/files")?.compactMap { $0 as? String } ?? []
    return Set(all.compactMap { $0.split(separator: "/").last.map(String.init) }.filter { $0.utf8.count == 64 })
  }
}
