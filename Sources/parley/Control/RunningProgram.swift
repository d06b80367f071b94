import ParleyJSON
import ParleyNetworking
import ParleyWire
import Storage
import Web

/// The program that uses a data folder, as its control socket answers: the executable file, which another version may have replaced
/// since, and whether it accepts changes, as `/readyz` says.
struct RunningProgram {
  /// The path of the executable file as the kernel knows it: it follows a renamed folder, and a replaced file is `PATH (deleted)`.
  let executable: String
  let isReady: Bool

  static let path = "/readyz"

  static func response(_ store: Store) -> Response {
    var json = JSONWriter()
    json.object { json in
      json.field("executable", FileSystem.programPath ?? "")
      json.field("ready", store.isReady)
    }
    return Response(.ok, fields: ["Content-Type": "application/json"], body: .bytes(json.bytes))
  }

  /// Nil if none answers.
  static func find(in data: String) async -> RunningProgram? {
    do {
      var response = try await ControlClient(data: data).response(.get, path, timeout: 5)
      return RunningProgram(
        executable: try response.string("executable"), isReady: try response.bool("ready"))
    } catch {
      return nil
    }
  }
}
