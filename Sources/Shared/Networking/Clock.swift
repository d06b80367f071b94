import Glibc

/// The monotonic clock, for deadlines, and the wall clock, for timestamps.
public enum Clock {
  /// Nanoseconds since an arbitrary time before the process started.
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
