#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

public enum ProcessorTime {
  /// CPU time used by this thread.
  public static var ofThread: Duration {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
