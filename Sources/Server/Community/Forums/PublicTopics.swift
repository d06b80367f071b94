// Topics that everyone may read, over all forums: for feeds and sitemaps.

public import ParleyModel
public import Storage

extension Community {
  /// The newest topics that everyone may read, of one forum or of all.
  public func listNewestPublicTopics(
    in forum: ID<Forum>? = nil, limit: Int, for caller: Caller
  ) async throws(Refusal) -> [ID<Conversation>] {
    try await store.readInBackground(for: caller.turn) { tx throws(Refusal) in
      if let forum { try tx.require(.read, .visitor, in: forum) }
      return try tx.newestPublicTopics(in: forum, limit: limit)
    }
  }

  public func countPublicTopics(for caller: Caller) async throws(Refusal) -> Int {
    try await store.readInBackground(for: caller.turn) { tx throws(Refusal) in try tx.publicTopicCount() }
  }

  /// A part of the topics that everyone may read, oldest first.
  public func listPublicTopics(
    after offset: Int, limit: Int, for caller: Caller
  ) async throws(Refusal) -> [SitemapTopic] {
    try await store.readInBackground(for: caller.turn) { tx throws(Refusal) in
      try tx.publicTopics(after: offset, limit: limit)
    }
  }
}

extension CommunityView {
  /// The number of topics of each forum, up to `Forum.maxCounted`.
  public func getTopicCounts(of forums: [ID<Forum>], for caller: Caller) throws(Refusal) -> [ID<Forum>: Int] {
    try read { tx throws(Refusal) in
      var counts: [ID<Forum>: Int] = [:]
      for forum in forums {
        try tx.require(.read, caller, in: forum)
        counts[forum] = try tx.topicCount(of: forum, max: Forum.maxCounted)
      }
      return counts
    }
  }
}
