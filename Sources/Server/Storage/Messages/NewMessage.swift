import ParleyCrypto
import ParleyJSON
public import ParleyModel

/// What is needed to store a message, checked by the rules above.
public struct NewMessage: Sendable {
  public enum Kind: String, Sendable {
    case message, system
  }

  public var conversation: ID<Conversation>
  public var author: ID<User>
  public var clientID: String?
  public var kind = Kind.message
  public var text: MessageText
  public var replyTo: ID<Message>?
  public var isMachineOnly = false
  public var sentAt: Int64?
  public var annotations: MessageAnnotations?
  public var attachments: [ID<File>] = []

  public init(conversation: ID<Conversation>, author: ID<User>, clientID: String? = nil, text: MessageText) {
    self.conversation = conversation
    self.author = author
    self.clientID = clientID
    self.text = text
  }

  /// Of a text in which nothing was found.
  public init(conversation: ID<Conversation>, author: ID<User>, clientID: String? = nil, text: String) {
    self.init(conversation: conversation, author: author, clientID: clientID, text: MessageText(text))
  }
}

/// A text and what was found in it. Storage looks into none of it.
public struct MessageText: Sendable, Hashable {
  /// As it was sent.
  public var markdown: String
  /// JSON: mentions, hashtags and links with their places in the text.
  public var entities: String?
  /// In the form in which they are compared.
  public var hashtags: [String] = []
  public var mentions: [ID<User>] = []
  public var links: [String] = []
  /// Whether it rings everyone in the forum. It is a matter of the moment and not kept.
  public var callsRoom = false

  public init(_ markdown: String) {
    self.markdown = markdown
  }
}

/// What programs hang on a message. It never changes.
public struct MessageAnnotations: Sendable, Hashable {
  /// As it came.
  public var json: String
  public var types: [String]
  public var location: Location?

  public init(json: String, types: [String], location: Location? = nil) {
    self.json = json
    self.types = types
    self.location = location
  }
}

extension NewMessage {
  /// As everyone sees it who may read it, right after it was stored at this time.
  public func posted(_ stored: StoredMessage, at time: Int64) -> Message {
    Message(
      id: stored.id, conversation: conversation, author: author, clientID: clientID,
      kind: kind == .system ? .system : .message, seq: stored.seq, previous: stored.previous, replyTo: replyTo,
      isMachineOnly: isMachineOnly, createdAt: time,
      state: .live(
        Message.Content(
          text: text.markdown, entities: text.entities.map { JSONRaw(trusted: Array($0.utf8)) },
          annotations: annotations.map { JSONRaw(trusted: Array($0.json.utf8)) }, attachments: attachments,
          sentAt: sentAt)))
  }

  /// What a repeated send must have in common with the first. Lengths stand before the parts, so that no two messages
  /// have the same bytes.
  func fingerprint() throws(Refusal) -> [UInt8] {
    let files = attachments.map(\.description).joined(separator: ",")
    let parts = [
      conversation.description, text.markdown, replyTo?.description ?? "", files, annotations?.json ?? "",
    ]
    var bytes: [UInt8] = []
    for part in parts { bytes += Array("\(part.utf8.count):\(part)".utf8) }
    do {
      return try Digest.sha256(of: bytes)
    } catch {
      throw .unavailable
    }
  }
}
