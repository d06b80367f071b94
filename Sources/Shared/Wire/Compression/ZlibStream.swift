internal import CParleyZlib

/// A zlib stream, freed with its owner. Everything unsafe about zlib is in this file.
@safe final class ZlibStream {
  /// zlib keeps the address of its `z_stream` and checks it, so it stays in one place.
  private let stream: UnsafeMutablePointer<z_stream>
  private let isInflating: Bool

  enum Wrapper {
    /// Nothing around the blocks (RFC 1951).
    case raw
    /// RFC 1952.
    case gzip
  }

  enum Flush {
    case none
    /// To a byte's edge, with all that came so far (an empty stored block).
    case sync
    case finish
  }

  enum Outcome {
    case more, ended, malformed, outOfMemory
  }

  init(inflating wrapper: Wrapper, windowBits: Int) throws(CompressionFault) {
    isInflating = true
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    guard unsafe parley_inflateInit2(stream, Self.signed(windowBits, wrapper)) == Z_OK else { throw .outOfMemory }
  }

  init(deflating wrapper: Wrapper, level: Int, windowBits: Int, memoryLevel: Int) throws(CompressionFault) {
    isInflating = false
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: z_stream())
    // zlib refuses a raw window of 8 bits. One of 9 does instead: deflate looks back at most 2⁹ − 262 bytes, which is
    // less than 2⁸.
    let bits = Self.signed(max(windowBits, 9), wrapper)
    guard unsafe parley_deflateInit2(stream, Int32(level), bits, Int32(memoryLevel)) == Z_OK else { throw .outOfMemory }
  }

  deinit {
    // Both also accept a stream whose initialisation failed.
    if isInflating {
      unsafe inflateEnd(stream)
    } else {
      unsafe deflateEnd(stream)
    }
    unsafe stream.deinitialize(count: 1)
    unsafe stream.deallocate()
  }

  /// zlib's convention: negative is raw, 16 more is gzip.
  private static func signed(_ windowBits: Int, _ wrapper: Wrapper) -> Int32 {
    switch wrapper {
    case .raw: Int32(-windowBits)
    case .gzip: Int32(windowBits + 16)
    }
  }

  func reset() {
    if isInflating {
      unsafe inflateReset(stream)
    } else {
      unsafe deflateReset(stream)
    }
  }

  /// Ready for another stream that may refer to what this one put out.
  func resetKeepingWindow() { unsafe inflateResetKeep(stream) }

  /// Inflating: whether the last byte that was eaten ended a block.
  var isBetweenBlocks: Bool {
    // zlib.h, inflate: data_type has 128 after the end of a block, and in its low bits the count of unused bits.
    unsafe stream.pointee.data_type & (128 | 63) == 128
  }

  /// One turn: eats from `input`, appends at most `room` bytes to `output`.
  func turn(_ input: Span<UInt8>, _ flush: Flush, into output: inout [UInt8], room: Int) -> (eaten: Int, Outcome) {
    let room = UInt32(clamping: room)
    let given = UInt32(clamping: input.count)
    // zlib counts in 32 bits; what does not fit comes with the next turn, and so does the flush.
    let flush = input.count == Int(given) ? flush : .none
    var code = Z_OK
    unsafe input.withUnsafeBufferPointer { source in
      unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
      unsafe stream.pointee.avail_in = given
      output.append(addingCapacity: Int(room)) { (free: inout OutputSpan<UInt8>) in
        unsafe free.withUnsafeMutableBufferPointer { target, filled in
          unsafe stream.pointee.next_out = target.baseAddress
          unsafe stream.pointee.avail_out = min(room, UInt32(clamping: target.count))
          let offered = unsafe stream.pointee.avail_out
          code =
            unsafe isInflating ? CParleyZlib.inflate(stream, zlib(flush)) : CParleyZlib.deflate(stream, zlib(flush))
          unsafe filled = Int(offered - stream.pointee.avail_out)
        }
      }
      unsafe stream.pointee.next_in = nil
      unsafe stream.pointee.next_out = nil
    }
    return unsafe (Int(given - stream.pointee.avail_in), outcome(code))
  }

  private func zlib(_ flush: Flush) -> Int32 {
    switch flush {
    case .none: Z_NO_FLUSH
    case .sync: Z_SYNC_FLUSH
    case .finish: Z_FINISH
    }
  }

  private func outcome(_ code: Int32) -> Outcome {
    switch code {
    // Z_BUF_ERROR says only that there was nothing to eat or no room.
    case Z_OK, Z_BUF_ERROR: .more
    case Z_STREAM_END: .ended
    case Z_MEM_ERROR: .outOfMemory
    default: .malformed
    }
  }
}
