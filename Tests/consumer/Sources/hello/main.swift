import ParleyKit
import ParleyTransport

guard CommandLine.arguments.count == 2, let site = ServerAddress(CommandLine.arguments[1]) else {
  fatalError("usage: hello http://localhost:8080")
}
let parley: Parley
if let resumed = try await Parley.resume() {
  parley = resumed
} else {
  parley = try await Parley.signIn(to: site, as: "ada", password: "wool and needles")
}
guard let room = try await parley.forums().fresh().first?.forum.room else { fatalError("The site has no forum.") }
let new = try await parley.outbox.sendAndWait(Draft("Hello from Swift."), in: room)
print("Message \(new.last?.seq ?? 0) is stored.")
for message in try await MessageWindow(room, parley.cache, parley.sync).newest().messages {
  print(message.text)
}
await parley.stop()
