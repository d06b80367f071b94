/// Runs schedules of either kind.
enum ScheduleRunner {
  /// Runs the seeds in two concurrent halves. Returns the failures, each with its seed and steps.
  static func failures(
    of seeds: [UInt64], _ run: @escaping @Sendable (CheckedSite, [UInt64]) async throws -> [String]
  ) async throws -> [String] {
    let site = try await CheckedSite.make()
    defer { site.remove() }
    return try await withThrowingTaskGroup(of: [String].self) { group in
      for part in 0..<2 {
        let mine = seeds.enumerated().filter { $0.offset % 2 == part }.map(\.element)
        group.addTask { try await run(site, mine) }
      }
      var all: [String] = []
      for try await failures in group { all += failures }
      return all
    }
  }

  /// Runs one seed and returns its failure. Repeats the run if the machine was stalled for so long that the store
  /// rolled back a write: a real fault reproduces.
  static func failure(
    of seed: UInt64, _ run: () async throws -> (failure: String?, storeLog: StoreLog)
  ) async -> String? {
    var failure: String?
    for _ in 0..<3 {
      // A run that the time limit has cut off says nothing.
      guard !Task.isCancelled else { return nil }
      do {
        let result = try await run()
        guard !Task.isCancelled else { return nil }
        failure = result.failure
        guard failure != nil, result.storeLog.isStallOnly else { return failure }
        print("seed \(seed) is repeated: \(result.storeLog.all)")
      } catch {
        guard !Task.isCancelled else { return nil }
        return "seed \(seed): \(error)"
      }
    }
    return failure
  }
}
