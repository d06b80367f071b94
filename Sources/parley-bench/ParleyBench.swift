import Glibc
import Networking

@main
struct ParleyBench {
  static func main() async {
    Signals.ignoreBrokenPipes()
    raiseDescriptorLimit()
    var words = Array(CommandLine.arguments.dropFirst())
    if words.isEmpty || words.contains("--help") || words == ["help"] {
      print(usage)
      exit(words.isEmpty ? 2 : 0)
    }
    do {
      switch words.removeFirst() {
      case "serve": try await Serve(words).run()
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

  /// Ten thousand connections need as many descriptors.
  private static func raiseDescriptorLimit() {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  static let usage = """
    parley-bench serve [--listen 127.0.0.1:0]… [--loops 2] [--polling epoll|sources]
                       [--tls | --tls-certificate FILE --tls-key FILE]
        Serves pages for measuring (/json /large /upload /stream) and WebSockets (/echo /broadcast) until SIGTERM.
        --tls makes a certificate and prints its fingerprint.
    """
}
