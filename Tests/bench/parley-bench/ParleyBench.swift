import Glibc
import ParleyNetworking

@main
struct ParleyBench {
  static func main() async {
    Signals.ignoreBrokenPipes()
    _ = DescriptorLimit.raise()  // One per connection.
    var words = Array(CommandLine.arguments.dropFirst())
    if words.isEmpty || words.contains("--help") || words == ["help"] {
      print(usage)
      exit(words.isEmpty ? 2 : 0)
    }
    do {
      switch words.removeFirst() {
      case "serve": try await Serve(words).run()
      case "load": exit(try await load(words) ? 0 : 1)
      case "store": try await StoreScene(words).run()
      case "kit": try await KitScene(words).run()
      case "micro": try await Micro(words).run()
      case let other: throw UsageError("Unknown command \(other).")
      }
    } catch let error as UsageError {
      Console.log("\(error)\n\n\(usage)")
      exit(2)
    } catch {
      Console.log("parley-bench: \(error)")
      exit(1)
    }
  }

  /// Returns true without errors.
  private static func load(_ words: [String]) async throws -> Bool {
    let arguments = try LoadArguments(words)
    let report =
      switch arguments.scene {
      case .http: try await HTTPLoad(arguments).run()
      case .websocket: try await EchoLoad(arguments).run()
      case .broadcast: try await BroadcastLoad(arguments).run()
      case .room: try await RoomLoad(arguments).run()
      case .resume: try await ResumeLoad(arguments).run()
      case .idle: try await IdleLoad(arguments).run()
      case .tls: try await HandshakeLoad(arguments).run()
      }
    print(arguments.isJSON ? report.json : report.text)
    return report.errorCount == 0
  }

  static let usage = """
    parley-bench serve [--listen 127.0.0.1:0]… [--loops 2] [--polling epoll|sources]
                       [--tls | --tls-certificate FILE --tls-key FILE]
        Runs the benchmark server: pages (/json /large /upload /stream) and WebSockets (/echo /broadcast), until SIGTERM.
        --tls creates a certificate and prints its fingerprint.

    parley-bench load SCENE URL… [options]
      http URL…           requests over persistent connections; several URLs of one server are requested in turn
          --pipeline 1      requests in flight per connection
          --method GET  --header 'Name: value'…  --body TEXT
      websocket URL       echoed messages
          --size 100        bytes per message     --in-flight 1   messages in flight per connection     --binary
      broadcast URL       one connection publishes, all receive
          --connections 500 (or --subscribers)    --size 100      --window 16   messages in flight
          --messages N      instead of --seconds
      room URL            members of a room; some post, all receive
          --as parley|xmpp|nats   --room ID   --connections 1000   --window 16   messages in flight, one per sender
      resume URL          clients that reconnect at once, repeatedly; /api/v1/realtime?topics=me&after=…
          --connections 100       --events 1000   missed messages per client
      idle URL            idle connections; in the end a ping on each checks that it is alive
          --connections 10000   --step 1000,5000,10000   --pid SERVER shows its memory per connection   --hold 0 seconds
          --as parley       each is a user of `store plant --crowd`
      tls URL             a connection with a full handshake per request

      --connections 64  --seconds 3  --loops 1
      --fingerprint HEX | --certificate FILE   pins the server's certificate; default: the system's roots
      --json               print one JSON object
      Exit status 1 after any fault: a status other than 2xx, invalid framing, a wrong echo, a lost connection.

    parley-bench store OPERATION FOLDER [options]
      plant FOLDER        creates a data folder; run it in the checkout, which has the migrations
          --messages 10000  messages of the long conversation
          --forums 0        forums, each with an admin of its own
          --crowd 0         users with a token, each in 20 groups; rooms of 100, 1,000 and 5,000 of them
      post FOLDER         posts through the writer; each message is durable before the next one of its client
          --writers 64
      page FOLDER         50 messages of the long conversation
          --from newest|middle
      search FOLDER       50 hits, newest first, every second search from a random position
          --query the       --small         in three small conversations
      open FOLDER         opens the store

    parley-bench kit OPERATION FILE [options]
      plant FILE          creates a client cache with one long conversation
          --messages 10000
      open FILE           opens the cache and reads the first 50 messages
      search FILE         50 hits, newest first, every second search from a random position
          --query the
      apply FILE          creates a cache and applies events of new messages, 200 at a time
    parley-bench kit sync URL --token TOKEN --room ID --into FILE
                          fetches all messages of a conversation into a new cache

    parley-bench micro [NAME…] [--json]
        Micro-benchmarks of serving, in nanoseconds.

    Examples
      parley-bench serve --listen 127.0.0.1:8080 --loops 1
      parley-bench load http http://127.0.0.1:8080/json --connections 64 --seconds 3 --pipeline 16
      parley-bench load websocket ws://127.0.0.1:8080/echo --size 100
      parley-bench load broadcast ws://127.0.0.1:8080/broadcast --subscribers 500 --messages 2000
      parley-bench load idle ws://127.0.0.1:8080/echo --step 1000,5000,10000 --pid 4711
      parley-bench load tls https://127.0.0.1:8443/json --certificate cert.pem --connections 16
    """
}
