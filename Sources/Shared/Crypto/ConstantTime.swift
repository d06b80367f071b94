/// Constant-time comparison of secrets. Only a difference in length may be visible in the time.
public enum ConstantTime {
  public static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && CryptoLibrary.isEqual(left.span, right.span)
  }
}
