import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The delegate of a session: passes its events to the objects of its tasks. FoundationNetworking does not call the
/// delegates of single tasks.
final class SessionTasks: NSObject, URLSessionDataDelegate, URLSessionWebSocketDelegate, Sendable {
  private let responses = Mutex<[Int: ResponseParts]>([:])
  private let handshakes = Mutex<[Int: Handshake]>([:])
  private let pings = Mutex<[Int: SocketPings]>([:])

  func add(_ response: ResponseParts, for task: URLSessionTask) {
    responses.withLock { $0[task.taskIdentifier] = response }
  }

  func add(_ handshake: Handshake, for task: URLSessionTask) {
    handshakes.withLock { $0[task.taskIdentifier] = handshake }
  }

  func add(_ socketPings: SocketPings, for task: URLSessionTask) {
    pings.withLock { $0[task.taskIdentifier] = socketPings }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    responses.withLock { $0[dataTask.taskIdentifier] }?.receive(response)
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    responses.withLock { $0[dataTask.taskIdentifier] }?.receive(data, of: dataTask)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    responses.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.end(error)
    handshakes.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.end(task, error)
    pings.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.end()
  }

  /// The contract has no redirects: a redirect is a captive portal, and its response is the response.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }

  func urlSession(
    _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol subprotocol: String?
  ) {
    handshakes.withLock { $0.removeValue(forKey: webSocketTask.taskIdentifier) }?.end(.success(()))
  }

  /// The reader of an open socket learns the reason from the task.
  func urlSession(
    _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
    didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
  ) {
    let handshake = handshakes.withLock { $0.removeValue(forKey: webSocketTask.taskIdentifier) }
    handshake?.end(.failure(.interrupted("the socket closed during the handshake")))
    pings.withLock { $0[webSocketTask.taskIdentifier] }?.end()
  }
}
