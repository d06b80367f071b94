import Glibc
import ParleyWire
import TestSupport

/// Feeds the same bytes whole, split in two at every offset, and byte by byte. The result must not depend on it.
enum Feeding {
  /// The ends of the input of each call: `[n]` is whole. Inputs over 1,000 bytes, for tests of limits, are split at
  /// every 97th offset.
  static func cuts(of count: Int) -> [[Int]] {
    [[count]] + stride(from: 0, to: count, by: count > 1_000 ? 97 : 1).map { [$0, count] } + [Array(0...count)]
  }

  /// CPU time of this thread, independent of other load.
  static var threadSeconds: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  static func randomCuts(of count: Int, _ random: inout Seeded) -> [Int] {
    var ends = (0..<Int.random(in: 0...6, using: &random)).map { _ in Int.random(in: 0...count, using: &random) }
    ends.append(count)
    return ends.sorted()
  }

  static func request(
    _ bytes: [UInt8], ends: [Int], limits: HeadLimits = HeadLimits()
  ) -> Outcome<RequestSummary, RequestError> {
    var parser = RequestParser(limits: limits)
    do throws(RequestError) {
      for end in ends {
        if let (head, length) = try parser.parse(bytes.span.extracting(0..<end)) {
          return .read(RequestSummary(head), length)
        }
      }
      return .needsMore
    } catch { return .refused(error) }
  }

  static func response(_ bytes: [UInt8], ends: [Int], to method: ParleyWire.Method = .get) -> Outcome<
    String, ResponseError
  > {
    var parser = ResponseParser()
    do throws(ResponseError) {
      for end in ends {
        if let (head, length) = try parser.parse(bytes.span.extracting(0..<end), to: method) {
          return .read(
            "\(head.status.code) \(head.version) \(head.framing) \(head.keepsAlive) \(head.fields.wireBytes)", length)
        }
      }
      return .needsMore
    } catch { return .refused(error) }
  }

  static func body(
    _ bytes: [UInt8], _ framing: Framing = .chunked, ends: [Int], limit: Int = 1_000
  ) -> Outcome<String, BodyError> {
    var decoder = BodyDecoder(framing, limit: limit)
    var payload: [UInt8] = []
    var start = 0
    do throws(BodyError) {
      for end in ends {
        feeding: while true {
          switch try decoder.next(bytes.span.extracting(start..<end)) {
          case .payload(let range):
            payload += bytes[start + range.lowerBound..<start + range.upperBound]
            start += range.upperBound
          case .more:
            start = end
            break feeding
          case .end(let length):
            let trailers = decoder.trailers.wireBytes
            return .read(String(decoding: payload + trailers, as: UTF8.self), start + length)
          }
        }
      }
      return framing == .untilClose ? .read(String(decoding: payload, as: UTF8.self), start) : .needsMore
    } catch { return .refused(error) }
  }

  static func form(_ bytes: [UInt8], boundary: String = "b", ends: [Int]) -> Outcome<[String], MultipartError> {
    guard var decoder = MultipartDecoder(boundary: boundary) else { return .needsMore }
    var parts: [String] = []
    var payload: [UInt8] = []
    var start = 0
    func close() {
      if !parts.isEmpty { parts[parts.count - 1] += "=" + String(decoding: payload, as: UTF8.self) }
      payload = []
    }
    do throws(MultipartError) {
      for end in ends {
        feeding: while true {
          let (event, length) = try decoder.next(bytes.span.extracting(start..<end))
          switch event {
          case .part(let part):
            close()
            parts.append([part.name, part.filename, part.contentType].compactMap { $0 }.joined(separator: "|"))
          case .payload(let range): payload += bytes[start + range.lowerBound..<start + range.upperBound]
          case .bufferedPayload(let bytes): payload += bytes
          case .more:
            start += length
            break feeding
          case .end:
            close()
            return .read(parts, 0)
          }
          start += length
        }
      }
      return .needsMore
    } catch { return .refused(error) }
  }
}

enum Outcome<Value: Equatable & Sendable, Failure: Error & Equatable>: Equatable, Sendable {
  case read(Value, Int)
  case needsMore
  case refused(Failure)
}

/// The compared properties of a request head.
struct RequestSummary: Equatable, Sendable, CustomStringConvertible {
  let description: String

  init(_ head: RequestHead) {
    let target = [head.target.authority, head.target.path, head.target.query.map { "?" + $0 }].compactMap { $0 }
      .joined()
    var words = [head.method.name, target]
    if head.version == .http10 { words.append("1.0") }
    switch head.framing {
    case .none: break
    case .length(let length): words.append("length=\(length)")
    case .chunked: words.append("chunked")
    case .untilClose: words.append("until-close")
    }
    if !head.keepsAlive { words.append("close") }
    if head.expectsContinue { words.append("expects") }
    if head.asksForUpgrade { words.append("upgrades") }
    description = words.joined(separator: " ")
  }
}
