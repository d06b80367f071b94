import Glibc

/// How many descriptors the process may have: each connection is one.
public enum DescriptorLimit {
  /// Takes as many as the system allows, and says how many that is. A login shell usually starts with 1,024.
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
