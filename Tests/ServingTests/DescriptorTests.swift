import Foundation
import ParleyNetworking
import Testing
import Web

struct DescriptorTests {
  @Test func `a server without free descriptors waits and recovers`() async {
    // In a separate process, since the limit is per process.
    await #expect(processExitsWith: .success) {
      try await serving(garden()) { running in
        let used = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        var limit = rlimit(rlim_cur: rlim_t(used + 21), rlim_max: 1_000)
        guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { throw Unexpected() }
        var spare: Descriptor? = Descriptor(owning: open("/dev/null", O_RDONLY))
        var clients: [RawClient] = []
        while running.logLines.count == 0 {
          do {
            clients.append(try running.connect())
          } catch {
            // The server took the last descriptor: the spare one is for a client, so that accepting it fails.
            guard spare != nil else { throw error }
            spare = nil
            continue
          }
          let count = clients.count
          guard eventually({ running.server.connectionCount == count || running.logLines.count > 0 }) else {
            throw Unexpected()
          }
        }
        // Open connections are served; a queued one is accepted when another closes.
        try clients[0].send(get("/hello?1"))
        guard try clients[0].answer().text == "hello 1", let last = clients.last else { throw Unexpected() }
        try last.send(get("/hello?2"))
        clients[1].close()
        guard try last.answer().text == "hello 2", running.logLines.count < 20 else { throw Unexpected() }
      }
    }
  }
}
