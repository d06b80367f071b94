import Dispatch
import Glibc

/// Signals as events on the main queue.
public final class Signals {
  private var sources: [any DispatchSourceSignal] = []

  public init() {}

  /// Calls `action` on the main queue for each signal. Disables the default action of the signal.
  public func on(_ number: Int32, _ action: @escaping @Sendable () -> Void) {
    signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
    source.setEventHandler(handler: action)
    source.activate()
    sources.append(source)
  }

  /// Ignores SIGPIPE, so that a write to a closed connection returns EPIPE.
  public static func ignoreBrokenPipes() {
    signal(SIGPIPE, SIG_IGN)
  }
}
