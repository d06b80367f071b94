public enum CompressionFault: Error, Sendable, Hashable {
  /// The input is not a valid or complete DEFLATE stream.
  case malformed
  /// The output exceeds the limit.
  case tooLong
  case outOfMemory
}
