import ParleyWire

/// The decompressed content of another source.
final class InflatedSource: ByteSource {
  private let source: any ByteSource
  private let decompressor: Decompressor
  private let name: String
  /// Bytes that may still come out.
  private var left: Int
  private var input: [UInt8] = []
  private var position = 0
  private var hasInput = true

  private static let room = 65_536

  init(_ source: any ByteSource, _ format: Decompressor.Format, limit: Int, of name: String) throws(ImportFault) {
    self.source = source
    self.name = name
    left = limit
    do throws(CompressionFault) { decompressor = try Decompressor(format) } catch {
      throw ImportFault("There is no memory to decompress \(name). Try again later.")
    }
  }

  func read() throws(ImportFault) -> [UInt8]? {
    var output: [UInt8] = []
    while output.isEmpty {
      if position == input.count, hasInput {
        position = 0
        if let piece = try source.read() { input = piece } else { (input, hasInput) = ([], false) }
      }
      if !hasInput, decompressor.isComplete { return nil }
      // Archives are padded with zeros.
      if decompressor.isComplete, input[position...].allSatisfy({ $0 == 0 }) {
        position = input.count
        continue
      }
      let consumed: Int
      do throws(CompressionFault) {
        consumed = try decompressor.decompress(input.span.extracting(position...), into: &output, room: Self.room)
      } catch {
        throw ImportFault("\(name) is damaged: its compressed data is invalid. Make the export again.")
      }
      position += consumed
      guard hasInput || !output.isEmpty || decompressor.isComplete else {
        throw ImportFault("\(name) is cut: its compressed data has no end. Copy it again.")
      }
    }
    left -= output.count
    guard left >= 0 else { throw ArchiveFault.bomb(name) }
    return output
  }
}

enum ArchiveFault {
  static func bomb(_ name: String) -> ImportFault {
    ImportFault("\(name) expands to far more than an export does, as a zip bomb does. Unpack it and import the folder.")
  }
}
