import API

/// The version of the program.
let version = "0.1.0"

extension API.Release {
  static let current = API.Release(version: ParleyProgram.version, web: ParleyProgram.version)
}
