import ParleyWire
import Testing
import Web

/// Bodies as the server feeds them, with the handler's side in a task on the same actor.
@Suite struct RequestBodyTests {
  /// Stands for the loop: the server's calls and the handler's are made on it.
  private actor Exchange {
    private let body: RequestBody
    private(set) var resumed = 0
    private(set) var onFirstRead = 0
    private(set) var outcome = ""
    private var handler: Task<Void, Never>?

    init(announced: Int? = nil, limit: Int = 100) {
      var tellResumed: () -> Void = {}
      var tellWanted: () -> Void = {}
      body = RequestBody(contentLength: announced, limit: limit, onFirstRead: { tellWanted() }, resume: { tellResumed() })
      tellResumed = { [unowned self] in self.assumeIsolated { $0.resumed += 1 } }
      tellWanted = { [unowned self] in self.assumeIsolated { $0.onFirstRead += 1 } }
    }

    /// Starts a handler that runs until it has to wait.
    func read() {
      handler = Task.immediate {
        do {
          while let piece = try await body.read() { outcome += String(decoding: piece, as: UTF8.self) + "|" }
          outcome += "end"
        } catch let problem as Problem {
          outcome += problem.code
        } catch {
          outcome += "another error"
        }
      }
    }

    func collect(limit: Int = .max) {
      handler = Task.immediate {
        do {
          outcome = String(decoding: try await body.collect(limit: limit), as: UTF8.self)
        } catch let problem as Problem {
          outcome = problem.code
        } catch {
          outcome = "another error"
        }
      }
    }

    func push(_ text: String) { body.push(Array(text.utf8)) }
    func finish() { body.finish() }
    func fail(_ problem: Problem) { body.fail(problem) }
    func cancel() { handler?.cancel() }
    var waiting: Int { body.buffered }

    func end() async -> String {
      await handler?.value
      return outcome
    }
  }

  @Test func `pieces are taken as they come`() async {
    let exchange = Exchange()
    await exchange.push("one")
    await exchange.push("")
    await exchange.push("two")
    #expect(await exchange.waiting == 6)
    await exchange.read()
    #expect(await exchange.waiting == 0)
    await exchange.push("three")
    await exchange.finish()
    #expect(await exchange.end() == "one|two|three|end")
  }

  @Test func `the server reads on when what waited is taken`() async {
    let exchange = Exchange()
    await exchange.push("one")
    await exchange.push("two")
    #expect(await exchange.resumed == 0)
    await exchange.read()
    #expect(await exchange.resumed == 1)
    await exchange.finish()
    _ = await exchange.end()
    #expect(await exchange.resumed == 1)
  }

  @Test func `a client that waits to go on is told when the handler asks, once`() async {
    let exchange = Exchange()
    #expect(await exchange.onFirstRead == 0)
    await exchange.read()
    #expect(await exchange.onFirstRead == 1)
    await exchange.push("one")
    await exchange.finish()
    #expect(await exchange.end() == "one|end")
    #expect(await exchange.onFirstRead == 1)
  }

  @Test(
    arguments: [(nil, 5, "12345"), (5, 5, "12345"), (nil, 4, "too_large"), (5, 4, "too_large"), (5, 100, "12345")]
      as [(Int?, Int, String)])
  func `a body is collected under the smaller limit`(_ announced: Int?, _ limit: Int, _ expected: String) async {
    for (own, route) in [(limit, 100), (Int.max, limit)] {
      let exchange = Exchange(announced: announced, limit: route)
      await exchange.collect(limit: own)
      for piece in ["12", "34", "5"] { await exchange.push(piece) }
      await exchange.finish()
      #expect(await exchange.end() == expected)
    }
  }

  @Test func `a body that is announced too large is refused before it is sent for`() async {
    let exchange = Exchange(announced: 101)
    await exchange.collect()
    #expect(await exchange.end() == "too_large")
    #expect(await exchange.onFirstRead == 0)
  }

  @Test func `what came before a failure is still there, and nothing after`() async {
    let exchange = Exchange()
    await exchange.push("one")
    await exchange.fail(.disconnected)
    await exchange.push("two")
    await exchange.fail(.tooLarge(limit: 1))
    await exchange.finish()
    await exchange.read()
    #expect(await exchange.end() == "one|disconnected")
  }

  @Test func `a handler that waits hears of a failure`() async {
    let exchange = Exchange()
    await exchange.read()
    await exchange.fail(.disconnected)
    #expect(await exchange.end() == "disconnected")
  }

  @Test func `a cancelled handler waits until the server says why`() async {
    // The server cancels when the connection is gone, and fails the body first.
    let exchange = Exchange()
    await exchange.read()
    await exchange.cancel()
    await exchange.fail(.disconnected)
    #expect(await exchange.end() == "disconnected")
  }

  @Test func `an empty body ends at once`() async throws {
    let body = RequestBody()
    #expect(try await body.read() == nil)
    #expect(try await body.collect() == [])
    #expect(body.contentLength == 0)
  }
}
