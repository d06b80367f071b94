import ParleyWire
import Testing
import Web

/// Bodies filled by the test and read by a handler in a task on the same actor.
@Suite struct RequestBodyTests {
  /// The event loop of the server and the handler.
  private actor Exchange {
    private let body: RequestBody
    private(set) var resumed = 0
    private(set) var onFirstRead = 0
    private(set) var outcome = ""
    private var handler: Task<Void, Never>?

    init(contentLength: Int? = nil, limit: Int = 100) {
      var countResume: () -> Void = {}
      var countFirstRead: () -> Void = {}
      body = RequestBody(
        contentLength: contentLength, limit: limit, onFirstRead: { countFirstRead() }, resume: { countResume() })
      countResume = { [unowned self] in self.assumeIsolated { $0.resumed += 1 } }
      countFirstRead = { [unowned self] in self.assumeIsolated { $0.onFirstRead += 1 } }
    }

    /// Starts a handler, which runs until it suspends.
    func read() {
      handler = Task.immediate {
        do {
          while let chunk = try await body.read() { outcome += String(decoding: chunk, as: UTF8.self) + "|" }
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

  @Test func `chunks are read in order`() async {
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

  @Test func `the server resumes reading after the buffered chunks were read`() async {
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

  @Test func `onFirstRead is called once, at the first read`() async {
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
  func `a body is collected under the smaller limit`(_ contentLength: Int?, _ limit: Int, _ expected: String) async {
    for (own, route) in [(limit, 100), (Int.max, limit)] {
      let exchange = Exchange(contentLength: contentLength, limit: route)
      await exchange.collect(limit: own)
      for piece in ["12", "34", "5"] { await exchange.push(piece) }
      await exchange.finish()
      #expect(await exchange.end() == expected)
    }
  }

  @Test func `a Content-Length over the limit is refused before the first read`() async {
    let exchange = Exchange(contentLength: 101)
    await exchange.collect()
    #expect(await exchange.end() == "too_large")
    #expect(await exchange.onFirstRead == 0)
  }

  @Test func `chunks received before a failure are read, and none after`() async {
    let exchange = Exchange()
    await exchange.push("one")
    await exchange.fail(.disconnected)
    await exchange.push("two")
    await exchange.fail(.tooLarge(limit: 1))
    await exchange.finish()
    await exchange.read()
    #expect(await exchange.end() == "one|disconnected")
  }

  @Test func `a suspended handler gets the failure`() async {
    let exchange = Exchange()
    await exchange.read()
    await exchange.fail(.disconnected)
    #expect(await exchange.end() == "disconnected")
  }

  @Test func `a cancelled handler waits for the failure of the body`() async {
    // After a disconnect the server fails the body, then cancels the handler.
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
