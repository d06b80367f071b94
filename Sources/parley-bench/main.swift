import Glibc
import Dispatch
import Networking
import Serving
import Synchronization
import Web

Signals.ignoreBrokenPipes()
let arguments = Array(CommandLine.arguments.dropFirst())
func option(_ name: String) -> String? {
  arguments.firstIndex(of: name).flatMap { arguments.indices.contains($0 + 1) ? arguments[$0 + 1] : nil }
}
let address = SocketAddress(option("--listen") ?? "127.0.0.1:0")!
let loops = Int(option("--loops") ?? "2") ?? 2
let polling = EventLoop.Polling(rawValue: option("--polling") ?? "epoll") ?? .nestedEpoll
let holder = Mutex<Server?>(nil)
let site = BenchSite.make { holder.withLock { $0?.loops ?? [] } }
let server = try Server(.init(endpoints: [.init(try ListeningSocket(binding: address))], loops: loops, polling: polling), site: site)
holder.withLock { $0 = server }
try await server.start()
for address in server.addresses { print("listening on http://\(address)") }
fflush(nil)
try await Task.sleep(for: .seconds(100000))
