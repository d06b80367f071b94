import Glibc

/// The limit of open file descriptors. Each connection uses one.
public enum DescriptorLimit {
  /// Raises the soft limit to the hard limit and returns it. The soft limit of a login shell is usually 1,024.
  public static func raise() -> Int {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
    let allowed = limit.rlim_cur
    limit.rlim_cur = limit.rlim_max
    guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      return Int(clamping: allowed)
    }
    return Int(clamping: limit.rlim_cur)
  }
}
