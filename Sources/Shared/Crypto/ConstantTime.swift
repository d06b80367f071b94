/// Comparing secrets so that the time does not tell where they differ. That the counts differ, it may tell.
public enum ConstantTime {
  public static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && OpenSSL.isEqual(left.span, right.span)
  }
}
