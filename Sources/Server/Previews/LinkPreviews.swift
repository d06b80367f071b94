// Previews live in memory alone. On the disk the addresses would outlast the messages they come from, and say what somebody
// had read; here they are gone after an hour, and with the process. Nothing is kept of who asked.

import Media
public import ParleyHTTPClient
import ParleyWire
import Synchronization

/// Why there is no preview.
public enum PreviewFault: Error, Sendable, Hashable {
  /// Nothing that could be shown is there, or it may not be asked.
  case unreachable
  /// Enough others are asked at the moment.
  case busy
}

/// What stands behind links, looked at once for all who ask. Shared by all loops.
public final class LinkPreviews: Sendable {
  typealias Outcome = Result<LinkPreview, PreviewFault>

  private let client: OutgoingClient
  private let limits: PreviewLimits
  private let now: @Sendable () -> Int64
  private let state: Mutex<State>

  private struct State {
    var cache: PreviewCache
    var underWay: [WebAddress: Task<Outcome, Never>] = [:]
  }

  /// `now` is the time in milliseconds.
  public init(_ client: OutgoingClient, limits: PreviewLimits = PreviewLimits(), now: @escaping @Sendable () -> Int64) {
    self.client = client
    self.limits = limits
    self.now = now
    state = Mutex(State(cache: PreviewCache(limits)))
  }

  /// Waits for the one fetch of this address that is under way, if one is.
  public func preview(of link: String) async throws(PreviewFault) -> LinkPreview {
    guard let address = client.address(of: link) else { throw .unreachable }
    let now = now()
    let (known, task) = state.withLock { state -> (Outcome?, Task<Outcome, Never>?) in
      if let known = state.cache.outcome(for: address, now: now) { return (known, nil) }
      if let task = state.underWay[address] { return (nil, task) }
      // It goes on when who asked first has gone: others may wait for it.
      let task = Task { await self.find(address) }
      state.underWay[address] = task
      return (nil, task)
    }
    if let known { return try known.get() }
    guard let task else { throw .unreachable }
    return try await task.value.get()
  }

  /// By the key of a preview that was given.
  public func picture(_ key: String) -> PreviewPicture? { state.withLock { $0.cache.picture(key) } }

  private func find(_ address: WebAddress) async -> Outcome {
    let outcome: Outcome
    do throws(PreviewFault) {
      outcome = .success(try await fetch(address))
    } catch {
      outcome = .failure(error)
    }
    let now = now()
    return state.withLock { state in
      state.underWay[address] = nil
      // That others are asked says nothing about this page.
      if outcome == .failure(.busy) { return outcome }
      return state.cache.keep(outcome, for: address, now: now)
    }
  }

  private func fetch(_ address: WebAddress) async throws(PreviewFault) -> LinkPreview {
    let answer = try await ask(
      address.description,
      OutgoingWish(
        accept: "text/html, application/xhtml+xml;q=0.9, image/*;q=0.8",
        [
          .init("text/html", most: limits.page, mayBeCut: true),
          .init("application/xhtml+xml", most: limits.page, mayBeCut: true), .init("image/", most: limits.picture),
        ]))
    var preview = LinkPreview(url: answer.address.description)
    if answer.type.type == "image" {
      guard let picture = Self.picture(answer.body) else { throw .unreachable }
      preview.isImage = true
      preview.picture = picture
      return preview
    }
    let facts = PageFacts(page: answer.body, charset: answer.type["charset"])
    (preview.title, preview.about, preview.siteName) = (facts.title, facts.about, facts.siteName)
    var picture = facts.picture
    if let embed = facts.embed, preview.title == nil || picture == nil,
      let facts = await self.embed(answer.address.text(of: embed))
    {
      preview.title = preview.title ?? facts.title
      preview.siteName = preview.siteName ?? facts.siteName
      picture = picture ?? facts.picture
    }
    if let picture { preview.picture = await self.picture(at: answer.address.text(of: picture)) }
    guard preview.title != nil || preview.picture != nil else { throw .unreachable }
    return preview
  }

  private func ask(_ link: String, _ wish: OutgoingWish) async throws(PreviewFault) -> OutgoingAnswer {
    do throws(OutgoingFault) {
      return try await client.fetch(link, wish)
    } catch .busy {
      throw .busy
    } catch {
      throw .unreachable
    }
  }

  /// Without it a preview has less, and is one all the same.
  private func embed(_ link: String) async -> EmbedFacts? {
    let wish = OutgoingWish(accept: "application/json", [.init("application/json", most: limits.embed)])
    return (try? await ask(link, wish)).flatMap { EmbedFacts($0.body) }
  }

  private func picture(at link: String) async -> PreviewPicture? {
    let wish = OutgoingWish(accept: "image/*", [.init("image/", most: limits.picture)])
    guard let picture = (try? await ask(link, wish)).flatMap({ Self.picture($0.body) }),
      min(picture.width, picture.height) >= limits.leastSide
    else { return nil }
    return picture
  }

  /// What the bytes are, whatever they are called; without what nobody has to know of a picture.
  private static func picture(_ bytes: [UInt8]) -> PreviewPicture? {
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
    guard let size else { return nil }
    let key = (0..<2).map { _ in
      let half = String(UInt64.random(in: .min ... .max), radix: 16)
      return String(repeating: "0", count: 16 - half.count) + half
    }.joined()
    return PreviewPicture(
      key: key, mimeType: format.mimeType, width: size.width, height: size.height, bytes: kept)
  }
}
