// A chat program for the terminal: forums, rooms and topics, live and offline. `chat ADDRESS NAME` signs in once and reads
// the password from the first line; later starts need neither the password nor the network.

import Foundation
import ParleyKit

let help = """
  /forums            lists the forums
  /open FORUM        opens the room of a forum
  /topics            lists the topics of the forum; /topic TITLE opens one
  /older             shows older messages
  /like NUMBER       likes a message; /edit NUMBER TEXT and /delete NUMBER change one
  /inbox             lists the notifications and marks them as read
  /check             compares the copy of the conversation with the server's
  /quit              ends the program; unsent messages are sent at the next start
  Any other line is sent to the open conversation.
  """

/// Errors of ParleyKit have a text for the user; those of the file system have Foundation's.
func explanation(of failure: any Error) -> String {
  (failure as? any ParleyFault)?.userMessage ?? failure.localizedDescription
}

guard CommandLine.arguments.count == 3, let address = ServerAddress(CommandLine.arguments[1]) else {
  print("usage: chat ADDRESS NAME\n\(help)")
  exit(2)
}
let lines = keyboard()
let session: StoredSession
do {
  session = try await StoredSession(address, CommandLine.arguments[2]) {
    print("Password:")
    for await line in lines { return line }
    return ""
  }
} catch {
  print(explanation(of: error))
  exit(1)
}
let chat = Chat(session)
await chat.start()
for await line in lines {
  if line == "/quit" { break }
  await chat.perform(line)
}
await chat.stop()
