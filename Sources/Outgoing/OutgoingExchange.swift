import Networking
import Wire

/// One request to one socket address, and the answer to it. It lives on the client's loop.
final class OutgoingExchange: StreamHandler {
  /// What came back.
  enum Outcome: Sendable {
    case body(MediaType, [UInt8])
    case redirect(String)
  }
  typealias Answer = Result<Outcome, OutgoingFault>

  private let request: [UInt8]
  private let wish: OutgoingWish
  private let result: Once<Answer>
  private var stream: Networking.Stream?
  private var parser = ResponseParser()
  private var input: [UInt8] = []
  private var answer: (type: MediaType, kind: OutgoingWish.Kind)?
  private var decoder: BodyDecoder?
  private var body: [UInt8] = []
  private var isOver = false

  /// Answers such as 103, of which there may be some before the real one.
  private var interims = 0
  private static let mostInterims = 8

  init(_ target: WebAddress, _ wish: OutgoingWish, _ result: Once<Answer>) {
    // Without compression, so that a short answer is a short body. No word about the place, or about who asked.
    request = Array(
      ("GET \(target.target) HTTP/1.1\r\nHost: \(target.authority)\r\n"
        + "User-Agent: Mozilla/5.0 (compatible; Parley; link preview)\r\nAccept: \(wish.accept)\r\n"
        + "Accept-Encoding: identity\r\nConnection: close\r\n\r\n").utf8)
    self.wish = wish
    self.result = result
  }

  /// To the address that was checked, and to no other; `name` is whom the certificate has to be of.
  func begin(
    to address: SocketAddress, tls: TLSContext?, name: String, within milliseconds: Int, on loop: isolated EventLoop
  ) {
    do {
      let stream = try Networking.Stream.connect(to: address, tls: tls, serverName: name, handler: self, on: loop)
      stream.setDeadline(at: stream.now + Int64(milliseconds) * 1_000_000)
      self.stream = stream
    } catch {
      result.give(.failure(.unreachable))
    }
  }

  func opened(on loop: isolated EventLoop) { stream?.write(request) }

  func received(_ bytes: Span<UInt8>, on loop: isolated EventLoop) {
    guard !isOver else { return }
    input.append(copying: bytes)
    do {
      while decoder == nil, !isOver { if try !readHead() { return } }
      if !isOver { try readBody() }
    } catch let fault as OutgoingFault {
      end(.failure(fault))
    } catch {
      end(.failure(.unreachable))
    }
  }

  /// Whether there was one.
  private func readHead() throws -> Bool {
    let bytes = input
    guard let (head, length) = try parser.parse(bytes.span, to: .get) else { return false }
    input.removeFirst(length)
    guard !head.isInterim else {
      interims += 1
      guard interims <= Self.mostInterims else { throw OutgoingFault.unreachable }
      return true
    }
    if [301, 302, 303, 307, 308].contains(head.status.code), let location = head.fields["location"] {
      end(.success(.redirect(location)))
      return true
    }
    guard head.status.code == 200 else { throw OutgoingFault.status(head.status.code) }
    guard let type = head.fields["content-type"].flatMap({ MediaType($0) }), let kind = wish.kind(of: type),
      ["", "identity"].contains(head.fields["content-encoding"]?.lowercased() ?? "")
    else { throw OutgoingFault.wrongType }
    if case .length(let length) = head.framing, length > kind.most, !kind.mayBeCut { throw OutgoingFault.tooLarge }
    answer = (type, kind)
    // Much is counted here, where it can be cut.
    decoder = BodyDecoder(head.framing, limit: .max)
    return true
  }

  private func readBody() throws {
    guard let answer, var decoder else { return }
    defer { self.decoder = decoder }
    let (bytes, kind) = (input, answer.kind)
    input.removeAll(keepingCapacity: true)
    // Never moved: many small chunks would move as many times what is behind them.
    var start = 0
    while true {
      switch try decoder.next(bytes.span.extracting(start...)) {
      case .payload(let range):
        body += bytes[start + range.lowerBound..<start + range.upperBound]
        start += range.upperBound
        guard body.count > kind.most || body.count == kind.most && kind.mayBeCut else { continue }
        guard kind.mayBeCut else { throw OutgoingFault.tooLarge }
        return end(.success(.body(answer.type, Array(body.prefix(kind.most)))))
      case .more: return
      case .end: return end(.success(.body(answer.type, body)))
      }
    }
  }

  private func end(_ outcome: Answer) {
    isOver = true
    result.give(outcome)
    // Nothing that still comes is wanted.
    stream?.abort()
  }

  func ended(on loop: isolated EventLoop) {
    guard let answer, decoder?.mayEndHere == true else { return end(.failure(.unreachable)) }
    end(.success(.body(answer.type, body)))
  }

  func drained(on loop: isolated EventLoop) {}
  func resumed(on loop: isolated EventLoop) {}
  func expired(on loop: isolated EventLoop) { end(.failure(.tooSlow)) }

  func closed(_ error: StreamError?, on loop: isolated EventLoop) {
    result.give(.failure(.unreachable))
    stream = nil
  }
}
