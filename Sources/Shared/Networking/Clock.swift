import CParleyLinux
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

  /// Whether a time service keeps the wall clock right (adjtimex(2)); nil if the kernel does not tell.
  public static var isSynchronized: Bool? {
    let answer = parley_clock_is_synchronized()
    return answer < 0 ? nil : answer == 1
  }
}
