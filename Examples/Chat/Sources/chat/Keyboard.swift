import Foundation

/// The lines of standard input. A thread of its own waits for them.
func keyboard() -> AsyncStream<String> {
  let (lines, continuation) = AsyncStream.makeStream(of: String.self)
  Thread.detachNewThread {
    while let line = readLine() { continuation.yield(line) }
    continuation.finish()
  }
  return lines
}
