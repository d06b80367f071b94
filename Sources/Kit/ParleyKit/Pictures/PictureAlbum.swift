// Pictures as an app shows them: from this device where it has them, else from the server, once for all who ask meanwhile.

import ParleyJSON
public import ParleyModel

public actor PictureAlbum {
  private let client: Client
  private let shelf: PictureShelf?
  /// What is on its way.
  private var fetching: [String: Task<Result<[UInt8], ClientFault>, Never>] = [:]
  /// Erasing begins another one: nothing that was asked for before is kept after it.
  private var era = 0
  /// Why nothing can be kept any more. Pictures come all the same.
  public private(set) var fault: CacheFault?

  /// The largest that is taken.
  public static let largest = 32 << 20

  /// - Parameter file: without one nothing is kept.
  public init(_ client: Client, _ file: PictureFile? = nil) throws(CacheFault) {
    self.client = client
    shelf = if let file { try PictureShelf(file) } else { nil }
  }

  /// - Parameter owner: whose device it is; nothing is kept where nobody knows. Of somebody else's, nothing is left.
  public func picture(_ picture: Picture, for owner: ID<Account>?) async throws(ClientFault) -> [UInt8] {
    if let bytes = held(picture, owner) { return bytes }
    if let task = fetching[picture.name] { return try await task.value.get() }
    let (client, era) = (client, era)
    let task = Task {
      let result: Result<[UInt8], ClientFault>
      do throws(ClientFault) {
        result = .success(try await Self.fetch(picture, client))
      } catch {
        result = .failure(error)
      }
      self.take(result, picture, owner, era)
      return result
    }
    fetching[picture.name] = task
    return try await task.value.get()
  }

  private func held(_ picture: Picture, _ owner: ID<Account>?) -> [UInt8]? {
    guard let shelf, let owner else { return nil }
    do throws(CacheFault) { return try shelf.picture(picture.name, of: owner) } catch {
      fault = error
      return nil
    }
  }

  private static func fetch(_ picture: Picture, _ client: Client) async throws(ClientFault) -> [UInt8] {
    var request = picture.request
    request.takesPages = false
    request.answerLimit = Self.largest
    let reply = try await client.send(request)
    guard reply["content-type"]?.lowercased().hasPrefix("image/") == true else {
      throw .notUnderstood("this is no picture")
    }
    return reply.body
  }

  private func take(_ result: Result<[UInt8], ClientFault>, _ picture: Picture, _ owner: ID<Account>?, _ era: Int) {
    guard era == self.era else { return }
    fetching[picture.name] = nil
    guard let shelf, let owner, case .success(let bytes) = result else { return }
    do throws(CacheFault) { try shelf.keep(bytes, as: picture.name, of: owner) } catch { fault = error }
  }

  /// Nothing is left of them on this device.
  public func erase() throws(CacheFault) {
    era += 1
    fetching = [:]
    try shelf?.erase()
  }

  /// One that can be asked for. What a name stands for never changes.
  public struct Picture: Sendable {
    let name: String
    let request: Request<Reply>

    /// The smallest that the server has and that is so large.
    public static func file(_ file: ID<File>, width: Int? = nil, height: Int? = nil) -> Picture {
      Picture(
        name: "file \(file) \(width ?? 0) \(height ?? 0)",
        request: .fileContent(of: file, width: width, height: height))
    }

    public static func avatar(of account: Account) -> Picture {
      Picture(name: "avatar \(account.id) \(account.revision)", request: .avatar(of: .id(account.id)))
    }

    public static func icon(of forum: Forum) -> Picture {
      Picture(name: "icon \(forum.id) \(forum.revision)", request: .forumIcon(of: forum.id))
    }
  }
}

extension Parley {
  /// A picture that somebody has sent: the smallest that the server has and that is so large.
  public nonisolated func picture(
    _ file: ID<File>, width: Int? = nil, height: Int? = nil
  ) async throws(ClientFault) -> [UInt8] {
    try await picture(.file(file, width: width, height: height))
  }

  /// A person's picture, as it was when the person was last heard of.
  public nonisolated func avatar(of account: Account) async throws(ClientFault) -> [UInt8] {
    try await picture(.avatar(of: account))
  }

  public nonisolated func icon(of forum: Forum) async throws(ClientFault) -> [UInt8] {
    try await picture(.icon(of: forum))
  }

  private nonisolated func picture(_ picture: PictureAlbum.Picture) async throws(ClientFault) -> [UInt8] {
    try await pictures.picture(picture, for: await cache.replica.me?.account.id)
  }
}
