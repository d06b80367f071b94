public import ParleyWire

/// A piece of a multipart form (RFC 7578) in the chunks of a body.
public enum FormPiece {
  /// The previous part has ended, and this one begins.
  case part(MultipartPart)
  /// Bytes of the current part.
  case bytes([UInt8])
}

extension MultipartDecoder {
  /// The next piece of a chunk, which begins at `start`; nil at the end of the chunk.
  public mutating func nextPiece(of chunk: [UInt8], from start: inout Int) throws(Problem) -> FormPiece? {
    while start < chunk.count {
      let (event, length): (Event, Int)
      do {
        (event, length) = try next(chunk.span.extracting(start..<chunk.count))
      } catch {
        var problem = Problem.badRequest(error.explanation)
        problem.closesConnection = true
        throw problem
      }
      defer { start += length }
      switch event {
      case .part(let part): return .part(part)
      case .payload(let range): return .bytes(Array(chunk[(start + range.lowerBound)..<(start + range.upperBound)]))
      case .bufferedPayload(let bytes): return .bytes(bytes)
      case .more, .end: break
      }
    }
    return nil
  }

  /// Refuses a form whose last part has not ended.
  public func finish() throws(Problem) {
    guard isDone else { throw .badRequest("The form is cut off.") }
  }
}
