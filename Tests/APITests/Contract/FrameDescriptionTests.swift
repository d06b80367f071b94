import Foundation
import Testing

@testable import API

@Suite struct FrameDescriptionTests {
  private let description: FrameDescription

  init() throws { description = try #require(FrameDescription.shipped) }

  @Test func `each frame has one example, which matches its schema`() throws {
    let channel = description.document["channels"]?["realtime"]?["messages"]?.members ?? [:]
    #expect(Set(description.messages.keys) == Set(channel.keys))
    for (name, message) in description.messages {
      let examples = message["examples"]?.items ?? []
      #expect(examples.count == 1, "\(name)")
      for example in examples {
        #expect(throws: Never.self, "\(name)") { try description.check(example["payload"] ?? .null, as: name) }
      }
    }
  }

  @Test func `the document has every command`() {
    #expect(Set(description.commands.keys) == Set(RealtimeCommand.Name.allCases.map(\.rawValue)))
  }

  @Test(arguments: RealtimeCommand.Name.allCases)
  func `the server accepts the example of each command`(name: RealtimeCommand.Name) throws {
    let message = try #require(description.commands[name.rawValue]?.command)
    var value: Any? = try JSONSerialization.jsonObject(with: try Data(contentsOf: FrameDescription.file))
    for step in ["components", "messages", message] { value = (value as? [String: Any])?[step] }
    let examples = (value as? [String: Any])?["examples"] as? [[String: Any]]
    let example = try #require(examples?.first?["payload"])
    var (object, _) = try RealtimeCommand.open(Array(try JSONSerialization.data(withJSONObject: example)))
    _ = try RealtimeCommand(&object)
  }

  @Test(arguments: [
    #"{"event":"lagging","stream":"conversation:12"}"#, #"{"event":"lagging","stream":"12","last_offset":3}"#,
    #"{"event":"unknown"}"#, #"{"re":1,"ok":true}"#, #"{"re":true,"problem":{}}"#, #"{"data":1}"#,
    #"{"event":"complete","cursor":"1"}"#, #"{"event":"notice","code":"lost","topic":"me","more":1}"#,
  ])
  func `a frame that differs from the document is reported`(frame: String) throws {
    #expect(throws: Description.Fault.self) { try description.check(frame, answering: nil) }
  }
}
