// Exports of users' own data, as archives for a day.

public import ParleyModel
import Storage

extension Community {
  /// Exports on the site at a time, with those that wait.
  static let maxExports = 1_000

  /// Begins an export of the caller's data. `program` is the version of Parley.
  ///
  /// - Returns: the export, and the task that writes it unless another one does.
  @discardableResult
  public func createExport(
    program: String, by caller: Caller
  ) async throws(Refusal) -> (export: DataExport, work: Task<Void, Never>) {
    let user = try caller.requireUser(.admin)
    let export = try await store.write { tx throws(Refusal) in
      try tx.requireProof(of: try tx.reloadCaller(caller))
      if let export = try tx.export(of: user) {
        guard export.state != .running else { throw .conflict }
      } else {
        guard try tx.exportCount(upTo: Self.maxExports) < Self.maxExports else {
          throw .tooMany(limit: Self.maxExports)
        }
      }
      return try tx.addExport(of: user)
    }
    return (export, Task { await writeExports(program: program) })
  }

  /// Writes the exports that wait, also those that a stop of the server has left.
  public func writeExports(program: String) async {
    await store.writeExports(program: program) { site, names in ExportPages(site: site, names: names).writer }
  }

  /// Deletes the caller's export and its archive. No-op if there is none.
  public func deleteExport(by caller: Caller) async throws(Refusal) {
    let user = try caller.requireUser(.admin)
    try await store.write { tx throws(Refusal) in
      _ = try tx.reloadCaller(caller)
      try tx.removeExport(of: user)
    }
    await store.stopRemovedExport()
  }
}

extension CommunityView {
  public func getExport(for caller: Caller) throws(Refusal) -> DataExport {
    let user = try caller.requireUser()
    guard let export = try read({ tx throws(Refusal) in try tx.export(of: user) }) else { throw .notFound }
    return export
  }

  /// The caller's export and the path of its archive.
  public func getExportContent(for caller: Caller) throws(Refusal) -> (DataExport, path: String) {
    _ = try caller.requireUser(.admin)
    try read { tx throws(Refusal) in try tx.requireProof(of: caller) }
    let export = try getExport(for: caller)
    return (export, community.store.path(of: export))
  }
}
