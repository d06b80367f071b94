internal import CParleyZlib

/// A zlib stream, freed with its owner. All unsafe code for zlib is in this file.
@safe final class ZlibStream {
  /// zlib stores and checks the address of its `z_stream`, so it must not move.
  private let stream: UnsafeMutablePointer<z_stream>
  private let isInflating: Bool

  enum Wrapper {
    /// Raw DEFLATE (RFC 1951).
    case raw
    /// gzip (RFC 1952).
    case gzip
  }

  enum Flush {
    case none
    /// All output so far, aligned to a byte by an empty stored block.
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
    // zlib rejects a raw window of 8 bits. 9 bits work instead: deflate looks back at most 2⁹ − 262 bytes, which is
    // less than 2⁸.
    let bits = Self.signed(max(windowBits, 9), wrapper)
    guard unsafe parley_deflateInit2(stream, Int32(level), bits, Int32(memoryLevel)) == Z_OK else { throw .outOfMemory }
  }

  deinit {
    // Both functions accept a stream whose initialization failed.
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

  /// Restarts the stream. The new one may refer to the output of the previous one.
  func resetKeepingWindow() { unsafe inflateResetKeep(stream) }

  /// Inflating: the output before the start of the stream. zlib copies it.
  func setWindow(_ window: [UInt8]) {
    unsafe window.withUnsafeBufferPointer { bytes in
      // zlib.h: a raw stream accepts a dictionary at any time.
      _ = unsafe inflateSetDictionary(stream, bytes.baseAddress, UInt32(clamping: bytes.count))
    }
  }

  /// Inflating: whether the last consumed byte ended a block.
  var isBetweenBlocks: Bool {
    // zlib.h, inflate: data_type has bit 128 after the end of a block; the low bits count the unused bits.
    unsafe stream.pointee.data_type & (128 | 63) == 128
  }

  /// Consumes from `input` and appends at most `room` bytes to `output`.
  func turn(_ input: Span<UInt8>, _ flush: Flush, into output: inout [UInt8], room: Int) -> (consumed: Int, Outcome) {
    let room = UInt32(clamping: room)
    let given = UInt32(clamping: input.count)
    // zlib counts in 32 bits. The remainder, and the flush, follow in the next call.
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
    // Z_BUF_ERROR means no input or no output space.
    case Z_OK, Z_BUF_ERROR: .more
    case Z_STREAM_END: .ended
    case Z_MEM_ERROR: .outOfMemory
    default: .malformed
    }
  }
}

public enum CompressionFault: Error, Sendable, Hashable {
  /// The input is not a valid or complete DEFLATE stream.
  case malformed
  /// The output exceeds the limit.
  case tooLong
  case outOfMemory
}
