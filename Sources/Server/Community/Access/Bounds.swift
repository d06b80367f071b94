/// How much of anything people may send. What is beyond is refused by name.
public struct Bounds: Sendable {
  /// In bytes: one file, all files of a person, and those of everyone.
  public var fileBytes = 2_147_483_648
  public var personFileBytes = 10_737_418_240
  public var placeFileBytes = 107_374_182_400
  public var fileNameScalars = 255
  /// A file's preview: in bytes, and in pixels on its longer side.
  public var previewBytes = 204_800
  public var previewSide = 1_280
  /// In bytes, of what stands for a person, a forum or the place, since pages have dozens of them.
  public var pictureBytes = 2_097_152
  /// Large uploads that one person has under way.
  public var uploads = 20
  /// Files that are asked for at once.
  public var filesAtOnce = 200
  /// In Unicode scalars.
  public var messageScalars = 16_000
  /// Mentions, hashtags and links of one text, and how many people it may call by name.
  public var entities = 500
  public var mentions = 50
  public var attachments = 20
  /// Later messages that the answer to a send brings.
  public var catchUp = 100
  /// Kinds of public marks on one message, and marks of one person on it.
  public var actionTypes = 50
  public var ownActions = 20
  /// Messages of which a topic is made at once: as many as one transaction copies before it holds up others. Of more it is
  /// made by a job.
  public var branch = 200
  /// Where more take part, nobody sees who has read what.
  public var receiptPeople = 50
  public var displayNameScalars = 64
  public var bioScalars = 1_000
  /// What a person calls a device or a token.
  public var labelScalars = 100
  public var reasonScalars = 1_000
  public var placeNameScalars = 64
  public var placeTextScalars = 10_000
  /// In bytes, of what stands between quotes.
  public var clientIDBytes = 64
  public var annotationBytes = 8_192
  public var preferencesBytes = 8_192
  public var titleScalars = 120
  public var descriptionScalars = 2_000
  public var addressScalars = 2_048
  public var passwordBytes = 1_024
  /// In Unicode scalars: what is shorter is guessed too soon.
  public var leastPasswordScalars = 8
  /// A person's devices: beyond it the one that was used longest ago is signed out.
  public var sessions = 100
  public var tokens = 100
  /// A person's open invites.
  public var invites = 200
  public var inviteUses = 10_000
  /// Whom one person may follow; and mute; and block.
  public var relations = 5_000
  /// Addresses that one person may be found by.
  public var addresses = 10
  /// Addresses that may be looked up at once, and how many people one of them is answered with.
  public var discoveries = 200
  public var discovered = 10
  /// Of a group or a channel: each of them is told when it is deleted, in one transaction.
  public var participants = 2_000
  /// Of those who keep order at the place, and in a forum, how many a report rings.
  public var reportRings = 100
  /// Reports of one person that wait, how many messages around a reported one are kept with it, and how many bytes.
  public var openReports = 50
  public var reportSurroundings = 6
  public var reportSurroundingsBytes = 65_536
  /// Who is there from the beginning.
  public var invitedAtOnce = 100
  /// What a first screen is told at once; the rest is asked for by pages.
  public var snapshotForums = 1_000
  public var snapshotConversations = 2_000
  public var snapshotPeople = 2_000

  /// The body of a request that brings a file with its preview.
  public var fileBody: Int { fileBytes + previewBytes + Community.mostAroundFile }

  public init() {}
}
