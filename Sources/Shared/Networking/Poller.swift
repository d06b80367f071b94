/// Watches descriptors for a loop and calls its `deliver`.
protocol Poller: AnyObject {
  /// Whether the peer's end is reported even when nothing else is awaited.
  var reportsEnd: Bool { get }
  func start(on loop: isolated EventLoop)
  func stop()
  func add(_ descriptor: Descriptor, generation: UInt32) throws(SystemError)
  func remove(_ descriptor: Int32)
  /// A call on the descriptor would have blocked: report when it no longer would.
  func await(_ readiness: Readiness, of descriptor: Int32)
  /// A Dispatch source that this poller made has fired.
  func fired(_ readiness: Readiness, _ descriptor: Int32, generation: UInt32, on loop: isolated EventLoop)
}
