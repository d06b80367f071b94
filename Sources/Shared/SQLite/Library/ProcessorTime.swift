import Glibc

public enum ProcessorTime {
  /// What this thread has used so far.
  public static var ofThread: Duration {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
