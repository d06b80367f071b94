import Glibc
import ParleyNetworking

@main
struct ParleyBench {
  static func main() async {
    Signals.ignoreBrokenPipes()
    _ = DescriptorLimit.raise()  // ten thousand connections need as many
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
      case let other: throw UsageError("There is no command \(other).")
      }
    } catch let error as UsageError {
      Console.complain("\(error)\n\n\(usage)")
      exit(2)
    } catch {
      Console.complain("parley-bench: \(error)")
      exit(1)
    }
  }

  /// True when nothing went wrong.
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
        Serves pages for measuring (/json /large /upload /stream) and WebSockets (/echo /broadcast) until SIGTERM.
        --tls makes a certificate and prints its fingerprint.

    parley-bench load SCENE URL… [options]
      http URL…           requests over kept connections; several URLs of one server are asked for in turn
          --pipeline 1      requests under way on a connection
          --method GET  --header 'Name: value'…  --body TEXT
      websocket URL       messages that come back
          --size 100        bytes of a message    --in-flight 1   messages under way on a connection    --binary
      broadcast URL       one connection publishes, all receive
          --connections 500 (or --subscribers)    --size 100      --window 16   messages under way
          --messages N      instead of --seconds
      room URL            members of a room; some post, all receive
          --as parley|xmpp|nats   --room ID   --connections 1000   --window 16   messages under way, each by somebody else
      resume URL          clients that were away, all back at once, again and again; /api/v1/realtime?topics=me&after=…
          --connections 100       --events 1000   messages that each of them is told
      idle URL            connections that do nothing; then a ping on each shows that it still stands
          --connections 10000   --step 1000,5000,10000   --pid SERVER shows what each costs there   --hold 0 seconds
          --as parley       each is one of the people whom `store plant --crowd` makes
      tls URL             a connection, a full handshake and one request, over and over

      --connections 64  --seconds 3  --loops 1
      --fingerprint HEX | --certificate FILE   trusts this server and no other; without them the system's roots
      --json               one JSON object instead of lines
      Exits with 1 when anything went wrong: a status that is not 2xx, wrong framing, a wrong echo, a lost connection.

    parley-bench store DO FOLDER [options]
      plant FOLDER        makes a data folder; run it in the checkout, where the migrations are
          --messages 10000  messages of the long conversation
          --forums 0        as many forums, each with somebody who leads it
          --crowd 0         as many people with a token, each in 20 groups; rooms of 100, 1,000 and 5,000 of them
      post FOLDER         posts through the writer, each message on the disk before its writer goes on
          --writers 64
      page FOLDER         50 messages of the long conversation
          --from newest|middle
      search FOLDER       50 hits, newest first, every second time from somewhere on
          --query the       --small         in three small conversations
      open FOLDER         until the store can be used

    parley-bench kit DO FILE [options]
      plant FILE          makes a client's copy of a place with one long conversation
          --messages 10000
      open FILE           from the file to the first 50 messages that are shown
      search FILE         50 hits, newest first, every second time from somewhere on
          --query the
      apply FILE          makes a copy and applies events of new messages, 200 at a time
    parley-bench kit sync URL --token TOKEN --room ID --into FILE
                          all messages of a conversation, from a server into a new copy

    parley-bench micro [NAME…] [--json]
        Nanoseconds for single steps of serving.

    Examples
      parley-bench serve --listen 127.0.0.1:8080 --loops 1
      parley-bench load http http://127.0.0.1:8080/json --connections 64 --seconds 3 --pipeline 16
      parley-bench load websocket ws://127.0.0.1:8080/echo --size 100
      parley-bench load broadcast ws://127.0.0.1:8080/broadcast --subscribers 500 --messages 2000
      parley-bench load idle ws://127.0.0.1:8080/echo --step 1000,5000,10000 --pid 4711
      parley-bench load tls https://127.0.0.1:8443/json --certificate cert.pem --connections 16
    """
}
