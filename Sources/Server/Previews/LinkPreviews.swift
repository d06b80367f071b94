// Previews are stored in memory only. On disk the URLs would outlast the messages that contain them and reveal reading
// habits; in memory they expire after an hour. The requesting user is not recorded.

import Media
public import ParleyHTTPClient
import ParleyWire
import Synchronization

/// The reason for a missing preview.
public enum PreviewFault: Error, Sendable, Hashable {
  /// The URL has no previewable content or is refused by the policy.
  case unreachable
  /// The maximum of concurrent fetches is reached.
  case busy
}

/// Fetches and caches link previews. Concurrent requests for one URL share a fetch. Shared by all event loops.
public final class LinkPreviews: Sendable {
  typealias Outcome = Result<LinkPreview, PreviewFault>

  private let client: UntrustedClient
  private let limits: PreviewLimits
  private let now: @Sendable () -> Int64
  private let state: Mutex<State>

  private struct State {
    var cache: PreviewCache
    var pending: [WebAddress: Task<Outcome, Never>] = [:]
  }

  /// - Parameter now: the clock, in milliseconds.
  public init(_ client: UntrustedClient, limits: PreviewLimits = PreviewLimits(), now: @escaping @Sendable () -> Int64)
  {
    self.client = client
    self.limits = limits
    self.now = now
    state = Mutex(State(cache: PreviewCache(limits)))
  }

  /// Returns the cached preview, or joins or starts a fetch of this URL.
  public func preview(of link: String) async throws(PreviewFault) -> LinkPreview {
    guard let address = client.address(of: link) else { throw .unreachable }
    let now = now()
    let (known, task) = state.withLock { state -> (Outcome?, Task<Outcome, Never>?) in
      if let known = state.cache.outcome(for: address, now: now) { return (known, nil) }
      if let task = state.pending[address] { return (nil, task) }
      // Not cancelled with its first caller: others may wait for the same fetch.
      let task = Task { await self.find(address) }
      state.pending[address] = task
      return (nil, task)
    }
    if let known { return try known.get() }
    guard let task else { throw .unreachable }
    return try await task.value.get()
  }

  /// The cached picture for the key of a preview.
  public func picture(_ key: String) -> PreviewPicture? { state.withLock { $0.cache.picture(key) } }

  /// Forgets all previews. A running fetch is stored when it ends.
  public func removeAll() {
    state.withLock { $0.cache = PreviewCache(limits) }
  }

  private func find(_ address: WebAddress) async -> Outcome {
    let outcome: Outcome
    do throws(PreviewFault) {
      outcome = .success(try await fetch(address))
    } catch {
      outcome = .failure(error)
    }
    let now = now()
    return state.withLock { state in
      state.pending[address] = nil
      // `busy` does not depend on the page, so it is not cached.
      if outcome == .failure(.busy) { return outcome }
      return state.cache.store(outcome, for: address, now: now)
    }
  }

  private func fetch(_ address: WebAddress) async throws(PreviewFault) -> LinkPreview {
    let answer = try await ask(
      address.description,
      AcceptedContent(
        accept: "text/html, application/xhtml+xml;q=0.9, image/*;q=0.8",
        [
          .init("text/html", maxBytes: limits.page, mayTruncate: true),
          .init("application/xhtml+xml", maxBytes: limits.page, mayTruncate: true),
          .init("image/", maxBytes: limits.picture),
        ]))
    var preview = LinkPreview(url: answer.address.description)
    if answer.type.type == "image" {
      guard let picture = picture(answer.body) else { throw .unreachable }
      preview.isImage = true
      preview.picture = picture
      return preview
    }
    let facts = PageMetadata(page: answer.body, charset: answer.type["charset"])
    (preview.title, preview.about, preview.siteName) = (facts.title, facts.about, facts.siteName)
    var picture = facts.picture
    if let embed = facts.embed, preview.title == nil || picture == nil,
      let facts = await self.embed(answer.address.resolve(embed))
    {
      preview.title = preview.title ?? facts.title
      preview.siteName = preview.siteName ?? facts.siteName
      picture = picture ?? facts.picture
    }
    if let picture { preview.picture = await self.picture(at: answer.address.resolve(picture)) }
    guard preview.title != nil || preview.picture != nil else { throw .unreachable }
    return preview
  }

  private func ask(_ link: String, _ accepted: AcceptedContent) async throws(PreviewFault) -> UntrustedResponse {
    do throws(UntrustedFault) {
      return try await client.fetch(link, accepted)
    } catch .busy {
      throw .busy
    } catch {
      throw .unreachable
    }
  }

  /// Fetches the oEmbed metadata; nil on any fault, since the page's own metadata may suffice.
  private func embed(_ link: String) async -> OEmbedMetadata? {
    let accepted = AcceptedContent(accept: "application/json", [.init("application/json", maxBytes: limits.embed)])
    return (try? await ask(link, accepted)).flatMap { OEmbedMetadata($0.body) }
  }

  private func picture(at link: String) async -> PreviewPicture? {
    let accepted = AcceptedContent(accept: "image/*", [.init("image/", maxBytes: limits.picture)])
    guard let picture = (try? await ask(link, accepted)).flatMap({ self.picture($0.body) }),
      min(picture.width, picture.height) >= limits.minSide
    else { return nil }
    return picture
  }

  /// Detects the format from the bytes, ignoring the declared media type, and removes the picture's metadata.
  private func picture(_ bytes: [UInt8]) -> PreviewPicture? {
    let format = FileFormat.sniff(bytes.span.extracting(first: FileFormat.bytesToSniff))
    guard format.isPicture else { return nil }
    var (kept, size) = (bytes, PixelSize(format, firstBytes: bytes.span))
    if var filter = PictureFilter(format) {
      do throws(PictureFilter.Malformed) {
        kept = try filter.take(bytes)
        size = try filter.finish()
      } catch {
        return nil
      }
    }
    guard let size, max(size.width, size.height) <= limits.maxSide else { return nil }
    let key = (0..<2).map { _ in
      let half = String(UInt64.random(in: .min ... .max), radix: 16)
      return String(repeating: "0", count: 16 - half.count) + half
    }.joined()
    return PreviewPicture(
      key: key, mimeType: format.mimeType, width: size.width, height: size.height, bytes: kept)
  }
}

/// Limits of one fetch and of the cache.
public struct PreviewLimits: Sendable {
  /// In bytes: the parsed prefix of a page, a whole oEmbed response, a whole picture.
  public var page = 1_048_576
  public var embed = 65_536
  public var picture = 1_048_576
  /// In pixels. Smaller pictures are tracking pixels and are ignored.
  public var minSide = 16
  /// In pixels. A small file can be a picture that takes gigabytes when it is decoded.
  public var maxSide = 4_096
  /// Maximum of cached entries, and of their bytes including pictures.
  public var pages = 2_000
  public var bytes = 33_554_432
  /// In milliseconds: lifetime of a preview, and of a failure.
  public var maxAge: Int64 = 3_600_000
  public var maxFaultAge: Int64 = 60_000

  public init() {}
}
