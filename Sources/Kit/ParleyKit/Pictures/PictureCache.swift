// Pictures for an app: from this device if stored, else from the server, with one request for all concurrent callers.

import ParleyJSON
public import ParleyModel

/// Avatars and icons, in memory and on disk.
public actor PictureCache {
  private let client: Client
  private let store: PictureStore?
  /// Requests in progress.
  private var fetching: [String: Task<Result<[UInt8], ClientFault>, Never>] = [:]
  /// Requests in progress whose pictures are not stored, because the file is gone.
  private var unwanted: Set<String> = []
  /// Incremented by `erase()`: pictures requested before are not stored after it.
  private var generation = 0
  /// The reason why pictures are no longer stored. They are still returned.
  public private(set) var fault: CacheFault?

  /// The maximum size of a picture.
  public static let maxBytes = 32 << 20

  /// - Parameter file: nil to store no pictures.
  public init(_ client: Client, _ file: PictureFile? = nil) throws(CacheFault) {
    self.client = client
    store = if let file { try PictureStore(file) } else { nil }
  }

  /// - Parameter owner: the user of this device; nil if unknown, to bypass the store. Pictures of another user are
  ///   deleted.
  public func picture(_ picture: Picture, for owner: ID<User>?) async throws(ClientFault) -> [UInt8] {
    if let bytes = cached(picture, owner) { return bytes }
    if let task = fetching[picture.name] { return try await task.value.get() }
    let (client, generation) = (client, generation)
    let task = Task {
      let result: Result<[UInt8], ClientFault>
      do throws(ClientFault) {
        result = .success(try await Self.fetch(picture, client))
      } catch {
        result = .failure(error)
      }
      self.complete(result, picture, owner, generation)
      return result
    }
    fetching[picture.name] = task
    return try await task.value.get()
  }

  private func cached(_ picture: Picture, _ owner: ID<User>?) -> [UInt8]? {
    guard let store, let owner else { return nil }
    do throws(CacheFault) { return try store.picture(picture.name, of: owner) } catch {
      fault = error
      return nil
    }
  }

  private static func fetch(_ picture: Picture, _ client: Client) async throws(ClientFault) -> [UInt8] {
    var request = picture.request
    request.acceptsHTML = false
    request.maxResponseBytes = Self.maxBytes
    let reply = try await client.send(request)
    guard reply["content-type"]?.lowercased().hasPrefix("image/") == true else {
      throw .invalidResponse("this is no picture")
    }
    return reply.body
  }

  private func complete(
    _ result: Result<[UInt8], ClientFault>, _ picture: Picture, _ owner: ID<User>?, _ generation: Int
  ) {
    guard generation == self.generation else { return }
    fetching[picture.name] = nil
    let isUnwanted = unwanted.remove(picture.name) != nil
    // Other sizes of a destroyed file may be stored.
    if case .failure(let fault) = result, fault.isGone, let file = picture.file { remove([file]) }
    guard !isUnwanted, let store, let owner, case .success(let bytes) = result else { return }
    do throws(CacheFault) { try store.save(bytes, as: picture.name, of: owner) } catch { fault = error }
  }

  /// Deletes all pictures from this device.
  public func erase() throws(CacheFault) {
    generation += 1
    (fetching, unwanted) = ([:], [])
    try store?.erase()
  }

  /// Deletes all sizes of the pictures of files that are gone.
  /// - Returns: whether they are deleted.
  @discardableResult
  func remove(_ files: [ID<File>]) -> Bool {
    let prefixes = files.map(Picture.prefix(of:))
    unwanted.formUnion(fetching.keys.filter { name in prefixes.contains { name.hasPrefix($0) } })
    do throws(CacheFault) {
      try store?.remove { name in prefixes.contains { name.hasPrefix($0) } }
      return true
    } catch {
      fault = error
      return false
    }
  }

  /// A picture to request. The content of a name never changes.
  public struct Picture: Sendable {
    let name: String
    let request: Request<RawResponse>
    fileprivate var file: ID<File>?

    fileprivate static func prefix(of file: ID<File>) -> String { "file \(file) " }

    /// The smallest available size that is at least this large.
    public static func file(_ file: ID<File>, width: Int? = nil, height: Int? = nil) -> Picture {
      Picture(
        name: "\(prefix(of: file))\(width ?? 0) \(height ?? 0)",
        request: .getFileContent(of: file, width: width, height: height), file: file)
    }

    /// The avatar of a user.
    public static func avatar(of user: UserSummary) -> Picture {
      Picture(name: "avatar \(user.id) \(user.revision)", request: .getAvatar(of: .id(user.id)))
    }

    /// The icon of a forum.
    public static func icon(of forum: Forum) -> Picture {
      Picture(name: "icon \(forum.id) \(forum.revision)", request: .getForumIcon(of: forum.id))
    }
  }
}

extension Parley {
  /// A picture attachment in the smallest available size that is at least this large.
  public nonisolated func picture(
    _ file: ID<File>, width: Int? = nil, height: Int? = nil
  ) async throws(ClientFault) -> [UInt8] {
    try await picture(.file(file, width: width, height: height))
  }

  /// A user's avatar of the revision in `user`.
  public nonisolated func avatar(of user: UserSummary) async throws(ClientFault) -> [UInt8] {
    try await picture(.avatar(of: user))
  }

  /// The bytes of a forum's icon, fetched once.
  public nonisolated func icon(of forum: Forum) async throws(ClientFault) -> [UInt8] {
    try await picture(.icon(of: forum))
  }

  private nonisolated func picture(_ picture: PictureCache.Picture) async throws(ClientFault) -> [UInt8] {
    try await pictures.picture(picture, for: await cache.replica.me?.summary.id)
  }
}
