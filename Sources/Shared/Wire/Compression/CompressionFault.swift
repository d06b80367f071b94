public enum CompressionFault: Error, Sendable, Hashable {
  /// The bytes are not DEFLATE, or end in the middle of it.
  case malformed
  /// More would come out than the caller allowed.
  case tooLong
  case outOfMemory
}
