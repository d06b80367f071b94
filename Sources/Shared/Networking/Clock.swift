import Glibc

/// The two clocks: one that only goes forward, for deadlines, and the one on the wall, for people.
public enum Clock {
  /// Nanoseconds since some moment before the process started.
  public static func monotonic() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }

  /// Nanoseconds since 1970.
  public static func wall() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}
