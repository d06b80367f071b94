import Dispatch
import Glibc

/// Signals as events on a queue instead of interruptions.
public final class Signals {
  private var sources: [any DispatchSourceSignal] = []

  public init() {}

  /// Calls `action` on the main queue whenever the signal comes. Its own effect is switched off.
  public func on(_ number: Int32, _ action: @escaping @Sendable () -> Void) {
    signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
    source.setEventHandler(handler: action)
    source.activate()
    sources.append(source)
  }

  /// A peer that left while we were writing is an error of that write, not the end of the process.
  public static func ignoreBrokenPipes() {
    signal(SIGPIPE, SIG_IGN)
  }
}
