extension Parley {
  /// A value after each change of the cache that is meant, and after the connection is established. Changes during the work
  /// on one cause one more, regardless of their number.
  nonisolated func changes(
    _ isMeant: @escaping @Sendable (CacheUpdate, isolated Cache) -> Bool
  ) async -> AsyncStream<Void> {
    let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let (cache, updates, states) = (cache, await cache.updates(), await states())
    let cacheTask = Task {
      for await update in updates where await isMeant(update, cache) { change.yield() }
      change.finish()
    }
    let stateTask = Task {
      for await state in states.dropFirst() where state == .live { change.yield() }
    }
    change.onTermination = { _ in
      cacheTask.cancel()
      stateTask.cancel()
    }
    return changes
  }
}
