/// Watches descriptors for a loop and calls its `deliver`.
protocol Poller: AnyObject {
  /// Whether the end of input is reported without `await`.
  var reportsEnd: Bool { get }
  func start(on loop: isolated EventLoop)
  func stop()
  func add(_ descriptor: Descriptor, generation: UInt32) throws(SystemError)
  func remove(_ descriptor: Int32)
  /// Requests the next readiness event, after a call on the descriptor returned EAGAIN.
  func await(_ readiness: Readiness, of descriptor: Int32)
  /// Handles an event of one of this poller's Dispatch sources.
  func fired(_ readiness: Readiness, _ descriptor: Int32, generation: UInt32, on loop: isolated EventLoop)
}
